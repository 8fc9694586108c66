package resolver

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/fact"
)

// An evaluation tests expressions on single bundles for one resolution. CEL rules are
// evaluated once for each bundle, and their faults are kept.
type evaluation struct {
	*constraints.Evaluator
	values map[graph.Bundle]*constraints.Values
	faults map[Fault]bool
	// err is the error that ended all evaluation: the context's, or that of the limit on
	// the total cost of rules. Once it is set, every test is false.
	err error
}

// valued adds to a bundle of a catalog the values by which an Evaluator caches
// results.
type valued struct {
	graph.Bundle
	values *constraints.Values
}

// Values returns the decoded properties.
func (v valued) Values() *constraints.Values { return v.values }

// test reports whether a bundle satisfies an expression by itself.
func (e *evaluation) test(ctx context.Context, x constraints.Expr, b constraints.Bundle) bool {
	if e.err == nil && ctx.Err() != nil {
		e.err = context.Cause(ctx) // evaluating a version range of 64 KiB takes long, even without CEL rules
	}
	if e.err != nil {
		return false
	}
	if g, ok := b.(graph.Bundle); ok && hasRule(x) {
		v, ok := e.values[g]
		if !ok {
			v = constraints.NewValues(g.Properties())
			if e.values == nil {
				e.values = map[graph.Bundle]*constraints.Values{}
			}
			e.values[g] = v
		}
		b = valued{g, v}
	}
	r, err := e.Satisfies(ctx, x, b)
	if err != nil {
		e.err = err
		return false
	}
	for _, p := range r.Problems {
		if e.faults == nil {
			e.faults = map[Fault]bool{}
		}
		e.faults[Fault{Rule: p.Expr.Rule, Error: p.Err.Error()}] = true
	}
	return r.OK
}

// hasRule reports whether an expression contains a CEL rule.
func hasRule(x constraints.Expr) bool {
	for part := range constraints.Walk(x) {
		if _, ok := part.(*constraints.CEL); ok {
			return true
		}
	}
	return false
}

// faultsOf returns the faults whose rules are part of a core's requirements.
func faultsOf(core []fact.Fact, faults []Fault) []Fault {
	if len(faults) == 0 {
		return nil
	}
	rules := map[string]bool{}
	for _, f := range core {
		if r, ok := f.(*fact.Requires); ok {
			for part := range constraints.Walk(r.Requirement) {
				if x, ok := part.(*constraints.CEL); ok {
					rules[x.Rule] = true
				}
			}
		}
	}
	var out []Fault
	for _, f := range faults {
		if rules[f.Rule] {
			out = append(out, f)
		}
	}
	return out
}

// list returns the faults in order.
func (e *evaluation) list() []Fault {
	out := make([]Fault, 0, len(e.faults))
	for f := range e.faults {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Fault) int { return cmp.Or(cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Error, b.Error)) })
	return slices.Clip(out)
}

// A Fault is a CEL rule that could not be evaluated.
type Fault struct {
	Rule  string `json:"rule"`
	Error string `json:"error"`
}

// String returns the rule, truncated if it is long, and why it failed.
func (f Fault) String() string {
	const most = 120
	rule := strconv.Quote(f.Rule)
	if len(f.Rule) > most {
		rule = strconv.Quote(strings.ToValidUTF8(f.Rule[:most], "")) + "…"
	}
	return "rule " + rule + " counts as false where it failed: " + f.Error
}
