package yamljson

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"
)

// check converts doc with Convert and the library, and returns whether Convert succeeded. The test fails if Convert
// accepts a document that the library rejects or reads differently.
func check(t testing.TB, doc []byte) (accepted bool) {
	t.Helper()
	prefix := []byte("kept")
	out, ok := Convert(prefix, doc, nil)
	if !bytes.HasPrefix(out, prefix) {
		t.Fatalf("Convert(%q) lost what was in dst: %q", doc, out)
	}
	if !ok {
		if len(out) != len(prefix) {
			t.Fatalf("Convert(%q) changed dst without success: %q", doc, out)
		}
		return false
	}
	out = out[len(prefix):]
	want, err := library(doc)
	if err != nil {
		t.Fatalf("Convert(%q) = %s, but the library returns the error %v", doc, out, err)
	}
	if diff := diffJSON(out, want); diff != "" {
		t.Fatalf("Convert(%q)\n got %s\nwant %s\n%s", doc, out, want, diff)
	}
	return true
}

// library is the reference for Convert and Slow.
func library(doc []byte) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil {
			out, err = nil, fmt.Errorf("%v", r)
		}
	}()
	return yaml.YAMLToJSON(doc)
}

// checkSlow fails the test if Slow reads a document differently from the library.
func checkSlow(t testing.TB, doc []byte) {
	t.Helper()
	out, err := Slow(t.Context(), doc, nil)
	var limit *LimitError
	if errors.As(err, &limit) {
		return
	}
	if refused := refuse(doc); refused != nil {
		if !reflect.DeepEqual(err, refused) {
			t.Fatalf("Slow(%q) = %s, %v; want %v", doc, out, err, refused)
		}
		return
	}
	if errors.Is(err, ErrMore) {
		return // the library drops it
	}
	want, wantErr := library(doc)
	if err != nil {
		// Slow may refuse more documents with aliases.
		if wantErr == nil && !mayRepeat(doc) {
			t.Fatalf("Slow(%q): %v; the library returns %s", doc, err, want)
		}
		return
	}
	if wantErr != nil {
		t.Fatalf("Slow(%q) = %s, but the library returns the error %v", doc, out, wantErr)
	}
	if diff := diffJSON(out, want); diff != "" {
		t.Fatalf("Slow(%q)\n got %s\nwant %s\n%s", doc, out, want, diff)
	}
}

// diffJSON compares two JSON texts by meaning, and numbers by their digits.
func diffJSON(got, want []byte) string {
	g, err := decode(got)
	if err != nil {
		return fmt.Sprintf("not JSON: %v", err)
	}
	w, err := decode(want)
	if err != nil {
		return fmt.Sprintf("wanted what is not JSON: %v", err)
	}
	if reflect.DeepEqual(w, g) {
		return "" // cmp takes exponential time on deep nesting
	}
	return "differs (-want +got):\n" + cmp.Diff(w, g)
}

func decode(b []byte) (v any, err error) {
	d := json.NewDecoder(bytes.NewReader(b))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, err
	}
	if d.More() {
		return nil, fmt.Errorf("more than one value in %q", b)
	}
	return v, nil
}

// Examples of each construct in the subset.
var accepted = []string{
	// Nothing.
	"", "\n", "# a comment", "\n  \n# one\n  # two\n",

	// Block collections.
	"a: b", "a: b\n", "a: b\nc: d\n", "  a: b\n  c: d\n",
	"a:\n  b:\n    c: d\n  e: f\ng: h\n",
	"a:\n- b\n- c\nd: e\n", "a:\n  - b\n  - c\nd: e\n", "a:\n    - b\n    - c\n",
	"- a\n- b\n", "- a: b\n  c: d\n- e: f\n", "-   a: b\n    c: d\n",
	"- - a\n  - b\n- - c\n", "- - - a\n    - b\n  - c\n- d\n",
	"-\n  a: b\n-\n  - c\n", "- a:\n  - b\n  - c\n  d: e\n", "- a:\n    - b\n  c:\n  - d\n",
	"a:\n- - b\n  - c\n- d:\n  - e\n", "a:\n- b: c\n  d: e\nf: g\n",
	"a:\n\n  b: c\n\n\n  d: e\n",

	// Missing values.
	"a:", "a:\n", "a:\nb:\n", "a: \nb: c\n", "- \n- a\n-\n", "-", "a:\n-\n-\nb:\n", "a:\n  b:\nc:\n", "- a:\n- b:\n",
	"a:\n  -\n  - b\n",

	// Comments.
	"# x\na: b # y\n# z\nc: d\n", "a: # x\n  b: c # y\n  # z\n", "- # x\n  a\n- b # y\n", "a: b#c\n",
	"a: b\n# caf\u00e9 \u4f60\n",
	"a: 'b' # c\n", "a: |  # c\n  d\n", "a: {} # c\n", "a: b   \nc: 'd'  \n", "a:   # c\n- b\n", "a: b #\nc: d",
	"a: x # tab\there\n",

	// Keys.
	"a b: c\n", "a:b: c\n", "a/b.c-d_e: f\n", "'a': b\n\"c\": d\n", "'a''b': c\n", "\"a\\tb\": c\n",
	"caf\u00e9: b\n", "a\"b: c\n",
	"a#b: c\n", "\"a: b\": c\n", "$x: y\n", "(x): y\n", "-x: y\n", "2001-01-01: a\n", "- 'a': b\n  'c': d\n",
	"1.2.3: b\n", "null_: x\n", "nope: x\n",
	"\"<<\": x\n", "\"1\": x\n", "\"\": x\n", "a: b\nA: c\n", "\"a\\\\\": x\n",

	// Plain scalars.
	"a: b c  d\n", "a: b:c\n", "a: http://x/y?z=1#f\n", "a: b\"c\\d'e\n", "a: -b\n", "a: --b\n", "a: <<\n", "a: =\n",
	"a: (b)\n", "a: $b\n", "a: ^b\n",
	"a: b\n  c\n", "a: b\n  c\n\n  d\n\n\n  e\nf: g\n", "- a\n  b\n", "a:\n  b\n  c\n", "a:\n  b\n c\n",
	"a: b\n  - c\n",
	"a: b\n  'c'\n", "a: 1\n  2\n", "a: b # c\n", "a: b\n  c # d\n", "a: \u4f60\u597d \u00e9\n", "a: b\n\n",
	"a: b  \n  c  \n", "a: https://x:80/\n",
	"a: b\n#c\n", "a: b\n \n \n  c\n", "a: <1.2.3\n", "a: b,c [d] {e}\n", "a: b & c * d ! e % f @ g `h`\n",
	"a: b ? c\n", "a: ...\n",
	"a: ---\n", "a: b - c\n",

	// Resolution.
	"a: 0\n", "a: 1\n", "a: 42\n", "a: -1\n", "a: +1\n", "a: -0\n", "a: 007\n", "a: 08\n", "a: 0o7\n", "a: 0x1F\n",
	"a: 0b101\n", "a: -0b101\n", "a: 1_000\n",
	"a: 1e3\n", "a: 1E3\n", "a: 1.0\n", "a: 1.\n", "a: .5\n", "a: -.5\n", "a: +.5\n", "a: 1.5e-7\n", "a: 1e21\n",
	"a: 1e400\n", "a: 123456789012345678\n", "a: 9223372036854775807\n",
	"a: 9223372036854775808\n", "a: 18446744073709551615\n", "a: 18446744073709551616\n",
	"a: -9223372036854775808\n", "a: -9223372036854775809\n",
	"a: 1.2.3\n", "a: 4.12\n", "a: 1.10\n", "a: 1:30\n", "a: 190:20:30\n", "a: 2001-01-01\n",
	"a: 2001-12-14t21:59:43.10-05:00\n", "a: 2001-12-14 21:59:43.10\n",
	"a: 12e03\n", "a: 0.1\n", "a: 0x\n", "a: 0b\n", "a: 0xg\n", "a: 1__2\n", "a: _1\n", "a: ._5\n", "a: .e5\n",
	"a: .5.5\n", "a: .\n", "a: ..\n", "a: .x\n", "a: +\n", "a: -+1\n", "a: 1e\n", "a: 1f\n",
	"a: 0.30000000000000004\n", "a: 1e-7\n", "a: 100000000000000000000000\n", "a: 0x7fffffffffffffff\n",
	"a: 0xffffffffffffffff\n", "a: .5e3\n", "a: .1_0\n", "a: 1.0_0\n", "a: 0_7\n", "a: 1e+5\n",
	"a: 0.0\n", "a: -0.0\n", "a: 1p5\n", "a: 0x1p5\n", "a: .nanx\n", "a: infinity\n", "a: nan\n", "a: .infinity\n",
	"a: +x\n", "a: 1 2\n",
	"a: true\nb: True\nc: TRUE\nd: yes\ne: on\nf: y\ng: Y\nh: On\ni: tRUE\n",
	"a: false\nb: no\nc: off\nd: n\ne: N\nf: OFF\ng: oFF\n",
	"a: null\nb: ~\nc: Null\nd: NULL\ne: nULL\nf: ~x\n", "- yes\n- no\n- ~\n- null\n- 1\n- 1.5\n",

	// Quoted scalars.
	"a: ''\n", "a: \"\"\n", "a: 'b'\n", "a: \"b\"\n", "a: 'b''c'\n", "a: ''''\n", "a: '\"\\'\n", "a: \"b'c\"\n",
	"a: 'yes'\nb: '1'\nc: \"null\"\n", "a: 'b: c'\n", "a: '# b'\n", "a: \"b # c\"\n",
	`a: "\0\a\b\t\n\v\f\r\e\ \"\'\\\N\_\L\P"`, `a: "\x41\u00e9\U0001f600\x7f\x80\ufffe"`, "a: \"b\\\tc\"\n",
	"a: 'b\n  c'\n", "a: 'b\n\n  c'\n", "a: 'b  \n\n\n   c'\n", "a: 'b\nc'\n", "a: '\n  b'\n", "a: 'b\n  '\n",
	"a: ' b '\n", "a: '  \n  b'\n", "a: '\n\n'\n",
	"a: \"b\n  c\"\n", "a: \"b\\\n  c\"\n", "a: \"b\\\n  \\ c\"\n", "a: \"b \\\n\n  c\"\n", "a: \"b\\ \n c\"\n",
	"a: \"b\\  \n c\"\n", "a: \"b\\n\\\n  c\"\n", "a: \"b\\\n\"\n", "a: \"b\n\\\nc\"\n", "a: \"b\\\\\n c\"\n",
	"a:\n  'b'\n", "- 'a'\n- \"b\"\n", "a: '\u4f60'\n", "a: \"\u4f60\\u4f60\"\n", "a: 'b\n  # c'\n",
	"a: 'b\n  c: d'\n", "a: 'b ''\n  c'\n",

	// Literal and folded text.
	"a: |\n  b\n", "a: |\n  b\n  c\nd: e\n", "a: |-\n  b\n", "a: |+\n  b\n\n\nc: d\n", "a: |\n  b\n\n\nc: d\n",
	"a: |\n\n\n  b\n", "a: |\n  b\n   c\n  d\n", "a: |2\n    b\n  c\n", "a: |2-\n  b\n", "a: |-2\n  b\n",
	"a: |+1\n  b\n", "a: |\n  b", "a: |-\n  b", "a: |+\n  b", "a: |\n", "a: |", "a: |+\n\n\n", "a: |+\n\n\nb: c\n",
	"a: |\nb: c\n", "a: >\n  b\n  c\n", "a: >\n  b\n\n  c\n", "a: >\n  b\n   c\n  d\n", "a: >\n  b\n\n   c\n\n  d\n",
	"a: >-\n  b\n  c\n\n", "a: >+\n  b\n\n", "a: >\n\n  b\n", "a: >\n   b\n   c\n\n\n   d\n",
	"a: |\n  b\tc\n  \td\n", "a: |2\n  \tb\n", "a: |\n  b  \n    \n  c\n", "a: |\n  # b\n# c\nd: e\n",
	"- |\n  a\n- >\n  b\n", "- |\n a\n",
	"a:\n- |\n  b\n- c\n", "a:\n  b: |\n    {\"c\": \"\\d\"}\n  e: f\n", "a:\n  |\n  b\n", "a: |\n  b\n  ",
	"a: |\n  b\n   ", "a: >\n  b\n   ", "a: |\n    \nb: c\n", "a: |\n \n  b\n", "a: |1\n  b\n c\n",
	"a: >2\n   b\n  c\n   d\n",
	"a: |\n  \u4f60 \u00e9\n", "a: |\n  ---\n  b\n", "a: |\n  b: c\n  - d\n", "a: >\n  b\n  \tc\n  d\n",
	"a: >\n\n\n  b\n\n   c\n", "a: |\n   \n   b\n", "a: |3\n   \n   b\n", "a: |9\n         b\n",

	// Flow collections.
	"a: {}\n", "a: []\n", "- {}\n- []\n", "a: [b, c]\n", "a: [b c, 'd', \"e\", 1, yes, ~, -1, 1.2.3]\n",
	"a: {b: c, d: 1}\n", "a: {\"b\": \"c\"}\n", "a: {\"b\":1,\"c\":[true,null]}\n", "a: [[b], [c, [d]]]\n",
	"a: [{b: c}, {d: e}]\n",
	"a: [ b , c ]\n", "a: { }\n", "a: [ ]\n", "a: {b: {}}\n", "a: [b:c, d/e:f]\n", "- [a, b]\n- c\n",
	"a: [a-b, a=b, x@y]\n", "a:\n  [b]\n", "a: ['b, c', \"d]\"]\n", "a: {b: c d, e: 'f'}\n", "a: {'b': c}\n",
}

func TestAccepted(t *testing.T) {
	for _, doc := range accepted {
		if !check(t, []byte(doc)) {
			_, err := Slow(t.Context(), []byte(doc), nil)
			t.Errorf("Convert(%q) fell back (error of the library: %v)", doc, err)
		}
	}
}

// Documents that Convert must leave to Slow: those that do not mean what they seem to, that are invalid, or that are
// outside of the subset.
var refused = []string{
	// Outside of the subset.
	"a: &x b\n", "a: &x b\nc: *x\n", "a: !!str 1\n", "a: !x b\n", "<<: {a: b}\n", "? a\n: b\n", "?a: b\n", ":a: b\n",
	"a: ?b\n",
	"1: a\n", "true: a\n", "yes: a\n", "y: a\n", "n: a\n", "null: a\n", "~: a\n", "1.5: a\n", "-1: a\n", "'a' : b\n",
	"a : b\n", "[a]: b\n", "{a: b}: c\n",
	"%YAML 1.1\n---\na: b\n", "---\na: b\n", "a: b\n...\n", "a: b\n---\nc: d\n", "a", "'a'\n", "|\n a\n", "[a]\n",
	"{}\n", "a: .inf\n", "a: -.INF\n", "a: .nan\n",

	// Repeated keys.
	"a: b\na: c\n", "a: b\n'a': c\n", "a: b\n\"\\x61\": c\n", "- a: b\n  c: d\n  a: e\n", "a: {b: c, b: d}\n",
	"x:\n  a: b\n  a: c\n", "\"\\t\": b\n\"\\x09\": c\n",

	// White space.
	"a:\tb\n", "\ta: b\n", "a: b\n\tc: d\n", "a: b\tc\n", "a: b\n \tc\n", "- \ta\n", "-\ta\n", "a: 'b\tc'\n",
	"a: |\n\tb\n", "a: |\n  \tb\n", "a: b\r\n", "a: b\rc: d\n", "a: |\r\n  b\n", "a: b\u0085c: d\n", "a: b\u2028c\n",
	"a: b\u2029c\n", "a: b # c\u0085d: e\n", "a: b # c\u2028d: e\n",
	"a: 'b\u0085c'\n", "a: |\n  b\u0085c\n", "a:\u0085b\n", "\ufeffa: b\n", "a: \ufeffb\n", "# \ufeff\na: b\n",

	// Characters that are not allowed.
	"a: \x00\n", "a: \x01\n", "a: b\x7f\n", "a: \xff\n", "a: \xc3\n", "a: \xed\xa0\x80\n", "a: \u0080\n",
	"a: \uffff\n", "a: \ufffe\n", "# \x00\na: b\n", "# \xff\n", "a: |\n  \x1b\n", "a: 'b\x00'\n", "\x00",
	"a: \"\\ud800\"\n", "a: \"\\U00110000\"\n", "a: \"\\/\"\n", "a: \"\\x4\"\n", "a: \"\\q\"\n",
	"a: \"\\UFFFFFFFF\"\n",

	// Errors in structure.
	"a: b: c\n", "a: b\n  c: d\n", "a:\n    b: c\n  d: e\n", "a: - b\n", "a: 'b' c\n", "a: 'b\n", "a: \"b\n",
	"a: 'b'\n  c\n", "a: [b\n", "a: [b\nc]\n", "a: [b] c\n", "a: }\n", "a: ,b\n", "a: @b\n", "a: `b`\n", "a: %b\n",
	"a: *\n", "- a\nb: c\n", "a: b\n- c\n",
	"a\nb\n: c\n", "a: b\nc\n", "a: |x\n  b\n", "a: |0\n  b\n", "a: |\n    \n  b\n", "a: b\n# c\n  d\n",
	"a: 'b'#c\n", "a: |\n   b\n  c\n", "a: {b:\"c\"}\n", "a: {b}\n", "a: [b,]\n", "a: [b: c]\n", "a: {b: c\n",
	"a: [,]\n", "a: [-]\n", "a: [- b]\n", "a: [b #c]\n",
	"a: 'b\n---\n'\n", "a: \"b\n... c\"\n", "  a: b\nc: d\n", " - a\n- b\n", "a: {b:c}\n", "a: {1: b}\n",
}

func TestRefused(t *testing.T) {
	for _, doc := range refused {
		if check(t, []byte(doc)) {
			out, _ := Convert(nil, []byte(doc), nil)
			t.Errorf("Convert(%q) = %s, want a fallback", doc, out)
		}
	}
}

// Long texts, and special bytes at every offset from the eight-byte steps of copyText.
func TestOffsets(t *testing.T) {
	specials := []string{`"`, `\`, "'", ":", "#", " #x", "\u00e9", "\u4f60", "\U0001f600", "\n  x", "\n\n  x", "\t", "\x7f", "\u0085", "\x01", ": ", "\xff", "{", "- "}
	for _, s := range specials {
		for n := range 20 {
			for _, rest := range []int{0, 1, 7, 8, 9} {
				text := strings.Repeat("x", n) + s + strings.Repeat("y", rest)
				for _, format := range []string{"a: %s", "a: z%s\n", "- %s\n", "a: '%s'\n", "a: |\n  %s\n", "a: >\n  %s", "%s: a\n", "a: b # %s\n", "a:\n  b%s\n", "a: [%s]\n"} {
					check(t, fmt.Appendf(nil, format, text))
				}
				check(t, fmt.Appendf(nil, "a: \"%s\"\n", strings.ReplaceAll(text, `\`, `\\`)))
				check(t, fmt.Appendf(nil, "a: \"%s\"\n", text))
			}
		}
	}
}

// Every pair and triple of line fragments, to test all combinations of adjacent constructs.
func TestNeighbors(t *testing.T) {
	lines := []string{
		"a: b", "c:", "  d: e", "  f:", "- g", "-", "  - h", "  - i: j", "    k: l", "  m", "    n", "", "  ", "# o", "  # p", "q: |", "  r: >-", "    s", "   t",
		"- u:", "- |", "v: 'w", "  x'", "y1: \"z", "z\"", "- - aa", "  - - bb", "cc: {}", "- dd: |+", "1", "ee: 1", "  ff: yes # gg",
	}
	n, ok := 0, 0
	var doc []byte
	for _, a := range lines {
		for _, b := range lines {
			for _, c := range lines {
				for _, d := range []string{"hh: ii\n", "  jj: kk\n", "- ll\n", "    mm", "x: '"} {
					doc = append(doc[:0], a+"\n"+b+"\n"+c+"\n"+d...)
					n++
					if check(t, doc) {
						ok++
					}
				}
			}
		}
	}
	t.Logf("%d documents, %d accepted", n, ok)
}

func TestManyKeys(t *testing.T) {
	for _, n := range []int{fewKeys - 1, fewKeys, fewKeys + 1, 10 * fewKeys} {
		for _, indent := range []string{"", "  "} {
			var doc strings.Builder
			doc.WriteString("top:\n"[:5*len(indent)/2])
			for i := range n {
				fmt.Fprintf(&doc, "%skey%d: %d\n", indent, i, i)
			}
			if !check(t, []byte(doc.String())) {
				t.Errorf("%d keys fell back", n)
			}
			for _, again := range []int{0, n / 2, n - 1} {
				repeated := doc.String() + fmt.Sprintf("%skey%d: x\n", indent, again)
				if check(t, []byte(repeated)) {
					t.Errorf("%d keys and key%d repeated: accepted", n, again)
				}
			}
		}
	}
}

func TestDepth(t *testing.T) {
	for _, c := range []struct {
		name string
		doc  func(n int) string
	}{
		{"sequences", func(n int) string { return strings.Repeat("- ", n) + "a\n" }},
		{"mappings", func(n int) string {
			var b strings.Builder
			for i := range n {
				b.WriteString(strings.Repeat(" ", i) + "a:\n")
			}
			return b.String()
		}},
		{"indentless", func(n int) string {
			var b strings.Builder
			for i := range n / 2 {
				b.WriteString(strings.Repeat(" ", 2*i) + "- a:\n")
			}
			return b.String()
		}},
		{"flow", func(n int) string { return "a: " + strings.Repeat("[", n) + strings.Repeat("]", n) }},
	} {
		t.Run(c.name, func(t *testing.T) {
			if !check(t, []byte(c.doc(50))) {
				t.Error("50 levels fell back")
			}
			for _, n := range []int{maxDepth + 2, 20 * maxDepth} {
				if c.name != "sequences" && c.name != "flow" && n > 2*maxDepth {
					continue // their size grows with the square
				}
				if _, ok := Convert(nil, []byte(c.doc(n)), nil); ok {
					t.Errorf("%d levels were accepted", n)
				}
			}
		})
	}
}

func TestLongKey(t *testing.T) {
	for _, n := range []int{maxKey - 1, maxKey, maxKey + 1, 1023, 1024, 1025, 3000} {
		key := strings.Repeat("k", n)
		for _, format := range []string{"%s: v\n", "- %s: v\n", "'%s': v\n", "\"%s\": v\n", "a: {%s: v}\n", "a: {'%s': v}\n"} {
			ok := check(t, fmt.Appendf(nil, format, key))
			if want := n < maxKey-1; want && !ok {
				t.Errorf("a key of %d bytes in %q fell back", n, format)
			}
		}
	}
}

func TestSlow(t *testing.T) {
	doc := []byte("a: b\na: c\n")
	out, err := Slow(t.Context(), doc, nil)
	if want := `{"a":"c"}`; string(out) != want || err != nil {
		t.Errorf("Slow(%q) = %s, %v, want %s", doc, out, err, want)
	}
	_, err = Slow(t.Context(), doc, &Options{Strict: true})
	if e, ok := err.(*Error); !ok || e.Line != 2 {
		t.Errorf("Slow(%q, strict) = %#v, want an *Error for line 2", doc, err)
	}
	doc = []byte("a: b\nc: d\ne: 'f\n")
	if e, ok := func() error { _, err := Slow(t.Context(), doc, nil); return err }().(*Error); !ok || e.Line == 0 {
		t.Errorf("Slow(%q) returned no line: %v", doc, e)
	}
	for _, doc := range []string{"", "a: 1\n", "- yes\n"} {
		want, _ := yaml.YAMLToJSON([]byte(doc))
		if got, err := Slow(t.Context(), []byte(doc), nil); !bytes.Equal(got, want) || err != nil {
			t.Errorf("Slow(%q) = %s, %v, want %s", doc, got, err, want)
		}
	}
}
