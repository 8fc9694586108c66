package constraints

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/property"
)

// props returns properties. Its arguments are their types and values,
// alternating.
func props(pairs ...string) []property.Property {
	var ps []property.Property
	for _, p := range pairs {
		typ, value, ok := strings.Cut(p, " ")
		prop := property.Property{Type: typ}
		if ok {
			prop.Value = []byte(value)
		}
		ps = append(ps, prop)
	}
	return ps
}

var etcd = props(
	`olm.package {"packageName":"etcd","version":"0.9.4"}`,
	`olm.gvk {"group":"etcd.database.coreos.com","version":"v1beta2","kind":"EtcdCluster"}`,
	`olm.label {"label":"stable"}`,
	`olm.kubeversion {"version":"1.16.0"}`,
	`color "red"`,
	`meta {"b":1,"a":{"deep":[1,2.5,null,true]}}`,
	`olm.csv.metadata`,
)

// TestSatisfies tests the per-bundle semantics (D6, H8).
func TestSatisfies(t *testing.T) {
	const (
		isEtcd  = `{"package":{"packageName":"etcd","versionRange":">=0.9.0"}}`
		isOld   = `{"package":{"packageName":"etcd","versionRange":"<0.9.0"}}`
		isOther = `{"package":{"packageName":"other","versionRange":">=0.0.0"}}`
		gives   = `{"gvk":{"group":"etcd.database.coreos.com","version":"v1beta2","kind":"EtcdCluster"}}`
		v1      = `{"gvk":{"group":"etcd.database.coreos.com","version":"v1","kind":"EtcdCluster"}}`
		broken  = `{"cel":{"rule":"properties[99].type == 'x'"}}`
		red     = `{"cel":{"rule":"properties.exists(p, p.type == 'color' && p.value == 'red')"}}`
	)
	of := func(kind string, xs ...string) string {
		return `{"` + kind + `":{"constraints":[` + strings.Join(xs, ",") + `]}}`
	}
	b := NewPropertyList(etcd, nil)
	eval := NewEvaluator(Cluster{}, nil)
	for _, tt := range []struct {
		raw      string
		want     bool
		problems int
	}{
		{isEtcd, true, 0}, {isOld, false, 0}, {isOther, false, 0}, {gives, true, 0}, {v1, false, 0}, {red, true, 0},
		{of("all", isEtcd, gives, red), true, 0},
		{of("all", isEtcd, isOther), false, 0}, // H8: one bundle must be both
		{of("any", isOther, v1, isEtcd), true, 0},
		{of("any", isOther, v1), false, 0},
		{of("not", isOther), true, 0},
		{of("not", isOther, isEtcd), false, 0}, // none of them
		{of("not", of("not", isEtcd)), true, 0},
		{of("not", of("all", isEtcd, isOther)), true, 0},
		{broken, false, 1},
		{of("not", broken), true, 1}, // H20: an error is false, its negation true
		{of("any", broken, isEtcd), true, 1},
		{of("any", isEtcd, broken), true, 0}, // not needed
		{of("all", isOther, broken), false, 0},
		{of("any", broken, of("all", isEtcd, broken)), false, 2},
	} {
		x := mustParse(t, tt.raw)
		got, err := eval.Satisfies(t.Context(), x, b)
		if err != nil {
			t.Fatal(err)
		}
		if got.OK != tt.want || len(got.Problems) != tt.problems {
			t.Errorf("Satisfies(%s) = %t with problems %v; want %t with %d", x, got.OK, got.Problems, tt.want, tt.problems)
		}
	}
}

// TestRules evaluates CEL rules, including some that fail (D7).
func TestRules(t *testing.T) {
	c := NewCompiler(nil)
	eval := NewEvaluator(Cluster{KubeVersion: "1.30.2", Facts: map[string]string{"arch": "arm64"}}, nil)
	var b strings.Builder
	for _, rule := range []string{
		`true`,
		`size(properties) == 7`,
		`properties[0].type == 'olm.package' && properties[0].value.version == '0.9.4'`,
		`properties.exists_one(p, p.type == 'color')`,
		`properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '0.9') > 0)`,
		`semver_compare('v1.2', '1.2.0') == 0 && semver_compare(1.5, '1.5.0') == 0 && semver_compare('1.0.0-rc.1', '1.0.0') == -1`,
		`semver_compare('latest', '1.0.0') == 0`,
		`semver_compare('1.0.0', [1]) == 0`,
		`semver_compare(null, '1.0.0') == 0`,
		`properties.filter(p, p.type == 'meta')[0].value.a.deep == [1, 2.5, null, true]`,
		`properties.filter(p, p.type == 'meta').all(p, dyn(p.value).map(k, k) == ['a', 'b'])`,
		`{'b': 1, 'a': 2, 'c': 3}.map(k, k) == ['a', 'b', 'c'] && {2: 1, 1: 2}.exists(k, k == 2) && {'a': 1} == dyn({'a': 1.0})`,
		`'a' in {'a': 1} && 2 in [1, 2] && !(3 in [1, 2]) && !('b' in {'a': 1})`,
		`[1] + [2] + [3] == [1, 2, 3] && 'a' + 'b' == 'ab' && b'a' + b'b' == b'ab' && 1 + 2 == 3`,
		`[1, 2, 3].map(x, x > 1, x * 2) == [4, 6]`,
		`'abc'.matches('^a.c$') && matches('abc', 'b') && !'abc'.matches('^b')`,
		`'abc'.matches('(')`,
		`'abc'.contains('b') && 'abc'.startsWith('a') && 'abc'.endsWith('c') && size('äb') == 2 && size({'a': 1}) == 1`,
		`string(1) == '1' && int('2') == 2 && double('1.5') == 1.5 && bool('true') && string(b'x') == 'x' && uint(3) == 3u`,
		`int('x') == 0`,
		`'a' < 'b' && 2 >= 1 && 1.0 <= dyn(2) && b'a' < b'b' && timestamp('2020-01-02T00:00:00Z') > timestamp('2020-01-01T00:00:00Z')`,
		`timestamp('2020-01-02T03:00:00Z').getHours() == 3 && duration('90s').getMinutes() == 1`,
		`dyn('a') < 1`,
		`dyn('a') + 1 == 2`,
		`1 in dyn('abc')`,
		`size(dyn(1)) == 1`,
		`properties.exists(p, p.type == 'olm.csv.metadata' && p.value == null)`,
		`properties[99].type == 'x'`,
		`properties[0].value.release == '1'`,
		`has(properties[0].value.version) && !has(properties[0].value.release)`,
		`properties.all(p, p.value == 'red')`,
		`1 / 0 == 1 || true`,
		`1 / 0 == 1`,
		`semver_compare(cluster.kubeVersion, '1.30') >= 0`,
		`cluster.facts.arch == 'arm64' && !has(cluster.facts.zone)`,
		`cluster.facts.exists(k, k == 'arch' && cluster.facts[k] == 'arm64')`,
		`has(cluster.platformVersion)`,
		`cluster.platformVersion == '4.19.0'`,
		`[1, 'a', true, null, 1u, 1.5, b'x', [1], {'k': 1}].exists(x, x == {'k': 1})`,
		`true ? 1 < 2 : 1 / 0 == 1`,
		`type(properties[4].value) == string && type(1) == int`,
	} {
		x, err := c.Rule(rule)
		if err != nil {
			t.Errorf("Rule(%s): %v", rule, err)
			continue
		}
		ok, err := eval.Rule(t.Context(), x, NewPropertyList(etcd, nil).Values())
		fmt.Fprintf(&b, "%s\n\t%t", rule, ok)
		if err != nil {
			var e *EvalError
			if !errors.As(err, &e) || e.Expr != x {
				t.Errorf("Rule(%s): error %#v; want an *EvalError", rule, err)
			}
			fmt.Fprintf(&b, ", %v", errors.Unwrap(err))
		}
		b.WriteByte('\n')
	}
	golden.File(t, "rules.golden", b.String())
}

func TestUndecodableValue(t *testing.T) {
	b := NewPropertyList(props(`a 1e999`, `b "x"`), nil)
	eval := NewEvaluator(Cluster{}, nil)
	for rule, want := range map[string]bool{
		`properties.exists(p, p.type == 'b' && p.value == 'x')`: true,
		`properties.exists(p, p.type == 'b' || p.value == 1)`:   true, // true || error
		`properties[0].type == 'a'`:                             true,
		`properties[0].value == 1`:                              false,
	} {
		res, err := eval.Satisfies(t.Context(), &CEL{Rule: rule}, b)
		if err != nil {
			t.Fatal(err)
		}
		if res.OK != want || want == (len(res.Problems) > 0) {
			t.Errorf("%s = %v; want %t", rule, res, want)
		}
	}
}

// TestUncompiledRule evaluates trees that did not come from a Compiler.
func TestUncompiledRule(t *testing.T) {
	eval := NewEvaluator(Cluster{}, nil)
	b := NewPropertyList(nil, nil)
	res, err := eval.Satisfies(t.Context(), &CEL{Rule: "size(properties) == 0"}, b)
	if err != nil || !res.OK {
		t.Errorf("Satisfies: %v, %v", res, err)
	}
	res, err = eval.Satisfies(t.Context(), &Not{Of: []Expr{&CEL{Rule: "nonsense"}}}, b)
	if err != nil || !res.OK || len(res.Problems) != 1 {
		t.Errorf("Satisfies: %v, %v; want a problem", res, err)
	}
	if _, err := eval.Satisfies(t.Context(), nil, b); err == nil {
		t.Error("Satisfies(nil) succeeded")
	}
}

func TestPropertyList(t *testing.T) {
	v := semver.MustParse("3.0.0")
	b := NewPropertyList(props(
		`olm.package {"packageName":"a","version":"1.0.0"}`,
		`olm.package {"packageName":"b","version":"2.0.0"}`,
		`olm.package {"packageName":"c","version":"two"}`,
		`olm.package "text"`,
		`olm.gvk {"group":"g.io"}`,
		`olm.label 5`,
		`olm.label {"label":"x"}`,
	), &Identity{Package: "d", Version: &v})
	for _, name := range []string{"a", "b", "c", "d"} {
		if !b.InPackage(name) {
			t.Errorf("not in package %s", name)
		}
	}
	for _, in := range []string{"1.0.0", "2.0.0", "3.0.0"} {
		if r, err := ParseRange(in); err != nil || !b.VersionIn(r) {
			t.Errorf("has not version %s", in)
		}
	}
	if b.InPackage("e") || b.HasLabel("y") || !b.HasLabel("x") {
		t.Error("wrong package or label")
	}
	var got []string
	for _, p := range b.Problems() {
		got = append(got, fmt.Sprintf("%d %v", p.Index, p.Err))
	}
	want := `2 olm.package: /version: invalid version "two": want three numbers, such as 1.2.3 or 1.2.3-rc.1
3 olm.package: want an object with "packageName" and "version", found a string
4 olm.gvk: missing key "version"
5 olm.label: want an object with "label", found a number`
	if s := strings.Join(got, "\n"); !strings.EqualFold(s, want) {
		t.Errorf("Problems:\n%s\nwant\n%s", s, want)
	}
}

// bare hides the Values of a PropertyList and counts the calls of Properties.
type bare struct {
	*PropertyList
	asked int
}

func (b *bare) Values() {} // not the method that Evaluator looks for

func (b *bare) Properties() iter.Seq[property.Property] {
	b.asked++
	return b.PropertyList.Properties()
}

func TestRemembers(t *testing.T) {
	const rule = `properties.exists(p, p.type == 'color')`
	x := mustParse(t, `{"all":{"constraints":[{"cel":{"rule":"`+rule+`"}},{"cel":{"rule":"`+rule+` || false"}}]}}`)
	eval := NewEvaluator(Cluster{}, nil)
	list := NewPropertyList(etcd, nil)
	for range 3 {
		if res, err := eval.Satisfies(t.Context(), x, list); err != nil || !res.OK {
			t.Fatal(res, err)
		}
	}
	n := 0
	eval.memo.Range(func(any, any) bool { n++; return true })
	if n != 2 {
		t.Errorf("%d results cached, want 2", n)
	}
	spent := eval.spent.Load()
	b := &bare{PropertyList: list}
	if res, err := eval.Satisfies(t.Context(), x, b); err != nil || !res.OK {
		t.Fatal(res, err)
	}
	if b.asked != 1 {
		t.Errorf("the properties were decoded %d times for one tree, want 1", b.asked)
	}
	if eval.spent.Load() == spent {
		t.Error("results of a bundle without Values were cached")
	}
}

func TestCancel(t *testing.T) {
	const rule = `properties.all(a, properties.all(b, properties.all(c, properties.all(d, properties.all(e, true)))))`
	limits := &Limits{MaxCost: 1 << 60, MaxTotalCost: 1 << 60}
	x, err := NewCompiler(limits).Rule(rule)
	if err != nil {
		t.Fatal(err)
	}
	var many []property.Property
	for i := range 100 {
		many = append(many, property.Property{Type: fmt.Sprint(i), Value: []byte("1")})
	}
	b := NewPropertyList(many, nil)
	eval := NewEvaluator(Cluster{}, limits)

	cause := errors.New("no longer wanted")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(cause) // the evaluation would take hours
	_, err = eval.Satisfies(ctx, &Not{Of: []Expr{x}}, b)
	if !errors.Is(err, cause) {
		t.Errorf("Satisfies: %v; want the cause (D18)", err)
	}

	stopped, stop := context.WithCancelCause(t.Context())
	stop(cause)
	if _, err := eval.Satisfies(stopped, x, b); !errors.Is(err, cause) {
		t.Errorf("Satisfies: %v; want the cause", err)
	}
}

func TestConcurrent(t *testing.T) {
	c := NewCompiler(nil)
	eval := NewEvaluator(Cluster{}, nil)
	b := NewPropertyList(etcd, nil)
	var wg sync.WaitGroup
	for i := range 8 {
		wg.Go(func() {
			for j := range 20 {
				rule := fmt.Sprintf("properties.exists(p, p.type == 'color') && %d == %d", j, j)
				x, err := c.Rule(rule)
				if err != nil {
					t.Error(err)
					return
				}
				if res, err := eval.Satisfies(t.Context(), &All{Of: []Expr{x}}, b); err != nil || !res.OK {
					t.Errorf("goroutine %d: %v, %v", i, res, err)
				}
			}
		})
	}
	wg.Wait()
	if len(c.programs) != 20 {
		t.Errorf("%d programs, want 20: each rule is compiled once", len(c.programs))
	}
}

// TestLazyCEL checks that catalogs without CEL do not pay for it.
func TestLazyCEL(t *testing.T) {
	made := false
	c := NewCompiler(nil)
	env := c.env
	c.env = func() (*celEnv, error) { made = true; return env() }
	if _, err := c.Parse([]byte(documented[5].raw)); err != nil || made {
		t.Errorf("Parse without CEL: %v, environment made: %t", err, made)
	}
	if _, err := c.Parse([]byte(documented[0].raw)); err != nil || !made {
		t.Errorf("Parse with CEL: %v, environment made: %t", err, made)
	}
}
