package graph

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
)

// A deprecatedBlob is an olm.deprecations blob.
type deprecatedBlob struct {
	pkg, name sid
	pos       pos
	entries   []deprecatedEntry
}

type deprecatedEntry struct{ schema, name, message sid }

// deprecation collects the messages of a blob (A9).
func (b *builder) deprecation(x *fbc.Deprecations) {
	d := deprecatedBlob{pkg: b.t.id(x.Package), name: b.t.id(x.Name), pos: b.pos(x.Pos)}
	for _, e := range x.Entries {
		d.entries = append(d.entries, deprecatedEntry{b.t.id(e.Schema), b.t.id(e.Name), b.t.id(e.Message)})
	}
	b.deprecated = append(b.deprecated, d)
}

// deprecations attaches the messages to the packages, channels and bundles that they refer
// to. The first of several counts.
func (b *builder) deprecations() {
	c := b.c
	slices.SortStableFunc(b.deprecated, func(x, y deprecatedBlob) int {
		return b.compare(x.pkg, y.pkg, x.name, y.name, x.pos, y.pos)
	})
	for _, d := range b.deprecated {
		p, ok := c.Package(c.str(d.pkg))
		for i, e := range d.entries {
			var slot *uint32
			switch name := c.str(e.name); {
			case !ok:
			case c.str(e.schema) == fbc.SchemaPackage:
				slot = &p.rec().deprecated
			case c.str(e.schema) == fbc.SchemaChannel:
				if ch, ok := p.Channel(name); ok {
					slot = &ch.rec().deprecated
				}
			case c.str(e.schema) == fbc.SchemaBundle:
				if x, ok := p.Bundle(name); ok {
					slot = &x.rec().deprecated
				}
			}
			if slot == nil {
				meta := b.meta(fbc.SchemaDeprecations, d.pkg, d.name, d.pos)
				b.problem(codes.Deprecation, &meta, fmt.Sprintf("/entries/%d/reference", i), fmt.Errorf("%s %q does not exist in package %q", c.str(e.schema), c.str(e.name), meta.Package))
				continue
			}
			if *slot == 0 {
				c.deprecations = append(c.deprecations, deprecationRec{e.message})
				*slot = uint32(len(c.deprecations))
			}
		}
	}
}
