package resolver

import (
	"cmp"
	"context"
	"iter"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
)

// Postings list the bundles of a catalog, or the installed operators, that can satisfy a
// leaf of an expression, without a scan.
type postings[T comparable] interface {
	providers(property.GVK) iter.Seq[T]
	labeled(string) iter.Seq[T]
	inPackage(string) iter.Seq[T]
	all() iter.Seq[T]
	compare(a, b T) int
}

// reach yields a superset of the members that satisfy an expression: those in its postings,
// or all members if there are no postings for it.
func reach[T comparable](p postings[T], x constraints.Expr) iter.Seq[T] {
	switch x := x.(type) {
	case *constraints.GVK:
		return p.providers(x.GVK)
	case *constraints.Label:
		return p.labeled(x.Label)
	case *constraints.Package:
		return p.inPackage(x.Name)
	case *constraints.All:
		// Use the part with the fewest: it includes everything that satisfies all parts.
		var best []T
		found := false
		for _, part := range x.Of {
			if !indexed(part) {
				continue
			}
			if list := slices.Collect(reach(p, part)); !found || len(list) < len(best) {
				best, found = list, true
			}
		}
		if found {
			return slices.Values(best)
		}
	case *constraints.Any:
		if indexed(x) {
			var all []T
			for _, part := range x.Of {
				all = slices.AppendSeq(all, reach(p, part))
			}
			slices.SortFunc(all, p.compare)
			return slices.Values(slices.Compact(all))
		}
	}
	return p.all()
}

// indexed reports whether reach finds what it returns without a scan.
func indexed(x constraints.Expr) bool {
	switch x := x.(type) {
	case *constraints.GVK, *constraints.Label, *constraints.Package:
		return true
	case *constraints.All:
		return slices.ContainsFunc(x.Of, indexed)
	case *constraints.Any:
		for _, part := range x.Of {
			if !indexed(part) {
				return false
			}
		}
		return true
	}
	return false
}

// Bundles of a catalog are sorted by package and name.
type bundlePostings struct{ *graph.Catalog }

func (p bundlePostings) providers(g property.GVK) iter.Seq[graph.Bundle] { return p.Providers(g) }
func (p bundlePostings) labeled(label string) iter.Seq[graph.Bundle]     { return p.Labeled(label) }
func (p bundlePostings) all() iter.Seq[graph.Bundle]                     { return p.Bundles() }
func (bundlePostings) compare(a, b graph.Bundle) int                     { return a.Compare(b) }

func (p bundlePostings) inPackage(name string) iter.Seq[graph.Bundle] {
	if pkg, ok := p.Package(name); ok {
		return pkg.Bundles()
	}
	return func(func(graph.Bundle) bool) {}
}

// listPostings are the postings of a list, in its order.
type listPostings[T comparable] struct {
	list     []T
	place    map[T]int // in list
	apis     map[property.GVK][]T
	packages map[string][]T
	labels   map[string][]T
}

// post makes the postings of a list. pkgs returns the packages of a member, and facts its
// properties.
func post[T comparable](list []T, pkgs func(T) []string, facts func(T) constraints.Bundle) *listPostings[T] {
	p := &listPostings[T]{
		list: list, place: make(map[T]int, len(list)),
		apis: map[property.GVK][]T{}, packages: map[string][]T{}, labels: map[string][]T{},
	}
	for i, c := range list {
		p.place[c] = i
		for _, pkg := range pkgs(c) {
			file(p.packages, pkg, c)
		}
		for x := range facts(c).Properties() {
			switch x.Type {
			case property.TypePackage:
				if v, err := property.Parse[property.Package](x); err == nil {
					file(p.packages, v.PackageName, c)
				}
			case property.TypeGVK:
				if g, err := property.Parse[property.GVK](x); err == nil {
					file(p.apis, g, c)
				}
			case property.TypeLabel:
				if v, err := property.Parse[property.Label](x); err == nil {
					file(p.labels, v.Label, c)
				}
			}
		}
	}
	return p
}

// file adds x to a list, unless it is already the last element.
func file[K, T comparable](m map[K][]T, k K, x T) {
	if list := m[k]; len(list) == 0 || list[len(list)-1] != x {
		m[k] = append(list, x)
	}
}

func (p *listPostings[T]) providers(g property.GVK) iter.Seq[T] { return slices.Values(p.apis[g]) }
func (p *listPostings[T]) labeled(label string) iter.Seq[T]     { return slices.Values(p.labels[label]) }
func (p *listPostings[T]) inPackage(name string) iter.Seq[T]    { return slices.Values(p.packages[name]) }
func (p *listPostings[T]) all() iter.Seq[T]                     { return slices.Values(p.list) }
func (p *listPostings[T]) compare(a, b T) int                   { return cmp.Compare(p.place[a], p.place[b]) }

// atRest returns the postings of the candidates that no catalog offers: the installed
// operators, and skipped entries that subscriptions may choose.
func (u *universe) atRest() (installed, named *listPostings[cand]) {
	if u.installedPostings == nil {
		all := make([]cand, len(u.installed))
		for i := range all {
			all[i] = cand(i)
		}
		pkgs := func(c cand) []string { return append([]string{u.pkg(c)}, u.further(c)...) }
		u.installedPostings, u.namedPostings = post(all, pkgs, u.bundle), post(u.named, pkgs, u.bundle)
	}
	return u.installedPostings, u.namedPostings
}

// among returns the members of a set that satisfy an expression; has reports whether a
// candidate is a member. It uses the postings if there are any for the expression.
func (u *universe) among(ctx context.Context, x constraints.Expr, set []cand, has func(cand) bool) (list []cand) {
	if !indexed(x) {
		for _, c := range set {
			if u.satisfies(ctx, x, c) {
				list = append(list, c)
			}
		}
		return list
	}
	for _, c := range u.candidates(ctx, x, installedSource) {
		if has(c) {
			list = append(list, c)
		}
	}
	slices.Sort(list)
	return list
}
