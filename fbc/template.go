package fbc

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/yamlout"
)

// A Composite is the recipe of a catalog that is put together from others (A15):
//
//	name: community-operators
//	repo: quay.io/community-operators/catalog
//	tag: latest
//	references:
//	- name: etcd-operator
//	  image: quay.io/etcd-operator/index@sha256:…
type Composite struct {
	Name, Repo, Tag string
	References      []Reference
}

// A Reference names a catalog image, and the directory that its contents get.
type Reference struct{ Name, Image string }

// ParseComposite reads a recipe in YAML or JSON. The name stands for the file in
// errors, which are a [Diagnostics].
func ParseComposite(ctx context.Context, data []byte, name string) (*Composite, error) {
	t, err := readTemplate(ctx, data, name, "name", "repo", "tag", "references", "schema")
	if err != nil {
		return nil, err
	}
	if form := templateOf(t.n); form != nil && form.components {
		return nil, Diagnostics{{Code: CodeTemplate, Pos: t.at, Err: form}}
	}
	c := &Composite{Name: t.text("name"), Repo: t.text("repo"), Tag: t.text("tag")}
	if c.Name == "" {
		t.fault(CodeRequired, "/name", errors.New("is missing or empty; it is the directory of the catalog"))
	}
	seen := map[string]bool{}
	list := t.list("references")
	if len(list) == 0 {
		t.fault(CodeRequired, "/references", errors.New("is missing or empty; list the catalogs to put together"))
	}
	for i, e := range list {
		at := fmt.Sprintf("/references/%d", i)
		r := Reference{text(e, "name"), text(e, "image")}
		switch {
		case r.Name == "" || strings.ContainsAny(r.Name, `/\`) || r.Name == "." || r.Name == "..":
			t.fault(CodeRequired, at+"/name", fmt.Errorf("%q is no name of a directory", r.Name))
		case seen[r.Name]:
			t.fault(CodeDuplicate, at+"/name", fmt.Errorf("%q appears a second time", r.Name))
		}
		seen[r.Name] = true
		if err := checkImage(r.Image); err != nil {
			t.fault(CodeImage, at+"/image", err)
		}
		c.References = append(c.References, r)
	}
	return c, t.err()
}

// A Part is one file of an expanded composite.
type Part struct {
	Path    string // of the file, slash-separated: NAME/REFERENCE/index.yaml
	Catalog *Catalog
}

// Expand returns the files of the composite catalog, in the order of the
// references, and their union. load returns the catalog of a reference; to pull
// images is up to the caller. A package that two references define is an error
// (A10).
func (c *Composite) Expand(ctx context.Context, load func(context.Context, Reference) (*Catalog, error)) ([]Part, *Catalog, error) {
	var (
		parts []Part
		all   []*Catalog
		dirs  []string
	)
	for _, r := range c.References {
		if ctx.Err() != nil {
			return nil, nil, context.Cause(ctx)
		}
		part, err := load(ctx, r)
		if err != nil {
			return nil, nil, fmt.Errorf("reference %q (%s): %w", r.Name, r.Image, err)
		}
		parts = append(parts, Part{path.Join(c.Name, r.Name, "index.yaml"), part})
		all, dirs = append(all, part), append(dirs, r.Name)
	}
	whole, err := MergeFrom(dirs, all...)
	return parts, whole, err
}

// A template is a document of a schema that is no blob.
type template struct {
	n      *yamlout.Node
	at     Pos
	faults Diagnostics
}

// readTemplate reads a file with one document, whose keys must be among those
// known, whatever their case.
func readTemplate(ctx context.Context, data []byte, name string, known ...string) (*template, error) {
	limits := (*Limits)(nil).WithDefaults()
	r := dirReader{ctx: ctx, limits: &limits, fsys: oneFile{name, data}}
	docs := r.file(name)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(r.faults) == 0 && len(docs) != 1 {
		r.fault(CodeSyntax, Pos{File: name}, "", fmt.Errorf("holds %d documents; a template is the only document of its file, so move the others to separate files", len(docs)))
	}
	if len(r.faults) > 0 {
		return nil, r.faults
	}
	t := &template{n: docs[0].Node, at: docs[0].at}
	for i, m := range t.n.Members {
		ok := false
		for _, k := range known {
			if strings.EqualFold(m.Key, k) {
				ok, t.n.Members[i].Key = true, k
			}
		}
		if !ok {
			t.fault(CodeType, "/"+m.Key, fmt.Errorf("unknown key: want %s", strings.Join(known, ", ")))
		}
	}
	return t, nil
}

func (t *template) fault(code Code, path string, err error) {
	t.faults = append(t.faults, &Diagnostic{Code: code, Severity: Error, Pos: t.at, Path: path, Err: err})
}

func (t *template) err() error {
	t.faults.sort()
	return t.faults.Err()
}

func (t *template) text(key string) string {
	n := t.n.Get(key)
	if n != nil && n.Kind != '"' && n.Kind != 'n' {
		t.fault(CodeType, "/"+key, fmt.Errorf("must be a string, found %s", jsonkind.Name(n.Kind)))
	}
	return text(t.n, key)
}

func (t *template) bool(key string) bool {
	n := t.n.Get(key)
	if n != nil && n.Kind != 't' && n.Kind != 'f' {
		t.fault(CodeType, "/"+key, fmt.Errorf("must be a boolean, found %s", jsonkind.Name(n.Kind)))
	}
	return n != nil && n.Kind == 't'
}

func (t *template) list(key string) []*yamlout.Node {
	n := t.n.Get(key)
	if n != nil && n.Kind != '[' && n.Kind != 'n' {
		t.fault(CodeType, "/"+key, fmt.Errorf("must be a list, found %s", jsonkind.Name(n.Kind)))
	}
	return elems(t.n, key)
}
