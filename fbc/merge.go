package fbc

import (
	"fmt"
	"path"

	"github.com/olmkit/olmkit/internal/codes"
)

// Merge returns the union of catalogs, in their order. It shares the blobs. The error is a
// [Diagnostics] with the duplicate definitions, one finding per package and pair of
// catalogs. In errors, the names of files of catalogs[i] begin with dirs[i], unless dirs is
// shorter or dirs[i] is empty.
func Merge(dirs []string, catalogs ...*Catalog) (*Catalog, error) { // A11
	out := &Catalog{}
	var found Diagnostics
	for i, c := range catalogs {
		for b := range c.Blobs() {
			out.add(b)
		}
		out.Findings = append(out.Findings, c.Findings...)
		for _, d := range twiceIn(c, func(p Pos) Pos { return below(dirs, i, p) }) {
			d.Pos = below(dirs, i, d.Pos)
			found = append(found, d)
		}
	}
	found = append(found, inBoth(dirs, catalogs)...)
	found.sort()
	out.Findings.sort()
	if len(found) > 0 {
		return nil, found
	}
	return out, nil
}

// below prepends the directory of the i-th catalog to a position in it.
func below(dirs []string, i int, p Pos) Pos {
	if i < len(dirs) && dirs[i] != "" && p.File != "" {
		p.File = path.Join(dirs[i], p.File)
	}
	return p
}

// inBoth reports blobs that two catalogs define. It returns one finding for each package
// and pair of catalogs, at the first such blob of the second catalog.
func inBoth(dirs []string, catalogs []*Catalog) Diagnostics {
	type key struct{ schema, pkg, name string }
	type place struct {
		catalog int
		pos     Pos
	}
	type clash struct {
		first, second int
		pkg           string
	}
	seen := map[key]place{}
	type fault struct {
		*Diagnostic
		first Pos
		blobs int
	}
	faults := map[clash]*fault{}
	var order []clash
	for i, c := range catalogs {
		for b := range c.Blobs() {
			m := b.Common()
			k := key{m.Schema, m.Package, m.Name}
			if m.Name == "" || m.Schema != SchemaPackage && m.Schema != SchemaChannel && m.Schema != SchemaBundle {
				continue
			}
			first, ok := seen[k]
			if !ok {
				seen[k] = place{i, m.Pos}
				continue
			}
			if first.catalog == i {
				continue // reported by twiceIn
			}
			x := clash{first.catalog, i, m.Package}
			if f, ok := faults[x]; ok {
				f.blobs++
				continue
			}
			order = append(order, x)
			f := &fault{first: below(dirs, first.catalog, first.pos), blobs: 1}
			f.Diagnostic = &Diagnostic{Code: codes.Duplicate, Pos: below(dirs, i, m.Pos), Schema: m.Schema, Package: m.Package, Name: m.Name,
				Err: fmt.Errorf("is already defined at %s; keep one of them", f.first)}
			faults[x] = f
		}
	}
	var out Diagnostics
	for _, x := range order {
		f := faults[x]
		if f.blobs > 1 {
			f.Schema, f.Name = SchemaPackage, x.pkg
			f.Err = fmt.Errorf("is in both %s and %s: %d blobs; take the package from one of them", f.first.File, f.Pos.File, f.blobs)
		}
		out = append(out, f.Diagnostic)
	}
	return out
}
