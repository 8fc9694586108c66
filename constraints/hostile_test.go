package constraints

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/property"
)

// Regular expressions that are too expensive to parse are refused: constant ones when the
// rule is compiled, computed ones when it is evaluated (S2).
func TestHostilePatterns(t *testing.T) {
	class := `[B-\\x{1e942}]`
	var limit *limitError
	if _, err := NewCompiler(nil).Rule(`!"x".matches("(?i)` + strings.Repeat(class, 1000) + `")`); !errors.As(err, &limit) || limit.limit != "MaxCost" {
		t.Errorf("a constant pattern: %v", err)
	}
	for name, rule := range map[string]string{
		"a made pattern":    `!"x".matches("(?i)" + "` + strings.Repeat(class, 1000) + `")`,
		"a new one each":    `properties.all(p, !"x".matches("(?i)` + class + `" + p.type))`,
		"of a property":     `properties.all(p, !"-".matches(p.value))`,
		"a large program":   `!"x".matches("` + strings.Repeat("((a{10}){10}){10}", 40) + `")`,
		"with every letter": `!"x".matches("` + strings.Repeat(`\\pL`, 1000) + `" + "{1000}")`,
	} {
		var props []property.Property
		for i := range 30 {
			props = append(props, property.Property{Type: strings.Repeat("t", i+1), Value: []byte(`"(?i)[B-\\x{1e942}]{` + strings.Repeat("1", i/15+1) + `}` + strings.Repeat("x", i) + `"`)})
		}
		x, err := NewCompiler(nil).Rule(rule)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e := NewEvaluator(Cluster{}, nil)
		var problem *EvalError
		if _, err := e.Rule(t.Context(), x, NewValues(slices.Values(props))); !errors.As(err, &problem) || problem.Limit != "MaxCost" {
			t.Errorf("%s: %v, having spent %d", name, err, e.spent.Load())
		}
	}
}

// The cost of a constant pattern is charged once, however many bundles the rule is
// evaluated on. The total depends neither on their order nor on earlier uses of the
// compiler (S2).
func TestConstantPatternsAreSharedByBundles(t *testing.T) {
	const rule = `properties.exists(p, p.type.matches("(?i)[B-\\x{1e942}]"))`
	bundle := func(i int) *Values {
		return NewValues(slices.Values([]property.Property{{Type: strings.Repeat("-", i), Value: []byte("1")}, {Type: "b", Value: []byte("1")}}))
	}
	c := NewCompiler(nil)
	x, err := c.Rule(rule)
	if err != nil {
		t.Fatal(err)
	}
	spent := func(order func(i int) int) uint64 {
		e := NewEvaluator(Cluster{}, nil)
		for i := range 1000 {
			if ok, err := e.Rule(t.Context(), x, bundle(order(i))); err != nil || !ok {
				t.Fatalf("bundle %d: %v, %v", i, ok, err)
			}
		}
		return e.spent.Load()
	}
	up := spent(func(i int) int { return i })
	down := spent(func(i int) int { return 999 - i })
	if up != down || up < 800_000 || up > 10_000_000 {
		t.Errorf("a thousand bundles cost %d, and %d in reverse order", up, down)
	}
}

// Looking up long texts, and creating maps with them, is charged by their length (S2).
func TestHostileKeys(t *testing.T) {
	var props []property.Property
	for range 10 {
		props = append(props, property.Property{Type: "t", Value: []byte(`"` + strings.Repeat("x", 1<<20) + `"`)})
	}
	for _, each := range []string{"!(p.value in q)", "q[p.value] == 1 || true", "q[true ? p.value : ''] == 1 || true", "{p.value: 1} != {}", "{'a': p}.a.value in q || true"} {
		x, err := NewCompiler(nil).Rule("properties.all(p, properties.all(q, " + each + "))")
		if err != nil {
			t.Errorf("%s: %v", each, err)
			continue
		}
		var problem *EvalError
		if _, err := NewEvaluator(Cluster{}, nil).Rule(t.Context(), x, NewValues(slices.Values(props))); !errors.As(err, &problem) || problem.Limit != "MaxCost" {
			t.Errorf("%s: %v", each, err)
		}
	}
}

// Rules that would slow down the type checker are refused before it runs (S2).
func TestRuleIsCountedFirst(t *testing.T) {
	for _, rule := range []string{
		"[" + strings.Repeat("[],", 1000) + "1].size() > 0",
		strings.Repeat("[1].map(x,", 90) + "1" + strings.Repeat(")", 90) + ".size() > 0",
	} {
		var limit *limitError
		if _, err := NewCompiler(nil).Rule(rule); !errors.As(err, &limit) || limit.limit != "MaxRuleNodes" {
			t.Errorf("%.20s…: %v", rule, err)
		}
	}
}

// A rule that names a time zone of the machine cannot be evaluated anywhere (S3).
func TestTimeZone(t *testing.T) {
	for zone, want := range map[string]string{"America/New_York": `time zone "America/New_York" is not supported: use "UTC" or an offset such as "+05:30"`, "+05:30": ""} {
		x, err := NewCompiler(nil).Rule(`timestamp("2020-01-01T00:00:00Z").getHours("` + zone + `") >= 0`)
		if err != nil {
			t.Fatal(err)
		}
		ok, err := NewEvaluator(Cluster{}, nil).Rule(t.Context(), x, NewValues(slices.Values[[]property.Property](nil)))
		if ok != (want == "") || want != "" && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, %v", zone, ok, err)
		}
	}
}
