package celcost

import (
	"strings"
	"testing"

	"github.com/google/cel-go/cel"
	celast "github.com/google/cel-go/common/ast"
)

func TestTokens(t *testing.T) {
	for text, want := range map[string]int{
		"":                                     0,
		"a.b(c, d) == [1, 2]":                  14,
		"a&&b||!c":                             6,
		"x in y":                               3,
		"1.5e-3 + .5 + 0x1fu + 1u + 1.e":       11,
		"// no token\n1 // none":               1,
		`'a' + "b" + r'\' + b"\x41" + bR"\"`:   9,
		`'''a'b''' + """a` + "\n" + `b"c"""`:   3,
		`'\'\n\101\u00e9\U0001F600'`:           1,
		"'" + strings.Repeat("x", 640) + "'":   11,
		"'é'":                                  4,
		"a - 1":                                3,
		"a(b) -1":                              6,
		"-1":                                   signTokens + 1,
		"1 - -1":                               signTokens + 3,
		"a in -1":                              signTokens + 3,
		"-\n// comment\n.5":                    signTokens + 1,
		"-a":                                   2,
		"a.`b-c/d` == 1":                       5,
		"a + 'no end":                          2 + 7*unicodeTokens,
		`a + '\q' - 1`:                         2 + 8*unicodeTokens,
		`"""a\"""`:                             8 * unicodeTokens,
		"a & b":                                1 + 3*unicodeTokens,
		"a.`b//` + 1 == `c=` // not a comment": 6 + len("`c=` // not a comment")*unicodeTokens,
	} {
		if got := Tokens(text); got != want {
			t.Errorf("%q counts as %d tokens, not %d", text, got, want)
		}
	}
}

// slow lists rules that are slow to parse, by the part that they repeat.
var slow = []struct{ name, begin, each, end string }{
	{"comparisons", "", "a == b && ", "true"},
	{"alternatives", "", "a||", "a"},
	{"sums", "", "1+", "1"},
	{"signs", "", "-1||", "true"},
	{"signs of signs", "", "- - 1.5 - ", "1"},
	{"signs in lists", "[", "-1,", "1]"},
	{"lists", "[", "1,", "1]"},
	{"empty lists", "[", "[],", "1]"},
	{"maps", "{", "1:a,", "1:1}"},
	{"messages", "[", "a.b{},", "1]"},
	{"calls", "[", "a.b(c),", "1]"},
	{"macros", "", "a.all(b,c)&&", "a"},
	{"conditions", "", "a?b:", "c"},
	{"parentheses", "", "(", "a"},
	{"negations", "", "!", "a"},
	{"members", "a", ".b", ""},
	{"indexes", "a", "[0]", ""},
	{"texts", "[", "'',", "1]"},
	{"texts beyond ASCII", "'", "€", "'"},
	{"comments beyond ASCII", "1//", "€", ""},
	{"texts without an end", "a", ` + "x" \"""`, ""},
	{"invalid tokens", "a", "@", ""},
}

// Any 64 KiB rule that repeats one of these parts has more tokens than a rule may have (S2). BenchmarkParse measures
// the rules that are small enough to be parsed.
func TestTokensOfSlowRules(t *testing.T) {
	for _, x := range slow {
		text := x.begin + strings.Repeat(x.each, (64<<10)/len(x.each)-2) + x.end
		if n := Tokens(text); n < 20_000 {
			t.Errorf("%s: a rule of 64 KiB counts as %d tokens", x.name, n)
		}
	}
}

// BenchmarkParse parses rules of 8,000 tokens, the maximum that constraints and kube/crd accept. None should take more
// than about 50 ms.
func BenchmarkParse(b *testing.B) {
	env, _ := testEnv(b)
	env, err := env.Extend(cel.ParserExpressionSizeLimit(64<<10), cel.ParserRecursionLimit(100))
	if err != nil {
		b.Fatal(err)
	}
	for _, x := range slow {
		b.Run(x.name, func(b *testing.B) {
			once := Tokens(x.begin+strings.Repeat(x.each, 100)+x.end) / 100
			text := x.begin + strings.Repeat(x.each, min(8000/max(once, 1), (64<<10)/len(x.each)-2)) + x.end
			for b.Loop() {
				env.Parse(text)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(Tokens(text)), "ns/token")
		})
	}
}

// FuzzTokens compares the count with the syntax tree: each node has at least one token.
func FuzzTokens(f *testing.F) {
	for _, x := range slow {
		f.Add(x.begin + strings.Repeat(x.each, 3) + x.end)
	}
	f.Add(`r"\" + b'''x' "''' + 0x1u - .5e3 // y`)
	env, err := cel.NewCustomEnv(cel.ParserExpressionSizeLimit(1<<12), cel.ParserRecursionLimit(100))
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		n := Tokens(text)
		if n > 2000 {
			return
		}
		parsed, issues := env.Parse(text)
		if issues.Err() != nil {
			return
		}
		nodes := 0
		celast.PostOrderVisit(parsed.NativeRep().Expr(), celast.NewExprVisitor(func(celast.Expr) { nodes++ }))
		if nodes > n {
			t.Errorf("%q counts as %d tokens and has %d nodes", text, n, nodes)
		}
	})
}
