// Package bundle reads bundle directories, the contents of bundle images, and renders
// them as blobs of a catalog.
package bundle

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/bundledir"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/internal/regular"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/internal/yamlout"
)

// Data selects the heavy properties that a bundle gets from its manifests.
type Data int

const (
	// NoData adds none.
	NoData Data = iota
	// CSVMetadata adds one olm.csv.metadata with what user interfaces show.
	CSVMetadata
	// Objects adds an olm.bundle.object for each manifest.
	Objects
)

// Options adjust how a bundle directory is read. A nil *Options means all defaults.
type Options struct {
	// Image is the reference of the bundle image, which the directory does not
	// contain.
	Image string
	// Data selects the heavy properties to add. Default NoData.
	Data Data
	// Limits bound the cost of hostile input.
	Limits *fbc.Limits
}

// A Dir is the contents of a bundle directory.
type Dir struct {
	// Bundle is the olm.bundle blob.
	Bundle *fbc.Bundle
	// Entry is the bundle's entry in a channel according to its CSV: replaces,
	// skips and the annotation olm.skipRange.
	Entry fbc.Entry
	// Channels and DefaultChannel are from the bundle's annotations.
	Channels       []string
	DefaultChannel string
	// Description and Icon are from the CSV, for use in the olm.package blob. Icon may be
	// nil.
	Description string
	Icon        *Icon
	// Findings are warnings about files that do not belong to a bundle.
	Findings fbc.Diagnostics
}

// An Icon is the icon of a package, with base64 data.
type Icon struct{ Base64Data, MediaType string }

// Load reads a bundle directory, manifests/ and metadata/ below the root of fsys, and
// renders its olm.bundle blob. Its properties are:
//
//   - olm.package, from the CSV's version and the annotated package;
//   - olm.gvk, for the APIs that the CSV owns and those of the custom resource
//     definitions among the manifests;
//   - olm.gvk.required, for the APIs that the CSV requires;
//   - the dependencies and properties that files in metadata/ list, in both shapes;
//   - the properties in the CSV's annotation olm.properties.
//
// They are sorted by type and value, as in opm.
//
// Documents in manifests/ that are not Kubernetes objects, files in metadata/ that are
// not YAML, and subdirectories are skipped with a warning. opm skips them too.
//
// The error is an [fbc.Diagnostics] with every finding, or the context's error.
func Load(ctx context.Context, fsys fs.FS, opts *Options) (*Dir, error) {
	if opts == nil {
		opts = &Options{}
	}
	l := opts.Limits.WithDefaults()
	r := reader{ctx: ctx, opts: opts, files: bundledir.New(fsys, bundledir.Limits{
		Files: l.Files, FileSize: l.FileSize, DocumentSize: l.DocumentSize, Expansion: l.Expansion,
	})}
	r.manifests()
	r.metadata()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	dir := r.render()
	slices.SortStableFunc(r.faults, (*fbc.Diagnostic).Compare)
	if r.faults.Err() != nil {
		return nil, r.faults
	}
	dir.Findings = r.faults
	return dir, nil
}

// IsDir reports whether the root of fsys has the directories of a bundle. The directory metadata may be
// missing if there is a ClusterServiceVersion in manifests.
func IsDir(fsys fs.FS) bool {
	isDir := func(name string) bool {
		info, err := fs.Stat(fsys, name)
		return err == nil && info.IsDir()
	}
	return isDir("manifests") && (isDir("metadata") || hasCSV(fsys))
}

// maxHead is how much of a file is read to find the kind of its first manifest.
const maxHead = 4 << 10

// hasCSV reports whether a file in manifests begins with a ClusterServiceVersion.
func hasCSV(fsys fs.FS) bool {
	entries, err := fs.ReadDir(fsys, "manifests")
	if err != nil {
		return false
	}
	for _, e := range entries {
		if !e.Type().IsRegular() {
			continue
		}
		f, err := fsys.Open(path.Join("manifests", e.Name()))
		if err != nil {
			continue
		}
		head, _ := io.ReadAll(io.LimitReader(f, maxHead))
		f.Close()
		if csvKind().Match(head) {
			return true
		}
	}
	return false
}

// csvKind matches the kind of a ClusterServiceVersion in YAML or JSON.
var csvKind = lazyregexp.New(`(?m)^[ {]*"?kind"?: *"?ClusterServiceVersion\b`)

// An object is a document of a bundle directory.
type object struct {
	*yamlout.Node
	at fbc.Pos
}

type reader struct {
	ctx    context.Context
	files  *bundledir.Reader
	opts   *Options
	faults fbc.Diagnostics

	csv         object
	objects     []object // all manifests, the CSV included
	annotations object   // of metadata/annotations.yaml
	lists       []object // documents with dependencies or properties
}

func (r *reader) fault(code fbc.Code, at fbc.Pos, path string, err error) {
	if errors.As(err, new(*fbc.LimitError)) || errors.As(err, new(*yamljson.LimitError)) {
		code = codes.Limit
	}
	r.faults = append(r.faults, &fbc.Diagnostic{Code: code, Severity: code.Severity(), Pos: at, Path: path, Err: err})
}

// read returns the documents of all files of a directory that are objects, sorted by file. It
// skips other documents, and text that cannot be parsed, with a warning about a stray file.
func (r *reader) read(dir string) (out []object) {
	entries, err := r.files.List(dir)
	if err != nil {
		r.fault(codes.Unreadable, fbc.Pos{File: dir}, "", err)
	}
	for _, e := range entries {
		at := fbc.Pos{File: path.Join(dir, e.Name())}
		switch {
		case r.ctx.Err() != nil:
			return out
		case strings.HasPrefix(e.Name(), "."):
			continue
		case e.IsDir():
			r.fault(codes.StrayFile, at, "", fmt.Errorf("is a directory, which is skipped, as in opm; move its files to %s/ if they belong to the bundle", dir))
			continue
		}
		text, err := r.files.Read(at.File, e)
		switch {
		case errors.As(err, new(*regular.Error)):
			r.fault(codes.NotRegular, at, "", err)
			continue
		case err != nil:
			r.fault(codes.Unreadable, at, "", err)
			continue
		}
		for doc, err := range bundledir.Documents(text) {
			at.Line = doc.Line
			var value []byte
			if err == nil {
				value, at.Line, err = r.files.JSON(r.ctx, doc)
			}
			var n *yamlout.Node
			switch {
			case err == nil && value == nil:
				continue
			case err == nil && value[0] != '{':
				err = errors.New("the document is not an object")
			case err == nil:
				n, err = yamlout.Parse(value)
			}
			if err != nil {
				r.fault(codes.StrayFile, at, "", strayFile(dir, err))
				continue
			}
			out = append(out, object{n, at})
		}
	}
	return out
}

// strayFile is the warning about a document in a directory of a bundle that is skipped
// (A14).
func strayFile(dir string, why error) error {
	what := "YAML metadata"
	if dir == "manifests" {
		what = "a Kubernetes object"
	}
	return fmt.Errorf("is not %s and is skipped, as in opm: %w; correct it, or move the file out of %s/", what, why, dir)
}

// manifests reads the Kubernetes objects, exactly one of which is a CSV.
func (r *reader) manifests() {
	for _, o := range r.read("manifests") {
		if o.TextAt("kind") == "" {
			r.fault(codes.StrayFile, o.at, "", strayFile("manifests", errors.New("it has no kind")))
			continue
		}
		r.objects = append(r.objects, o)
		if o.TextAt("kind") != "ClusterServiceVersion" {
			continue
		}
		if r.csv.Node != nil {
			r.fault(codes.Duplicate, o.at, "", fmt.Errorf("this is a second ClusterServiceVersion, after %s; a bundle has exactly one", r.csv.at))
			continue
		}
		r.csv = o
	}
	if r.csv.Node == nil && r.faults.Err() == nil {
		r.fault(codes.Required, fbc.Pos{File: "manifests"}, "", errors.New("contains no ClusterServiceVersion; a bundle has exactly one"))
	}
}

// metadata reads the files in metadata/. Like opm, it accepts annotations, dependencies and
// properties in any of them.
func (r *reader) metadata() {
	before := len(r.faults.Errors())
	for _, o := range r.read("metadata") {
		if a := o.Get("annotations"); a != nil && a.Kind == '{' && r.annotations.Node == nil {
			r.annotations = object{a, o.at}
		}
		if o.Get("dependencies") != nil || o.Get("properties") != nil {
			r.lists = append(r.lists, o)
		}
	}
	if r.annotations.Node == nil && len(r.faults.Errors()) == before {
		r.fault(codes.Required, fbc.Pos{File: "metadata"}, "", errors.New("no file has annotations; add metadata/annotations.yaml with the package of the bundle"))
	}
}
