package decode

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestSplit checks that files are split into the same documents (A3) with any
// buffer size and any reader. Each expected document is written as
// "offset+length line: text".
func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string
	}{
		{"nothing", "", nil},
		{"blank", " \n\t\r\n\n", nil},
		{"separators", "---\n--- \n...\n---", nil},
		{"comments", "# a\n  # b\n---\n# c", nil},
		{"one-json", `{"a":1}`, []string{`0+7 1: {"a":1}`}},
		{"json-stream", "{}{\"a\":{}}\n\n {\"b\":\n[]}", []string{`0+2 1: {}`, `2+8 1: {"a":{}}`, "13+9 3: {\"b\":\n[]}"}},
		{"json-braces-in-strings", `{"a":"}{\"}\\"}{"b":"\\\""}`, []string{`0+15 1: {"a":"}{\"}\\"}`, `15+12 1: {"b":"\\\""}`}},
		{"one-yaml", "a: 1\nb: 2\n", []string{"0+10 1: a: 1\nb: 2\n"}},
		{"yaml-stream", "---\na: 1\n---\nb: 2", []string{"4+5 2: a: 1\n", "13+4 4: b: 2"}},
		{"yaml-dashes-only-at-the-line's-begin", "a: ---\n ---\n----\n---x\n---\nb: 2\n", []string{"0+22 1: a: ---\n ---\n----\n---x\n", "26+5 6: b: 2\n"}},
		{"end-marker", "a: 1\n...\n# c\n---\nb: 2\n...\n", []string{"0+5 1: a: 1\n", "17+5 5: b: 2\n"}},
		{"indented-yaml", "---\n  a: 1\n  b: 2\n", []string{"4+14 2:   a: 1\n  b: 2\n"}},
		{"sequence", "- a\n- b\n", []string{"0+8 1: - a\n- b\n"}},
		{"json-after-yaml", "a: 1\n---\n{\"b\":2}\nc: 3\n", []string{"0+5 1: a: 1\n", `9+7 3: {"b":2}`, "17+5 4: c: 3\n"}},
		{"yaml-after-json", "{\"b\":2}\n---\na: 1\n", []string{`0+7 1: {"b":2}`, "12+5 3: a: 1\n"}},
		{"BOM", BOM + "{}" + BOM + "\n" + BOM + "---\na: 1\n" + BOM + "b: 2", []string{"3+2 1: {}", "16+5 3: a: 1\n", "24+4 4: b: 2"}},
		{"crlf", "---\r\na: 1\r\n---\r\n{}\r\n", []string{"5+6 2: a: 1\r\n", "16+2 4: {}"}},
		{"document-on-the-separator's-line", "--- {\"a\":1}\n--- b\n", []string{`4+7 1: {"a":1}`, "15+3 2:  b\n"}},
		{"flow-yaml", "{a: 'x}', b: \"}\", # }\n c: it's}\n{}", []string{"0+31 1: {a: 'x}', b: \"}\", # }\n c: it's}", "32+2 3: {}"}},
		{"unclosed-json", "{\"a\":1\n---\nb: 2\n", []string{"0+7 1: {\"a\":1\n", "11+5 3: b: 2\n"}},
		{"unclosed-string", "{\"a\n---\n{}", []string{"0+4 1: {\"a\n", "8+2 3: {}"}},
		{"unclosed-single-quote", "{'a\n---\n{}", []string{"0+4 1: {'a\n", "8+2 3: {}"}},
		{"ends-in-a-string", `{"a`, []string{`0+3 1: {"a`}},
		{"closed-too-often", "}}\n---\n{}", []string{"0+3 1: }}\n", "7+2 3: {}"}},
		{"directive", "%YAML 1.1\n---\na: 1\n---\nb: 2\n", []string{"0+19 1: %YAML 1.1\n---\na: 1\n", "23+5 5: b: 2\n"}},
		{"directive-only", "%YAML 1.1\n", []string{"0+10 1: %YAML 1.1\n"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			want := strings.Join(c.want, "\n")
			for _, chunk := range []int{1, 2, 3, 4, 5, 7, 11, 64, BatchSize} {
				for name, r := range map[string]io.Reader{
					"whole":  strings.NewReader(c.text),
					"bytes":  iotest.OneByteReader(strings.NewReader(c.text)),
					"halves": iotest.HalfReader(strings.NewReader(c.text)),
					"eof":    iotest.DataErrReader(strings.NewReader(c.text)),
				} {
					if got := split(t, r, chunk); got != want {
						t.Fatalf("buffers of %d, %s: got\n%s\nwant\n%s", chunk, name, got, want)
					}
				}
			}
		})
	}
}

// TestSplitGuess checks where a splitter guesses that documents are, and that the reader
// detects each wrong guess.
func TestSplitGuess(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  []string
		wrong int // the first wrong guess, or -1
	}{
		{"{}\n{\"a\":\n {}\n}\r\n\n{}", []string{"0+2 1: {}", "3+11 2: {\"a\":\n {}\n}", "17+2 6: {}"}, -1},
		{"---\n# c\n{}\n", []string{"8+2 3: {}"}, -1},
		{"a: 1\n---\n{}\n{}", []string{"0+5 1: a: 1\n", "9+2 3: {}", "12+2 4: {}"}, -1},
		{"{}{}\n{}", []string{"0+4 1: {}{}", "5+2 2: {}"}, 0},
		{"{}\n{\"a\":\n{}}", []string{"0+2 1: {}", "3+5 2: {\"a\":", "9+3 3: {}}"}, 1},
		{"{}\n{a: 1}\n", []string{"0+2 1: {}", "3+6 2: {a: 1}"}, 1},
	} {
		for _, chunk := range []int{1, 3, 8, BatchSize} {
			limits := Limits{FileSize: 1 << 20, DocumentSize: 1 << 20, Depth: 100, Expansion: 1 << 20}
			s, d := NewSplitter(t.Context(), limits, chunk), NewReader(limits, false)
			s.Begin(strings.NewReader(c.text), true)
			var got []string
			wrong := -1
			for {
				var b Batch
				err := s.Next(&b)
				if err == io.EOF {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				for _, doc := range b.Docs {
					if d.Read(t.Context(), doc); d.Wrong() && wrong < 0 {
						wrong = len(got)
					}
					got = append(got, fmt.Sprintf("%d+%d %d: %s", doc.Offset, len(doc.Text), doc.Line, doc.Text))
				}
			}
			if strings.Join(got, "\n") != strings.Join(c.want, "\n") || wrong != c.wrong {
				t.Errorf("%q, buffers of %d: %q, wrong from %d; want %q, %d", c.text, chunk, got, wrong, c.want, c.wrong)
			}
		}
	}
}

// split returns the documents in the notation of TestSplit.
func split(t *testing.T, r io.Reader, chunk int) string {
	t.Helper()
	s := NewSplitter(t.Context(), Limits{FileSize: 1 << 20, DocumentSize: 1 << 20}, chunk)
	s.Begin(r, false)
	var out []string
	for {
		var b Batch
		err := s.Next(&b)
		if err == io.EOF {
			return strings.Join(out, "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range b.Docs {
			out = append(out, fmt.Sprintf("%d+%d %d: %s", d.Offset, len(d.Text), d.Line, d.Text))
		}
	}
}
