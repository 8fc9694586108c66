package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Fix is a minimal set of changes that resolves a core. It was verified by solving the
// changed problem.
type Fix struct {
	Changes []Change `json:"changes,omitzero"`
	// Selected are the bundles that would then be installed, by package.
	Selected []Selected `json:"selected,omitzero"`
	// Stuck are the operators that the fix leaves stuck, or newer than the head of the channel, or
	// whose upgrades it lets close the way to a newer version, by subscription. Of changed subscriptions,
	// they include those that end at the head of a channel although other channels have newer versions.
	Stuck []Advice `json:"stuck,omitempty"`
	// Misfits are the bundles that the fix adds to the plan and that do not run in the namespace. A fix with some is
	// offered only if the others only remove something.
	Misfits []Misfit `json:"misfits,omitempty"`
	// After is the bundle that must be installed first, to which OLM upgrades the operator on its own, or "".
	After string `json:"after,omitempty"`
	// Next is a later upgrade that needs more than the fix adds, of an operator for which it adds a catalog, or nil.
	Next *DeadEnd `json:"next,omitzero"`
	// Commands make the changes, in order: in a cluster, or of policies in [Options.File]. The list is
	// empty if one of the changes has no command. A CatalogSource whose image is unknown gets it from the
	// variable IMAGE of the shell; with [Options.Command], a flag of that command adds the catalog instead.
	Commands []string `json:"commands,omitempty"`

	cost int
	// surplus is the number of surplus operators that the fix removes.
	surplus int
	// rest is the plan without the fix.
	rest []Selected
	// waived are the requirements that the fix drops.
	waived []*fact.Requires
	// removed are the operators with which the fix removes their packages, by name.
	removed map[string]*installed
	// upgraded are the operators that stay and are upgraded to removed ones, by the names of those.
	upgraded map[string]string
	// heirs are the added bundles that provide an API of removed operators, by the operators' names.
	heirs map[string]string
	// assumed is the catalog that the fix adds, or nil if it adds none or an existing one.
	assumed *Catalog
	// unlike reports whether the fix adds a catalog with a package of which all known names have only a part in common.
	unlike bool
}

// maxTries is the number of sets of changes that are tried for one core.
const maxTries = 400

// Fixes returns minimal sets of one or two changes that resolve the core, least
// disruptive first, at most max of them (0 means five). Each is verified by solving the
// changed problem without the requests of the other cores; a fix that adds an unknown
// catalog assumes that this catalog has what is missing. Among equally disruptive fixes,
// those that leave an operator stuck come last. Changes to catalogs are offered only if
// the alternative is to remove a request. Fixes that remove a request come last. The
// error is the context's.
func (c *Core) Fixes(ctx context.Context, max int) (_ []*Fix, err error) { // D16
	if err := c.e.r.lock(ctx); err != nil {
		return nil, err
	}
	defer c.e.r.unlock(ctx, &err)
	max = cmp.Or(max, 5)
	base := c.alone()
	changes := c.changes()
	var found []*Fix
	tries, good := 0, 0 // good ones leave nothing stuck
	try := func(set ...Change) error {
		if tries++; tries > maxTries || covers(found, set) {
			return nil
		}
		f, err := c.attempt(ctx, &base, set)
		if f == nil || err != nil {
			return err
		}
		if found = append(found, f); len(f.Stuck)+len(f.Misfits) == 0 {
			good++
		}
		return nil
	}
	if c.e.r.u.want == nil {
		if single, err := c.withoutRivals(ctx, &base, max); len(single) > 0 || err != nil {
			return single, err // what else helps keeps the duplicates
		}
	}
	added, err := c.additions(ctx)
	if err != nil {
		return nil, err
	}
	for _, set := range c.renames() {
		if err := try(set...); err != nil {
			return nil, err
		}
	}
	suggested := false
	for _, ch := range changes {
		if good >= max || len(onceFutile(found)) >= 2*max {
			break // the rest cost more
		}
		is, missing := c.suggests(ch)
		if missing && !is && suggested && ch.order == 0 {
			continue // one of the suggested channels helps
		}
		if ch.order > 0 && !ch.leads && slices.ContainsFunc(found, func(f *Fix) bool { return f.leadsOn(ch) }) {
			continue // another one leads further
		}
		before := good
		if err := try(ch); err != nil {
			return nil, err
		}
		suggested = suggested || is && good > before
	}
	for i, a := range changes {
		for _, b := range changes[i+1:] {
			if len(found) > 0 || tries > maxTries {
				break
			}
			if a.clashes(b) {
				continue
			}
			if err := try(a, b); err != nil {
				return nil, err
			}
		}
	}
	helps := slices.ContainsFunc(found, func(f *Fix) bool { return !f.removes() && f.futile() == nil && f.short() == nil && len(f.Misfits) == 0 })
	ends := func(f *Fix) *Advice { return cmp.Or(f.futile(), f.short()) }
	if i := slices.IndexFunc(found, func(f *Fix) bool { return ends(f) != nil }); i >= 0 && !helps {
		before, a := len(found), ends(found[i])
		for _, ch := range c.e.r.u.installAgain(a.Subscription, a.Bundle, a.Outlook) {
			if len(found) > before {
				break
			}
			if err := try(ch); err != nil {
				return nil, err
			}
		}
	}
	found = onceFutile(found)
	if slices.ContainsFunc(found, func(f *Fix) bool { return (f.Changes[0].leads || f.Changes[0].order > 0) && f.futile() == nil }) {
		found = slices.DeleteFunc(found, func(f *Fix) bool { return f.futile() != nil && f.Changes[0].Kind == ChangeChannel })
	}
	found = c.twoChannels(found)
	if onlyRemovals(found) && len(added) == 0 {
		if added, err = c.combined(ctx, base, changes); err != nil {
			return nil, err
		}
	}
	if len(found) < max && onlyRemovals(found) {
		up, err := c.upstream(ctx, max-len(found))
		if err != nil {
			return nil, err
		}
		found = append(found, up...)
	}
	if !slices.ContainsFunc(found, func(f *Fix) bool { return f.Changes[0].Kind == AddCatalog }) { // no given catalog has it
		found = append(added, found...)
	}
	c.complete(ctx, found)
	found = fitting(distinct(found))
	start := c.elsewhere()
	slices.SortStableFunc(found, func(a, b *Fix) int {
		return cmp.Or(cmp.Compare(a.count(Change.uninstalls), b.count(Change.uninstalls)), cmp.Compare(a.rank(), b.rank()), cmp.Compare(b.surplus, a.surplus), cmp.Compare(len(a.Misfits), len(b.Misfits)), cmp.Compare(futility(a), futility(b)), cmp.Compare(a.idles(), b.idles()), cmp.Compare(a.seeks(), b.seeks()), cmp.Compare(a.loses(start), b.loses(start)), cmp.Compare(a.cost, b.cost), cmp.Compare(a.Changes[0].order, b.Changes[0].order), cmp.Compare(a.harms(), b.harms()))
	})
	return found[:min(len(found), max)], nil
}

// withoutRivals returns the fixes that leave one of several subscriptions to a package, the least disruptive first,
// at most max of them. base is the problem to which they apply.
func (c *Core) withoutRivals(ctx context.Context, base *Problem, max int) (found []*Fix, err error) {
	for _, r := range c.rivals() {
		for _, set := range r.single() {
			if len(found) == max {
				break
			}
			f, err := c.attempt(ctx, base, set)
			if err != nil {
				return nil, err
			}
			if f != nil && f.futile() == nil {
				found = append(found, f)
			}
		}
	}
	c.complete(ctx, found)
	if slices.ContainsFunc(found, func(f *Fix) bool { return len(f.Misfits) == 0 }) {
		found = slices.DeleteFunc(found, func(f *Fix) bool { return len(f.Misfits) > 0 })
	}
	return found, nil
}

// attempt returns the fix that consists of some changes to a problem, or nil if it then has no solution.
func (c *Core) attempt(ctx context.Context, base *Problem, set []Change) (*Fix, error) {
	p := *base
	for _, ch := range set {
		p = ch.apply(p)
	}
	sol, err := c.plan(ctx, &p, nil)
	if sol == nil || err != nil {
		return nil, err
	}
	f := &Fix{Changes: set, Selected: sol.Selected, Stuck: sol.stuck(set), Misfits: c.e.r.u.newMisfits(ctx, sol.Selected, c.rest)}
	for _, ch := range set {
		f.cost += changeCost[ch.Kind]
		if ch.Kind == RemoveOperator && c.e.r.u.surplus(ch.Operator) {
			f.surplus++
		}
	}
	return f, nil
}

// complete sets what fixes have besides their changes.
func (c *Core) complete(ctx context.Context, found []*Fix) {
	for _, f := range found {
		f.rest = c.rest
		f.Misfits = c.e.r.u.newMisfits(ctx, f.Selected, f.rest)
		c.e.r.u.setRemoved(f)
		f.Commands = commands(c.e.r.u.p, f.Changes)
	}
}

// covers reports whether a found fix is part of set.
func covers(found []*Fix, set []Change) bool {
	for _, f := range found {
		if !slices.ContainsFunc(f.Changes, func(c Change) bool { return !slices.ContainsFunc(set, c.partOf) }) {
			return true
		}
	}
	return false
}

// plan resolves a problem. It returns nil, without an explanation, if there is no solution.
// Requirements that equal waived ones in the same package are ignored.
func (c *Core) plan(ctx context.Context, p *Problem, waived []*fact.Requires) (*Solution, error) {
	r, err := start(ctx, p, func(u *universe) {
		u.waived, u.want = waived, c.e.r.u.want
		if p.OperatorGroup == c.e.r.u.p.OperatorGroup {
			u.modes = c.e.r.u.modes
		}
	})
	if err != nil {
		return nil, err
	}
	sol, _, err := r.solve(ctx, new(scratch))
	return sol, err
}

// stuck returns the advice for the subscriptions whose operators stay stuck after some changes.
func (s *Solution) stuck(changes []Change) AdviceList {
	var out []Advice
	in := s.members()
	changed := func(sub *subscription) bool {
		return slices.ContainsFunc(changes, func(c Change) bool { return c.Subscription == sub.Name })
	}
	unknown := func(sub *subscription) bool { // the content of its catalog, except for what the fix needs
		return slices.ContainsFunc(s.r.u.p.Catalogs, func(c Catalog) bool { return c.assumed && c.ID() == sub.Source() })
	}
	for _, sub := range s.r.u.subs {
		if sub.current == nil || unknown(sub) {
			continue
		}
		node := graph.Node{Name: sub.current.Name, Version: sub.current.version.String()}
		if !in[sub.current.id] {
			if o := s.r.u.outlook(sub, node); changed(sub) && o.Kind == graph.OutlookStepsAway && o.Newest != nil && o.Way == nil {
				out = append(out, Advice{
					Kind: AdviceKind(o.Kind), Subscription: sub.Name, Package: sub.Package, Bundle: node.Name, Outlook: o,
					Text: fmt.Sprintf("no channel in any given catalog leads on from %s to %s in channel %s", cmp.Or(o.End().Version, o.End().Name), o.Newest.Version, o.Newest.Channel),
				})
			} else if o.Closes != nil {
				out = append(out, Advice{
					Kind: AdviceCloses, Subscription: sub.Name, Package: sub.Package, Bundle: node.Name, Outlook: o, Text: prose.Summary(o),
				})
			}
		} else if o := s.r.u.outlook(sub, node); o.EndsEarly() || len(o.Steps) == 0 && (o.Kind == graph.OutlookAhead || o.Kind == graph.OutlookAtHead && o.Newest != nil && changed(sub)) {
			out = append(out, Advice{
				Kind: adviceOf(o), Subscription: sub.Name, Package: sub.Package, Bundle: node.Name, Outlook: o, Text: prose.Outlook(o),
			})
		}
	}
	return out
}

// uninstalls reports whether the change removes an operator, also to install it again.
func (c Change) uninstalls() bool {
	return c.Kind == RemoveSubscribed || c.Kind == RemoveOperator || c.Kind == Reinstall
}

// setRemoved sets the operators that a fix removes, except those of whose package another one stays, and their heirs.
func (u *universe) setRemoved(f *Fix) {
	f.removed, f.heirs, f.upgraded = map[string]*installed{}, map[string]string{}, map[string]string{}
	for _, c := range f.Changes {
		in, ok := u.installedNamed(c.Operator)
		if !ok || !c.uninstalls() {
			continue
		}
		stays := func(o *installed) bool {
			return !slices.ContainsFunc(f.Changes, func(c Change) bool { return c.uninstalls() && c.Operator == o.Name }) &&
				slices.ContainsFunc(o.pkgs, func(p string) bool { return slices.Contains(in.pkgs, p) })
		}
		if !slices.ContainsFunc(u.installed, stays) && !u.surplus(c.Operator) {
			f.removed[c.Operator], f.heirs[c.Operator] = in, u.heir(f, in)
		}
		for _, s := range f.Selected {
			if _, is := u.installedNamed(s.Replaces); is && s.Name == c.Operator {
				f.upgraded[s.Name] = s.Replaces
			}
		}
	}
}

// heir returns the bundle that a fix installs and that provides an API of an operator, or "".
func (u *universe) heir(f *Fix, in *installed) string {
	for _, s := range f.Selected {
		for _, c := range u.cats {
			p, ok := c.Graph.Package(s.Package)
			if !ok || c.ID().String() != s.Catalog && c.Name != s.Catalog {
				continue
			}
			if b, ok := p.Bundle(s.Name); ok && slices.ContainsFunc(in.apis, b.Provides) {
				return s.Name
			}
		}
	}
	return ""
}

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
func (f *Fix) removes() bool { return f.count(Change.removes) == len(f.Changes) }

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
