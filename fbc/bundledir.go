package fbc

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/yamlout"
)

// BundleData says which heavy properties a bundle gets that is read from a
// directory.
type BundleData int

const (
	// NoData leaves them out.
	NoData BundleData = iota
	// CSVMetadata adds one olm.csv.metadata with what user interfaces show.
	CSVMetadata
	// BundleObjects adds an olm.bundle.object for every manifest.
	BundleObjects
)

// BundleDirOptions adjust how a bundle directory is read. A nil
// *BundleDirOptions means all defaults.
type BundleDirOptions struct {
	// Image is the reference of the bundle image, which the directory does not
	// tell.
	Image string
	// Data says which heavy properties to add. Default NoData.
	Data BundleData
	// Limits bound the cost of hostile input.
	Limits *Limits
}

// A BundleDir is what a bundle directory tells (A14).
type BundleDir struct {
	Bundle *Bundle
	// Entry is the bundle's place in a channel as its CSV states it: replaces,
	// skips and the annotation olm.skipRange.
	Entry Entry
	// Channels and DefaultChannel are those of the annotations.
	Channels       []string
	DefaultChannel string
	// Description and Icon are those of the CSV, for the olm.package blob. Icon
	// is {base64data, mediatype} or nil.
	Description string
	Icon        *Icon
	// Findings are warnings about files that do not belong to a bundle.
	Findings Diagnostics
}

// An Icon is the picture of a package.
type Icon struct{ Base64Data, MediaType string }

// ReadBundleDir reads a bundle directory, manifests/ and metadata/ below the
// root of fsys, and renders its olm.bundle blob (A14): the olm.package property
// from the CSV's version and the annotated package; olm.gvk for the APIs that
// the CSV owns and the custom resource definitions among the manifests;
// olm.gvk.required for those that it requires; what the files in metadata/ list
// as dependencies and properties, in both shapes; and the properties in the
// CSV's annotation olm.properties. The properties are sorted by type and value,
// as opm does.
//
// Documents in manifests/ that are not Kubernetes objects, files in metadata/ that
// cannot be read as YAML, and subdirectories are left out with a warning; opm leaves
// them out, too.
//
// The error is a [Diagnostics] with every finding, or the context's error.
func ReadBundleDir(ctx context.Context, fsys fs.FS, opts *BundleDirOptions) (*BundleDir, error) {
	if opts == nil {
		opts = &BundleDirOptions{}
	}
	limits := opts.Limits.WithDefaults()
	r := dirReader{ctx: ctx, fsys: fsys, limits: &limits, opts: opts, room: limits.Expansion}
	r.manifests()
	r.metadata()
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	dir := r.render()
	r.faults.sort()
	if r.faults.Err() != nil {
		return nil, r.faults
	}
	dir.Findings = r.faults
	return dir, nil
}

// IsBundleDir reports whether the root of fsys has the directories of a bundle.
func IsBundleDir(fsys fs.FS) bool {
	for _, name := range []string{"manifests", "metadata"} {
		if info, err := fs.Stat(fsys, name); err != nil || !info.IsDir() {
			return false
		}
	}
	return true
}

// An object is a document of a bundle directory.
type object struct {
	*yamlout.Node
	at Pos
}

type dirReader struct {
	ctx    context.Context
	fsys   fs.FS
	limits *Limits
	opts   *BundleDirOptions
	room   int64 // what the aliases of YAML may still add
	faults Diagnostics

	csv         object
	objects     []object // all manifests, the CSV included
	annotations object   // of metadata/annotations.yaml
	lists       []object // documents with dependencies or properties
}

func (r *dirReader) fault(code Code, at Pos, path string, err error) {
	r.faults = append(r.faults, &Diagnostic{Code: code, Severity: code.Severity(), Pos: at, Path: path, Err: err})
}

// read returns the documents of all files of a directory, by name. What is not a
// document is a stray file.
func (r *dirReader) read(dir string) []object {
	entries, err := fs.ReadDir(r.fsys, dir)
	if err != nil {
		r.fault(CodeUnreadable, Pos{File: dir}, "", plainPath(err))
		return nil
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return cmp.Compare(a.Name(), b.Name()) })
	w := walker{ctx: r.ctx, fsys: r.fsys, limits: r.limits, of: aBundle}
	var out []object
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		if strings.HasPrefix(e.Name(), ".") || w.done() {
			continue
		}
		if e.IsDir() && !w.count(name) {
			break
		}
		if e.IsDir() {
			r.fault(CodeStrayFile, Pos{File: name}, "", fmt.Errorf("is a directory, which is left out, as in opm; move its files to %s/ if they belong to the bundle", dir))
			continue
		}
		if w.regular(name, e) != nil && w.count(name) {
			before := len(r.faults)
			out = append(out, r.file(name)...)
			for _, f := range r.faults[before:] {
				switch f.Code {
				case CodeNotObject:
					f.Err = errors.New("the document is not an object")
				case CodeSyntax:
				default:
					continue
				}
				f.Code, f.Severity, f.Err = CodeStrayFile, Warning, strayFile(dir, f.Err)
			}
		}
	}
	r.faults = append(r.faults, w.faults...)
	return out
}

// strayFile is the warning about a document in a directory of a bundle that is left
// out (A14).
func strayFile(dir string, why error) error {
	what := "YAML metadata"
	if dir == "manifests" {
		what = "a Kubernetes object"
	}
	return fmt.Errorf("is not %s and is left out, as in opm: %w; correct it, or move the file out of %s/", what, why, dir)
}

// file returns the documents of one file.
func (r *dirReader) file(name string) []object {
	f, err := r.fsys.Open(name)
	if err != nil {
		r.fault(CodeUnreadable, Pos{File: name}, "", plainPath(err))
		return nil
	}
	defer f.Close()
	var out []object
	d := newDecoder(&source{limits: r.limits}, KeepAll)
	d.room = r.room
	defer func() { r.room = d.room }()
	s := newSplitter(r.ctx, r.limits)
	for s.begin(f); ; {
		b, err := s.next(batch{})
		var limit *LimitError
		switch {
		case err == io.EOF:
			return out
		case errors.As(err, &limit):
			r.fault(CodeLimit, Pos{name, s.line}, "", err)
			return out
		case err != nil:
			r.fault(CodeUnreadable, Pos{name, s.line}, "", plainPath(err))
			return out
		}
		for _, doc := range b.docs {
			at := Pos{name, doc.line}
			d.at, d.faults = Meta{Pos: at}, nil
			text, _, ok := d.read(r.ctx, doc.text)
			if !ok {
				r.faults = append(r.faults, d.faults...)
				continue
			}
			n, err := yamlout.Parse(text)
			if err != nil {
				r.fault(CodeSyntax, at, "", err)
				continue
			}
			out = append(out, object{n, at})
		}
	}
}

// manifests reads the Kubernetes objects; exactly one is a CSV.
func (r *dirReader) manifests() {
	for _, o := range r.read("manifests") {
		if text(o.Node, "kind") == "" {
			r.fault(CodeStrayFile, o.at, "", strayFile("manifests", errors.New("it has no kind")))
			continue
		}
		r.objects = append(r.objects, o)
		if text(o.Node, "kind") != "ClusterServiceVersion" {
			continue
		}
		if r.csv.Node != nil {
			r.fault(CodeDuplicate, o.at, "", fmt.Errorf("is a second ClusterServiceVersion, first at %s; a bundle has exactly one", r.csv.at))
			continue
		}
		r.csv = o
	}
	if r.csv.Node == nil && r.faults.Err() == nil {
		r.fault(CodeRequired, Pos{File: "manifests"}, "", errors.New("holds no ClusterServiceVersion; a bundle has exactly one"))
	}
}

// metadata reads the annotations, and whatever file lists dependencies or
// properties, as opm does.
func (r *dirReader) metadata() {
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
		r.fault(CodeRequired, Pos{File: "metadata"}, "", errors.New("no file has annotations; metadata/annotations.yaml says which package the bundle belongs to"))
	}
}

// at follows keys down a tree; nil where one is missing.
func at(n *yamlout.Node, keys ...string) *yamlout.Node {
	for _, k := range keys {
		if n == nil {
			return nil
		}
		n = n.Get(k)
	}
	return n
}

// text returns the text at the keys, or "".
func text(n *yamlout.Node, keys ...string) string {
	if n = at(n, keys...); n != nil && n.Kind == '"' {
		return n.Text
	}
	return ""
}

// elems returns the list at the keys.
func elems(n *yamlout.Node, keys ...string) []*yamlout.Node {
	if n = at(n, keys...); n != nil && n.Kind == '[' {
		return n.Elems
	}
	return nil
}
