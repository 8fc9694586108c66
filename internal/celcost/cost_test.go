package celcost

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// testEnv has all functions that bundle rules can use, and optional values.
func testEnv(t testing.TB) (*cel.Env, *Env) {
	t.Helper()
	var vars []cel.EnvOption
	for _, name := range []string{"s", "u", "b", "d", "l", "m", "k", "p"} {
		vars = append(vars, cel.Variable(name, cel.DynType))
	}
	env, err := cel.NewEnv(append(vars, cel.CrossTypeNumericComparisons(true), cel.OptionalTypes())...)
	if err != nil {
		t.Fatal(err)
	}
	costs, err := NewEnv(env)
	if err != nil {
		t.Fatal(err)
	}
	return env, costs
}

func program(t testing.TB, env *cel.Env, costs *Env, text string) *Program {
	t.Helper()
	checked, issues := env.Compile(text)
	if issues.Err() != nil {
		t.Fatalf("%s: %v", text, issues.Err())
	}
	p, err := costs.Program(checked, 1<<40)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return p
}

// inputs are variables of size n.
type inputs map[string]any

func (v inputs) ResolveName(name string) (any, bool) { x, ok := v[name]; return x, ok }
func (v inputs) Parent() cel.Activation              { return nil }

func sized(n int) inputs {
	s := strings.Repeat("a", n-1)
	var list []ref.Val
	m := map[string]any{}
	for i := range n {
		list = append(list, types.String(fmt.Sprint(i)))
		m[fmt.Sprint(i)] = types.Int(i)
	}
	return inputs{
		"s": types.String(s + "b"), "u": types.String(s + "c"), "b": types.Bytes(s), "d": types.String(strings.Repeat("7", n)),
		"l": types.NewRefValList(types.DefaultTypeAdapter, list), "k": types.NewRefValList(types.DefaultTypeAdapter, list),
		"m": MapValue(m), "p": types.String(strings.Repeat("(?i)[0-9]", n/16+1)),
	}
}

// charged lists calls whose work grows with their arguments, by function. Calls that fail, as most conversions of such
// texts do, take just as long.
var charged = map[string][]string{
	"_==_":       {"s == u", "l == k", "m == m", "b == b"},
	"_!=_":       {"s != u", "l != k"},
	"@in":        {"'x' in l", "s in l"},
	"_+_":        {"s + u", "b + b", "l + k"},
	"_<_":        {"s < u", "b < b"},
	"_<=_":       {"s <= u"},
	"_>_":        {"s > u"},
	"_>=_":       {"s >= u"},
	"matches":    {"s.matches('[ab]*c')", "s.matches(p)", "''.matches(p)", `s.matches('(?:a?){50}$')`, `s.matches('\\pL*c')`},
	"size":       {"size(s)"},
	"contains":   {"s.contains('ab' + s)", "s.contains(u)"},
	"startsWith": {"s.startsWith(u)"},
	"endsWith":   {"s.endsWith(u)"},
	"string":     {"string(b)"},
	"bytes":      {"bytes(s)"},
	"int":        {"int(d)"},
	"uint":       {"uint(d)"},
	"double":     {"double(d)"},
	"bool":       {"bool(d)"},
	"timestamp":  {"timestamp(d)"},
	"duration":   {"duration(d)"},
	"getHours":   {"timestamp('2020-01-01T00:00:00Z').getHours(s)"},
	"_[_]": {
		"m[s]", "m[optional.of(s).value()]", "{}[s]", "m[true ? s : u]", "m[{1: s}[1]]", "m[[s][0]]", "[m][0][s]", "(true ? m : {})[s]", "(true ? m[s] : 1)",
		"[1].map(x, {'a': s}).map(x, m[x.a])",
	},
	"_[?_]": {"m[?s]", "m[?optional.of(s).value()]", "[m][?0][?s]"},
	"maps": {
		"{s: 1}", "{optional.of(s).value(): 1}", "{m[?optional.of(s).value()]: 1}", "{?s: m[?'a']}", "{1: s}[{s: 1}[s]]", "{(true ? s : u): 1}", "{{1: s}[1]: 1}", "{{'a': s}.a: 1}", "{[s][size([1]) - 1]: 1}",
		"{dyn(s): 1}", "[s].map(x, {x: 1})",
	},
	"macros": {"l.exists(x, x == 'x')", "l.map(x, x)", "l.all(x, x in m)", "m.exists(x, x == 'x')", "l.map(x, {'a': x})", "l.filter(x, x != 'a').size() > 0"},
}

// constant lists the functions that take the same time for all arguments.
var constant = []string{
	"!_", "-_", "_%_", "_&&_", "_*_", "_-_", "_/_", "_?_:_", "_||_", "@not_strictly_false", "_?._", "__not_strictly_false__", "_in_", "in",
	"dyn", "type", "getDate", "getDayOfMonth", "getDayOfWeek", "getDayOfYear", "getFullYear", "getMilliseconds", "getMinutes", "getMonth", "getSeconds",
	"hasValue", "optional.none", "optional.of", "optional.ofNonZeroValue", "optional.unwrap", "or", "orValue", "unwrapOpt", "value", "google.protobuf.DynamicMessage",
	"first", "last", // of a list
}

// Each function is listed as constant, or is charged in proportion to its arguments and allocates little for the
// charge (S2).
func TestCharges(t *testing.T) {
	env, costs := testEnv(t)
	for _, name := range slices.Sorted(maps.Keys(env.Functions())) {
		if charged[name] == nil && !slices.Contains(constant, name) {
			t.Errorf("function %s: add it to charged or to constant", name)
		}
	}
	const small, large = 500, 4000
	few, many := sized(small), sized(large)
	for _, name := range slices.Sorted(maps.Keys(charged)) {
		for _, text := range charged[name] {
			p := program(t, env, costs, text)
			_, cheap, err := p.Eval(t.Context(), few, 1<<50)
			if errors.Is(err, ErrExceeded) {
				t.Fatalf("%s: %v", text, err)
			}
			var dear uint64
			n := allocated(func() { _, dear, _ = p.Eval(t.Context(), many, 1<<50) })
			if dear < cheap*(large/small)/4 {
				t.Errorf("%s costs %d units for %d, and %d for %d", text, cheap, small, dear, large)
			}
			// A unit is worth about ten nanoseconds, or a hundred bytes.
			if n > 8192+1024*dear {
				t.Errorf("%s allocates %d bytes for %d units", text, n, dear)
			}
		}
	}
}

func allocated(do func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// Patterns that are slow to parse or that compile to large programs.
var hostilePatterns = []string{
	`(?i)[B-\x{1e942}]`, `(?i)[B-𞥂]`, `(?i:[B-\x{1e942}])`, `(?s-i:x(?mi)[B-\x{1e942}])`, `(?i)[\x{41}-\x{1e942}]`, `(?i)[^B-\x{1e942}]`,
	`(?i)[\pL\pN]`, `(?i)\pL`, `[\pL-\x{1e942}]`, `(?i)[A-\Q𞥂\E]`,
	`\pL|\pN|\pM|\pS`, `(?i)[a-z0-9]`, `((a{10}){10}){10}`, `a{1000}`, `(\pL{30}){30}`,
	strings.Repeat("(?:a|b", 200) + strings.Repeat(")", 200), strings.Repeat("a|ab|abc|", 200),
	"^" + strings.Repeat(`(?:\pL|\pN`, 50) + strings.Repeat(")", 50) + "$",
}

// A pattern is charged for the memory that parsing and compiling it allocates (S2).
func TestPatternCharges(t *testing.T) {
	env, costs := testEnv(t)
	p := program(t, env, costs, "s.matches(p)")
	for _, text := range hostilePatterns {
		vars := inputs{"s": types.String(strings.Repeat("ab", 50)), "p": types.String(text)}
		var spent uint64
		n := allocated(func() { _, spent, _ = p.Eval(t.Context(), vars, 1<<50) })
		if n > 8192+1024*spent {
			t.Errorf("%.40s allocates %d bytes for %d units", text, n, spent)
		}
	}
	// A range of letters is charged before it is parsed, once per occurrence.
	one := parseCost(`(?i)[B-\x{1e942}]`)
	if many := parseCost("(?i)" + strings.Repeat(`[B-\x{1e942}]`, 1000)); one < 100_000 || many < 1000*(one-100) {
		t.Errorf("one range costs %d, a thousand %d", one, many)
	}
	// Ordinary patterns cost next to nothing, even if they ignore case.
	for _, usual := range []string{`(?i)^rc-\d+-\d+$`, `(?i)^[a-z0-9][a-z0-9\-\.]*-\w+$`, `(?i)[+-\]]`} {
		if n := parseCost(usual); n > 2000 {
			t.Errorf("%s costs %d", usual, n)
		}
	}
	for _, odd := range []string{`(?i)[B-\x{1e942}]`, `(?i)[B-\777]`, `(?i)[B-é]`} {
		if n := parseCost(odd); n < largeRange {
			t.Errorf("%s costs %d", odd, n)
		}
	}
	if n := parseCost(`^v[0-9]+\.[0-9]+-(alpha|beta)$`); n > 500 {
		t.Errorf("a plain pattern costs %d", n)
	}
}

// A pattern is parsed and charged once per evaluation.
func TestPatternOnce(t *testing.T) {
	env, costs := testEnv(t)
	p := program(t, env, costs, `l.all(x, x.matches('(?i)[a-z0-9]+') || x.matches(p))`)
	vars := sized(1000)
	vars["p"] = types.String(`\pL`)
	if _, spent, err := p.Eval(t.Context(), vars, 100_000); err != nil {
		t.Errorf("it costs %d: %v", spent, err)
	}
}

// A constant pattern is compiled once for all evaluations of a program, and the cost of an evaluation does not depend
// on earlier ones (S2).
func TestConstantsOnce(t *testing.T) {
	env, costs := testEnv(t)
	const text = `s.matches('(?i)[B-\\x{1e942}]x') || s.matches('c{9}') || s.matches('(')`
	p := program(t, env, costs, text)
	var first uint64
	for i := range 100 {
		_, spent, err := p.Eval(t.Context(), sized(1000), 100_000)
		if err == nil || !strings.Contains(err.Error(), "missing closing") {
			t.Fatalf("evaluation %d: %v", i, err)
		}
		if i == 0 {
			first = spent
		} else if spent != first {
			t.Fatalf("evaluation %d costs %d, the first one %d", i, spent, first)
		}
	}
	once := p.Prepare()
	if once < 2*parseCost(`(?i)[B-\x{1e942}]x`) {
		t.Errorf("the patterns cost %d", once)
	}
	if other := program(t, env, costs, text).Prepare(); other != once {
		t.Errorf("the patterns cost %d before the first evaluation, and %d after it", other, once)
	}
	if n := allocated(func() { _, _, _ = p.Eval(t.Context(), sized(10), 100_000) }); n > 50_000 {
		t.Errorf("a further evaluation allocates %d bytes", n)
	}
}

// A program keeps at most maxConstants instructions. Larger patterns are charged in each evaluation that needs them,
// and only there (S2).
func TestLargeConstants(t *testing.T) {
	env, costs := testEnv(t)
	p := program(t, env, costs, `s.matches('a') || s.matches('b{900}') || s.matches('c{500}') || s.matches('d')`)
	if once := p.Prepare(); once > 20_000+2*maxConstants {
		t.Errorf("it costs %d once", once)
	}
	if len(p.constants.kept) != 3 {
		t.Errorf("%d patterns are kept", len(p.constants.kept))
	}
	_, spent, err := p.Eval(t.Context(), inputs{"s": types.String("xa")}, 1000)
	if err != nil {
		t.Errorf("it costs %d without the large one: %v", spent, err)
	}
	if _, _, err := p.Eval(t.Context(), inputs{"s": types.String("x")}, 8000); !errors.Is(err, ErrExceeded) {
		t.Errorf("with the large one: %v", err)
	}
}

// The total size of constant patterns is checked before anything is evaluated.
func TestConstantPatterns(t *testing.T) {
	env, costs := testEnv(t)
	checked, issues := env.Compile(`s.matches('(?i)[B-\\x{1e942}]') && matches(s, '(?i)x[B-\\x{1e942}]')`)
	if issues.Err() != nil {
		t.Fatal(issues.Err())
	}
	if _, err := costs.Program(checked, 900_000); err != nil {
		t.Error(err)
	}
	if _, err := costs.Program(checked, 700_000); !errors.Is(err, ErrPatterns) {
		t.Errorf("got %v", err)
	}
}

// A canceled context ends an evaluation before its next pattern.
func TestPatternCancelled(t *testing.T) {
	env, costs := testEnv(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p := program(t, env, costs, `l.all(x, x.matches('y|' + x))`)
	_, spent, err := p.Eval(ctx, sized(4000), 1<<50)
	if !errors.Is(err, context.Canceled) || spent > 5000 {
		t.Errorf("after %d units: %v", spent, err)
	}
}

// Time zones are offsets: none is looked up on the machine, and timestamps do not depend on the machine's own zone
// (S3).
func TestZones(t *testing.T) {
	env, costs := testEnv(t)
	eval := func(text string) (string, error) {
		out, _, err := program(t, env, costs, text).Eval(t.Context(), sized(4), 1<<20)
		if err != nil {
			return "", err
		}
		return fmt.Sprint(out.Value()), nil
	}
	for _, f := range zonedFunctions {
		for zone, ok := range map[string]bool{"": true, "UTC": true, "+05:30": true, "-02:00": true, "Local": false, "America/New_York": false, "EST": false, "utc": false, "../../etc/passwd": false} {
			text := fmt.Sprintf(`timestamp("2020-03-07T12:00:00-05:00").%s(%q) >= 0`, f, zone)
			if _, err := eval(text); (err == nil) != ok {
				t.Errorf("%s: %v", text, err)
			}
		}
	}
	local := time.Local
	defer func() { time.Local = local }()
	ny, err := time.LoadLocation("America/New_York")
	if err != nil {
		t.Skip("this machine has no time zones: ", err)
	}
	for _, text := range []string{
		`string(timestamp("2020-03-07T12:00:00-05:00") + duration("24h"))`,
		`(timestamp("2020-03-07T12:00:00-05:00") + duration("24h")).getHours()`,
		`string(timestamp("2020-03-07T12:00:00Z"))`,
		`string(timestamp(1583582400))`,
	} {
		var got [2]string
		for i, zone := range []*time.Location{time.UTC, ny} {
			time.Local = zone
			if got[i], err = eval(text); err != nil {
				t.Error(err)
			}
		}
		if got[0] != got[1] {
			t.Errorf("%s is %s, and in New York %s", text, got[0], got[1])
		}
	}
}

// Expressions that make the checker slow have a larger size, and those that make the parser's tree grow exponentially
// are detected before it runs (S2).
func TestSize(t *testing.T) {
	env, _ := testEnv(t)
	size := func(text string) int {
		parsed, issues := env.Parse(text)
		if issues.Err() != nil {
			t.Fatal(issues.Err())
		}
		return Size(parsed.NativeRep().Expr())
	}
	if n := size("[1, 2] == l"); n != 5 {
		t.Errorf("five nodes are %d", n)
	}
	if n := size("[[], {}]"); n != 21 {
		t.Errorf("empty lists and maps are %d", n)
	}
	if few, many := size(strings.Repeat("[1].map(x,", 5)+"1"+strings.Repeat(")", 5)), size(strings.Repeat("[1].map(x,", 50)+"1"+strings.Repeat(")", 50)); many < 30*few {
		t.Errorf("five macros in each other are %d, fifty %d", few, many)
	}
	for text, want := range map[string]bool{
		"l.optMap(x, x)": false,
		"l" + strings.Repeat(".optMap(x, x)", 10):                                                         false,
		"l" + strings.Repeat(".optMap(x, x)", 14):                                                         true,
		"l" + strings.Repeat(" . optFlatMap ( x, x)", 9):                                                  false,
		"l" + strings.Repeat(".\noptFlatMap(x,x)", 30):                                                    true,
		strings.Repeat("x", 60_000) + ".optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x).optMap(x, x)": true,
	} {
		if got := Expands(text); got != want {
			t.Errorf("Expands(%.50q) = %v", text, got)
		}
	}
}

// FuzzPattern compares the price of a pattern with what parsing it allocates.
func FuzzPattern(f *testing.F) {
	for _, text := range hostilePatterns {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		w := &work{left: 20_000_000}
		n := allocated(func() {
			defer func() { _ = recover() }() // for more expensive ones
			w.pattern(text)
		})
		if spent := 20_000_000 - w.left; n > 1<<16+2048*spent {
			t.Errorf("%q allocates %d bytes for %d units", text, n, spent)
		}
	})
}
