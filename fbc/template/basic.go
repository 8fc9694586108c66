package template

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/imageref"
	"github.com/olmkit/olmkit/internal/yamlout"
)

// A Basic template is a catalog in one file, with images in place of bundles:
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
type Basic struct {
	entries []basicEntry
}

// A basicEntry is an image or a catalog with one blob.
type basicEntry struct {
	image string
	blob  *fbc.Catalog
}

// ParseBasic parses a basic template in YAML or JSON. The name is the file name in errors.
// The error is an [fbc.Diagnostics] whose paths contain the entry.
func ParseBasic(ctx context.Context, data []byte, name string) (*Basic, error) {
	t, err := read(ctx, data, name, "schema", "entries")
	if err != nil {
		return nil, err
	}
	if s := t.text("schema"); s != "olm.template.basic" {
		t.fault(codes.Type, "/schema", fmt.Errorf("schema %q must be olm.template.basic", s))
	}
	list := t.list("entries")
	if len(list) == 0 {
		t.fault(codes.Required, "/entries", errors.New("is missing or empty; list the blobs of the catalog"))
	}
	b := &Basic{}
	for i, n := range list {
		path := fmt.Sprintf("/entries/%d", i)
		var e basicEntry
		if isReference(n) {
			if e.image = n.TextAt("image"); e.image == "" {
				t.fault(codes.Required, path+"/image", errors.New("is missing or empty; name the image of the bundle"))
			} else if err := imageref.Check(e.image); err != nil {
				t.fault(codes.Image, path+"/image", err)
			}
			b.entries = append(b.entries, e)
			continue
		}
		e.blob, err = fbc.LoadReader(ctx, bytes.NewReader(n.AppendJSON(nil)), name, &fbc.LoadOptions{KeepAll: true})
		var found fbc.Diagnostics
		switch {
		case errors.As(err, &found):
			for _, d := range found {
				d.Pos, d.Path = t.doc.Pos, path+d.Path
				t.faults = append(t.faults, d)
			}
			continue
		case err != nil:
			return nil, err
		}
		for _, d := range e.blob.Findings {
			d.Pos, d.Path = t.doc.Pos, path+d.Path
		}
		for x := range e.blob.Blobs() {
			x.Common().Pos = t.doc.Pos
		}
		b.entries = append(b.entries, e)
	}
	return b, t.err()
}

// isReference reports whether an entry refers to a bundle image. As in opm, that is an
// olm.bundle with neither package nor contents.
func isReference(n *yamlout.Node) bool {
	return n.TextAt("schema") == fbc.SchemaBundle && n.Get("package") == nil &&
		n.Get("properties") == nil && n.Get("relatedImages") == nil
}

// Images returns the images that the template names, in order.
func (t *Basic) Images() []string {
	var out []string
	for _, e := range t.entries {
		if e.blob == nil {
			out = append(out, e.image)
		}
	}
	return out
}

// Expand returns the catalog that the template describes, in the order of its entries.
// load returns the contents of a bundle image. A duplicate definition is an error, an
// [fbc.Diagnostics].
func (t *Basic) Expand(ctx context.Context, load func(ctx context.Context, image string) (*bundle.Dir, error)) (*fbc.Catalog, error) {
	out := &fbc.Catalog{}
	for _, e := range t.entries {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if e.blob != nil {
			out.Packages = append(out.Packages, e.blob.Packages...)
			out.Channels = append(out.Channels, e.blob.Channels...)
			out.Bundles = append(out.Bundles, e.blob.Bundles...)
			out.Deprecations = append(out.Deprecations, e.blob.Deprecations...)
			out.Others = append(out.Others, e.blob.Others...)
			out.Findings = append(out.Findings, e.blob.Findings...)
			continue
		}
		d, err := load(ctx, e.image)
		if err != nil {
			return nil, fmt.Errorf("bundle %s: %w", e.image, err)
		}
		out.Bundles = append(out.Bundles, d.Bundle)
	}
	return fbc.Merge(nil, out)
}
