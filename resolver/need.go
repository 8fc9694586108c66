package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A need is a requirement or subscription as a formula over candidates, with negations
// only at leaves. Backtracking, the encoding for the solver and explanations share it.
type need struct {
	kind proof.Op
	// list holds the candidates of an anyOf in order of preference.
	list []cand
	// expr is the expression of a leaf. The members of list satisfy it or, in a noneOf, no
	// chosen bundle may satisfy it. The need of a subscription has no expr.
	expr constraints.Expr
	kids []*need
}

type needKey struct {
	expr constraints.Expr
	own  int
}

// needs caches the needs of a universe. Equal requirements of bundles of one catalog share
// a need.
type needs struct {
	u    *universe
	made map[needKey]*need
}

func newNeeds(u *universe) *needs { return &needs{u: u, made: map[needKey]*need{}} }

// of returns the need for a requirement of a bundle from catalog own.
func (n *needs) of(ctx context.Context, x constraints.Expr, own int) *need {
	key := needKey{x, own}
	if got, ok := n.made[key]; ok {
		return got
	}
	var made *need
	if n.u.semantics() == PerBundle { // D6, H8
		made = &need{kind: proof.AnyOf, expr: x, list: n.u.candidates(ctx, x, own)}
	} else {
		made = n.build(ctx, normal(x, false), own)
	}
	n.made[key] = made
	return made
}

// build turns a constraint in normal form into a formula over the set (D5).
func (n *needs) build(ctx context.Context, x constraints.Expr, own int) *need {
	switch x := x.(type) {
	case *constraints.All:
		out := &need{kind: proof.Every}
		for _, part := range x.Of {
			out.kids = append(out.kids, n.build(ctx, part, own))
		}
		return out
	case *constraints.Any:
		of := alternatives(x)
		if len(of) == 1 {
			return &need{kind: proof.AnyOf, expr: of[0], list: n.u.candidates(ctx, of[0], own)}
		}
		out := &need{kind: proof.Some}
		for _, part := range of {
			if any, ok := part.(*constraints.Any); ok { // of leaves
				out.kids = append(out.kids, &need{kind: proof.AnyOf, expr: any, list: n.u.candidates(ctx, any, own)})
			} else {
				out.kids = append(out.kids, n.build(ctx, part, own))
			}
		}
		slices.SortStableFunc(out.kids, func(a, b *need) int { return n.rank(ctx, a) - n.rank(ctx, b) })
		return out
	case *constraints.Not:
		return &need{kind: proof.NoneOf, expr: x.Of[0]}
	}
	return &need{kind: proof.AnyOf, expr: x, list: n.u.candidates(ctx, x, own)}
}

// alternatives returns the parts that an any in normal form chooses between, before
// installed ones are moved to the front (D20). They are in the author's order, but all
// leaves are one part at the position of the first: candidates are compared by preference
// (D8), not by the leaf that they satisfy.
func alternatives(x *constraints.Any) []constraints.Expr {
	leaves := slices.DeleteFunc(slices.Clone(x.Of), compound)
	if len(leaves) < 2 {
		return x.Of
	}
	if len(leaves) == len(x.Of) {
		return []constraints.Expr{x}
	}
	first := slices.Index(x.Of, leaves[0])
	out := slices.DeleteFunc(slices.Clone(x.Of), func(part constraints.Expr) bool { return !compound(part) })
	return slices.Insert(out, first, constraints.Expr(&constraints.Any{Of: leaves, FailureMessage: x.FailureMessage}))
}

func compound(x constraints.Expr) bool {
	switch x.(type) {
	case *constraints.All, *constraints.Any, *constraints.Not:
		return true
	}
	return false
}

// rank is 0 for a need that the installed operators satisfy, else 1.
func (n *needs) rank(ctx context.Context, x *need) int {
	installed, _ := n.u.atRest()
	if x.heldBy(ctx, n.u, installed.list, n.u.isInstalled) {
		return 0
	}
	return 1
}

// heldBy reports whether a set satisfies a need; has reports its members.
func (x *need) heldBy(ctx context.Context, u *universe, set []cand, has func(cand) bool) bool {
	held := func(k *need) bool { return k.heldBy(ctx, u, set, has) }
	switch x.kind {
	case proof.AnyOf:
		return slices.ContainsFunc(x.list, has)
	case proof.Every:
		return !slices.ContainsFunc(x.kids, func(k *need) bool { return !held(k) })
	case proof.Some:
		return slices.ContainsFunc(x.kids, held)
	}
	return len(u.among(ctx, x.expr, set, has)) == 0
}

// A stated is a requirement of a candidate with its need.
type stated struct {
	graph.Requirement
	*need
}

// requirements returns the requirements of a candidate, in the order of its properties.
func (n *needs) requirements(ctx context.Context, c cand) []stated {
	most := n.u.numRequirements(c)
	if most == 0 {
		return nil // as for most bundles
	}
	out := make([]stated, 0, most)
	own := n.u.sourceOf(c)
	for r := range n.u.requirements(c) {
		if n.u.waives(c, r.Expr) {
			continue
		}
		before := n.u.err
		out = append(out, stated{r, n.of(ctx, r.Expr, own)})
		if n.u.err != nil && before == nil {
			// To fix the rule, the reader needs to know its bundle.
			n.u.err = fmt.Errorf("%s (%s), property %d: %w", n.u.ref(c).Name, n.u.pos(c), r.Property, n.u.err)
		}
	}
	return out
}

// waives reports whether a requirement of a candidate does not count.
func (u *universe) waives(c cand, x constraints.Expr) bool {
	if len(u.waived) == 0 {
		return false
	}
	pkg := u.pkg(c)
	return slices.ContainsFunc(u.waived, func(q *fact.Requires) bool {
		return q.Bundle.Package == pkg && u.exprs.number(normal(q.Requirement, false)) == u.exprs.number(normal(x, false)) &&
			prose.Requirement(q.Requirement) == prose.Requirement(x) // the text names what to remove
	})
}

// choices returns the decisions that a need leaves open, in order: its parts of kind anyOf
// and some. Negations leave nothing to decide.
func (x *need) choices() (list []*need) {
	switch x.kind {
	case proof.Every:
		for _, k := range x.kids {
			list = append(list, k.choices()...)
		}
	case proof.AnyOf, proof.Some:
		list = append(list, x)
	}
	return list
}

// decided reports whether the chosen candidates satisfy the need regardless of later
// choices. A negation is never decided.
func (x *need) decided(chosen func(cand) bool) bool {
	decided := func(k *need) bool { return k.decided(chosen) }
	switch x.kind {
	case proof.AnyOf:
		return slices.ContainsFunc(x.list, chosen)
	case proof.Some:
		return slices.ContainsFunc(x.kids, decided)
	case proof.Every:
		return !slices.ContainsFunc(x.kids, func(k *need) bool { return !decided(k) })
	}
	return false
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

// eachNew is each, but skips needs seen before, because many bundles share needs.
func (x *need) eachNew(seen map[*need]bool, f func(cand)) {
	if seen[x] {
		return
	}
	seen[x] = true
	for _, c := range x.list {
		f(c)
	}
	for _, k := range x.kids {
		k.eachNew(seen, f)
	}
}
