package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/sat"
)

// Independent parts of a namespace do not share candidates, packages, APIs or requirements,
// so each can be planned without the others (G1). A core lies within one part.

// A partition maps facts, candidates and subscriptions to their parts.
type partition struct {
	parent map[any]any // union-find over candidates and subscriptions
}

// A subNode stands for a subscription in a partition.
type subNode int

func (p *partition) find(x any) any {
	for {
		up, ok := p.parent[x]
		if !ok || up == x {
			return x
		}
		if over, ok := p.parent[up]; ok {
			p.parent[x] = over
		}
		x = up
	}
}

func (p *partition) join(a, b any) {
	if ra, rb := p.find(a), p.find(b); ra != rb {
		p.parent[rb] = ra
	}
}

// partition joins everything that the facts of an encoding connect.
func (e *encoding) partition(ctx context.Context) *partition {
	p := &partition{parent: map[any]any{}}
	for i, n := range e.r.options {
		if n != nil {
			n.each(func(c cand) { p.join(subNode(i), c) })
		}
		if s := e.r.u.subs[i]; s.current != nil {
			p.join(subNode(i), s.current.id)
		}
	}
	some := map[*need]cand{} // a candidate of each need; the others are joined with it
	for _, f := range e.facts {
		if n := f.need; f.owner != noCand && n != nil {
			if _, ok := some[n]; !ok {
				some[n] = noCand
				join := func(c cand) {
					if some[n] == noCand {
						some[n] = c
					}
					p.join(some[n], c)
				}
				n.each(join)
				e.eachForbidden(ctx, n, join)
			}
			if some[n] != noCand {
				p.join(f.owner, some[n])
			}
		}
		for _, c := range f.list {
			p.join(f.list[0], c)
		}
	}
	return p
}

// eachForbidden calls f for every candidate in a negation of the need.
func (e *encoding) eachForbidden(ctx context.Context, n *need, f func(cand)) {
	if n.kind == proof.NoneOf {
		for _, c := range e.r.u.among(ctx, n.expr, e.reached, e.isReached) {
			f(c)
		}
	}
	for _, k := range n.kids {
		e.eachForbidden(ctx, k, f)
	}
}

// node returns the node of fact i in a partition, or nil if it has none.
func (e *encoding) node(i int) any {
	f := e.facts[i]
	switch {
	case f.owner != noCand:
		return f.owner
	case len(f.list) > 0:
		return f.list[0]
	}
	// The facts of subscriptions come first, in their order.
	if i < len(e.r.u.subs) {
		return subNode(i)
	}
	return nil
}

// refuse returns the conflict of a problem without a solution, with the plan of the parts
// that have one.
func (r *resolution) refuse(ctx context.Context, e *encoding) (*Solution, error) {
	cores, err := e.cores(ctx)
	if err != nil {
		return nil, err
	}
	p := e.partition(ctx)
	refused := map[any]bool{}
	for _, core := range cores {
		for _, i := range core {
			if isRequest(e.facts[i].Fact) {
				refused[p.find(e.node(i))] = true
			}
		}
	}
	var on []sat.Lit
	var off []int // facts of refused parts
	for i, l := range e.on {
		if refused[p.find(e.node(i))] {
			off = append(off, i)
		} else {
			on = append(on, l)
		}
	}
	takesPart := func(sub int) bool { return r.missing[sub] == nil && !refused[p.find(subNode(sub))] }
	set, ok, err := e.search(ctx, on, takesPart)
	if err != nil {
		return nil, err
	}
	// Installed operators of refused parts stay as they are.
	c := &Conflict{ID: r.u.p.ID, Namespace: r.u.p.Namespace, Unseen: r.u.unseen, Faults: r.u.evaluation.list(), e: e}
	for _, core := range cores {
		x := e.core(core, c.Faults)
		if err := x.head(ctx); err != nil {
			return nil, err
		}
		c.Cores = append(c.Cores, x)
	}
	isRefused := map[string]bool{}
	for i, s := range r.u.subs {
		if takesPart(i) {
			c.planned = append(c.planned, s.Name)
		} else {
			c.refused = append(c.refused, s.Name)
			isRefused[s.Name] = true
		}
	}
	if ok {
		c.partial = r.solution(set)
		c.partial.off = off
		c.partial.Stayed = slices.DeleteFunc(c.partial.Stayed, func(s Stay) bool { return isRefused[s.Subscription] })
	}
	if c.partial != nil && len(c.planned) > 0 {
		for _, core := range c.Cores {
			core.rest = c.partial.Selected
		}
	}
	if r.u.p.Options.Partial && len(c.planned) > 0 && ok {
		c.partial.Refused = c
		return c.partial, nil
	}
	return nil, c
}
