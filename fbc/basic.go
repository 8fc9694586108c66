package fbc

import (
	"context"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/internal/yamlout"
)

// A BasicTemplate is a catalog in one file, with images in the place of bundles
// (A15):
//
//	schema: olm.template.basic
//	entries:
//	- schema: olm.package
//	  name: etcd
//	  defaultChannel: stable
//	- schema: olm.channel
//	  …
//	- schema: olm.bundle
//	  image: quay.io/example/etcd-bundle:v0.9.0
type BasicTemplate struct {
	entries []basicEntry
}

// A basicEntry is an image, or the catalog of one blob.
type basicEntry struct {
	image string
	blob  *Catalog
}

// ParseBasic reads a basic template in YAML or JSON. The name stands for the file
// in errors, which are a [Diagnostics] with the entry in their paths.
func ParseBasic(ctx context.Context, data []byte, name string) (*BasicTemplate, error) {
	t, err := readTemplate(ctx, data, name, "schema", "entries")
	if err != nil {
		return nil, err
	}
	if s := t.text("schema"); s != "olm.template.basic" {
		t.fault(CodeType, "/schema", fmt.Errorf("schema %q: want olm.template.basic", s))
	}
	list := t.list("entries")
	if len(list) == 0 {
		t.fault(CodeRequired, "/entries", errors.New("is missing or empty; list the blobs of the catalog"))
	}
	b := &BasicTemplate{}
	for i, n := range list {
		path := fmt.Sprintf("/entries/%d", i)
		var e basicEntry
		if isReference(n) {
			if e.image = text(n, "image"); e.image == "" {
				t.fault(CodeRequired, path+"/image", errors.New("is missing or empty; name the image of the bundle"))
			} else if err := checkImage(e.image); err != nil {
				t.fault(CodeImage, path+"/image", err)
			}
			b.entries = append(b.entries, e)
			continue
		}
		e.blob, err = LoadBytes(ctx, n.AppendJSON(nil), name, &LoadOptions{Keep: KeepAll})
		var found Diagnostics
		switch {
		case errors.As(err, &found):
			for _, d := range found {
				d.Pos, d.Path = t.at, path+d.Path
				t.faults = append(t.faults, d)
			}
			continue
		case err != nil:
			return nil, err
		}
		for _, d := range e.blob.Findings {
			d.Pos, d.Path = t.at, path+d.Path
		}
		for x := range e.blob.Blobs() {
			x.Common().Pos = t.at
		}
		b.entries = append(b.entries, e)
	}
	return b, t.err()
}

// isReference reports whether an entry stands for the bundle of an image: an
// olm.bundle with neither package nor contents, as opm has it.
func isReference(n *yamlout.Node) bool {
	return text(n, "schema") == SchemaBundle && n.Get("package") == nil &&
		n.Get("properties") == nil && n.Get("relatedImages") == nil
}

// Images returns the images that the template needs, in its order.
func (t *BasicTemplate) Images() []string {
	var out []string
	for _, e := range t.entries {
		if e.blob == nil {
			out = append(out, e.image)
		}
	}
	return out
}

// Expand returns the catalog that the template describes, in its order. bundle
// returns the bundle of an image; to pull images is up to the caller. What is
// defined twice is an error, a [Diagnostics] (A10).
func (t *BasicTemplate) Expand(ctx context.Context, bundle func(ctx context.Context, image string) (*Bundle, error)) (*Catalog, error) {
	out := &Catalog{}
	for _, e := range t.entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if e.blob != nil {
			for b := range e.blob.Blobs() {
				out.add(b)
			}
			out.Findings = append(out.Findings, e.blob.Findings...)
			continue
		}
		b, err := bundle(ctx, e.image)
		if err != nil {
			return nil, fmt.Errorf("bundle %s: %w", e.image, err)
		}
		out.add(b)
	}
	return Merge(out)
}
