package graph

import (
	"fmt"

	"github.com/olmkit/olmkit/fbc"
)

// deprecations attaches the messages of olm.deprecations (A9).
func (b *builder) deprecations(list []*fbc.Deprecations) {
	for _, d := range sortedBy(list, func(d *fbc.Deprecations) *fbc.Meta { return &d.Meta }) {
		p, ok := b.c.Package(d.Package)
		for i, e := range d.Entries {
			var slot *uint32
			switch {
			case !ok:
			case e.Schema == fbc.SchemaPackage:
				slot = &p.rec().deprecated
			case e.Schema == fbc.SchemaChannel:
				if ch, ok := p.Channel(e.Name); ok {
					slot = &ch.rec().deprecated
				}
			case e.Schema == fbc.SchemaBundle:
				if x, ok := p.Bundle(e.Name); ok {
					slot = &x.rec().deprecated
				}
			}
			if slot == nil {
				b.problem(fbc.CodeDeprecation, &d.Meta, fmt.Sprintf("/entries/%d/reference", i), fmt.Errorf("%s %q does not exist in package %q", e.Schema, e.Name, d.Package))
				continue
			}
			if *slot == 0 {
				b.c.deprecations = append(b.c.deprecations, deprecationRec{b.t.id(e.Message)})
				*slot = uint32(len(b.c.deprecations))
			}
		}
	}
}
