package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/fbc/template"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/internal/visible"
)

func newRender(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "render SOURCE...",
		Short: "Build a catalog from bundle directories and templates",
		Long: `Render prints plain catalog blobs of each source:

  a bundle directory   with manifests/ and metadata/: its olm.bundle blob; set
                       the image of the bundle with --image, or write
                       IMAGE=DIRECTORY
  a semver template    a file with "schema: olm.semver": the package that it
                       describes; locate bundles with --from IMAGE=DIRECTORY
  a basic template     a file with "schema: olm.template.basic": its entries;
                       locate those that are only an image with
                       --from IMAGE=DIRECTORY
  a composite recipe   a file with "references": the union of their catalogs;
                       locate them with --from IMAGE=CATALOG
  a catalog            a directory or file: its blobs, unchanged

In place of DIRECTORY and CATALOG, name an image with docker://REFERENCE, oci:DIR or
another form of "olmkit help catalogs". A bundle image given as docker://REFERENCE
alone gets that reference as its image. Only images that you name are pulled.`,
		Example: `  olmkit render ./etcd/0.9.2 --image quay.io/example/etcd-bundle:v0.9.2
  olmkit render semver.yaml --from quay.io/example/etcd-bundle:v0.9.2=./etcd/0.9.2`,
	}
	w := addWriting(cmd)
	r := renderer{env: e, from: map[string]string{}, used: map[string]bool{}}
	cmd.Flags().StringVar(&r.image, "image", "", "image `REFERENCE` of the one bundle directory")
	var from []string
	addList(cmd.Flags(), &from, "from", "", "read the contents of an image from a directory, as `IMAGE=DIRECTORY`, or IMAGE=CATALOG for a composite recipe (repeatable)")
	data := "csv-metadata"
	addChoice(cmd, &data, "data", "", "large properties of bundles from directories: csv-metadata is what user interfaces show, with minKubeVersion; objects is all manifests", "csv-metadata", "objects", "none")
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return usagef("name a bundle directory, a template or a catalog")
		}
		if r.image != "" && len(args) > 1 {
			return usagef("--image is for one bundle directory; write IMAGE=DIRECTORY for several")
		}
		if cmd.Flags().Changed("data") {
			r.dataFlag = "--data " + data
		}
		switch data {
		case "none":
		case "csv-metadata":
			r.data = bundle.CSVMetadata
		case "objects":
			r.data = bundle.Objects
		}
		for _, f := range from {
			image, dir, ok := strings.Cut(f, "=")
			if !ok || image == "" || dir == "" {
				return usagef("--from %q: write IMAGE=DIRECTORY, or IMAGE=CATALOG for a composite recipe", f)
			}
			r.from[image] = dir
		}
		var (
			all  []*fbc.Catalog
			dirs []string
		)
		for _, arg := range args {
			c, dir, err := r.source(cmd.Context(), arg)
			if err != nil {
				return err
			}
			all, dirs = append(all, c), append(dirs, dir)
		}
		for _, image := range slices.Sorted(maps.Keys(r.from)) {
			if !r.used[image] {
				return usagef("--from %s=%s was not used: no template names this image", image, r.from[image])
			}
		}
		c, err := fbc.Merge(dirs, all...)
		if err != nil {
			return err
		}
		return w.write(cmd.Context(), machine(e.stdout), c)
	}
	return cmd
}

type renderer struct {
	*env
	image string
	from  map[string]string // directories by image
	used  map[string]bool   // the images in from that were used
	data  bundle.Data
	// dataFlag is --data as it was given, or "".
	dataFlag string
}

// source renders one argument. It also returns the directory of the catalog's files, if
// known.
func (r *renderer) source(ctx context.Context, arg string) (c *fbc.Catalog, root string, err error) {
	image, dir := r.image, arg
	if before, after, ok := strings.Cut(arg, "="); ok && (isDir(after) || isReference(after)) {
		image, dir = before, after
	}
	if ref, ok := referenceOf(dir); ok {
		if image == "" {
			image = r.bundleImage(ctx, ref)
		}
		if image != "" {
			b, err := r.bundle(ctx, image, dir)
			if err != nil {
				return nil, "", err
			}
			return &fbc.Catalog{Bundles: []*fbc.Bundle{b.Bundle}}, ref.dir(), nil
		}
	}
	if isDir(dir) && bundle.IsDir(os.DirFS(dir)) {
		b, err := r.bundle(ctx, image, dir)
		if err != nil {
			return nil, "", err
		}
		return &fbc.Catalog{Bundles: []*fbc.Bundle{b.Bundle}}, filepath.ToSlash(dir), nil
	}
	if r.image != "" {
		return nil, "", usagef("--image %s is the image of a bundle directory, and %s is not one; remove the flag", r.image, display(arg))
	}
	if kind := r.detect(ctx, arg); kind != "" {
		if c, ok, err := r.template(ctx, kind, arg); ok {
			return c, "", err
		}
	}
	if err := r.unchanged(arg); err != nil {
		return nil, "", err
	}
	c, err = newLoader(r.env).keep(ctx, arg)
	if err != nil {
		return nil, "", notLoaded(ctx, arg, err)
	}
	return c, rootOf(arg), nil
}

// unchanged returns an error if --data is set for a catalog, whose bundles are not changed.
func (r *renderer) unchanged(catalog string) error {
	if r.dataFlag == "" {
		return nil
	}
	return usagef("%s applies to bundle directories, and the bundles of catalog %s are rendered as they are; remove the flag, or render the catalog separately", r.dataFlag, display(catalog))
}

func isDir(name string) bool {
	info, err := os.Stat(name)
	return err == nil && info.IsDir()
}

// bundle renders a bundle directory.
func (r *renderer) bundle(ctx context.Context, image, dir string) (*bundle.Dir, error) {
	if image == "" {
		return nil, usagef("%s is a bundle directory, which does not name its image; name it with --image, or write IMAGE=%s", dir, dir)
	}
	var files fs.FS
	shown := filepath.ToSlash(dir)
	if ref, ok := referenceOf(dir); ok {
		var err error
		if files, err = newLoader(r.env).fetchBundle(ctx, ref); err != nil {
			if ctx.Err() != nil {
				return nil, err
			}
			return nil, &imageError{"bundle", dir, err}
		}
		shown = ref.dir()
	} else {
		root, err := disk.OpenRoot(dir)
		if err != nil {
			return nil, err
		}
		defer root.Close()
		files = root.FS()
	}
	b, err := bundle.Load(ctx, files, &bundle.Options{Image: image, Data: r.data, Limits: r.limits.fbc()})
	var found fbc.Diagnostics
	switch {
	case errors.As(err, &found):
		return nil, &sourceError{"bundle", dir, err}
	case err != nil:
		return nil, err
	}
	for _, d := range b.Findings {
		d.Pos.File = path.Join(shown, d.Pos.File)
		visible.Fprintf(r.stderr, "warning: %s\n", d)
	}
	return b, nil
}

// bundleImage returns the image of a reference to a bundle, or "" if it refers to a
// catalog.
func (r *renderer) bundleImage(ctx context.Context, ref reference) string {
	if image, ok := strings.CutPrefix(ref.text, registryScheme); ok {
		if _, err := newLoader(r.env).fetch(ctx, ref); noCatalog(err) {
			return image
		}
	}
	return "" // loading the catalog reports other errors
}

// unpacked returns the path of the contents of an image.
func (r *renderer) unpacked(image, what string) (string, error) {
	dir, ok := r.from[image]
	if !ok {
		return "", fmt.Errorf("its contents are missing; unpack the image and add --from %s=%s", image, what)
	}
	r.used[image] = true
	return dir, nil
}

// detect returns the kind of template in a file, or "" for other files.
func (r *renderer) detect(ctx context.Context, name string) string {
	if isIndex(nil, name) {
		return ""
	}
	f, err := (*disk.Root)(nil).Open(name)
	if err != nil {
		return "" // loading the catalog reports it
	}
	defer f.Close()
	limits := r.limits.load.WithDefaults()
	if info, err := f.Stat(); err != nil || info.Size() > limits.FileSize {
		return ""
	}
	return template.Detect(ctx, f, filepath.Base(name), &limits)
}

// template expands a template of a kind; ok is false for kinds that it does not know.
func (r *renderer) template(ctx context.Context, kind, name string) (c *fbc.Catalog, ok bool, err error) {
	text, err := (*disk.Root)(nil).ReadFile(ctx, name, fbc.LimitError{Limit: "DocumentSize", What: "template", Max: r.limits.load.WithDefaults().DocumentSize})
	if err != nil {
		return nil, true, notLoaded(ctx, name, err)
	}
	dir := func(ctx context.Context, image string) (*bundle.Dir, error) {
		dir, err := r.unpacked(image, "DIRECTORY")
		if err != nil {
			return nil, err
		}
		return r.bundle(ctx, image, dir)
	}
	base := filepath.Base(name)
	switch kind {
	case "semver":
		t, err := template.ParseSemver(ctx, text, base)
		if err != nil {
			return nil, true, &sourceError{"template", name, err}
		}
		c, err := t.Expand(ctx, dir)
		return c, true, err
	case "basic":
		t, err := template.ParseBasic(ctx, text, base)
		if err != nil {
			return nil, true, &sourceError{"template", name, err}
		}
		c, err := t.Expand(ctx, dir)
		return c, true, err
	case "composite":
		if err := r.unchanged(name); err != nil {
			return nil, true, err
		}
		t, err := template.ParseComposite(ctx, text, base)
		if err != nil {
			return nil, true, &sourceError{"template", name, err}
		}
		_, c, err := t.Expand(ctx, func(ctx context.Context, ref template.Reference) (*fbc.Catalog, error) {
			dir, err := r.unpacked(ref.Image, "CATALOG")
			if err != nil {
				return nil, err
			}
			return newLoader(&env{stdin: strings.NewReader(""), stdout: io.Discard, stderr: r.stderr, settings: r.settings}).keep(ctx, dir)
		})
		return c, true, err
	}
	return nil, false, nil
}
