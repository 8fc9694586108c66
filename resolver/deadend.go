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
// of the bundle that it leads to, because a policy blocks it, because the bundle does not run in the namespace, or because
// of other operators there.
type DeadEnd struct {
	// At is where OLM stops.
	At     graph.Node `json:"at"`
	Bundle graph.Node `json:"bundle"`
	// Requires is the requirement, in words. It is "" if Policy, Misfit or Because is set.
	Requires string  `json:"requires,omitempty"`
	Policy   *Policy `json:"policy,omitzero"`
	// Misfit is why the bundle does not run in the namespace.
	Misfit *Misfit `json:"misfit,omitzero"`
	// Because is why the other subscriptions and operators of the namespace, which were followed to where OLM stops, do
	// not let the upgrade happen. The others are not set then.
	Because string `json:"because,omitempty"`

	step int // the number of the upgrade in the outlook
}

// String returns the dead end as a clause.
func (d *DeadEnd) String() string {
	if d.Policy != nil {
		return fmt.Sprintf("it stays at %s, because %s is blocked by a policy: %s", d.At, d.Bundle, d.Policy)
	}
	if d.onPlatform() {
		return fmt.Sprintf("OLM stops at %s until you upgrade the platform, because %s", d.At, d.Misfit)
	}
	if d.Misfit != nil {
		return fmt.Sprintf("OLM stops at %s, because %s", d.At, d.Misfit)
	}
	if d.Because != "" {
		return fmt.Sprintf("OLM stops at %s, because %s", d.At, d.Because)
	}
	return fmt.Sprintf("OLM stops at %s, because %s requires %s, which no bundle in any catalog satisfies", d.At, d.Bundle, d.Requires)
}

// onPlatform reports whether an upgrade of the platform ends the dead end.
func (d *DeadEnd) onPlatform() bool { return d.Misfit != nil && d.Misfit.By == HeldByPlatform }

// deadEnd returns the first dead end of a subscription in the upgrades, without regard to other operators of the
// namespace, or nil.
func (u *universe) deadEnd(ctx context.Context, n *needs, s *subscription, steps []graph.Step) *DeadEnd { // H40
	before := u.err
	defer func() {
		if ctx.Err() == nil {
			u.err = before // no answer depends on rules of later bundles that fail
		}
	}()
	in, others := u.sourcesFor(s)
	for i, step := range steps {
		for _, src := range slices.Concat(in, others) {
			p, ok := src.Graph.Package(s.Package)
			if !ok {
				continue
			}
			b, ok := p.Bundle(step.To.Name)
			if !ok {
				continue
			}
			if d := u.deadEndAt(ctx, n, src, b, step); d != nil {
				d.step = i
				return d
			}
			break
		}
	}
	return nil
}

// deadEndAt returns the dead end that an upgrade to a bundle is, or nil.
func (u *universe) deadEndAt(ctx context.Context, n *needs, src *source, b graph.Bundle, step graph.Step) *DeadEnd {
	for e := range b.Entries() {
		is := func(from string) bool { return from == step.From.Name || from == step.From.Version }
		if f := u.policyAgainst(src.cand(e), is); f != nil {
			return &DeadEnd{At: step.From, Bundle: step.To, Policy: &f.Policy}
		}
		for _, r := range n.requirements(ctx, src.cand(e)) {
			if r.need.unmet() {
				return &DeadEnd{At: step.From, Bundle: step.To, Requires: prose.Requirement(r.Expr)}
			}
		}
		if m := u.misfit(ctx, b); m != nil {
			return &DeadEnd{At: step.From, Bundle: step.To, Misfit: m}
		}
		break // all entries have the same requirements
	}
	return nil
}

// avoidDeadEnds replaces the ways of an outlook that have a dead end by others, and returns that dead end if the other way does
// not lead as far. ok reports whether the way of the result can be walked.
func (u *universe) avoidDeadEnds(ctx context.Context, n *needs, s *subscription, o *graph.Outlook) (_ *graph.Outlook, d *DeadEnd, ok bool) { // H40
	dead := func(w *graph.Way) *DeadEnd {
		if w == nil {
			return nil
		}
		return u.deadEnd(ctx, n, s, w.Steps())
	}
	if d = dead(o.Way); d == nil && dead(o.Nearer) == nil {
		return o, nil, true
	}
	all, catalog, channels := u.outlooks(s, nil)
	known := map[graph.Bundle]bool{}
	in, others := u.sourcesFor(s)
	all.Avoid(func(b graph.Bundle) bool {
		avoid, ok := known[b]
		if !ok {
			for _, src := range slices.Concat(in, others) {
				if p, ok := src.Graph.Package(s.Package); ok && p == b.Package() {
					avoid = u.deadEndAt(ctx, n, src, b, graph.Step{From: o.From, To: b.Node()}) != nil
				}
			}
			known[b] = avoid
		}
		return avoid
	})
	other := all.Of(o.From, catalog, channels)
	other.Fresh, other.Started = o.Fresh, o.Started
	switch {
	case d == nil || other.Way != nil && other.Way.End() == o.Way.End():
		return other, nil, true
	case other.Way == nil:
		return o, d, false
	}
	other.Way.Strands = false // the dead end is the reason why nothing leads further
	return other, d, true
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

// withDeadEnd adds a dead end, if there is one, to the text of an outlook.
func withDeadEnd(text string, d *DeadEnd) string {
	if d == nil {
		return text
	}
	if d.onPlatform() {
		return text + "; " + d.String()
	}
	return text + "; but " + d.String()
}
