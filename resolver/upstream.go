package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// upstream returns fixes that drop a single requirement, at most max of them. If there are
// none, it returns one that drops all requirements that nothing satisfies, if that helps.
func (c *Core) upstream(ctx context.Context, max int) ([]*Fix, error) {
	e := c.e
	var out []*Fix
	var mine []*fact.Requires
	tries := relaxations(len(e.facts))
	for _, i := range c.index {
		q, ok := e.facts[i].Fact.(*fact.Requires)
		if !ok || slices.ContainsFunc(mine, func(o *fact.Requires) bool { return sameMistake(o, q) }) {
			continue
		}
		mine = append(mine, q)
		if len(out) >= max || len(mine) > tries {
			break
		}
		fix, err := c.relaxed(ctx, q)
		if err != nil {
			return nil, err
		}
		if fix != nil {
			out = append(out, fix)
		}
	}
	if len(out) > 0 {
		return out, nil
	}
	// Requirements outside the core may also be unmet.
	var unmet []*fact.Requires
	for i, f := range e.facts {
		q, ok := f.Fact.(*fact.Requires)
		if !ok || len(e.mentions(f.need)) > 0 {
			continue
		}
		e.describe([]int{i})
		if slices.ContainsFunc(mine, func(o *fact.Requires) bool { return o.Bundle.Package == q.Bundle.Package }) &&
			!slices.ContainsFunc(unmet, func(o *fact.Requires) bool { return sameMistake(o, q) }) {
			unmet = append(unmet, q)
		}
	}
	if len(unmet) < 2 || len(unmet) > maxUnmet {
		return nil, nil
	}
	fix, err := c.relaxed(ctx, unmet...)
	if fix == nil || err != nil {
		return nil, err
	}
	// The bundles that are then installed may not have all of them.
	has := func(q *fact.Requires) bool {
		return slices.ContainsFunc(e.facts, func(f stating) bool {
			o, ok := f.Fact.(*fact.Requires)
			return ok && sameMistake(o, q) && slices.ContainsFunc(fix.Selected, func(s Selected) bool { return s.Name == o.Bundle.Name })
		})
	}
	if few := slices.DeleteFunc(slices.Clone(unmet), func(q *fact.Requires) bool { return !has(q) }); len(few) < len(unmet) {
		less, err := c.relaxed(ctx, few...)
		if err != nil {
			return nil, err
		}
		fix = cmp.Or(less, fix)
	}
	return []*Fix{fix}, nil
}

// maxRelaxed is the number of requirements that are tried one by one. If there are more,
// the whole channel is broken, and advice on a single version does not help.
const maxRelaxed = 50

// relaxations returns the number of requirements to try one by one. Each try solves another
// problem with that many facts (D21).
func relaxations(facts int) int {
	const few, enough = 5, 20_000
	return max(few, min(maxRelaxed, enough/max(facts, 1)))
}

// maxUnmet is the number of requirements that one piece of advice may cover.
const maxUnmet = 4

// sameMistake reports whether two bundles of a package state the same requirement.
func sameMistake(a, b *fact.Requires) bool {
	return a.Bundle.Package == b.Bundle.Package && prose.Requirement(a.Requirement) == prose.Requirement(b.Requirement)
}

// relaxed returns the fix that drops some requirements from all bundles of their packages.
// It returns nil if that does not help or is not possible.
func (c *Core) relaxed(ctx context.Context, drop ...*fact.Requires) (*Fix, error) {
	fix := &Fix{waived: drop}
	for _, q := range drop {
		ch := Change{Kind: RelaxRequirement, Bundle: q.Bundle, Requirement: prose.Requirement(q.Requirement), Place: q.Place()}
		if ch.Advice = advice(q); ch.Advice == "" {
			return nil, nil
		}
		fix.Changes = append(fix.Changes, ch)
		fix.cost += changeCost[ch.Kind]
	}
	p := c.alone()
	sol, err := c.plan(ctx, &p, drop)
	if sol == nil || err != nil {
		return nil, err
	}
	fix.Selected = sol.Selected
	return fix, nil
}

// advice returns what authors can do about a requirement. It returns "" for an installed
// operator, which authors cannot change.
func advice(q *fact.Requires) string {
	who := cmp.Or(q.Bundle.Package, q.Bundle.Name)
	if len(q.Candidates) > 0 {
		if q.Bundle.Installed() {
			return ""
		}
		return fmt.Sprintf("remove the requirement of %s for %s", who, prose.Requirement(q.Requirement))
	}
	publish := "publish a compatible bundle that satisfies " + prose.Requirement(q.Requirement)
	relax := fmt.Sprintf("remove that requirement from %s", who)
	switch x := q.Requirement.(type) {
	case *constraints.Package:
		publish = fmt.Sprintf("publish a version %s of package %s", x.Range, x.Name)
		relax = fmt.Sprintf("remove or widen that requirement of %s", who)
	case *constraints.GVK:
		publish = "publish a compatible bundle that provides " + x.GVK.String()
	case *constraints.CEL:
		publish = "publish a compatible bundle that satisfies the rule"
	}
	if forbids(q.Requirement) {
		publish, relax = "", fmt.Sprintf("remove the requirement of %s for %s", who, prose.Requirement(q.Requirement))
	}
	switch {
	case q.Bundle.Installed():
		return publish
	case publish == "":
		return relax
	}
	return publish + ", or " + relax
}

// forbids reports whether a requirement forbids something anywhere.
func forbids(x constraints.Expr) bool {
	for part := range constraints.Walk(x) {
		if _, ok := part.(*constraints.Not); ok {
			return true
		}
	}
	return false
}
