package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Fix is a smallest set of changes that resolves a core: none of them can be
// left out. It was solved again before it was offered.
type Fix struct {
	Changes []Change `json:"changes"`
	// Selected is what would then be installed, by package.
	Selected []Selected `json:"selected"`

	cost int
	// rest is what can be planned without the fix.
	rest []Selected
}

// String says what to do and what would come of it, beside what can be planned
// anyway.
func (f *Fix) String() string {
	text := f.instruction()
	if then := f.outcome(); then != "" {
		text += "; then " + then
	}
	return text
}

// instruction says what to do.
func (f *Fix) instruction() string {
	parts := make([]string, len(f.Changes))
	for i, c := range f.Changes {
		parts[i] = c.String()
	}
	first := f.Changes[0]
	if len(parts) == 1 || first.Kind != RelaxRequirement {
		return strings.Join(parts, ", and ")
	}
	for i, c := range f.Changes {
		parts[i] = c.Requirement
	}
	text := "upstream: publish what meets " + andList(parts) + " and fits"
	if first.Place != nil {
		text += fmt.Sprintf(", or have %s drop these requirements (%s)", cmp.Or(first.Bundle.Package, first.Bundle.Name), first.Place)
	}
	return text
}

// outcome tells what would be installed that is not planned anyway; "" when
// nothing is, after something was given up.
func (f *Fix) outcome() string {
	var names []string
	rest := f.rest // both are in order
	for _, s := range f.Selected {
		for len(rest) > 0 && rest[0].Compare(s) < 0 {
			rest = rest[1:]
		}
		if len(rest) == 0 || rest[0].Compare(s) != 0 {
			names = append(names, s.Name)
		}
	}
	switch n := len(names); {
	case n == 0 && f.removes():
		return ""
	case n == 0:
		return "nothing has to be installed"
	case n == 1:
		return names[0] + " is installed"
	case n <= 4:
		return strings.Join(names[:n-1], ", ") + " and " + names[n-1] + " are installed"
	default:
		return fmt.Sprintf("%s, %s and %d others are installed", names[0], names[1], n-2)
	}
}

// maxTries bounds how many sets of changes are tried for one core.
const maxTries = 400

// Fixes returns the smallest changes that resolve the core, those that disturb
// least first, at most max of them (0: five). Each was solved again, with the
// other cores left as they are. Changes to catalogs come last, and only where
// nothing else helps. The error is the context's.
func (c *Core) Fixes(ctx context.Context, max int) ([]*Fix, error) {
	if err := c.e.r.lock(ctx); err != nil {
		return nil, err
	}
	defer c.e.r.unlock(ctx)
	max = cmp.Or(max, 5)
	base := c.alone()
	changes := c.changes()
	var found []*Fix
	tries := 0
	try := func(set ...Change) error {
		if tries++; tries > maxTries || covers(found, set) {
			return nil
		}
		p := base
		for _, ch := range set {
			p = ch.apply(p)
		}
		sol, err := c.plan(ctx, &p, nil)
		if sol == nil || err != nil {
			return err
		}
		f := &Fix{Changes: set, Selected: sol.Selected}
		for _, ch := range set {
			f.cost += changeCost[ch.Kind]
		}
		found = append(found, f)
		return nil
	}
	for _, ch := range changes {
		if len(found) >= max {
			break // changes come by cost: those that follow would be cut off again
		}
		if err := try(ch); err != nil {
			return nil, err
		}
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
	if len(found) < max && (len(found) == 0 || onlyRemovals(found)) {
		up, err := c.upstream(ctx, max-len(found))
		if err != nil {
			return nil, err
		}
		found = append(found, up...)
	}
	for _, f := range found {
		f.rest = c.rest
	}
	slices.SortStableFunc(found, func(a, b *Fix) int { return cmp.Compare(a.cost, b.cost) })
	return found[:min(len(found), max)], nil
}

// removes reports whether a fix only gives things up.
func (f *Fix) removes() bool {
	return !slices.ContainsFunc(f.Changes, func(c Change) bool {
		return c.Kind != DropSubscription && c.Kind != RemoveSubscribed && c.Kind != RemoveOperator
	})
}

// onlyRemovals reports whether every fix gives something up.
func onlyRemovals(fixes []*Fix) bool {
	return !slices.ContainsFunc(fixes, func(f *Fix) bool { return !f.removes() })
}

// covers reports whether a found fix is part of set.
func covers(found []*Fix, set []Change) bool {
	for _, f := range found {
		if !slices.ContainsFunc(f.Changes, func(c Change) bool { return !slices.Contains(set, c) }) {
			return true
		}
	}
	return false
}

// alone returns the problem without what the other cores ask for, so that a fix
// of this core can be told apart: their subscriptions and operators are left
// out.
func (c *Core) alone() Problem {
	u := c.e.r.u
	p := *u.p
	p.Options.Partial = false
	p.Subscriptions = nil
	aside := map[string]bool{}
	for i, f := range c.e.facts {
		if !isRequest(f.Fact) {
			continue
		}
		foreign := c.foreign(i)
		switch {
		case i >= len(u.subs):
			aside[u.installed[f.owner].Name] = foreign
		case !foreign:
			p.Subscriptions = append(p.Subscriptions, *u.subs[i].Subscription)
		case u.subs[i].current != nil:
			aside[u.subs[i].current.Name] = true
		}
	}
	p.Installed = slices.DeleteFunc(slices.Clone(p.Installed), func(in Installed) bool { return aside[in.Name] })
	return p
}

// foreign reports whether fact i is a request of another core and not of this
// one.
func (c *Core) foreign(i int) bool {
	n, asked := c.e.coreOf[i]
	return asked && n != c.e.coreOf[c.request()]
}

// request returns the number of a fact that the core asks for. It has one, since
// without any the empty set is a solution.
func (c *Core) request() int {
	return c.index[slices.IndexFunc(c.Facts, isRequest)]
}

// plan resolves a problem without asking why it has no solution: it then returns
// nil. Requirements that bundles share with waived ones are not held against
// them.
func (c *Core) plan(ctx context.Context, p *Problem, waived []*Requires) (*Solution, error) {
	u, err := newUniverse(ctx, p)
	if err != nil {
		return nil, err
	}
	u.waived = waived
	if p.OperatorGroup == c.e.r.u.p.OperatorGroup {
		u.modes = c.e.r.u.modes
	}
	r, err := newResolution(ctx, u)
	if err != nil {
		return nil, err
	}
	sol, _, err := r.solve(ctx, new(scratch))
	return sol, err
}
