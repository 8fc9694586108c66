package resolver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/fact"
)

// Fixes returns changes with which the subscription gets a bundle that it prefers
// over the one that it got, least disruptive first, at most max of them (0 means three). They
// are those of [Core.Fixes], each verified by solving the changed problem. For a duplicate
// subscription, the only fix is to delete it; for an operator without a subscription, it is to create one; for a pin that is not met, the fixes change it; for one to which another catalog gives a newer bundle, it is to name
// that catalog. For an operator that is stuck and has no way to a
// head, or from whose end nothing leads on to the newest version, it is to install the operator again. There are none for another one that is several steps
// away or has such a way: follow it. The error is the context's.
func (s *Solution) Fixes(ctx context.Context, a *Advice, max int) (_ []*Fix, err error) { // H40, D16
	if s.r != nil && a.Kind == AdviceDuplicate {
		var drop []Change
		for _, name := range a.subscriptions() {
			drop = append(drop, Change{Kind: DropSubscription, Subscription: name})
		}
		return s.tested(ctx, nil, drop...)
	}
	if s.r != nil && a.Kind == AdviceUnmanaged {
		return s.tested(ctx, func(sol *Solution) bool {
			return slices.ContainsFunc(sol.Selected, func(x Selected) bool { return x.Replaces == a.Bundle })
		}, s.r.u.newOwner(a.Bundle, a.Package))
	}
	if s.r != nil && a.pinned != nil {
		return s.otherPins(ctx, a)
	}
	if s.r != nil && a.Elsewhere != nil {
		id := s.r.u.catalogNamed(a.Elsewhere.Catalog)
		return s.tested(ctx, func(sol *Solution) bool {
			return slices.ContainsFunc(sol.Selected, func(x Selected) bool { return x.Package == a.Package && x.Name == a.Elsewhere.Name })
		}, Change{Kind: ChangeCatalog, Subscription: a.Subscription, To: id.String(), Catalog: id})
	}
	if s.r != nil && a.hopeless() {
		return s.reinstalled(ctx, a)
	}
	if s.r == nil || len(a.Rejected) == 0 {
		return nil, nil
	}
	defer s.r.u.unread(&err)
	w, err := s.wanted(ctx, a.Subscription)
	if w == nil || err != nil {
		return nil, err
	}
	p := *s.r.u.p
	p.Options.Partial = false
	r, err := start(ctx, &p, func(u *universe) { u.want = w })
	if err != nil {
		return nil, err
	}
	e, err := r.encode(ctx)
	if err != nil {
		return nil, err
	}
	_, err = r.refuse(ctx, e)
	var no *Conflict
	if !errors.As(err, &no) {
		return nil, err
	}
	max = cmp.Or(max, 3)
	for _, c := range no.Cores {
		if !slices.Contains(c.requests(), a.Subscription) {
			continue
		}
		list, err := c.Fixes(ctx, max+1)
		if err != nil {
			return nil, err
		}
		var out []*Fix
		for _, f := range list {
			if ok, err := s.confirm(ctx, f, w); err != nil {
				return nil, err
			} else if ok && len(out) < max {
				out = append(out, f)
			}
		}
		return fitting(out), nil
	}
	if len(no.Cores) == 0 {
		return s.yielding(ctx, a, w)
	}
	return nil, nil
}

// yielding returns the fix that switches another subscription whose bundle keeps a preferred one from being chosen to a
// catalog with another bundle or, if that does not help, deletes it. There is none if the demand is then not met.
func (s *Solution) yielding(ctx context.Context, a *Advice, w *want) (list []*Fix, err error) {
	inTheWay := map[string]bool{}
	var visit func(*fact.Step)
	visit = func(x *fact.Step) {
		for _, b := range x.Bundles {
			inTheWay[b.Name] = true
		}
		for _, b := range x.Because {
			visit(b)
		}
	}
	visit(a.Rejected[0])
	for i, sub := range s.r.u.subs {
		_, at := s.chosen(sub.Name)
		if sub.Name == a.Subscription || at < 0 || !inTheWay[s.r.u.ref(s.r.options[i].list[at]).Name] {
			continue
		}
		var changes []Change
		if sub.Source() == (CatalogID{}) {
			in, _ := s.r.u.sourcesFor(sub)
			for _, c := range in {
				if _, ok := c.Graph.Package(sub.Package); ok {
					changes = append(changes, Change{Kind: ChangeCatalog, Subscription: sub.Name, To: c.ID().String(), Catalog: c.ID()})
				}
			}
		}
		c := Change{Kind: DropSubscription, Subscription: sub.Name}
		if sub.current != nil {
			c = Change{Kind: RemoveSubscribed, Subscription: sub.Name, Operator: sub.current.Name}
		}
		for _, c := range append(changes, c) {
			list, err = s.tested(ctx, w.isMet, c)
			if len(list) > 0 || err != nil {
				return list, err
			}
		}
	}
	return nil, nil
}

// isMet reports whether a solution meets the demand.
func (w *want) isMet(sol *Solution) bool {
	i, at := sol.chosen(w.subscription)
	return at >= 0 && len(w.meet(sol.r.u, sol.r.u.subs[i], []cand{sol.r.options[i].list[at]})) > 0
}

// otherPins returns the fixes for an operator that is not what a policy pins: to pin its version, or to remove the policy.
func (s *Solution) otherPins(ctx context.Context, a *Advice) ([]*Fix, error) {
	rule := a.pinned.Policy
	out, err := s.tested(ctx, nil, Change{
		Kind: ChangePin, To: a.Outlook.From.Version, Policy: rule.String(), Rule: rule,
		Advice: fmt.Sprintf("pin package %s to %s instead of %s", rule.Package, a.Outlook.From.Version, rule.Pin),
	})
	if err != nil {
		return nil, err
	}
	lifted, err := s.tested(ctx, nil, Change{Kind: LiftPolicy, To: rule.String(), Rule: rule})
	return append(out, lifted...), err
}

// hopeless reports whether the operator is stuck and no channel leads to the head of one or on from there, or ends at the head of its
// channel or beyond and nothing leads on to the newest version.
func (a *Advice) hopeless() bool {
	o := a.Outlook
	if a.Kind == AdviceKind(graph.OutlookStuck) {
		return o.Way == nil || !o.Way.AtHead || o.Way.Strands
	}
	ends := o.Kind == graph.OutlookAtHead || o.Kind == graph.OutlookStepsAway || o.Kind == graph.OutlookAhead
	return ends && a.Kind == AdviceKind(o.Kind) && o.Newest != nil && o.Way == nil && !o.Fresh
}

// reinstalled returns the fix that removes a stuck operator and installs it again: from the newest
// channel or, if that is impossible, from its own. There is none if it then does not get newer.
func (s *Solution) reinstalled(ctx context.Context, a *Advice) (list []*Fix, err error) {
	for _, c := range s.r.u.installAgain(a.Subscription, a.Bundle, a.Outlook) {
		if len(list) > 0 || err != nil {
			break
		}
		list, err = s.tested(ctx, func(sol *Solution) bool {
			return slices.ContainsFunc(sol.Selected, func(x Selected) bool {
				return x.Package == a.Package && slices.ContainsFunc(targets(a.Outlook), func(t *graph.Target) bool { return x.Name == t.Name && x.Channel == c.Channel })
			})
		}, c)
	}
	return list, err
}

// tested returns the fix that consists of some changes, or none if the problem then has no solution, or one
// that does not meet a demand.
func (s *Solution) tested(ctx context.Context, meets func(*Solution) bool, changes ...Change) (list []*Fix, err error) {
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	p := *s.r.u.p
	p.Options.Partial = false
	p.Subscriptions = nil
	for _, x := range s.r.u.subs {
		p.Subscriptions = append(p.Subscriptions, *x.Subscription) // with its name
	}
	for _, c := range changes {
		p = c.apply(p)
	}
	r, err := start(ctx, &p, nil)
	if err != nil {
		return nil, err
	}
	sol, _, err := r.solve(ctx, new(scratch))
	if sol == nil || err != nil || meets != nil && !meets(sol) {
		return nil, err
	}
	f := &Fix{Changes: changes, Selected: sol.Selected, Stuck: sol.stuck(changes), Misfits: s.r.u.newMisfits(ctx, sol.Selected, s.Selected), rest: s.Selected}
	s.r.u.setRemoved(f)
	f.Commands = commands(s.r.u.p, f.Changes)
	return []*Fix{f}, nil
}

// confirm reports whether a fix meets the demand on its own, and completes it with
// what is then installed.
func (s *Solution) confirm(ctx context.Context, f *Fix, w *want) (_ bool, err error) {
	if err := s.r.lock(ctx); err != nil {
		return false, err
	}
	defer s.r.unlock(ctx, &err)
	p := *s.r.u.p
	p.Subscriptions = nil
	for _, x := range s.r.u.subs {
		p.Subscriptions = append(p.Subscriptions, *x.Subscription) // with its name
	}
	for _, c := range f.Changes {
		if c.removes() && c.Subscription == w.subscription {
			return false, nil
		}
		p = c.apply(p)
	}
	p = f.with(p)
	r, err := start(ctx, &p, func(u *universe) { u.waived = f.waived })
	if err != nil {
		return false, err
	}
	sol, _, err := r.solve(ctx, new(scratch))
	if sol == nil || err != nil || !w.isMet(sol) {
		return false, err
	}
	f.Selected, f.Stuck, f.rest, f.Next = f.given(sol.Selected), sol.stuck(f.Changes), s.Selected, f.next(ctx, sol)
	f.Misfits = s.r.u.newMisfits(ctx, f.Selected, s.Selected)
	s.r.u.setRemoved(f)
	return true, nil
}

// wanted returns the demand for a subscription, or nil if it prefers nothing over the bundle
// that it got.
func (s *Solution) wanted(ctx context.Context, name string) (_ *want, err error) {
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	i, at := s.chosen(name)
	if at < 1 {
		return nil, nil
	}
	u, list := s.r.u, s.r.options[i].list
	got := u.ref(list[at])
	w := &want{subscription: name, names: map[string]bool{}, above: u.Version(got)}
	for _, c := range list[:at] {
		w.names[u.ref(c).Name] = true
	}
	delete(w.names, got.Name) // it may be an option in several channels
	return w, nil
}

// AdviceWithFixes is like [Solution.Advice], and adds the fixes of [Solution.Fixes]. In a
// namespace with more than a hundred operators, only the first entries that can have fixes get
// them, at least ten; [Solution.Fixes] finds those of others.
func (s *Solution) AdviceWithFixes(ctx context.Context) (AdviceList, error) { // H40, D16
	list, err := s.Advice(ctx)
	left := 0
	if s.r != nil {
		left = fixedEntries(len(s.r.u.subs))
	}
	for i := range list {
		if err != nil || left == 0 {
			break
		}
		if len(list[i].Rejected) > 0 || list[i].Kind == AdviceDuplicate || list[i].Kind == AdviceUnmanaged || list[i].Kind == AdvicePinNotMet || list[i].Elsewhere != nil || list[i].hopeless() {
			left--
			list[i].Fixes, err = s.Fixes(ctx, &list[i], 0)
		} else if list[i].DeadEnd != nil {
			left--
			list[i].Fixes, err = s.later(ctx, &list[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// later returns fixes with which OLM does not stop at the dead end of an advice. They are to be made there.
func (s *Solution) later(ctx context.Context, a *Advice) (list []*Fix, err error) { // H40
	if s.off != nil || a.DeadEnd.Policy != nil || a.DeadEnd.Misfit != nil {
		return nil, nil
	}
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	x, err := s.settle(ctx)
	if x == nil || err != nil || x.last == s || x.owned[a.Subscription] != a.DeadEnd.At.Name {
		return nil, err
	}
	if x.no != nil {
		list, err = x.no.Cores[0].Fixes(ctx, 3)
	} else {
		var advice AdviceList
		if advice, err = x.last.Advice(ctx); err != nil {
			return nil, err
		}
		if i := slices.IndexFunc(advice, func(y Advice) bool { return y.For(a.Subscription) }); i >= 0 {
			list, err = x.last.Fixes(ctx, &advice[i], 0)
		}
	}
	for _, f := range list {
		f.After = a.DeadEnd.At.Name
	}
	return list, err
}

// fixedEntries returns the number of entries of advice that get fixes. The fixes of each take several
// resolutions of the whole problem (D21).
func fixedEntries(subscriptions int) int {
	const few, enough = 10, 10_000
	return max(few, enough/max(subscriptions, 1))
}
