package resolver

import (
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// renamed returns the change with which a subscription follows its operator to a package of another name, in which an
// entry replaces or skips the operator, or nil. Of several channels, it is to the default one.
func (u *universe) renamed(s *subscription, pkg string) *Change {
	if s.current == nil || pkg == s.Package {
		return nil
	}
	var to *Change
	in, _ := u.sourcesFor(s)
	for _, src := range in {
		p, ok := src.Graph.Package(pkg)
		if !ok {
			continue
		}
		for ch := range p.Channels() {
			follows := func(e graph.Entry) bool {
				return e.Replaces() == s.current.Name || slices.Contains(slices.Collect(e.Skips()), s.current.Name)
			}
			if (to == nil || ch.IsDefault()) && slices.ContainsFunc(slices.Collect(ch.Order()), follows) {
				to = &Change{Kind: ChangePackage, Subscription: s.Name, To: pkg, Channel: ch.Name()}
			}
		}
	}
	return to
}

// renames returns the sets of changes with which a subscription of the core follows its operator to another package of
// the core. They delete the subscriptions to that package that own nothing, because one is enough.
func (c *Core) renames() (sets [][]Change) {
	u := c.e.r.u
	var pkgs []string
	for _, x := range c.e.mentioned(c.index, nil) {
		if pkg := u.ref(x).Package; !slices.Contains(pkgs, pkg) {
			pkgs = append(pkgs, pkg)
		}
	}
	for i, s := range u.subs {
		for _, pkg := range pkgs {
			to := u.renamed(s, pkg)
			if to == nil || c.foreign(i) {
				continue
			}
			var set []Change
			for k, o := range u.subs {
				if o.Package == pkg && o.current == nil && !c.foreign(k) {
					set = append(set, Change{Kind: DropSubscription, Subscription: o.Name})
				}
			}
			sets = append(sets, append(set, *to))
		}
	}
	return sets
}
