package yamljson

import (
	"errors"
	"strings"
	"testing"

	yamlv3 "go.yaml.in/yaml/v3"
)

// TestNodesInText checks that lines of literal and folded text are not counted as nodes, unless it is uncertain that
// they belong to such text (S1).
func TestNodesInText(t *testing.T) {
	many := strings.Repeat("- [a: {b, c: ? -, d}]\n", 1000)
	under := func(indent string) string { return strings.ReplaceAll(indent+many, "\n-", "\n"+indent+"-") }
	for _, tt := range []struct {
		doc string
		few bool
	}{
		{"a: &x |\n" + under("  ") + "b: *x\n", true},
		{"a: |\r\n" + strings.ReplaceAll(under("  "), "\n", "\r\n") + "b: !!str x\r\n", true},
		{"kind: ConfigMap\nmetadata: {labels: {a: \"b\"}, annotations: {}}\ndata:\n  x: >-\n" + under("    ") + "  1: \"it's\"\n  y: |+2 # c\n" + under("    ") + "on: &a x\n", true},
		{"- |\n" + under(" ") + "- - k: |\n" + under("      ") + "- ? |\n" + under("   ") + "  : 'a\n\n  b'\n", true},
		{"a:\n  |\n" + under("    "), true},
		{"---\na: |\n\n\n" + under(" ") + "...\n", true},
		{"a: |\n     \n" + under("  "), false},                // the blank line has more spaces
		{"a: |3\n" + under("  "), false},                      // fewer spaces than stated
		{"a: \"\n b: |\n  \"\nc: |\n" + many, false},          // text in quotes, and an empty text
		{"a: [\"\n b: |\n   \", " + under("  ") + "]", false}, // the same in a list
		{"a: [x,\n b: |\n" + under("  ") + "]", false},
		{"a: {b: it's, c: d}\nb: |\n" + under(" "), false}, // a quote that may begin a scalar
		{"a: # |\n" + under("  "), false},
		{"# a: |\n" + under("  "), false},
		{"a: x |\n" + under("  "), false},
		{"a: |\n b\r" + under("  "), false},
		{"a: |\n b\u2028" + under("  "), false},
		{"\ufeff  a: |\n" + under(" "), false},
		{"%YAML 1.1\n--- |\n" + under("  "), false},
	} {
		all, text := nodeBytes([]byte(tt.doc)), literalBytes([]byte(tt.doc))
		if few := all-text < 100; few != tt.few {
			t.Errorf("%d of %d bytes are in text; want few: %t, in %.60q", text, all, tt.few, tt.doc)
		}
	}
}

// TestLimitsByName checks that each exceeded limit has its own error (S1).
func TestLimitsByName(t *testing.T) {
	script := strings.Repeat("    for i in a, b; do [ -n $i ] && echo \"{i: $i}\"; done\n", 300_000)
	for _, tt := range []struct {
		name, doc string
		want      Limit
	}{
		{"a script", "kind: ConfigMap\ndata:\n  x: &x |\n" + script + "  y: *x\n", ""},
		{"nodes", "a: [" + strings.Repeat("a,", DefaultNodes) + "]\n", Nodes},
		{"aliases", "a: &a " + strings.Repeat("x", 1<<16) + "\nb: [" + strings.Repeat("*a, ", 1<<12) + "]\n", Expansion},
		{"flow", "a: " + strings.Repeat("[", 20_000), Depth},
		{"lists", strings.Repeat("- ", 20_000), Depth},
		{"deep", "x: &x 1\ny: *x\na: " + strings.Repeat("[", 20_000), Depth},
	} {
		_, err := Slow(t.Context(), []byte(tt.doc), nil)
		var limit *LimitError
		if errors.As(err, &limit); tt.want == "" && err != nil || tt.want != "" && (limit == nil || limit.Kind != tt.want) {
			t.Errorf("%s: %v; want the limit %q", tt.name, err, tt.want)
		}
	}
}

// FuzzLiterals checks that text treated as literal really is: replacing it does not change the other nodes.
func FuzzLiterals(f *testing.F) {
	for _, doc := range []string{
		"a: |\n  b: [c, d]\ne: f\n", "- - a: >-\n\n     x\n    - y\n", "a: \"\n b: |\n  \"\nc: [\n d: |\n  x, y]\n",
		"? |2\n   - a\n: - |\n  - b\n", "a: &x !y |\n - c\n...\n--- \nb: {c: 'd\n\n e', f: g}\n", "a:\n  |\n   - b\nc: *d\n",
		"a: b\n  - |\n   - c # d\n   [e, f]\n", "a: {b: |\n  c, d: e}\n", "\ufeff a: |\n  - b\n - c\n", "a: |\r\n  - b\r\n - c\r",
	} {
		f.Add(doc)
	}
	f.Fuzz(func(t *testing.T, doc string) {
		root, err := tree(t.Context(), []byte(doc))
		if err != nil {
			return
		}
		text := []byte(strings.ReplaceAll(doc, "\r\n", "\n"))
		literals(text, func(line []byte) {
			for i, c := range line {
				if nodeBytes(line[i:i+1]) > 0 || c == '"' || c == '#' || c == ']' || c == '}' {
					line[i] = 'x'
				}
			}
		})
		masked, err := tree(t.Context(), text)
		if err != nil || shape(root) != shape(masked) {
			t.Errorf("%q has the shape %s; %q has another, or the error %v", doc, shape(root), text, err)
		}
	})
}

// shape returns the kinds of the nodes of a tree.
func shape(n *yamlv3.Node) string {
	s := string(rune('A' + n.Kind))
	for _, x := range n.Content {
		s += shape(x)
	}
	return s + "."
}
