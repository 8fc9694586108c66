package registryv1

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	yamlv3 "go.yaml.in/yaml/v3"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/bundledir"
	"github.com/olmkit/olmkit/internal/yamljson"
)

const (
	manifestsDir    = "manifests"
	annotationsFile = "metadata/annotations.yaml"
	propertiesFile  = "metadata/properties.yaml"

	packageAnnotation    = "operators.operatorframework.io.bundle.package.v1"
	propertiesAnnotation = "olm.properties"

	crdKind = "CustomResourceDefinition"
)

// ReadOptions adjust how a bundle is read. A nil *ReadOptions means all defaults.
type ReadOptions struct {
	Limits *Limits
	// Cache, if set, shares CRDs with other bundles.
	Cache *Cache
}

// Read reads the bundle at the root of fsys: metadata/annotations.yaml,
// metadata/properties.yaml, and every file in manifests/. The error is an
// [*Error] with all problems, in the order in which operator-controller meets them, or
// the cause of the context's end.
func Read(ctx context.Context, fsys fs.FS, opts *ReadOptions) (*Bundle, error) { // K1 to K6
	r := newReader(ctx, fsys, opts)
	r.annotations()
	r.manifests()
	r.properties()
	return r.done()
}

// FromObjects returns the bundle of package pkg whose manifests are objects, each the
// text of one file. A catalog holds them in its olm.bundle.object properties. Errors
// are those of [Read].
func FromObjects(ctx context.Context, pkg string, objects [][]byte, opts *ReadOptions) (*Bundle, error) {
	r := newReader(ctx, nil, opts)
	r.bundle.Package = pkg
	for i, text := range objects {
		name := fmt.Sprintf("%s/object-%04d", manifestsDir, i+1)
		if err := r.files.Count(text); err != nil {
			r.problem("manifest", name, fbc.Pos{File: name}, "", err)
			break
		}
		r.file(name, text)
	}
	r.hasCSV()
	return r.done()
}

type reader struct {
	ctx      context.Context
	fsys     fs.FS
	files    *bundledir.Reader
	limits   Limits
	cache    *Cache // or nil
	objects  int
	bundle   Bundle
	problems []Problem
}

func newReader(ctx context.Context, fsys fs.FS, opts *ReadOptions) *reader {
	if opts == nil {
		opts = &ReadOptions{}
	}
	l := opts.Limits.WithDefaults()
	files := bundledir.New(fsys, bundledir.Limits{Files: int64(l.Files), BundleSize: l.BundleSize, DocumentSize: l.DocumentSize, Expansion: l.Expansion})
	return &reader{ctx: ctx, fsys: fsys, files: files, limits: l, cache: opts.Cache}
}

// done returns what was read.
func (r *reader) done() (*Bundle, error) {
	if r.ctx.Err() != nil {
		return nil, context.Cause(r.ctx)
	}
	if err := failure(r.problems); err != nil {
		return nil, err
	}
	return &r.bundle, nil
}

func (r *reader) problem(code string, subject string, at fbc.Pos, peer string, err error) {
	if isLimit(err) {
		if code = "limit"; at.Line == 0 && subject != "" { // a file that was not read to its end
			at.Line = 1
		}
	}
	r.problems = append(r.problems, Problem{Stage: StageRead, Code: code, Subject: subject, Pos: at, Message: err.Error(), peerMessage: peer})
}

// upstream returns the error of Kubernetes' parser if err is about a document's text, and err otherwise.
func upstream(err error) error {
	var syntax *bundledir.SyntaxError
	if errors.As(err, &syntax) {
		return syntax.Err
	}
	return err
}

// isLimit reports whether an error is about a limit.
func isLimit(err error) bool {
	return errors.As(err, new(*fbc.LimitError)) || errors.As(err, new(*yamljson.LimitError))
}

// metadata decodes a file in metadata/ into v. It reports whether the file has content.
func (r *reader) metadata(name string, v any) (bool, fbc.Pos, error) {
	at := fbc.Pos{File: name}
	info, err := fs.Stat(r.fsys, name)
	if err != nil {
		return false, at, err
	}
	text, err := r.files.Read(name, fs.FileInfoToDirEntry(info))
	if err != nil || len(text) == 0 {
		return false, at, err
	}
	doc, line, err := r.files.JSON(r.ctx, bundledir.Document{Text: text, Line: 1})
	if err != nil {
		return true, fbc.Pos{File: name, Line: line}, err
	}
	if doc, err = sortKeys(doc); err != nil {
		return true, at, err
	}
	return true, at, readable(json.Unmarshal(doc, v))
}

// sortKeys returns JSON with the keys of all objects sorted, which is how properties
// are written (K6).
func sortKeys(doc []byte) ([]byte, error) {
	var v any
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	return json.Marshal(v)
}

// annotations reads the name of the package (K1).
func (r *reader) annotations() {
	var file struct {
		Annotations map[string]json.RawMessage `json:"annotations"`
	}
	_, at, err := r.metadata(annotationsFile, &file)
	if name := file.Annotations[packageAnnotation]; err == nil && len(name) > 0 && string(name) != "null" {
		switch name[0] {
		case '"':
			err = json.Unmarshal(name, &r.bundle.Package)
		case '{', '[':
			err = fmt.Errorf("annotation %s is not a string", packageAnnotation)
		default: // use the text of a number or a boolean
			r.bundle.Package = string(name)
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		r.problem("annotations", "", at, "open "+annotationsFile+": no such file or directory", errors.New("the file does not exist; a bundle needs it to name its package"))
	} else if err != nil {
		r.problem("annotations", "", at, "", err)
	}
}

// manifests reads all files in manifests/, in name order (K2).
func (r *reader) manifests() {
	at := fbc.Pos{File: manifestsDir}
	entries, err := r.files.List(manifestsDir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		r.problem("noManifests", "", at, "stat manifests: no such file or directory", errors.New("the directory does not exist; a bundle needs it"))
		return
	case err != nil:
		r.problem("noManifests", "", at, "", err)
		return
	}
	for _, e := range entries { // sorted by name
		name := path.Join(manifestsDir, e.Name())
		if r.ctx.Err() != nil {
			return
		}
		if e.IsDir() {
			r.problem("subdirectory", name, fbc.Pos{File: name},
				fmt.Sprintf("subdirectories are not allowed within the %q directory of the bundle image filesystem: found %q", manifestsDir, name),
				errors.New("is a directory; move its files to manifests/"))
			continue
		}
		text, err := r.files.Read(name, e)
		if err != nil {
			r.problem("manifest", name, fbc.Pos{File: name}, "", err)
			continue
		}
		r.file(name, text)
	}
	r.hasCSV()
}

// hasCSV adds a problem if there is no CSV in manifests that can be read.
func (r *reader) hasCSV() {
	broken := slices.ContainsFunc(r.problems, func(p Problem) bool { return p.Pos.File != annotationsFile })
	if len(r.bundle.CSVs) == 0 && !broken {
		r.problem("noCSV", "", fbc.Pos{File: manifestsDir}, `no ClusterServiceVersion found in "manifests"`, errors.New("no file has a ClusterServiceVersion"))
	}
}

// file reads the documents of a file, up to the first that exceeds a limit.
func (r *reader) file(name string, text []byte) {
	fail := func(line int, err error) {
		r.problem("manifest", name, fbc.Pos{File: name, Line: line}, fmt.Sprintf("error parsing objects in %q: %v", name, upstream(err)), err)
	}
	mismatch := func(m *Manifest[unstructured.Unstructured], err error) {
		for _, w := range r.wrongTypes(&m.Object, err) {
			r.problem("manifest", name, m.At(w.path...), fmt.Sprintf("error parsing objects in %q: %v", name, w.err), w.err)
		}
	}
	for doc, err := range bundledir.Documents(text) {
		if err != nil {
			fail(doc.Line, err)
			return
		}
		at := fbc.Pos{File: name, Line: doc.Line}
		var sum [sha256.Size]byte
		if r.cache != nil {
			sum = sha256.Sum256(doc.Text)
			if x := r.cache.find(sum); x != nil {
				if err := r.count(); err != nil {
					fail(doc.Line, err)
					return
				}
				r.bundle.CRDs = append(r.bundle.CRDs, Manifest[apiextensionsv1.CustomResourceDefinition]{
					Pos: at, Object: *x.crd, tree: treeOf(doc.Text), shared: x,
				})
				continue
			}
		}
		room := r.files.Room()
		value, line, err := r.files.JSON(r.ctx, doc)
		if err != nil {
			fail(line, err)
			if isLimit(err) || r.ctx.Err() != nil {
				return
			}
			continue
		}
		if value == nil {
			continue
		}
		objects, paths, err := decode(value)
		if err != nil {
			fail(doc.Line, err)
			continue
		}
		added := true
		trees, lines := []func() *yamlv3.Node{treeOf(doc.Text)}, []int{doc.Line}
		if list := len(objects) != 1 || len(paths[0]) > 0; list {
			trees, lines = treesOf(doc.Text, doc.Line, paths)
		}
		for i, o := range objects {
			if err := r.count(); err != nil {
				fail(doc.Line, err)
				return
			}
			m := Manifest[unstructured.Unstructured]{Pos: fbc.Pos{File: name, Line: lines[i]}, Object: *o, tree: trees[i]}
			if err := r.add(m); err != nil {
				mismatch(&m, err)
				added = false
			}
		}
		if added && r.cache != nil && len(objects) == 1 && len(paths[0]) == 0 && objects[0].GetKind() == crdKind && r.files.Room() == room { // without aliases
			m := &r.bundle.CRDs[len(r.bundle.CRDs)-1]
			shared := m.Object
			m.shared = r.cache.keep(sum, len(doc.Text), &shared)
		}
	}
}

// count counts an object. It returns an error if there are too many.
func (r *reader) count() error {
	if r.objects++; r.objects > r.limits.Objects {
		return &fbc.LimitError{Limit: "Objects", What: "number of manifests", Max: int64(r.limits.Objects)}
	}
	return nil
}

// add appends an object to the list for its kind in the bundle. It does not look at the
// object's group (K4).
func (r *reader) add(m Manifest[unstructured.Unstructured]) error {
	switch m.Object.GetKind() {
	case v1alpha1.ClusterServiceVersionKind:
		return typed(m, &r.bundle.CSVs, func(o map[string]any, csv *v1alpha1.ClusterServiceVersion) error {
			return runtime.DefaultUnstructuredConverter.FromUnstructured(o, csv)
		})
	case crdKind:
		return typed(m, &r.bundle.CRDs, fromCRD)
	}
	r.bundle.Others = append(r.bundle.Others, m)
	return nil
}

// wrongTypes returns why an object cannot be added.
func (r *reader) wrongTypes(o *unstructured.Unstructured, err error) []wrongType {
	if o.GetKind() == crdKind {
		return wrongTypes[apiextensionsv1.CustomResourceDefinition](o.Object, err)
	}
	return wrongTypes[v1alpha1.ClusterServiceVersion](o.Object, err)
}

// typed converts an object to the Go type T and appends it to list (K5).
func typed[T any](m Manifest[unstructured.Unstructured], list *[]Manifest[T], convert func(map[string]any, *T) error) error {
	out := Manifest[T]{Pos: m.Pos, tree: m.tree}
	if err := convert(m.Object.Object, &out.Object); err != nil {
		return err
	}
	*list = append(*list, out)
	return nil
}

// readable returns a clearer error if err reports a value of the wrong type, and err
// itself otherwise.
func readable(err error) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case !errors.As(err, &wrong):
	case wrong.Field == "":
		return fmt.Errorf("the document is %s; it must be an object", jsonValue(wrong.Value))
	default:
		return fmt.Errorf("%s is %s; it must be %s", wrong.Field, jsonValue(wrong.Value), goType(wrong.Type))
	}
	return err
}

// decode returns the objects of a document: the items if it is a list, or else the
// object itself (K2).
func decode(doc []byte) (out []*unstructured.Unstructured, paths [][]any, err error) {
	var one unstructured.Unstructured
	var o runtime.Object = &one
	one.Object, err = decodeObject(doc)
	if _, list := one.Object["items"]; err != nil || list || one.GroupVersionKind().Kind == "" {
		o, _, err = unstructured.UnstructuredJSONScheme.Decode(doc, nil, nil) // decodes twice, because of lists
		if runtime.IsMissingKind(err) {
			return nil, nil, errors.New("the object has no kind")
		}
		if err != nil {
			return nil, nil, readable(err)
		}
	}
	metadata, err := json.Marshal(map[string]any{"metadata": o.(runtime.Unstructured).UnstructuredContent()["metadata"]})
	if err != nil {
		return nil, nil, err
	}
	var meta struct {
		Metadata metav1.ObjectMeta `json:"metadata"`
	}
	if err := json.Unmarshal(metadata, &meta); err != nil {
		return nil, nil, readable(err)
	}
	type part struct {
		object runtime.Object
		path   []any
	}
	for todo := []part{{object: o}}; len(todo) > 0; {
		next := todo[0]
		todo = todo[1:]
		switch object := next.object.(type) {
		case *unstructured.UnstructuredList:
			for i := range object.Items {
				todo = append(todo, part{&object.Items[i], append(slices.Clip(next.path), "items", i)})
			}
		case *unstructured.Unstructured:
			if !object.IsList() {
				out, paths = append(out, object), append(paths, next.path)
				continue
			}
			list, err := object.ToList()
			if err != nil {
				return nil, nil, err
			}
			todo = append(todo, part{list, next.path})
		}
	}
	return out, paths, nil
}

// An olmProperty is one of olm.properties.
type olmProperty struct {
	Type  string          `json:"type"`
	Value json.RawMessage `json:"value"`
}

// properties appends the properties in metadata/properties.yaml to those of the CSV
// (K6).
func (r *reader) properties() {
	var file struct {
		Properties []olmProperty `json:"properties"`
	}
	some, at, err := r.metadata(propertiesFile, &file)
	var all []olmProperty
	if len(r.bundle.CSVs) > 0 {
		csv := r.bundle.csv()
		if text, ok := csv.Object.Annotations[propertiesAnnotation]; ok {
			if err := json.Unmarshal([]byte(text), &all); err != nil {
				r.problem("olmProperties", "", csv.At("metadata", "annotations", propertiesAnnotation),
					fmt.Sprintf("failed to unmarshal csv.metadata.annotations['olm.properties']: %v", err),
					fmt.Errorf("annotation olm.properties is not a JSON list of properties: %w", err))
			}
		}
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		r.problem("properties", "", at, fmt.Sprintf("failed to unmarshal metadata/properties.yaml: %v", upstream(err)), err)
	case some && len(r.bundle.CSVs) > 0:
		text, err := json.Marshal(append(all, file.Properties...))
		if err != nil {
			r.problem("properties", "", at, "", err)
			return
		}
		csv := r.bundle.CSV()
		if csv.Annotations == nil {
			csv.Annotations = map[string]string{}
		}
		csv.Annotations[propertiesAnnotation] = string(text)
	}
}
