package resolver

import (
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/fact"
)

// What the fixes of a core are sorted by, and which of them are left out.

// distinct leaves one of the fixes that remove the same operators and install the same bundles: the cheapest, or the first.
func distinct(found []*Fix) (list []*Fix) {
	for _, f := range found {
		i := slices.IndexFunc(list, func(x *Fix) bool { return f.repeats(x) })
		switch {
		case i < 0:
			list = append(list, f)
		case f.cost < list[i].cost:
			list[i] = f
		}
	}
	return list
}

// repeats reports whether a fix removes the same operator as another one, and nothing else, and leads to the same bundles.
func (f *Fix) repeats(o *Fix) bool {
	if len(f.Changes) != 1 || len(o.Changes) != 1 || len(f.Selected) == 0 {
		return false
	}
	a, b := f.Changes[0], o.Changes[0]
	return a.uninstalls() && b.uninstalls() && a.Operator == b.Operator &&
		slices.EqualFunc(f.Selected, o.Selected, func(a, b Selected) bool { return a.Compare(b) == 0 })
}

// fitting returns the fixes that add only bundles which run in the namespace, or all if those only remove something.
func fitting(found []*Fix) []*Fix {
	fit := slices.DeleteFunc(slices.Clone(found), func(f *Fix) bool { return len(f.Misfits) > 0 })
	if onlyRemovals(fit) {
		return found
	}
	return fit
}

// futile returns the advice for the operator of a changed subscription if the fix installs nothing and it stays stuck, or nil.
func (f *Fix) futile() *Advice {
	for i, a := range f.Stuck {
		changed := slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Subscription == a.Subscription })
		if changed && a.Kind != AdviceKind(graph.OutlookAtHead) && !slices.ContainsFunc(f.Selected, func(s Selected) bool { return s.Package == a.Package }) {
			return &f.Stuck[i]
		}
	}
	return nil
}

// short returns the advice for the operator of a changed subscription if the fix upgrades it, but nothing leads on
// from there to the newest version, or nil.
func (f *Fix) short() *Advice {
	i := slices.IndexFunc(f.Stuck, func(a Advice) bool { return a.Outlook.Kind == graph.OutlookStepsAway && a.Outlook.Way == nil })
	if i < 0 {
		return nil
	}
	return &f.Stuck[i]
}

// harms returns the number of operators that a fix leaves stuck, or whose next upgrade closes a way.
func (f *Fix) harms() (n int) {
	for _, a := range f.Stuck {
		if a.Kind != AdviceCloses || a.Outlook.Closes.From == a.Outlook.From {
			n++
		}
	}
	return n
}

// futility is 1 for a futile fix, else 0.
func futility(f *Fix) int {
	if f.futile() != nil {
		return 1
	}
	return 0
}

// loses is 1 for a fix that does not install a bundle, unless its name is "", else 0.
func (f *Fix) loses(bundle string) int {
	if bundle == "" || slices.ContainsFunc(f.Selected, func(s Selected) bool { return s.Name == bundle }) {
		return 0
	}
	return 1
}

// seeks is 1 for a fix that needs another catalog with a package, unless the names that are known are unlikely, else 0.
func (f *Fix) seeks() int {
	if f.unlike {
		return 0
	}
	return min(1, f.count(func(c Change) bool {
		return c.Kind == AddCatalog && c.Subscription != "" && f.assumes() && c.Catalog == (CatalogID{})
	}))
}

// idles is 1 for a fix that changes only catalogs and installs nothing, else 0.
func (f *Fix) idles() int {
	adds := func(s Selected) bool {
		return !slices.ContainsFunc(f.rest, func(o Selected) bool { return o.Compare(s) == 0 })
	}
	if f.Changes[0].Requirement != "" && !slices.ContainsFunc(f.Selected, adds) {
		return 1
	}
	return 0
}

// count returns the number of changes for which is returns true.
func (f *Fix) count(is func(Change) bool) (n int) {
	for _, c := range f.Changes {
		if is(c) {
			n++
		}
	}
	return n
}

// assumes reports whether a fix adds an unknown catalog.
func (f *Fix) assumes() bool { return f.assumed != nil }

// removes reports whether a fix only removes subscriptions and operators.
func (f *Fix) removes() bool {
	return f.count(Change.removes) == len(f.Changes)
}

// onlyRemovals reports whether all fixes only remove subscriptions and operators.
func onlyRemovals(fixes []*Fix) bool {
	return !slices.ContainsFunc(fixes, func(f *Fix) bool { return !f.removes() })
}

// rank returns the number of subscriptions and operators that a fix removes. Adopting an operator is not
// better if it stays stuck. A subscription that is deleted for one that takes its place does not count.
func (f *Fix) rank() int {
	if f.renames() {
		return 0
	}
	if f.futile() != nil && f.Changes[0].Kind == AdoptOperator {
		return f.count(Change.removes) + 1
	}
	return f.count(Change.removes)
}

// renames reports whether the fix lets a subscription follow its operator to another package.
func (f *Fix) renames() bool {
	return f.count(func(c Change) bool { return c.Kind == ChangePackage && c.Channel != "" }) > 0
}

// leadsOn reports whether the fix switches the subscription of a change to a channel in which its operator is upgraded.
func (f *Fix) leadsOn(ch Change) bool {
	to := f.Changes[0]
	return len(f.Changes) == 1 && to.leads && to.Subscription == ch.Subscription && to.Kind == ChangeChannel && len(f.Misfits) == 0
}

// twoChannels leaves, of the fixes that only switch a subscription with an operator to a channel in which it is upgraded, the one
// that leads furthest and, if that is another, the one that the core suggests first in place of a missing channel.
func (c *Core) twoChannels(found []*Fix) []*Fix {
	best := map[string]int{}
	for _, f := range found {
		if ch := f.Changes[0]; f.leadsOn(ch) && (best[ch.Subscription] == 0 || ch.order < best[ch.Subscription]) {
			best[ch.Subscription] = ch.order
		}
	}
	return slices.DeleteFunc(found, func(f *Fix) bool {
		ch := f.Changes[0]
		if !f.leadsOn(ch) || ch.order == best[ch.Subscription] {
			return false
		}
		for _, x := range c.Facts {
			if q, ok := x.(*fact.Unavailable); ok && q.What == "channel" && q.Subscription.Name == ch.Subscription && len(q.Nearest) > 0 && q.Nearest[0] == ch.To {
				return false
			}
		}
		return true
	})
}
