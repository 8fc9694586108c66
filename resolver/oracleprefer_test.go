package resolver_test

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/resolver"
)

// A goal is an open decision between alternatives, in order of preference.
type goal struct{ of []alternative }

// An alternative of a goal is a candidate or, if expr is set, a part of a tree or its negation.
type alternative struct {
	c int
	// it satisfies the goal if it is in the set, but cannot be chosen for it (H3)
	there   bool
	expr    constraints.Expr
	negated bool
	leaves  []constraints.Expr // any of these, instead of expr
	own     int                // the catalog of the bundle that requires expr
}

// best returns the most preferred valid set (D8). It tries all choices in order, depth first, and backtracks.
// Subscriptions choose first, in order, then the requirements of installed operators without a subscription, then
// those of chosen bundles, breadth first.
func (o *oracle) best() (set, bool) {
	var s set
	var queue []goal
	for _, w := range o.subs {
		if !w.missing || o.off != "H5" {
			queue = append(queue, candidates(w.options))
		}
	}
	var bans []constraints.Expr
	for i, c := range o.all {
		if !c.free {
			continue
		}
		if !o.fits(s, i) {
			return 0, false
		}
		s = s.with(i)
	}
	// Installed operators are in order of name.
	free := slices.DeleteFunc(slices.Collect(indexes(len(o.all))), func(i int) bool { return !o.all[i].free })
	slices.SortFunc(free, func(i, j int) int { return compareStrings(o.all[i].ref.Name, o.all[j].ref.Name) })
	for _, i := range free {
		goals, more := o.required(i)
		queue, bans = append(queue, goals...), append(bans, more...)
	}
	return o.search(s, queue, bans)
}

func compareStrings(a, b string) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

func indexes(n int) func(func(int) bool) {
	return func(yield func(int) bool) {
		for i := range n {
			if !yield(i) {
				return
			}
		}
	}
}

func candidates(list []int) goal {
	var g goal
	for _, c := range list {
		g.of = append(g.of, alternative{c: c})
	}
	return g
}

// search extends s with the first alternatives that lead to a valid set.
func (o *oracle) search(s set, queue []goal, bans []constraints.Expr) (set, bool) {
	if slices.ContainsFunc(bans, func(x constraints.Expr) bool { return o.anyMatches(x, s) }) {
		return 0, false
	}
	if len(queue) == 0 {
		return s, o.valid(s) == ""
	}
	g, rest := queue[0], queue[1:]
	if slices.ContainsFunc(g.of, func(a alternative) bool { return o.decided(a, s) }) {
		return o.search(s, rest, bans)
	}
	for _, a := range g.of {
		next := s
		var goals []goal
		var more []constraints.Expr
		if a.expr != nil || a.leaves != nil {
			goals, more = o.expand(a)
		} else {
			if a.there || !o.fits(s, a.c) {
				continue
			}
			next = s.with(a.c)
			goals, more = o.required(a.c)
		}
		if got, ok := o.search(next, slices.Concat(rest, goals), slices.Concat(bans, more)); ok {
			return got, true
		}
	}
	return 0, false
}

func (o *oracle) anyMatches(x constraints.Expr, s set) bool {
	return !s.each(func(c int) bool { return !o.matches(x, c) })
}

// decided reports whether the chosen candidates satisfy an alternative regardless of later
// choices. A negation is never decided.
func (o *oracle) decided(a alternative, s set) bool {
	if a.expr == nil && a.leaves == nil {
		return s.has(a.c)
	}
	goals, bans := o.expand(a)
	return len(bans) == 0 && !slices.ContainsFunc(goals, func(g goal) bool {
		return !slices.ContainsFunc(g.of, func(a alternative) bool { return o.decided(a, s) })
	})
}

// required returns the requirements of a candidate, in the order of its properties.
func (o *oracle) required(c int) (goals []goal, bans []constraints.Expr) {
	for _, x := range o.all[c].requires {
		g, b := o.expand(alternative{expr: x, own: o.all[c].catalog})
		goals, bans = append(goals, g...), append(bans, b...)
	}
	return goals, bans
}

// expand returns the decisions that a tree always leaves open, and the leaves that nothing
// may satisfy.
func (o *oracle) expand(a alternative) (goals []goal, bans []constraints.Expr) {
	if o.p.Options.Semantics == resolver.PerBundle {
		return []goal{o.goal([]constraints.Expr{a.expr}, a.own)}, nil
	}
	if a.leaves != nil {
		return []goal{o.goal(a.leaves, a.own)}, nil
	}
	both, parts := o.parts(a)
	if parts == nil {
		if a.negated {
			return nil, []constraints.Expr{a.expr}
		}
		return []goal{o.goal([]constraints.Expr{a.expr}, a.own)}, nil
	}
	if both {
		for _, part := range parts {
			g, b := o.expand(part)
			goals, bans = append(goals, g...), append(bans, b...)
		}
		return goals, bans
	}
	// The leaves of an any form one list of candidates. Otherwise the author's order decides, after installed
	// operators (D20).
	var installed set
	for i, c := range o.all {
		if c.catalog < 0 {
			installed = installed.with(i)
		}
	}
	isLeaf := func(a alternative) bool { return !a.negated && constraints.Children(a.expr) == nil }
	var leaves []constraints.Expr
	for _, part := range parts {
		if isLeaf(part) {
			leaves = append(leaves, part.expr)
		}
	}
	if len(leaves) == len(parts) {
		return []goal{o.goal(leaves, a.own)}, nil
	}
	var g goal
	for _, first := range []bool{true, false} {
		done := false
		for _, part := range parts {
			holds := o.off != "D20" && o.holds(part.expr, installed) != part.negated
			if isLeaf(part) {
				if done {
					continue
				}
				done = true
				part = alternative{leaves: leaves, own: a.own}
				holds = o.off != "D20" && slices.ContainsFunc(leaves, func(x constraints.Expr) bool { return o.holds(x, installed) })
			}
			if holds == first {
				g.of = append(g.of, part)
			}
		}
	}
	return []goal{g}, nil
}

// key returns the same text for alternatives that differ only in nesting and repetition.
func (o *oracle) key(a alternative) string {
	both, list := o.parts(a)
	if list == nil {
		return fmt.Sprint(a.negated, a.expr)
	}
	keys := []string{fmt.Sprint(both)}
	for _, part := range list {
		keys = append(keys, o.key(part))
	}
	return fmt.Sprintf("%q", keys)
}

// writing returns the text of an alternative, whose tree may be nested or repeat parts.
func (o *oracle) writing(a alternative) string {
	both, list := o.parts(a)
	var parts []string
	for _, part := range list {
		parts = append(parts, o.writing(part))
	}
	switch {
	case len(parts) == 1:
		return parts[0]
	case both:
		return "all(" + strings.Join(parts, ", ") + ")"
	case parts != nil:
		return "any(" + strings.Join(parts, ", ") + ")"
	case a.negated:
		return "not " + a.expr.String()
	}
	return a.expr.String()
}

// parts returns the parts of an alternative, after removing direct nesting of the same kind, single parts and
// repetitions. both reports whether all parts must hold. A leaf has no parts.
func (o *oracle) parts(a alternative) (both bool, list []alternative) {
	var kids []constraints.Expr
	negated := a.negated
	switch x := a.expr.(type) {
	case *constraints.All:
		kids, both = x.Of, !a.negated
	case *constraints.Any:
		kids, both = x.Of, a.negated
	case *constraints.Not:
		kids, both, negated = x.Of, !a.negated, !a.negated
	default:
		return false, nil
	}
	for _, x := range kids {
		part := alternative{expr: x, negated: negated, own: a.own}
		if inner, of := o.parts(part); of != nil && (inner == both || len(of) == 1) {
			list = append(list, of...)
		} else {
			list = append(list, part)
		}
	}
	seen := map[string]bool{}
	list = slices.DeleteFunc(list, func(part alternative) bool {
		key := o.key(part)
		repeated := seen[key]
		seen[key] = true
		return repeated
	})
	if len(list) == 1 {
		if inner, of := o.parts(list[0]); of != nil {
			return inner, of
		}
	}
	return both, list
}

// goal returns the choice between all candidates that individually satisfy one of some trees.
func (o *oracle) goal(of []constraints.Expr, own int) goal {
	var list []int
	var there []alternative
	for i := range o.all {
		switch {
		case !slices.ContainsFunc(of, func(x constraints.Expr) bool { return o.satisfied(x, i) }):
		case o.skipped[i] && o.p.Options.Semantics == resolver.PerBundle:
		case o.skipped[i]:
			there = append(there, alternative{c: i, there: true})
		default:
			list = append(list, i)
		}
	}
	o.sort(list, own)
	g := candidates(list)
	g.of = append(g.of, there...)
	return g
}

// satisfied reports whether a single candidate satisfies a tree.
func (o *oracle) satisfied(x constraints.Expr, c int) bool {
	r, err := o.eval.Satisfies(context.Background(), x, o.all[c].facts)
	return err == nil && r.OK
}
