package resolver

import (
	"slices"

	"github.com/olmkit/olmkit/resolver/fact"
)

// Duplicates: subscriptions to a package to which another subscription already exists. Only one of them
// can own the operator.

// rivalOf returns the subscription that a subscription duplicates, or nil: another one to the same package
// that owns the operator or, if none does, that gets the same bundle and comes first.
func (s *Solution) rivalOf(i int, in map[cand]bool) *subscription {
	u, sub := s.r.u, s.r.u.subs[i]
	if sub.current != nil {
		first := slices.IndexFunc(sub.current.owners, func(o *subscription) bool { return o.Package == sub.Package })
		if o := sub.current.owners[first]; o != sub {
			return o
		}
		return nil
	}
	if o := u.ownerOf(sub); o != nil {
		return o
	}
	for _, k := range u.subsTo(sub.Package) {
		if o := u.subs[k]; k < i && s.r.options[k] != nil && slices.ContainsFunc(s.r.options[k].list, func(c cand) bool { return in[c] && !u.isInstalled(c) }) {
			return o
		}
	}
	return nil
}

// subsTo returns the indices of the subscriptions to a package.
func (u *universe) subsTo(pkg string) []int {
	if u.toPackage == nil {
		u.toPackage = map[string][]int{}
		for i, s := range u.subs {
			u.toPackage[s.Package] = append(u.toPackage[s.Package], i)
		}
	}
	return u.toPackage[pkg]
}

// gets returns the bundle in the solution that satisfies a subscription that owns no operator.
func (s *Solution) gets(sub *subscription, in map[cand]bool) Ref {
	if sub.current != nil {
		return Ref{}
	}
	list := s.r.options[slices.Index(s.r.u.subs, sub)].list
	return s.r.u.ref(list[slices.IndexFunc(list, func(c cand) bool { return in[c] })])
}

// rivals are the subscriptions of a core to one package, of which a namespace needs only one.
type rivals struct {
	owner *subscription   // of the installed operator, or nil
	rest  []*subscription // the others
}

// rivals returns the rivals of which a request of the core is one.
func (c *Core) rivals() (list []rivals) {
	u, seen := c.e.r.u, map[string]bool{}
	for n, f := range c.Facts {
		if _, ok := f.(*fact.Subscribed); !ok {
			continue
		}
		pkg := u.subs[c.index[n]].Package
		if seen[pkg] {
			continue
		}
		seen[pkg] = true
		var r rivals
		for i, s := range u.subs {
			switch {
			case s.Package != pkg || c.foreign(i):
			case s.current != nil && r.owner == nil:
				r.owner = s
			default:
				r.rest = append(r.rest, s)
			}
		}
		if r.owner != nil && len(r.rest) > 0 || len(r.rest) > 1 {
			list = append(list, r)
		}
	}
	return list
}

// single returns the sets of changes that leave one of several subscriptions, the least disruptive first: the one that owns
// the operator, as it is; then it, but as another one is; or else each of the others.
func (r *rivals) single() (sets [][]Change) {
	drop := func(keep *subscription) (set []Change) {
		for _, s := range r.rest {
			if s != keep {
				set = append(set, Change{Kind: DropSubscription, Subscription: s.Name})
			}
		}
		return set
	}
	alike := func(a, b *subscription) bool {
		return a.Channel == b.Channel && a.StartingCSV == b.StartingCSV && a.Source() == b.Source()
	}
	if r.owner != nil {
		sets = append(sets, drop(nil))
	}
	for i, s := range r.rest {
		if slices.ContainsFunc(r.rest[:i], func(o *subscription) bool { return alike(s, o) }) {
			continue
		}
		switch o := r.owner; {
		case o == nil:
			sets = append(sets, drop(s))
		case s.Source() != o.Source() && s.Source() != (CatalogID{}):
			to := Change{Kind: ChangeCatalog, Subscription: o.Name, To: s.Source().String(), Catalog: s.Source()}
			if s.Channel != o.Channel {
				to.Channel = s.Channel
			}
			sets = append(sets, append(drop(nil), to))
		case s.Channel != o.Channel && s.Channel != "":
			sets = append(sets, append(drop(nil), Change{Kind: ChangeChannel, Subscription: o.Name, To: s.Channel}))
		}
	}
	return sets
}
