package constraints

import (
	"errors"
	"testing"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"

	"github.com/olmkit/olmkit/property"
)

func FuzzParse(f *testing.F) {
	for _, d := range documented {
		f.Add([]byte(d.raw))
	}
	for _, s := range []string{
		`{}`, `null`, `[[[[`, `{"all":{"constraints":[]}}`, nested(5), wide(3), `{"gvk":{},"cel":{}}`,
		`{"package":{"packageName":"p","name":"p","versionRange":"^1"}}`, `{"failureMessage":"\ud800"}`, `{"a":{"a":{`,
		`{"cel":{"rule":"'\\u0000' == \"\\x00\""}}`, rule("properties.all(a, properties.all(b, a == b))"),
	} {
		f.Add([]byte(s))
	}
	c := NewCompiler(nil)
	eval := NewEvaluator(Cluster{}, &Limits{MaxTotalCost: 1 << 62})
	b := NewPropertyList(etcd, nil)
	f.Fuzz(func(t *testing.T, raw []byte) {
		x, err := c.Parse(raw)
		if err != nil {
			var e *Error
			if x != nil || !errors.As(err, &e) || len(err.Error()) > 4000 {
				t.Fatalf("Parse(%q) = %v, %v", raw, x, err)
			}
			return
		}
		checkRoundTrip(t, c, x)
		if _, err := eval.Satisfies(t.Context(), x, b); err != nil {
			t.Fatalf("Satisfies(%s): %v", x, err)
		}
	})
}

// FuzzCEL compiles and evaluates rules, and compares the answer with that of
// cel-go without our accounting.
func FuzzCEL(f *testing.F) {
	for _, s := range []string{
		`true`, `properties.exists(p, p.type == 'color' && p.value == 'red')`,
		`properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '0.9') > 0)`,
		`[[0]].map(a, a + a).map(a, [a, a]).all(x, x == x)`, `'a'.matches('(a{10}){2}|b')`, `{1: 2, 'a': [1]}.map(k, k) == [1]`,
		`size('ä' + string(1.5)) in [1, 2] || timestamp('2020-01-01T00:00:00Z').getHours('UTC') > 1`,
		`has(cluster.facts.arch) ? cluster.facts.arch < 'b' : 1 / 0 == 1`, `b'a' + b'b' == bytes('ab')`, `[1, 2].exists_one(x, x in {1: 1})`,
		`properties.filter(p, !(p.value != null)).map(p, p.type).size() == 1 && 1u < 2u && -1 % 2 == -1`, `[].all(x, x) && dyn([1]) + [2] == [1, 2]`,
		`type(1) == type(2) && duration('1s') + duration('2s') > duration('0s')`, `"\u00e4".contains('') && 'x'.startsWith('x') && !'x'.endsWith('y')`,
	} {
		f.Add(s)
	}
	limits := &Limits{MaxCost: 20_000, MaxTotalCost: 1 << 62}
	b := NewPropertyList(etcd, nil)
	cluster := Cluster{Facts: map[string]string{"arch": "arm64"}}
	env := NewCompiler(limits).env
	f.Fuzz(func(t *testing.T, text string) {
		c := NewCompiler(limits) // without the last rule in its cache
		c.env = env
		eval := NewEvaluator(cluster, limits)
		x, err := c.Rule(text)
		if err != nil && len(err.Error()) > 2000 {
			t.Fatalf("Rule(%q): an error of %d bytes", text, len(err.Error()))
		}
		if x == nil {
			return
		}
		var fail *EvalError
		ok, err := eval.Rule(t.Context(), x, b.Values())
		if err != nil && !errors.As(err, &fail) {
			t.Fatalf("Rule(%q): %T %v", text, err, err)
		}
		if fail != nil && fail.Limit != "" || eval.spent.Load() > 5_000 {
			return // too expensive to evaluate without limits
		}
		// cel-go visits the keys of a map in random order: try several times.
		for range 5 {
			if plain, failed := plainly(t, c, text, b.Values(), cluster); plain == ok && failed == (err != nil) {
				return
			}
		}
		t.Fatalf("Rule(%q) = %t, %v; cel-go without accounting differs", text, ok, err)
	})
}

// plainly evaluates a rule with cel-go alone, without limits.
func plainly(t *testing.T, c *Compiler, text string, v *Values, cluster Cluster) (ok, failed bool) {
	t.Helper()
	env, err := c.env()
	if err != nil {
		t.Fatal(err)
	}
	checked, issues := env.env.Compile(text)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	prg, err := env.env.Program(checked, cel.CostLimit(1_000_000))
	if err != nil {
		t.Fatal(err)
	}
	out, _, err := prg.Eval(map[string]any{varProperties: v.list, varCluster: cluster.value()})
	if err != nil {
		return false, true
	}
	b, isBool := out.(types.Bool)
	return bool(b), !isBool
}

func FuzzGVK(f *testing.F) {
	f.Add("etcd.database.coreos.com", "v1beta2", "EtcdCluster", "need it")
	f.Add("", "1", "-", "")
	f.Add("a..b", "v", "k\x00", "\xff")
	c := NewCompiler(nil)
	f.Fuzz(func(t *testing.T, group, version, kind, message string) {
		g := property.GVK{Group: group, Version: version, Kind: kind}
		raw, err := appendJSON(nil, &GVK{GVK: g, FailureMessage: message})
		if err != nil {
			t.Fatal(err)
		}
		x, err := c.Parse(raw)
		if valid := g.Validate() == nil; len(raw) <= 65536 && (err == nil) != valid {
			t.Fatalf("Parse(%s): %v; the GVK is valid: %t", raw, err, valid)
		}
		if err == nil {
			checkRoundTrip(t, c, x)
		}
		p := property.New(property.TypeGVKRequired, g)
		y, _, err := c.FromProperty(p)
		if valid := g.Validate() == nil; len(p.Value) <= 65536 && (err == nil) != valid {
			t.Fatalf("FromProperty(%s): %v; the GVK is valid: %t", p.Value, err, valid)
		}
		if err == nil && !NewPropertyList([]property.Property{property.New(property.TypeGVK, g)}, nil).Provides(y.(*GVK).GVK) {
			t.Fatalf("a bundle with %v does not satisfy %v", g, y)
		}
	})
}
