package resolver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// Report returns the derivation and fixes of each core, and what can still be planned.
// The error is the context's.
func (c *Conflict) Report(ctx context.Context) (*Report, error) {
	r := &Report{
		ID: c.ID, Namespace: c.Namespace, Plan: []Selected{},
		Planned: slices.Clip(c.planned), Refused: slices.Clip(c.refused),
	}
	if p := c.Planned(); p != nil {
		r.Plan = p.Selected
		advice, err := p.Advice(ctx)
		if err != nil {
			return nil, err
		}
		r.Advice = advice
	}
	for _, list := range []*[]string{&r.Planned, &r.Refused} {
		if *list == nil {
			*list = []string{}
		}
	}
	var reports []CoreReport
	var order []alike
	groups := map[alike][]int{}
	for i, core := range c.Cores {
		d, err := core.Derive(ctx)
		if err != nil {
			return nil, err
		}
		fixes, err := core.Fixes(ctx, 0)
		if err != nil {
			return nil, err
		}
		if fixes == nil {
			fixes = []*Fix{}
		}
		reports = append(reports, CoreReport{
			Code: core.code(), Headline: d.Headline(), Derivation: d, Notes: core.notes(), Fixes: fixes, Facts: core.Facts, Faults: core.Faults, Requests: core.requests(),
		})
		key := core.alike(&reports[i])
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], i)
	}
	for _, key := range order {
		x, err := c.share(ctx, key, groups[key], reports)
		if err != nil {
			return nil, err
		}
		r.Cores = append(r.Cores, x)
	}
	// Unseen catalogs concern all cores, so the notes go to the first. Catalogs that a
	// subscription names are part of its fact.
	u := c.e.r.u
	for _, id := range u.unseen {
		if slices.ContainsFunc(u.subs, func(s *subscription) bool { return s.Source() == id }) {
			continue
		}
		r.Cores[0].Notes = append(r.Cores[0].Notes, u.p.WhyUnseen(id))
	}
	var err error
	u.unread(&err)
	return r, err
}

// An alike is what cores have in common that are reported together.
type alike struct {
	core  *Core        // of a core that is like no other
	sub   Subscription // without its name
	lacks string       // or else, the requirement that nothing satisfies
	fixes string       // the kinds of the changes of each fix
}

// alike returns what others have in common with a core whose only request is a subscription that owns
// no operator: the subscription without its name, or the only requirement that nothing satisfies.
func (c *Core) alike(x *CoreReport) alike {
	i := slices.IndexFunc(c.e.r.u.subs, func(s *subscription) bool { return len(x.Requests) == 1 && s.Name == x.Requests[0] })
	if i < 0 || c.e.r.u.subs[i].current != nil || !strings.HasPrefix(x.Headline, failing("subscription "+x.Requests[0])) {
		return alike{core: c}
	}
	var key alike
	if q := c.lacks(); q != nil {
		key.lacks = prose.Requirement(q.Requirement)
	} else {
		key.sub = *c.e.r.u.subs[i].Subscription
		key.sub.Name = ""
	}
	for _, f := range key.shared(x.Fixes) {
		for _, ch := range f.Changes {
			key.fixes += string(ch.Kind) + " "
		}
		key.fixes += "\n"
	}
	return key
}

// shared returns the fixes of a core that others which are alike also have: all but those that remove
// the requirement that leads to the one that nothing satisfies.
func (a *alike) shared(fixes []*Fix) []*Fix {
	return slices.DeleteFunc(slices.Clone(fixes), func(f *Fix) bool {
		return a.lacks != "" && f.Changes[0].Kind == RelaxRequirement && f.Changes[0].Requirement != a.lacks
	})
}

// lacks returns the requirement that nothing satisfies, if that alone is why the core cannot be
// satisfied, or nil.
func (c *Core) lacks() (missing *fact.Requires) {
	for _, f := range c.Facts {
		q, ok := f.(*fact.Requires)
		switch {
		case !ok && f.Code() != (*fact.Subscribed)(nil).Code():
			return nil
		case !ok:
		case len(q.Candidates) > 0:
			if compound(q.Requirement) {
				return nil // a part of it may be to blame
			}
		case missing != nil && prose.Requirement(missing.Requirement) != prose.Requirement(q.Requirement):
			return nil
		default:
			missing = q
		}
	}
	return missing
}

// share returns one report for cores that are alike: it names the subscriptions of all, derives each
// cause once, and has the fixes that help all. The error is the context's.
func (c *Conflict) share(ctx context.Context, key alike, group []int, reports []CoreReport) (_ CoreReport, err error) {
	x := reports[group[0]]
	if len(group) == 1 {
		return x, nil
	}
	core := c.Cores[group[0]]
	if err := core.e.r.lock(ctx); err != nil {
		return x, err
	}
	defer core.e.r.unlock(ctx, &err)
	all := slices.Clone(x.Requests)
	x.Facts = slices.Clone(x.Facts)
	for _, i := range group[1:] {
		all = append(all, reports[i].Requests[0])
		x.Facts, x.Faults = append(x.Facts, reports[i].Facts...), append(slices.Clip(x.Faults), reports[i].Faults...)
	}
	x.Requests, x.Also = all, all[1:]
	x.Derivation = core.together(all, group, reports)
	x.Headline = x.Derivation.Headline()
	base := core.alone()
	for _, s := range core.e.r.u.subs {
		if slices.Contains(x.Also, s.Name) {
			base.Subscriptions = append(base.Subscriptions, *s.Subscription)
		}
	}
	var fixes [][]*Fix // of each
	for _, i := range group {
		fixes = append(fixes, key.shared(reports[i].Fixes))
	}
	x.Fixes = []*Fix{}
	for n, f := range fixes[0] {
		g := &Fix{rest: f.rest, assumed: f.assumed, removed: f.removed, cost: f.cost}
		for k := range f.Changes {
			for _, its := range fixes {
				if ch := its[n].Changes[k]; !slices.ContainsFunc(g.Changes, ch.same) {
					g.Changes = append(g.Changes, ch)
				}
			}
		}
		for _, its := range fixes {
			g.waived = append(g.waived, its[n].waived...)
		}
		p := base
		for _, ch := range g.Changes {
			p = ch.apply(p)
		}
		p = g.with(p)
		sol, err := core.plan(ctx, &p, g.waived)
		if err != nil {
			return x, err
		}
		if sol == nil {
			continue
		}
		g.Selected, g.Stuck = g.given(sol.Selected), sol.stuck(g.Changes)
		g.Commands = commands(core.e.r.u.p, g.Changes)
		x.Fixes = append(x.Fixes, g)
	}
	return x, nil
}

// same reports whether one of two changes is enough.
func (c Change) same(o Change) bool {
	switch {
	case c.Kind == AddCatalog:
		return c.Kind == o.Kind && c.Advice == o.Advice
	case c.Kind == RelaxRequirement:
		return c.Kind == o.Kind && c.Requirement == o.Requirement && c.Bundle.Package == o.Bundle.Package
	}
	return c == o
}

// together returns the derivation for subscriptions that fail alike, with a step for each that fails
// by another way.
func (c *Core) together(names []string, group []int, reports []CoreReport) *Derivation {
	subject := failing("subscriptions " + phrase.And(names))
	retell := func(s fact.Step, as, end string) *fact.Step {
		for _, name := range names {
			if why, ok := strings.CutPrefix(s.Text, failing("subscription "+name)); ok {
				s.Text = as + strings.TrimSuffix(why, end)
				break
			}
		}
		return &s
	}
	derive := func(i int, as, end string) *fact.Step {
		s := retell(*reports[i].Conclusion, as, end)
		if s.Folded != nil {
			s.Folded = retell(*s.Folded, as, end)
		}
		return s
	}
	q, end := c.lacks(), ""
	if q != nil {
		end = c.e.narrator.Nothing(q.Requirement)
	}
	d := &Derivation{}
	var ways []*fact.Step
	for _, i := range group {
		way := derive(i, "", end)
		if !slices.ContainsFunc(ways, func(o *fact.Step) bool { return o.Shown().Text == way.Shown().Text }) {
			ways = append(ways, way)
		}
		d.Incomplete = d.Incomplete || reports[i].Incomplete
	}
	if len(ways) == 1 {
		d.Conclusion = derive(group[0], subject, "")
		return d
	}
	need := fmt.Sprintf("all %d need ", len(names))
	if len(names) == 2 {
		need = "both need "
	}
	d.Conclusion = &fact.Step{Code: q.Code(), Text: subject + need + prose.Requirement(q.Requirement) + end, Because: ways}
	return d
}
