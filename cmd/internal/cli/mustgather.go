package cli

import (
	"archive/tar"
	"context"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/olm"
)

// gathered passes the objects of an OpenShift must-gather directory to put, and their kinds
// to found, as the method objects does.
func (l *loader) gathered(ctx context.Context, name string, found func(olm.GroupKind), put func(olm.Object) error) error {
	root, err := disk.OpenRoot(name)
	if err != nil {
		return err
	}
	files := root.FS()
	g := gathering{l, name, found, put, 0}
	err = fs.WalkDir(files, ".", func(file string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() || !isGathered(file) {
			return err
		}
		in, err := files.Open(file)
		if err != nil {
			return err
		}
		defer in.Close()
		return g.read(ctx, file, in)
	})
	if err != nil {
		return err
	}
	return g.end()
}

// gatheredArchive is like gathered for a must-gather archive.
func (l *loader) gatheredArchive(ctx context.Context, name string, in io.Reader, found func(olm.GroupKind), put func(olm.Object) error) error {
	g := gathering{l, name, found, put, 0}
	for archive := tar.NewReader(in); ; {
		h, err := archive.Next()
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err == io.EOF:
			return g.end()
		case err != nil:
			return fmt.Errorf("%s: %w", display(name), err)
		case h.Typeflag != tar.TypeReg || !isGathered(path.Clean(h.Name)):
			continue
		}
		if err := g.read(ctx, h.Name, archive); err != nil {
			return err
		}
	}
}

// A gathering reads the files of a must-gather. Because a must-gather usually has only some
// namespaces, an empty list does not mean that the cluster has no objects of the kind.
type gathering struct {
	loader *loader
	name   string
	found  func(olm.GroupKind)
	put    func(olm.Object) error
	files  int64
}

func (g *gathering) read(ctx context.Context, file string, in io.Reader) error {
	limits := g.loader.limits.load.WithDefaults()
	if g.files++; g.files > int64(limits.Files) {
		return &fbc.LimitError{Limit: "Files", What: "number of files of " + display(g.name), Max: int64(limits.Files)}
	}
	return g.loader.objectsFrom(ctx, g.loader.limited(in), g.name+"/"+file, func(olm.GroupKind) {}, func(o olm.Object) error {
		g.found(olm.GroupKind{Group: o.Key().Group, Kind: o.Kind})
		return g.put(o)
	})
}

func (g *gathering) end() error {
	if g.files == 0 {
		return fmt.Errorf("%s has no objects below cluster-scoped-resources or namespaces, so it is not a must-gather; name files instead", display(g.name))
	}
	return nil
}

// isGathered reports whether a file of a must-gather has objects that commands read.
func isGathered(file string) bool {
	base, isYAML := strings.CutSuffix(file, ".yaml")
	if !isYAML {
		return false
	}
	parts := strings.Split(base, "/")
	for len(parts) > 0 && parts[0] != "cluster-scoped-resources" && parts[0] != "namespaces" {
		parts = parts[1:]
	}
	if len(parts) > 1 && parts[0] == "namespaces" {
		parts = parts[1:]
	}
	if len(parts) < 3 {
		return false
	}
	for _, k := range liveKinds() {
		group := k.group
		if group == "" {
			group = "core"
		}
		// group/resources.yaml, group/resources/name.yaml or pods/name/name.yaml
		if len(parts) <= 4 && parts[1] == group && parts[2] == k.resource || k.kind == "Pod" && len(parts) == 4 && parts[1] == k.resource {
			return true
		}
	}
	return false
}

// limited returns a reader that fails after the limit on the size of a file.
func (l *loader) limited(in io.Reader) io.Reader {
	size := l.limits.load.WithDefaults().FileSize
	return &limitedReader{in, size, size}
}

type limitedReader struct {
	in        io.Reader
	left, max int64
}

func (r *limitedReader) Read(p []byte) (int, error) {
	if r.left <= 0 {
		return 0, &fbc.LimitError{Limit: "FileSize", What: "file", Max: r.max}
	}
	n, err := r.in.Read(p[:min(int64(len(p)), r.left)])
	r.left -= int64(n)
	return n, err
}
