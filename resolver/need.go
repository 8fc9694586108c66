package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
)

// A need is a requirement or subscription as a formula over candidates, in
// negation normal form: negations stand only at leaves. It serves the first try
// without a solver, the encoding for the solver, and the explanation.
type need struct {
	kind needKind
	// list holds the candidates of an anyOf, the preferred first.
	list []cand
	// expr is the leaf: what one of list satisfies, or for noneOf, what no chosen
	// bundle may satisfy. A subscription has none.
	expr constraints.Expr
	kids []*need
}

type needKind int

const (
	// anyOf: one of list is chosen.
	anyOf needKind = iota
	// every: all kids hold.
	every
	// some: one of the kids holds, the first preferred.
	some
	// noneOf: no chosen candidate satisfies expr.
	noneOf
)

type needKey struct {
	expr constraints.Expr
	own  int
}

// needs caches the needs of a universe, so that equal requirements of bundles of
// one catalog are one need.
type needs struct {
	u    *universe
	made map[needKey]*need
}

func newNeeds(u *universe) *needs { return &needs{u: u, made: map[needKey]*need{}} }

// of returns the need that a requirement of a bundle of the catalog own states.
func (n *needs) of(ctx context.Context, x constraints.Expr, own int) *need {
	key := needKey{x, own}
	if got, ok := n.made[key]; ok {
		return got
	}
	var made *need
	if n.u.semantics() == PerBundle {
		made = &need{kind: anyOf, expr: x, list: n.u.candidates(ctx, x, own)}
	} else {
		made = n.build(ctx, x, own, false)
	}
	n.made[key] = made
	return made
}

// build turns a tree into a formula over the set (D5), pushing negations down.
func (n *needs) build(ctx context.Context, x constraints.Expr, own int, negated bool) *need {
	parts := func(of []constraints.Expr, kind needKind, negated bool) *need {
		out := &need{kind: kind}
		for _, part := range of {
			out.kids = append(out.kids, n.build(ctx, part, own, negated))
		}
		if kind == some {
			// What is installed is preferred (D8), then the author's order.
			slices.SortStableFunc(out.kids, func(a, b *need) int { return n.rank(ctx, a) - n.rank(ctx, b) })
		}
		return out
	}
	switch x := x.(type) {
	case *constraints.All:
		if negated {
			return parts(x.Of, some, true)
		}
		return parts(x.Of, every, false)
	case *constraints.Any:
		if negated {
			return parts(x.Of, every, true)
		}
		if !slices.ContainsFunc(x.Of, compound) {
			// One list in the order of preference, not in the author's order.
			return &need{kind: anyOf, expr: x, list: n.u.candidates(ctx, x, own)}
		}
		return parts(x.Of, some, false)
	case *constraints.Not:
		if negated {
			return parts(x.Of, some, false)
		}
		return parts(x.Of, every, true)
	}
	if negated {
		return &need{kind: noneOf, expr: x}
	}
	return &need{kind: anyOf, expr: x, list: n.u.candidates(ctx, x, own)}
}

func compound(x constraints.Expr) bool {
	switch x.(type) {
	case *constraints.All, *constraints.Any, *constraints.Not:
		return true
	}
	return false
}

// rank is 0 for a need that the installed operators meet by themselves.
func (n *needs) rank(ctx context.Context, x *need) int {
	installed, _ := n.u.atRest()
	if x.heldBy(ctx, n.u, installed.list, n.u.isInstalled) {
		return 0
	}
	return 1
}

// heldBy reports whether a set, of which has knows each member, meets a need.
func (x *need) heldBy(ctx context.Context, u *universe, set []cand, has func(cand) bool) bool {
	held := func(k *need) bool { return k.heldBy(ctx, u, set, has) }
	switch x.kind {
	case anyOf:
		return slices.ContainsFunc(x.list, has)
	case every:
		return !slices.ContainsFunc(x.kids, func(k *need) bool { return !held(k) })
	case some:
		return slices.ContainsFunc(x.kids, held)
	}
	return len(u.among(ctx, x.expr, set, has)) == 0
}

// A stated is a requirement of a candidate with the need it means.
type stated struct {
	graph.Requirement
	*need
}

// requirements returns what a candidate requires, in order of its properties.
func (n *needs) requirements(ctx context.Context, c cand) []stated {
	var out []stated
	own := n.u.sourceOf(c)
	for r := range n.u.requirements(c) {
		if n.u.waives(c, r.Expr) {
			continue
		}
		before := n.u.err
		out = append(out, stated{r, n.of(ctx, r.Expr, own)})
		if n.u.err != nil && before == nil {
			// Whoever has to mend it needs to know whose rule it was.
			n.u.err = fmt.Errorf("%s (%s), property %d: %w", n.u.ref(c).Name, n.u.pos(c), r.Property, n.u.err)
		}
	}
	return out
}

// choices returns the decisions that a need leaves open, in order: its anyOf and
// some parts that all must be decided. Negations decide nothing.
func (x *need) choices() []*need { return x.appendChoices(nil) }

func (x *need) appendChoices(list []*need) []*need {
	switch x.kind {
	case every:
		for _, k := range x.kids {
			list = k.appendChoices(list)
		}
		return list
	case noneOf:
		return list
	}
	return append(list, x)
}

// decided reports whether what was chosen meets the need whatever else will be
// chosen. What nothing may satisfy is never decided.
func (x *need) decided(chosen func(cand) bool) bool {
	decided := func(k *need) bool { return k.decided(chosen) }
	switch x.kind {
	case anyOf:
		return slices.ContainsFunc(x.list, chosen)
	case some:
		return slices.ContainsFunc(x.kids, decided)
	case every:
		return !slices.ContainsFunc(x.kids, func(k *need) bool { return !decided(k) })
	}
	return false
}

// forbidden returns what a need forbids in any case.
func (x *need) forbidden() []constraints.Expr {
	switch x.kind {
	case every:
		var out []constraints.Expr
		for _, k := range x.kids {
			out = append(out, k.forbidden()...)
		}
		return out
	case noneOf:
		return []constraints.Expr{x.expr}
	}
	return nil
}

// each calls f for every candidate that the need mentions.
func (x *need) each(f func(cand)) {
	for _, c := range x.list {
		f(c)
	}
	for _, k := range x.kids {
		k.each(f)
	}
}
