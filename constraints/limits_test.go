package constraints

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/property"
)

const leaf = `{"gvk":{"group":"g.io","version":"v1","kind":"K"}}`

// nested returns n constraints, one inside the other.
func nested(n int) string {
	return strings.Repeat(`{"not":{"constraints":[`, n-1) + leaf + strings.Repeat(`]}}`, n-1)
}

// wide returns n constraints: an any with n-1 leaves.
func wide(n int) string {
	return `{"any":{"constraints":[` + strings.Repeat(leaf+",", n-2) + leaf + `]}}`
}

// padded returns a constraint of n bytes.
func padded(n int) string {
	head, tail := `{"failureMessage":"`, `",`+leaf[1:]
	return head + strings.Repeat("x", n-len(head)-len(tail)) + tail
}

func rule(s string) string { return `{"cel":{"rule":"` + s + `"}}` }

// parens returns true in n pairs of parentheses.
func parens(n int) string { return strings.Repeat("(", n) + "true" + strings.Repeat(")", n) }

// TestLimits checks each limit at its edge, by its default and as set (D4, D18).
func TestLimits(t *testing.T) {
	for _, tt := range []struct {
		limit   string
		at      func(n int) string
		def     int
		limited func(n int) *Limits
	}{
		{"MaxSize", padded, 65536, func(n int) *Limits { return &Limits{MaxSize: n} }},
		{"MaxDepth", nested, 100, func(n int) *Limits { return &Limits{MaxDepth: n} }},
		{"MaxNodes", wide, 1000, func(n int) *Limits { return &Limits{MaxNodes: n} }},
		// The default of MaxRuleSize is that of MaxSize, which is checked first.
		{"MaxRuleSize", func(n int) string { return rule("true" + strings.Repeat(" ", n-4)) }, 65536,
			func(n int) *Limits { return &Limits{MaxSize: 1 << 20, MaxRuleSize: n} }},
		// A rule in n pairs of parentheses is n+1 deep for the parser.
		{"MaxRuleDepth", func(n int) string { return rule(parens(n - 1)) }, 100,
			func(n int) *Limits { return &Limits{MaxRuleDepth: n} }},
		// Each ! is a token, and any number of them at most one node.
		{"MaxRuleTokens", func(n int) string { return rule(strings.Repeat("!", n-1) + "true") }, 8000,
			func(n int) *Limits { return &Limits{MaxRuleTokens: n} }},
		// [1,…] == dyn(1) has a node per element and four more.
		{"MaxRuleNodes", func(n int) string { return rule("[1" + strings.Repeat(",1", n-5) + "] == dyn(1)") }, 2000,
			func(n int) *Limits { return &Limits{MaxRuleNodes: n, MaxRuleSize: 1 << 20} }},
	} {
		for _, set := range []int{0, 200} {
			var limits *Limits
			edge := tt.def
			if set > 0 {
				limits, edge = tt.limited(set), set
			} else if tt.limit == "MaxRuleNodes" || tt.limit == "MaxRuleSize" {
				limits = &Limits{MaxSize: 1 << 20}
			}
			t.Run(fmt.Sprintf("%s=%d", tt.limit, edge), func(t *testing.T) {
				c := NewCompiler(limits)
				if _, err := c.Parse([]byte(tt.at(edge))); err != nil {
					t.Errorf("at the limit: %v", err)
				}
				_, err := c.Parse([]byte(tt.at(edge + 1)))
				var e *Error
				if !errors.As(err, &e) || e.Limit != tt.limit || !strings.Contains(err.Error(), "limit "+tt.limit) {
					t.Errorf("above the limit: %v; want an error that names it", err)
				}
			})
		}
	}
}

// TestMaxSizeOfLeaves checks that the older requirements have the same limit.
func TestMaxSizeOfLeaves(t *testing.T) {
	c := NewCompiler(nil)
	for _, n := range []int{65536, 65537} {
		head, tail := `{"label":"`, `"}`
		p := property.Property{Type: property.TypeLabelRequired, Value: []byte(head + strings.Repeat("x", n-len(head)-len(tail)) + tail)}
		_, _, err := c.FromProperty(p)
		if (err == nil) != (n == 65536) {
			t.Errorf("FromProperty with %d bytes: %v", n, err)
		}
	}
}

// TestSizeBeforeParsing checks that the error is about the size even if the text is also
// invalid (D4).
func TestSizeBeforeParsing(t *testing.T) {
	_, err := NewCompiler(nil).Parse([]byte(strings.Repeat("[", 65537)))
	var e *Error
	if !errors.As(err, &e) || e.Limit != "MaxSize" {
		t.Errorf("Parse: %v; want MaxSize", err)
	}
}

func TestCostLimits(t *testing.T) {
	// The rule has five nodes outside the macro. Each iteration of [1,…].all(x, true) also
	// visits the nodes of its condition and its step: not_strictly_false(accu) and accu &&
	// true.
	text := func(turns int) string { return "[1" + strings.Repeat(",1", turns-1) + "].all(x, true)" }
	b := NewPropertyList(nil, nil)
	cost := func(rule string) uint64 {
		eval := NewEvaluator(Cluster{}, nil)
		if _, err := eval.Satisfies(t.Context(), &CEL{Rule: rule}, b); err != nil {
			t.Fatal(err)
		}
		return eval.spent.Load()
	}
	// Parsing a version takes several times as long as reading its text (S2).
	digits := strings.Repeat("1", 16_000)
	if parsed, read := cost("semver_compare('"+digits+"', '1.0.0') == 0 || true"), cost("size('"+digits+"') > 0"); parsed < 2*read {
		t.Errorf("parsing a version of 16,000 digits costs %d, taking its size %d", parsed, read)
	}
	perTurn := cost(text(11)) - cost(text(10)) - 1 // each element is one more node outside the macro
	if perTurn != 5 {
		t.Errorf("an iteration costs %d, want 5", perTurn)
	}

	t.Run("MaxCost", func(t *testing.T) {
		need := cost(text(10))
		for _, limit := range []uint64{need - 1, need} {
			x, err := NewCompiler(&Limits{MaxCost: limit}).Rule(text(10))
			if err != nil {
				t.Fatal(err)
			}
			ok, err := NewEvaluator(Cluster{}, nil).Rule(t.Context(), x, b.Values())
			var e *EvalError
			switch {
			case limit == need && (err != nil || !ok):
				t.Errorf("at the limit: %t, %v", ok, err)
			case limit < need && (!errors.As(err, &e) || e.Limit != "MaxCost" || ok):
				t.Errorf("above the limit: %t, %v; want an error that names it", ok, err)
			}
		}
		// The limit also applies outside macros.
		x, err := NewCompiler(&Limits{MaxCost: 2}).Rule("true && true && true")
		if err != nil {
			t.Fatal(err)
		}
		var e *EvalError
		if _, err := NewEvaluator(Cluster{}, nil).Rule(t.Context(), x, b.Values()); !errors.As(err, &e) || e.Limit != "MaxCost" {
			t.Errorf("Rule: %v; want MaxCost", err)
		}
	})

	t.Run("MaxTotalCost", func(t *testing.T) {
		need := cost(text(10))
		eval := NewEvaluator(Cluster{}, &Limits{MaxTotalCost: 2 * need})
		for i := range 4 {
			x := &CEL{Rule: text(10) + strings.Repeat(" ", i)} // another rule of the same cost
			_, err := eval.Satisfies(t.Context(), &Not{Of: []Expr{x}}, b)
			var e *EvalError
			if i < 2 && err != nil || i >= 2 && (!errors.As(err, &e) || e.Limit != "MaxTotalCost") {
				t.Errorf("evaluation %d: %v", i, err)
			}
		}
		if res, err := eval.Satisfies(t.Context(), &CEL{Rule: text(10)}, b); err != nil || !res.OK {
			t.Errorf("a cached result: %v, %v", res, err)
		}
	})
}

// TestHostileRules evaluates rules that take OLM at least half a minute, or all of its
// memory. Each must end soon, with a result or an error about MaxCost.
func TestHostileRules(t *testing.T) {
	var many []property.Property
	for i := range 40 {
		many = append(many, property.Property{
			Type:  fmt.Sprintf("t%d", i),
			Value: fmt.Appendf(nil, `{"a":[1,2,%d],"s":%q}`, i, strings.Repeat("x", 100)),
		})
	}
	many = append(many, property.Property{Type: "long", Value: fmt.Appendf(nil, "%q", strings.Repeat("x", 1<<20))})
	b := NewPropertyList(many, nil)
	c := NewCompiler(nil)
	chain := func(first, each string, n int, last string) string {
		return first + strings.Repeat(each, n) + last
	}
	for _, tt := range []struct {
		name, rule string
		ends       bool // with a result
	}{
		{"two deep", "properties.all(a, properties.all(b, a.type != '' && b.type != ''))", true},
		{"four deep", "properties.all(a, properties.all(b, properties.all(c, properties.all(d, true))))", false},
		{"four deep, not called", "properties.filter(a, properties.filter(b, properties.filter(c, properties.filter(d, false) == []) == []) == []) == []", false},
		{"shared parts compared", chain("[0]", ".map(a, [a, a])", 40, ".all(x, x == x)"), false},
		{"shared parts searched", chain("[0]", ".map(a, {'a': a, 'b': a})", 40, ".all(x, x in [x])"), false},
		{"shared parts made", chain("[0]", ".map(a, [a, a, a])", 40, ".all(x, size(x) == 3)"), true},
		{"lists doubled", chain("[[0]]", ".map(a, a + a)", 40, ".all(x, size(x) > 0)"), false},
		{"lists indexed", chain("[[0]]", ".map(a, a + a)", 14, ".all(x, x.all(y, y == 0))"), true},
		{"texts doubled", chain("['x']", ".map(a, a + a)", 40, ".all(x, size(x) > 0)"), false},
		{"dynamic texts doubled", chain("[dyn('x')]", ".map(a, a + a)", 40, ".all(x, size(x) > 0)"), false},
		{"bytes doubled", chain("[b'x']", ".map(a, a + a)", 40, ".all(x, size(x) > 0)"), false},
		{"large expression", "'x'.matches('" + strings.Repeat("(a{1000}){1}", 300) + "')", false},
		{"large expressions", "properties.all(p, !p.type.matches('(a{900}b*c?){1}'))", true},
		{"long text", "properties.all(p, properties.all(q, properties.all(r, !(properties[40].value.contains('y')))))", false},
		{"long text measured", "properties.all(p, properties.all(q, properties.all(r, size(properties[40].value) > 0)))", false},
		{"long text compared", "properties.all(p, properties.all(q, properties.all(r, properties[40].value <= properties[40].value)))", false},
		{"long text converted", "properties.all(p, properties.all(q, properties.all(r, size(bytes(string(properties[40].value))) > 0)))", false},
		{"long text as version", "properties.all(p, properties.all(q, properties.all(r, true || semver_compare(properties[40].value, '1.0.0') == 0)))", false},
		{"long text as pattern", "properties.all(p, properties.all(q, !p.type.matches(string(properties[40].value))))", false},
		{"all compared", "properties.all(p, properties.all(q, properties == properties))", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			x, err := c.Rule(tt.rule)
			if err != nil {
				t.Fatal(err)
			}
			runtime.ReadMemStats(&before)
			_, err = NewEvaluator(Cluster{}, nil).Rule(t.Context(), x, b.Values())
			runtime.ReadMemStats(&after)
			var e *EvalError
			if tt.ends && err != nil || !tt.ends && (!errors.As(err, &e) || e.Limit != "MaxCost") {
				t.Errorf("%.60s: %v", tt.rule, err)
			}
			if used := after.TotalAlloc - before.TotalAlloc; used > 128<<20 {
				t.Errorf("%.60s: allocated %d MiB", tt.rule, used>>20)
			}
		})
	}
}

// TestHostileText parses texts that are designed to be slow.
func TestHostileText(t *testing.T) {
	fill := func(s string) string { return strings.Repeat(s, 4096/len(s)) }
	inputs := map[string]string{
		"lists":         strings.Repeat("[", 65536),
		"objects":       strings.Repeat(`{"a":`, 13000),
		"nots":          strings.Repeat(`{"not":{"constraints":[`, 2800),
		"depth":         nested(2000),
		"width":         wide(1300),
		"distinct keys": distinctKeys(5000),
		"many rules":    manyRules(900),
	}
	for _, s := range []string{"(", "!", "-", "[", "{", "a?", "true?", "a.", "1 in ", "f(", "`", "[1].exists(a,", "@#", ",", "x ", "a&&", ".a(", "-!", "(1?[", "1<", "\\\"", "\\\\", "[1]", "'a'+", "has(", "{1:", "a[", "1?1:"} {
		inputs["rule "+s] = rule(fill(s))
	}
	inputs["rule of text"] = rule("'" + strings.Repeat("x", 4090))
	inputs["rule of 64 KiB"] = rule(strings.Repeat("x", 65536-len(rule(""))))
	for name, in := range inputs {
		t.Run(name, func(t *testing.T) {
			_, err := NewCompiler(nil).Parse([]byte(in))
			if name == "many rules" {
				if err != nil {
					t.Error(err)
				}
			} else if err == nil {
				t.Error("no error")
			} else if n := len(err.Error()); n > 2000 {
				t.Errorf("an error of %d bytes", n)
			}
		})
	}
}

func distinctKeys(n int) string {
	var b strings.Builder
	b.WriteByte('{')
	for i := range n {
		fmt.Fprintf(&b, `"k%d":0,`, i)
	}
	return b.String()
}

func manyRules(n int) string {
	rules := make([]string, n)
	for i := range rules {
		rules[i] = rule(fmt.Sprintf("%d == 0", i))
	}
	return `{"any":{"constraints":[` + strings.Join(rules, ",") + `]}}`
}

// TestTenThousand parses ten thousand constraints.
func TestTenThousand(t *testing.T) {
	c := NewCompiler(nil)
	for i := range 10_000 {
		p := property.Property{Type: property.TypeConstraint, Value: fmt.Appendf(nil, `{"all":{"constraints":[{"package":{"name":"p%d","versionRange":">=1.0.0"}},%s]}}`, i, rule("properties.exists(p, p.type == 'x')"))}
		if _, _, err := c.FromProperty(p); err != nil {
			t.Fatal(err)
		}
	}
}
