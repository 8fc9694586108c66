package template

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
)

// A Composite is the recipe for a catalog that combines others:
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

// A Reference is a catalog image, and the name of the directory for its contents.
type Reference struct{ Name, Image string }

// ParseComposite parses a recipe in YAML or JSON. The name is the file name in errors. The
// error is an [fbc.Diagnostics].
func ParseComposite(ctx context.Context, data []byte, name string) (*Composite, error) {
	t, err := read(ctx, data, name, "name", "repo", "tag", "references", "schema")
	if err != nil {
		return nil, err
	}
	if form := t.doc.Template(); form != nil && form.Components {
		return nil, fbc.Diagnostics{{Code: codes.Template, Pos: t.doc.Pos, Err: form}}
	}
	c := &Composite{Name: t.text("name"), Repo: t.text("repo"), Tag: t.text("tag")}
	if c.Name == "" {
		t.fault(codes.Required, "/name", errors.New("is missing or empty; set it to the name of the catalog, which is its directory"))
	}
	seen := map[string]bool{}
	list := t.list("references")
	if len(list) == 0 {
		t.fault(codes.Required, "/references", errors.New("is missing or empty; list the catalogs to combine"))
	}
	for i, e := range list {
		at := fmt.Sprintf("/references/%d", i)
		r := Reference{e.TextAt("name"), e.TextAt("image")}
		switch {
		case r.Name == "" || strings.ContainsAny(r.Name, `/\`) || r.Name == "." || r.Name == "..":
			t.fault(codes.Required, at+"/name", fmt.Errorf("%q cannot be the name of a directory", r.Name))
		case seen[r.Name]:
			t.fault(codes.Duplicate, at+"/name", fmt.Errorf("%q is used twice; rename one of them", r.Name))
		}
		seen[r.Name] = true
		if err := imageref.Check(r.Image); err != nil {
			t.fault(codes.Image, at+"/image", err)
		}
		c.References = append(c.References, r)
	}
	return c, t.err()
}

// A Part is one file of an expanded recipe.
type Part struct {
	Path    string // of the file, slash-separated: NAME/REFERENCE/index.yaml
	Catalog *fbc.Catalog
}

// Expand returns the files of the composite catalog, in the order of the references, and
// their union. load returns the catalog of a reference; the caller pulls images. A package
// in two references is an error, an [fbc.Diagnostics].
func (c *Composite) Expand(ctx context.Context, load func(context.Context, Reference) (*fbc.Catalog, error)) ([]Part, *fbc.Catalog, error) { // A15
	var (
		parts []Part
		all   []*fbc.Catalog
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
	whole, err := fbc.Merge(dirs, all...)
	return parts, whole, err
}
