package fbc

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// PackageNames returns the names of the packages of all blobs, sorted.
func (c *Catalog) PackageNames() []string {
	seen := map[string]bool{}
	var names []string
	for b := range c.Blobs() {
		if name := b.Common().Package; name != "" && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return names
}

// Blobs yields all blobs, kind by kind in the order of the fields of Catalog.
func (c *Catalog) Blobs() iter.Seq[Blob] {
	return func(yield func(Blob) bool) {
		_ = each(c.Packages, yield) && each(c.Channels, yield) && each(c.Bundles, yield) && each(c.Deprecations, yield) && each(c.Others, yield)
	}
}

func each[B Blob](list []B, yield func(Blob) bool) bool {
	for _, b := range list {
		if !yield(b) {
			return false
		}
	}
	return true
}

// Extract returns the part of the catalog that belongs to the named packages. It shares
// the blobs, and omits those that belong to no package. A name that is not in the
// catalog is an error.
func Extract(c *Catalog, packages ...string) (*Catalog, error) {
	var unknown []string
	have := c.PackageNames()
	for _, name := range packages {
		if !slices.Contains(have, name) {
			unknown = append(unknown, fmt.Sprintf("%q", name))
		}
	}
	if len(unknown) > 0 {
		return nil, fmt.Errorf("the catalog does not have the packages %s; it has %s", strings.Join(unknown, ", "), quoted(have))
	}
	set := make(map[string]bool, len(packages))
	for _, name := range packages {
		set[name] = true
	}
	wanted := func(name string) bool { return set[name] }
	out := &Catalog{}
	for b := range c.Blobs() {
		if wanted(b.Common().Package) {
			out.add(b)
		}
	}
	for _, d := range c.Findings {
		if wanted(d.Package) {
			out.Findings = append(out.Findings, d)
		}
	}
	return out, nil
}

// Files yields the catalog of each file, sorted by name.
func (c *Catalog) Files() iter.Seq2[string, *Catalog] {
	return c.group(func(m *Meta) string { return m.Pos.File })
}

// ByPackage yields the catalog of each package, sorted by name. Blobs without a package
// come first, under the empty name.
func (c *Catalog) ByPackage() iter.Seq2[string, *Catalog] {
	return c.group(func(m *Meta) string { return m.Package })
}

func (c *Catalog) group(key func(*Meta) string) iter.Seq2[string, *Catalog] {
	return func(yield func(string, *Catalog) bool) {
		parts := map[string]*Catalog{}
		for b := range c.Blobs() {
			k := key(b.Common())
			if parts[k] == nil {
				parts[k] = &Catalog{}
			}
			parts[k].add(b)
		}
		for _, k := range slices.Sorted(maps.Keys(parts)) {
			if !yield(k, parts[k]) {
				return
			}
		}
	}
}
