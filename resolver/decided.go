package resolver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/sat"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A cause is the decision that brought a candidate into a set.
type cause struct {
	sub   *subscription // nil unless a subscription requested it
	owner cand          // noCand if a subscription, or nothing, requested it
	req   stated
	list  []cand // the options
	// before is the number of candidates that were chosen earlier.
	before int
}

// bundles returns the number of options without the installed operator of the subscription.
func (by cause) bundles() int {
	n := len(by.list)
	if by.sub != nil && by.sub.current != nil && slices.Contains(by.list, by.sub.current.id) {
		n--
	}
	return n
}

// why replays the decisions of a solution.
type why struct {
	of    *Solution
	r     *resolution
	set   []cand
	in    map[cand]bool // the members of set
	e     *encoding
	off   map[int]bool // the facts that the solution does not cover
	cause map[cand]cause
	order []cand // candidates in the order in which they were chosen
	// parts are the parts of the namespace, by root of the partition, both computed on demand.
	partition *partition
	parts     map[any]*part
	// byName are the members of set, and asked holds all requests for them, both computed
	// on demand.
	byName map[string]cand
	asked  map[cand][]ask
}

// A part is an independent part of the namespace: what is in others does not matter there.
type part struct {
	on    []sat.Lit // the switches of its facts that the solution covers
	order []cand    // its candidates in the order in which they were chosen
	at    []int     // their numbers in the order of all
}

// partOf returns the part of a candidate.
func (w *why) partOf(ctx context.Context, c cand) *part {
	if w.partition == nil {
		w.partition, w.parts = w.e.partition(ctx), map[any]*part{}
		of := func(x any) *part {
			root := w.partition.find(x)
			if w.parts[root] == nil {
				w.parts[root] = &part{}
			}
			return w.parts[root]
		}
		for i, l := range w.e.on {
			if !w.off[i] {
				p := of(w.e.node(i))
				p.on = append(p.on, l)
			}
		}
		for n, c := range w.order {
			p := of(c)
			p.order, p.at = append(p.order, c), append(p.at, n)
		}
	}
	if p := w.parts[w.partition.find(c)]; p != nil {
		return p
	}
	return &part{}
}

// has reports whether a candidate is in the solution.
func (w *why) has(c cand) bool { return w.in[c] }

// named returns the bundle or operator of the solution with a name.
func (w *why) named(name string) (cand, error) {
	c, ok := w.byName[name]
	if !ok {
		return noCand, fmt.Errorf("%q is not part of the plan", name)
	}
	return c, nil
}

func (s *Solution) reasons(ctx context.Context) (*why, error) {
	if s.why != nil {
		return s.why, nil
	}
	e, err := s.r.encode(ctx)
	if err != nil {
		return nil, err
	}
	w := &why{of: s, r: s.r, set: s.set, in: make(map[cand]bool, len(s.set)), e: e, off: map[int]bool{}, cause: map[cand]cause{}, byName: make(map[string]cand, len(s.set))}
	for _, i := range s.off {
		w.off[i] = true // these cannot hold, and must not count against the rest
	}
	for _, c := range s.set {
		w.in[c] = true
	}
	for _, c := range slices.Backward(s.set) { // the first of several wins
		w.byName[s.r.u.ref(c).Name] = c
	}
	w.replay(ctx)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx) // decisions may be missing
	}
	s.why = w
	return w, nil
}

// replay repeats the decisions of the search, knowing their outcome.
func (w *why) replay(ctx context.Context) {
	t := &replay{why: w, took: map[cand]bool{}}
	for _, x := range w.r.u.installed {
		if len(x.owners) == 0 {
			t.take(x.id, cause{owner: noCand})
		}
	}
	w.r.walk(ctx, slices.Clone(w.order), t, new(decisions))
}

// A replay chooses what is in the solution.
type replay struct {
	*why
	took map[cand]bool
}

func (t *replay) take(c cand, by cause) {
	t.took[c] = true
	by.before = len(t.order)
	t.cause[c] = by
	t.order = append(t.order, c)
}

func (t *replay) has(c cand) bool { return t.took[c] }

func (t *replay) choose(ctx context.Context, _ int, d decision) (cand, *need, bool) {
	if d.kind == proof.Some {
		i := slices.IndexFunc(d.kids, func(k *need) bool { return k.heldBy(ctx, t.r.u, t.set, t.why.has) })
		if i < 0 {
			return noCand, nil, true
		}
		return noCand, d.kids[i], true
	}
	i := slices.IndexFunc(d.list, t.why.has)
	if i < 0 {
		return noCand, nil, true
	}
	by := cause{owner: d.owner, list: d.list}
	if d.owner == noCand {
		by.sub = t.r.u.subs[d.nth]
	} else {
		by.req = t.r.needs.requirements(ctx, d.owner)[d.nth]
	}
	t.take(d.list[i], by)
	return d.list[i], nil, true
}

func (t *replay) requires(context.Context, *need) bool { return true }

func (t *replay) back(context.Context, bool) (int, bool) { return 0, false }

// link describes one decision, and why the preferred options were not possible.
func (w *why) link(ctx context.Context, c cand, by cause) (Reason, error) {
	out := w.reason(c, ask{by.sub, by.owner, by.req.Requirement})
	out.Options, out.Decided = by.bundles(), cmp.Or(w.alone(c, by), w.decided(c, by))
	var rejected []*prose.Rejection
	for _, better := range by.list {
		if better == c {
			break
		}
		s, err := w.against(ctx, better, by.before)
		if err != nil {
			return out, err
		}
		if s != nil {
			rejected = append(rejected, s)
		}
	}
	out.Preferred = w.e.narrator.Rejects(rejected)
	return out, nil
}

// alone returns why a subscription has no option other than c, or "" if it has.
func (w *why) alone(c cand, by cause) string {
	sub := by.sub
	if sub == nil {
		return ""
	}
	switch current := sub.current; {
	case current != nil && current.id == c:
		if w.r.stay(sub, by.list).Reason != StaysAtHead {
			return ""
		}
		if sub.Channel == "" {
			return "it is the head of its channel"
		}
		return "it is the head of channel " + sub.Channel
	case current != nil && w.r.u.ref(c).Name == current.Name:
		if x, _ := w.r.u.entry(c); next(x) == 0 {
			return "it is the head of channel " + x.Channel().Name() + "; " + followsItself
		}
		return followsItself
	case by.bundles() != 1 || w.r.u.isInstalled(c):
	case current != nil && w.r.u.Version(w.r.u.ref(c)).LT(current.version):
		return "it is the only successor of the installed " + current.Name + ", although its version is lower"
	case current != nil:
		return "it is the only upgrade from the installed " + current.Name
	case sub.StartingCSV != "":
		return "it is the startingCSV of the subscription"
	default:
		if x, _ := w.r.u.entry(c); next(x) == 0 {
			return "it is the head of channel " + x.Channel().Name()
		}
	}
	return ""
}

// against returns why a candidate is not possible after a number of earlier choices, or nil if it is.
func (w *why) against(ctx context.Context, c cand, before int) (*prose.Rejection, error) {
	if _, reached := w.e.vars[c]; !reached {
		return nil, nil
	}
	p := w.partOf(ctx, c)
	n, _ := slices.BinarySearch(p.at, before)
	facts, with, err := w.e.conflict(ctx, p.on, append(slices.Clone(p.order[:n]), c))
	if err != nil || facts == nil {
		return nil, err
	}
	w.e.describe(facts)
	with = slices.DeleteFunc(with, func(b cand) bool { return b == c })
	q, end, err := w.e.prove(ctx, maxProof, facts, with, c)
	if err != nil && !errors.Is(err, proof.ErrTooLong) {
		return nil, err
	}
	return &prose.Rejection{Bundle: w.r.u.ref(c), Core: &q.Core, End: end, Facts: w.e.core(facts, nil).Facts, IDs: facts}, nil
}

// An ask is a subscription or a requirement that a candidate helps to satisfy.
type ask struct {
	sub   *subscription // nil unless a subscription requested it
	owner cand
	req   graph.Requirement
}

// reason describes why a candidate is requested.
func (w *why) reason(c cand, a ask) Reason {
	out := Reason{Bundle: w.r.u.ref(c)}
	switch {
	case a.sub != nil:
		out.Subscription = a.sub.Name
		out.again = a.sub.current != nil && a.sub.current.id != c && a.sub.current.Name == out.Bundle.Name
	case a.owner != noCand:
		q := &fact.Requires{Bundle: w.r.u.ref(a.owner), Pos: w.r.u.pos(a.owner), Property: a.req.Property, Requirement: a.req.Expr}
		out.By, out.Requirement, out.Place = q.Bundle, prose.Requirement(q.Requirement), q.Place()
	case w.r.u.isInstalled(c):
		out.Held = w.r.u.installed[c].Held
	}
	return out
}
