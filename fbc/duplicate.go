package fbc

import "fmt"

// duplicates reports packages, channels of a package, bundles of a package and
// entries of a channel that appear twice, also across files (A10, A6), each
// with the place of the first, as name tells it.
func duplicates(c *Catalog, name func(Pos) Pos) Diagnostics {
	var out Diagnostics
	type key struct{ schema, pkg, name string }
	seen := make(map[key]Pos, len(c.Packages)+len(c.Channels)+len(c.Bundles))
	check := func(m *Meta) {
		if m.Name == "" {
			return // another fault
		}
		k := key{m.Schema, m.Package, m.Name}
		if at, ok := seen[k]; ok {
			out = append(out, &Diagnostic{Code: CodeDuplicate, Pos: m.Pos, Schema: m.Schema, Package: m.Package, Name: m.Name,
				Err: fmt.Errorf("is defined a second time, first at %s; keep one of them", name(at))})
			return
		}
		seen[k] = m.Pos
	}
	for _, p := range c.Packages {
		check(&p.Meta)
	}
	for _, ch := range c.Channels {
		check(&ch.Meta)
		entries := make(map[string]int, len(ch.Entries))
		for i, e := range ch.Entries {
			if first, ok := entries[e.Name]; ok && e.Name != "" {
				out = append(out, &Diagnostic{Code: CodeDuplicate, Pos: ch.Pos, Schema: ch.Schema, Package: ch.Package, Name: ch.Name,
					Path: fmt.Sprintf("/entries/%d", i), Err: fmt.Errorf("entry %q appears a second time, first as entry %d; merge the two", e.Name, first)})
				continue
			}
			entries[e.Name] = i
		}
	}
	for _, b := range c.Bundles {
		check(&b.Meta)
	}
	return out
}

func asIs(p Pos) Pos { return p }
