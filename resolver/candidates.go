package resolver

import (
	"cmp"
	"context"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
)

// installedSource takes the place of a catalog's index for installed operators.
const installedSource = -1

// sources returns the catalogs in the order of preference (D8, H13) for a bundle from the
// catalog with index own: that catalog first, then by priority, then those of the
// problem's namespace, then by name.
func (u *universe) sources(own int) []*source {
	if len(u.cats) == 1 {
		return u.cats
	}
	if list, ok := u.orders[own]; ok {
		return list
	}
	list := slices.Clone(u.cats)
	first := func(yes bool) int {
		if yes {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b *source) int {
		return cmp.Or(
			cmp.Compare(first(a.index == own), first(b.index == own)),
			cmp.Compare(b.Priority, a.Priority),
			cmp.Compare(first(a.Namespace == u.p.Namespace), first(b.Namespace == u.p.Namespace)),
			cmp.Compare(a.Name, b.Name),
			cmp.Compare(a.Namespace, b.Namespace),
		)
	})
	if u.orders == nil {
		u.orders = map[int][]*source{}
	}
	u.orders[own] = list
	return list
}

// sourceOf returns the index of a candidate's catalog.
func (u *universe) sourceOf(c cand) int {
	if u.isInstalled(c) {
		return installedSource
	}
	return u.source(c).index
}

// candidates returns the candidates that individually satisfy an expression, in the order in
// which a bundle of the catalog with index own prefers them (D8): installed operators, then
// the catalogs in order, and in each the entries in order. An entry need not be a successor
// of an installed operator (H6).
func (u *universe) candidates(ctx context.Context, x constraints.Expr, own int) []cand {
	if len(u.cats) == 1 && len(u.installed) == 0 && len(u.named) == 0 {
		return u.inSource(ctx, x, u.cats[0])
	}
	key := listKey{x, own}
	if list, ok := u.lists[key]; ok {
		return list
	}
	var list []cand
	// Installed operators are preferred by package, then name (H13).
	installed, named := u.atRest()
	for c := range reach(installed, x) {
		if u.satisfies(ctx, x, c) {
			list = append(list, c)
		}
	}
	slices.SortStableFunc(list, func(a, b cand) int { return cmp.Compare(u.pkg(a), u.pkg(b)) })
	for _, s := range u.sources(own) {
		if found := u.inSource(ctx, x, s); list == nil {
			list = slices.Clip(found)
		} else {
			list = append(list, found...)
		}
	}
	// A skipped entry that a subscription may choose counts for formulas over the set (D5).
	if u.semantics() == Documented {
		for c := range reach(named, x) {
			if u.satisfies(ctx, x, c) {
				list = append(list, c)
			}
		}
	}
	u.lists[key] = list
	return list
}

// inSource returns the entries of a catalog that satisfy an expression: those of default
// channels first, then by package and channel, nearest to the head first. Entries that
// another entry skips are never candidates (H3).
func (u *universe) inSource(ctx context.Context, x constraints.Expr, s *source) []cand {
	key := listKey{x, -2 - s.index}
	if list, ok := u.lists[key]; ok {
		return list
	}
	var list []cand
	for b := range reach(bundlePostings{s.Graph}, x) {
		if !u.test(ctx, x, b) {
			continue
		}
		for e := range b.Entries() {
			if _, ok := e.Rank(); ok {
				list = append(list, s.cand(e))
			}
		}
	}
	slices.SortFunc(list, func(a, b cand) int { return compareEntries(s.entry(a), s.entry(b)) })
	u.lists[key] = list
	return list
}

// compareEntries orders the entries of one catalog by preference. Channels are numbered by
// package name, then channel name.
func compareEntries(a, b graph.Entry) int {
	ac, bc := a.Channel(), b.Channel()
	if ac != bc {
		if ad, bd := ac.IsDefault(), bc.IsDefault(); ad != bd {
			if ad {
				return -1
			}
			return 1
		}
		return ac.Compare(bc)
	}
	ar, _ := a.Rank()
	br, _ := b.Rank()
	return cmp.Compare(ar, br)
}
