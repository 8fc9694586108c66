package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/internal/prose"
)

// A DeadEnd is an upgrade of an outlook that does not happen, because nothing satisfies a requirement
// of the bundle that it leads to, or because a policy blocks it.
type DeadEnd struct {
	// At is where OLM stops.
	At     graph.Node `json:"at"`
	Bundle graph.Node `json:"bundle"`
	// Requires is the requirement, in words. It is "" if Policy is set.
	Requires string  `json:"requires,omitempty"`
	Policy   *Policy `json:"policy,omitzero"`

	step int // the number of the upgrade in the outlook
}

// String returns the dead end as a clause.
func (d *DeadEnd) String() string {
	if d.Policy != nil {
		return fmt.Sprintf("it stays at %s, because %s is blocked by a policy: %s", d.At, d.Bundle, d.Policy)
	}
	return fmt.Sprintf("OLM stops at %s, because %s requires %s, which no bundle in any catalog satisfies", d.At, d.Bundle, d.Requires)
}

// deadEnd returns the first dead end in an outlook of a subscription, or nil.
func (u *universe) deadEnd(ctx context.Context, n *needs, s *subscription, o *graph.Outlook) *DeadEnd { // H40
	before := u.err
	defer func() {
		if ctx.Err() == nil {
			u.err = before // no answer depends on rules of later bundles that fail
		}
	}()
	in, others := u.sourcesFor(s)
	for i, step := range o.Steps {
		for _, src := range slices.Concat(in, others) {
			p, ok := src.Graph.Package(s.Package)
			if !ok {
				continue
			}
			b, ok := p.Bundle(step.To.Name)
			if !ok {
				continue
			}
			for e := range b.Entries() {
				is := func(from string) bool { return from == step.From.Name || from == step.From.Version }
				if f := u.policyAgainst(src.cand(e), is); f != nil {
					return &DeadEnd{At: step.From, Bundle: step.To, Policy: &f.Policy, step: i}
				}
				for _, r := range n.requirements(ctx, src.cand(e)) {
					if r.need.unmet() {
						return &DeadEnd{At: step.From, Bundle: step.To, Requires: prose.Requirement(r.Expr), step: i}
					}
				}
				break // all entries have the same requirements
			}
			break
		}
	}
	return nil
}

// unmet reports whether no set of candidates satisfies the need.
func (x *need) unmet() bool {
	switch x.kind {
	case proof.AnyOf:
		return len(x.list) == 0
	case proof.Every:
		return slices.ContainsFunc(x.kids, (*need).unmet)
	case proof.Some:
		return !slices.ContainsFunc(x.kids, func(k *need) bool { return !k.unmet() })
	}
	return false
}
