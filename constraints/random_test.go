package constraints

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/property"
)

var (
	someNames  = []string{"etcd", "a b", "ü", "p\"\\\n", "<&>"}
	someRanges = []string{">=1.0.0", "1.x", "<1.0.0 || >=2.0.0 !3.0.0", " 1.0.0", "1.0.0 - 2.0.0"}
	someRules  = []string{"true", "properties.exists(p, p.type == \"color\")", "size(properties) > 2\n", "properties[9].type == 'x'"}
	someTexts  = []string{"", "", "", "need it", "a \"quoted\" <text> ü \u2028"}
)

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// randomExpr returns a tree without labels, which olm.constraint does not have.
func randomExpr(r *rand.Rand, depth int) Expr {
	message := pick(r, someTexts)
	kind := r.IntN(6)
	if depth == 0 {
		kind %= 3
	}
	var of []Expr
	if kind >= 3 {
		for range 1 + r.IntN(3) {
			of = append(of, randomExpr(r, depth-1))
		}
	}
	switch kind {
	case 0:
		return &GVK{GVK: property.GVK{Group: pick(r, []string{"g.io", "h.io"}), Version: pick(r, []string{"v1", "v1beta1"}), Kind: "K"}, FailureMessage: message}
	case 1:
		rng, _ := ParseRange(pick(r, someRanges))
		return &Package{Name: pick(r, someNames), Range: rng, FailureMessage: message}
	case 2:
		return &CEL{Rule: pick(r, someRules), FailureMessage: message}
	case 3:
		return &All{Of: of, FailureMessage: message}
	case 4:
		return &Any{Of: of, FailureMessage: message}
	}
	return &Not{Of: of, FailureMessage: message}
}

func randomBundle(r *rand.Rand) *PropertyList {
	var ps []property.Property
	for range r.IntN(6) {
		switch r.IntN(3) {
		case 0:
			ps = append(ps, property.New(property.TypeGVK, property.GVK{Group: pick(r, []string{"g.io", "h.io"}), Version: "v1", Kind: "K"}))
		case 1:
			ps = append(ps, property.New(property.TypePackage, property.Package{PackageName: pick(r, someNames), Version: pick(r, []string{"0.5.0", "1.0.0", "2.5.0"})}))
		case 2:
			ps = append(ps, property.Property{Type: "color", Value: []byte(`"red"`)})
		}
	}
	return NewPropertyList(ps, nil)
}

// TestRoundTrip writes random trees as JSON and parses the result.
func TestRoundTrip(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	c := NewCompiler(nil)
	for range 2000 {
		x := randomExpr(r, 3)
		checkRoundTrip(t, c, x)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
}

func checkRoundTrip(t *testing.T, c *Compiler, x Expr) {
	t.Helper()
	raw, err := appendJSON(nil, x)
	if err != nil {
		t.Errorf("appendJSON(%s): %v", x, err)
		return
	}
	y, err := c.Parse(raw)
	if err != nil {
		t.Errorf("Parse(%s): %v", raw, err)
		return
	}
	if !Equal(x, y) || !Equal(y, x) || x.String() != y.String() {
		t.Errorf("%s became %s through %s", x, y, raw)
	}
}

// TestEqual checks that trees that differ are not equal.
func TestEqual(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var seen []string
	var trees []Expr
	for range 300 {
		x := randomExpr(r, 2)
		raw, err := appendJSON(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		for i, s := range seen {
			if got, want := Equal(x, trees[i]), s == string(raw); got != want {
				t.Fatalf("Equal(%s, %s) = %t", raw, s, got)
			}
		}
		seen, trees = append(seen, string(raw)), append(trees, x)
	}
	if !Equal(nil, nil) || Equal(nil, trees[0]) || Equal(trees[0], nil) {
		t.Error("Equal with nil")
	}
	if Equal(&Label{Label: "x"}, &Label{Label: "y"}) || !Equal(&Label{Label: "x"}, &Label{Label: "x"}) {
		t.Error("Equal of labels")
	}
}

// holds evaluates a tree on one bundle by the definition of the semantics (D6).
func holds(x Expr, b *PropertyList) bool {
	meets := func(c Expr) bool { return holds(c, b) }
	switch x := x.(type) {
	case *All:
		return !slices.ContainsFunc(x.Of, func(c Expr) bool { return !meets(c) })
	case *Any:
		return slices.ContainsFunc(x.Of, meets)
	case *Not:
		return !slices.ContainsFunc(x.Of, meets)
	case *GVK:
		return slices.Contains(b.gvks, x.GVK)
	case *Package:
		return slices.Contains(b.packages, x.Name) &&
			slices.ContainsFunc(b.versions, func(v semver.Version) bool { return x.Range.Contains(v) })
	case *CEL:
		switch x.Rule {
		case someRules[0]:
			return true
		case someRules[1]:
			return slices.ContainsFunc(b.props, func(p property.Property) bool { return p.Type == "color" })
		case someRules[2]:
			return len(b.props) > 2
		}
		return false // an index that does not exist
	}
	panic(fmt.Sprintf("unexpected %T", x))
}

// TestAgainstMeaning compares Evaluator with holds on random trees and bundles.
func TestAgainstMeaning(t *testing.T) {
	seed := rand.Uint64()
	r := rand.New(rand.NewPCG(seed, 0))
	eval := NewEvaluator(Cluster{}, nil)
	for range 3000 {
		x, b := randomExpr(r, 3), randomBundle(r)
		res, err := eval.Satisfies(t.Context(), x, b)
		if err != nil {
			t.Fatal(err)
		}
		if want := holds(x, b); res.OK != want {
			t.Fatalf("seed %d: Satisfies(%s, %s) = %t", seed, x, b.props, res.OK)
		}
		for _, p := range res.Problems {
			if p.Expr.Rule != someRules[3] {
				t.Fatalf("seed %d: problem %v", seed, p)
			}
		}
	}
}
