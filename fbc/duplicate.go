package fbc

import (
	"fmt"
	"hash/maphash"

	"github.com/olmkit/olmkit/internal/codes"
)

// twiceIn returns the duplicates in a catalog. Messages contain the position of the first
// definition as converted by name.
func twiceIn(c *Catalog, name func(Pos) Pos) Diagnostics {
	var d duplicates
	for b := range c.Blobs() {
		d.add(b, name)
	}
	return d.found()
}

// duplicates finds packages, channels of a package, bundles of a package and entries of a
// channel that are defined twice, including across files (A10, A6). It keeps no blobs, so that
// it can be used by loads that keep none.
type duplicates struct {
	seeds    [2]maphash.Seed
	seen     map[identity]filed
	files    []string
	entries  map[string]int // of the channel at hand
	packages Diagnostics
	channels Diagnostics
	bundles  Diagnostics
}

// An identity identifies a schema, package and name by two hashes with random seeds.
// Different names never share all 128 bits.
type identity [2]uint64

// A filed is a position, with an index of duplicates.files as its file.
type filed struct {
	file, line uint32
}

func (d *duplicates) identity(m *Meta) identity {
	if d.seen == nil {
		d.seen = map[identity]filed{}
		d.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
	}
	type names struct{ schema, pkg, name string }
	n := names{m.Schema, m.Package, m.Name}
	return identity{maphash.Comparable(d.seeds[0], n), maphash.Comparable(d.seeds[1], n)}
}

// add takes the next blob. Messages contain the position of the first definition as
// converted by name.
func (d *duplicates) add(b Blob, name func(Pos) Pos) {
	switch b := b.(type) {
	case *Package:
		d.check(&b.Meta, name, &d.packages)
	case *Channel:
		d.check(&b.Meta, name, &d.channels)
		d.checkEntries(b)
	case *Bundle:
		d.check(&b.Meta, name, &d.bundles)
	}
}

func (d *duplicates) check(m *Meta, name func(Pos) Pos, list *Diagnostics) {
	if m.Name == "" {
		return // another fault
	}
	id := d.identity(m)
	if at, ok := d.seen[id]; ok {
		first := Pos{File: d.files[at.file], Line: int(at.line)}
		*list = append(*list, &Diagnostic{Code: codes.Duplicate, Pos: m.Pos, Schema: m.Schema, Package: m.Package, Name: m.Name,
			Err: fmt.Errorf("is already defined at %s; keep one of them", name(first))})
		return
	}
	// Blobs of one file usually follow each other, so few files are listed twice.
	if n := len(d.files); n == 0 || d.files[n-1] != m.Pos.File {
		d.files = append(d.files, m.Pos.File)
	}
	d.seen[id] = filed{uint32(len(d.files) - 1), uint32(m.Pos.Line)}
}

func (d *duplicates) checkEntries(ch *Channel) {
	d.entries = emptied(d.entries)
	for i, e := range ch.Entries {
		if first, ok := d.entries[e.Name]; ok && e.Name != "" {
			d.channels = append(d.channels, &Diagnostic{Code: codes.Duplicate, Pos: ch.Pos, Schema: ch.Schema, Package: ch.Package, Name: ch.Name,
				Path: fmt.Sprintf("/entries/%d", i), Err: fmt.Errorf("entry %q is already entry %d; merge the two", e.Name, first)})
			continue
		}
		d.entries[e.Name] = i
	}
}

// found returns the duplicates: packages, then channels and their entries, then bundles.
func (d *duplicates) found() Diagnostics {
	return append(append(d.packages, d.channels...), d.bundles...)
}

func asIs(p Pos) Pos { return p }
