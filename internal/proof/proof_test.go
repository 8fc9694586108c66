package proof_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"testing"

	"github.com/olmkit/olmkit/internal/proof"
)

// draw returns random rules over a few classes.
func draw(r *rand.Rand, classes int) []proof.Rule {
	var formula func(depth int) *proof.Formula
	formula = func(depth int) *proof.Formula {
		f := &proof.Formula{Op: proof.Op(r.IntN(4))}
		if f.Op == proof.AnyOf || f.Op == proof.NoneOf || depth == 0 {
			if f.Op != proof.NoneOf {
				f.Op = proof.AnyOf
			}
			for c := range classes {
				if r.IntN(3) == 0 {
					f.Classes = append(f.Classes, c)
				}
			}
			return f
		}
		for range 1 + r.IntN(3) {
			f.Kids = append(f.Kids, formula(depth-1))
		}
		return f
	}
	var rules []proof.Rule
	for range 2 + r.IntN(6) {
		x := proof.Rule{Kind: proof.Kind(r.IntN(4)), Owner: r.IntN(classes)}
		switch x.Kind {
		case proof.Needs:
			if r.IntN(3) == 0 {
				x.Owner = proof.NoClass
			}
			x.Need = formula(2)
		case proof.Exclusive:
			x.Owner = proof.NoClass
			x.List = r.Perm(classes)[:2+r.IntN(classes-1)]
		}
		rules = append(rules, x)
	}
	return rules
}

// holds reports whether a set of classes satisfies all rules.
func holds(rules []proof.Rule, set uint) bool {
	has := func(c int) bool { return set&(1<<c) != 0 }
	var meets func(f *proof.Formula) bool
	meets = func(f *proof.Formula) bool {
		n := 0
		for _, c := range f.Classes {
			if has(c) {
				n++
			}
		}
		kids := 0
		for _, k := range f.Kids {
			if meets(k) {
				kids++
			}
		}
		switch f.Op {
		case proof.AnyOf:
			return n > 0
		case proof.NoneOf:
			return n == 0
		case proof.Every:
			return kids == len(f.Kids)
		}
		return kids > 0
	}
	for _, r := range rules {
		switch r.Kind {
		case proof.Needs:
			if (r.Owner == proof.NoClass || has(r.Owner)) && !meets(r.Need) {
				return false
			}
		case proof.Exclusive:
			n := 0
			for _, c := range r.List {
				if has(c) {
					n++
				}
			}
			if n > 1 {
				return false
			}
		case proof.Required:
			if !has(r.Owner) {
				return false
			}
		case proof.Forbidden:
			if has(r.Owner) {
				return false
			}
		}
	}
	return true
}

// TestProve compares proofs with an exhaustive search: a problem with a model is never refuted, and one without a
// model always is (D16).
func TestProve(t *testing.T) {
	const classes = 5
	r := rand.New(rand.NewPCG(1, 2))
	refuted := 0
	for n := range 3000 {
		rules := draw(r, classes)
		model := false
		for set := range uint(1 << classes) {
			model = model || holds(rules, set)
		}
		claim, err := proof.Prove(t.Context(), rules, classes, nil, proof.NoClass, 1_000_000)
		if err != nil {
			t.Fatal(err)
		}
		if (claim == nil) != model {
			t.Fatalf("problem %d: has a model: %t, and the proof is %+v\n%+v", n, model, claim, rules)
		}
		if claim != nil {
			refuted++
			if claim.Kind != proof.Contradiction {
				t.Fatalf("problem %d ends with %+v", n, claim)
			}
		}
	}
	if refuted < 500 || refuted > 2500 {
		t.Errorf("%d of 3000 have no model", refuted)
	}
}

// TestProveIsBounded checks that proofs obey their limits (D18).
func TestProveIsBounded(t *testing.T) {
	rules := []proof.Rule{{Kind: proof.Required, Owner: 0}, {Kind: proof.Forbidden, Owner: 0}}
	if _, err := proof.Prove(t.Context(), rules, 1, nil, proof.NoClass, 0); !errors.Is(err, proof.ErrTooLong) {
		t.Errorf("without work: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := proof.Prove(ctx, rules, 1, nil, proof.NoClass, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("with a context that has ended: %v", err)
	}
}
