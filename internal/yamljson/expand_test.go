package yamljson

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
)

// Documents with aliases, and the number of bytes that these add.
var repeating = []struct {
	doc   string
	added int64
}{
	{"a: &x text\nb: *x\n", 8},
	{"a: &x text\nb: [*x, *x, *x]\n", 24},
	{"a: &x \"li\\nne\"\nb: *x\n", 10},
	{"a: &x [1, 2]\nb: *x\n", 14},
	{"a: &x [p, q]\nb: &y [*x, *x]\nc: [*y, *y]\n", 28 + 2*(4+2*18)},
	{"a: &x {k: v}\nb:\n  <<: *x\n  c: d\n", 14},
	{"a: &x {k: v}\nb:\n  <<: [*x, *x]\n", 28},
	{"? &x key\n: *x\n", 7},
	{"a: &x 1\nb: {*x : c}\n", 5},
	{"a: &x !!binary aGVsbG8=\nb: *x\n", 12},
	{"a: &x 1\nb: *x\nc: &x 22\nd: *x\n", 11},
	{"a: \"&x\"\nb: '*x'\n", 0},
	{"a: R&D **bold**\r\n", 0},
	{"a: &x null\nb: *x\n", 8},
	{"a: &x\nb: *x\n", 4},
}

// Aliases are counted before they are expanded. They may add exactly as much as the limit allows (S1).
func TestExpansion(t *testing.T) {
	for _, c := range repeating {
		checkSlow(t, []byte(c.doc))
		room := c.added
		out, err := Slow(t.Context(), []byte(c.doc), &Options{Expansion: &room})
		if err != nil || room != 0 {
			t.Errorf("Slow(%q) with a limit of %d bytes = %s, %v; leaves %d", c.doc, c.added, out, err, room)
		}
		if c.added == 0 {
			continue
		}
		var limit *LimitError
		room = c.added - 1
		if out, err = Slow(t.Context(), []byte(c.doc), &Options{Expansion: &room}); !errors.As(err, &limit) || limit.Max != c.added-1 || room != c.added-1 {
			t.Errorf("Slow(%q) with a limit of %d bytes = %s, %v; leaves %d", c.doc, c.added-1, out, err, room)
		}
	}
}

// Several documents may share a limit.
func TestExpansionShared(t *testing.T) {
	doc := []byte("a: &x text\nb: *x\n")
	room := int64(20)
	for n := range 3 {
		_, err := Slow(t.Context(), doc, &Options{Expansion: &room})
		if (err != nil) != (n == 2) {
			t.Errorf("document %d: %v", n, err)
		}
	}
}

// bombs are short documents that expand to large ones.
func bombs() map[string]string {
	long := strings.Repeat("A", 10_000)
	many := func(s string, n int) string { return strings.Repeat(s, n) }
	var nested, merged strings.Builder
	nested.WriteString("l0: &l0 [x]\n")
	merged.WriteString("l0: &l0 {k: x}\n")
	for i := range 60 {
		fmt.Fprintf(&nested, "l%d: &l%d [*l%d, *l%d]\n", i+1, i+1, i, i)
		fmt.Fprintf(&merged, "l%d: &l%d {a: *l%d, b: *l%d, <<: [*l%d, *l%d]}\n", i+1, i+1, i, i, i, i)
	}
	return map[string]string{
		"a long text":         "x: &a \"" + long + "\"\ny: [" + many("*a,", 50_000) + "]\n",
		"a long plain text":   "x: &a 1" + long + "\ny: [" + many("*a,", 50_000) + "]\n",
		"a text with escapes": "x: &a \"" + many(`\0`, 5000) + "\"\ny: [" + many("*a,", 50_000) + "]\n",
		"a long key":          "x: &a " + long + "\ny: [" + many("{*a : 1},", 50_000) + "]\n",
		"binary data":         "x: &a !!binary " + many("QUFB", 2500) + "\ny: [" + many("*a,", 50_000) + "]\n",
		"a list of texts":     "x: &a [" + many("abcdefgh,", 10_000) + "]\ny: [" + many("*a,", 5_000) + "]\n",
		"repeated keys":       "x: &a \"" + long + "\"\n" + many("*a : 1\n", 50_000),
		"nested lists":        nested.String(),
		"merged keys":         merged.String(),
	}
}

// A document that is refused for its size is not built first: refusing it takes little memory (S1).
func TestExpansionMemory(t *testing.T) {
	for name, doc := range bombs() {
		t.Run(name, func(t *testing.T) {
			n := allocated(func() {
				var limit *LimitError
				if out, err := Slow(t.Context(), []byte(doc), nil); !errors.As(err, &limit) {
					t.Errorf("got %d bytes, %v", len(out), err)
				}
			})
			if most := int64(DefaultExpansion); n > most {
				t.Errorf("allocates %d bytes, want at most %d", n, most)
			}
		})
	}
}

// tagBomb is a document with a tag directive that would be copied for each node.
func tagBomb() string {
	return "%TAG !e! tag:" + strings.Repeat("z", 200_000) + "\n---\na: [" + strings.Repeat("!e!x y,", 30_000) + "]\n"
}

// Tag directives are refused before parsing, wherever a parser would accept one, and without allocating (S1).
func TestTagDirective(t *testing.T) {
	bomb := tagBomb()
	for _, tt := range []struct {
		doc  string
		line int // the line at which it is refused, or 0
	}{
		{bomb, 1},
		{"\ufeff" + bomb, 1},
		{"# c\n" + bomb, 2},
		{"%YAML 1.1\r\n" + bomb, 2},
		{"# c\r" + bomb, 1},
		{"# c\u0085" + bomb, 1},
		{"# c\u2028" + bomb, 1},
		{"a: 1\n...\n" + bomb, 3},
		{"a: \"%TAG !e! tag:x\"\n", 0},
		{"a: |\n  %TAG !e! tag:x\n", 0},
		{"%YAML 1.1\n---\na: 1\n", 0},
	} {
		for name, read := range map[string]func() error{
			"Slow": func() error { _, err := Slow(t.Context(), []byte(tt.doc), nil); return err },
			"Tree": func() error { _, err := Tree(t.Context(), []byte(tt.doc)); return err },
			"JSON": func() error { _, err := JSON(t.Context(), []byte(tt.doc), nil); return err },
		} {
			n := allocated(func() {
				var e *Error
				err := read()
				if refused := errors.As(err, &e) && e.Line == tt.line && errors.Is(err, errTag); refused != (tt.line > 0) || !refused && err != nil {
					t.Errorf("%s of %.40q: %v, want an error on line %d", name, tt.doc, err, tt.line)
				}
			})
			if n > 1<<20 && !testsize.Race { // the race detector allocates memory, too
				t.Errorf("%s of %.40q allocates %d bytes", name, tt.doc, n)
			}
		}
	}
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if _, err := Slow(t.Context(), []byte(mark+"%\x00T\x00A\x00G\x00"), nil); !errors.Is(err, errUTF16) {
			t.Errorf("UTF-16: %v", err)
		}
	}
}

// A document that would become a tree much larger than itself is refused, too (S1).
func TestManyNodes(t *testing.T) {
	for name, unit := range map[string]string{"flow": "a,", "lists": "[],", "maps": "{},", "pairs": "a: b,"} {
		doc := []byte("a: [" + strings.Repeat(unit, 8<<20/len(unit)) + "]\n")
		n := allocated(func() {
			var limit *LimitError
			if _, err := Slow(t.Context(), doc, nil); !errors.As(err, &limit) {
				t.Errorf("%s: %v", name, err)
			}
			if _, err := Tree(t.Context(), doc); !errors.As(err, &limit) {
				t.Errorf("%s as a tree: %v", name, err)
			}
		})
		if n > 1<<20 {
			t.Errorf("%s: allocates %d bytes", name, n)
		}
	}
	// A text of the same length has few nodes.
	doc := []byte("a: |\n" + strings.Repeat(" some words, as people write them.\r\n", 8<<20/35))
	if _, err := Slow(t.Context(), doc, nil); err != nil {
		t.Errorf("a long text: %v", err)
	}
}

func allocated(do func()) int64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	do()
	runtime.ReadMemStats(&after)
	return int64(after.TotalAlloc - before.TotalAlloc)
}

// A lateContext ends after its Err method has been called n times.
type lateContext struct {
	context.Context
	n int
}

var errLate = errors.New("too late")

func (c *lateContext) Err() error {
	if c.n--; c.n < 0 {
		return context.Canceled
	}
	return nil
}

// Parsing stops in the middle of a document when its context ends (S1, D18).
func TestSlowContext(t *testing.T) {
	doc := []byte("x: &a 1\nl:\n" + strings.Repeat("- - a\r\n", 1<<16) + "y: *a\n")
	for _, n := range []int{0, 1, 10} {
		late := &lateContext{Context: t.Context(), n: n}
		allocs := allocated(func() {
			if _, err := Slow(late, doc, nil); err == nil || errors.As(err, new(*Error)) {
				t.Errorf("after %d looks: %v", n, err)
			}
		})
		if allocs > int64(len(doc)) {
			t.Errorf("canceled after %d checks: allocated %d bytes", n, allocs)
		}
	}
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(errLate)
	if _, err := Slow(ended, doc, nil); err != errLate {
		t.Errorf("got %v, want the cause", err)
	}
	if _, err := Tree(ended, doc); err != errLate {
		t.Errorf("as a tree: got %v, want the cause", err)
	}
}

func TestStream(t *testing.T) {
	for _, c := range []struct {
		text string
		want []string
	}{
		{"", nil},
		{"# nothing\n", nil},
		{"---\n", nil},
		{"a: 1", []string{"a: 1"}},
		{"a: 1\n---\nb: 2\n", []string{"a: 1\n", "b: 2\n"}},
		{"# c\n---\na: 1\n---\n", []string{"a: 1\n"}},
		{"a: 1\n---\n---\nb: 2\n", []string{"a: 1\n", "", "b: 2\n"}},
		{"a: 1\r\n--- # c\r\nb: 2\r\n...\r\nc: 3\r\n", []string{"a: 1\r\n", "b: 2\r\n", "c: 3\r\n"}},
		{"a: 1\n--- {b: 2}\n---\tc\n", []string{"a: 1\n", "--- {b: 2}\n", "---\tc\n"}},
		{"---a: 1\n....: 2\n -- -\n", []string{"---a: 1\n....: 2\n -- -\n"}},
		{"%YAML 1.1\n# c\n---\na: 1\n", []string{"%YAML 1.1\n# c\n---\na: 1\n"}},
		{"a: " + strings.Repeat("x", 9000) + "\n---\nb", []string{"a: " + strings.Repeat("x", 9000) + "\n", "b"}},
	} {
		s := NewStream(t.Context(), strings.NewReader(c.text), 10_000)
		var got []string
		doc, err := s.Next()
		for ; err == nil; doc, err = s.Next() {
			got = append(got, string(doc))
		}
		if err != io.EOF || fmt.Sprintf("%q", got) != fmt.Sprintf("%q", c.want) {
			t.Errorf("of %q: %q, %v; want %q", c.text, got, err, c.want)
		}
	}
}

// A stream does not retain a document that is too long, and ends with its context.
func TestStreamEnds(t *testing.T) {
	s := NewStream(t.Context(), io.MultiReader(strings.NewReader("a: 1\n---\n"), endless{}), 1<<20)
	if _, err := s.Next(); err != nil {
		t.Error(err)
	}
	for range 2 {
		var long *SizeError
		if _, err := s.Next(); !errors.As(err, &long) || long.Max != 1<<20 {
			t.Errorf("got %v", err)
		}
	}
	s = NewStream(&lateContext{Context: t.Context(), n: 10}, endless{}, 1<<40)
	if _, err := s.Next(); err == nil || err == io.EOF {
		t.Errorf("after the end of the context: %v", err)
	}
}

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	return len(p), nil
}

// FuzzStream checks that a stream loses no lines: its documents contain all lines of the
// text except separators.
func FuzzStream(f *testing.F) {
	for _, text := range []string{"", "a: 1\n---\nb: 2\n", "%YAML 1.1\n---\na\n...\n--- b\n", "# c\n---\n---\n"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s := NewStream(t.Context(), bytes.NewReader(text), 1<<20)
		var kept []string
		doc, err := s.Next()
		for ; err == nil; doc, err = s.Next() {
			for line := range bytes.Lines(doc) {
				kept = append(kept, string(line))
			}
		}
		if err != io.EOF {
			t.Fatal(err)
		}
		for line := range bytes.Lines(text) {
			if len(kept) > 0 && kept[0] == string(line) {
				kept = kept[1:]
			} else if !separates(line) && !nothing(line) {
				t.Fatalf("stream %q: line %q is lost", text, line)
			}
		}
		if len(kept) > 0 {
			t.Fatalf("%q are not lines of %q", kept, text)
		}
	})
}

// Text that follows a document is never silently dropped (S1).
func TestMore(t *testing.T) {
	for doc, want := range map[string]string{
		"{\"a\":1}\n{\"b\":2}\n":        `{"a":1}{"b":2}`,
		"{\"a\":1}{\"b\":2}[3]":         `{"a":1}{"b":2}[3]`,
		"{\"a\":1}":                     `{"a":1}`,
		"{a: 1}\n{b: 2}\n":              "",
		"{\"a\":1},,x":                  "",
		"{\"a\":1}\n{\"b\":":            "",
		"{\"a\":1} 2":                   "",
		"  a: 1\nb: 2\n":                "",
		"a: &x 1\n...\nb: *x\n":         "",
		"a: &x 1\n---\nb: 2\n":          "",
		"a: &x 1\n---\n# c\n---\n...\n": `{"a":1}`,
		"":                              "null",
	} {
		values, err := Values(t.Context(), []byte(doc), nil)
		if got := string(bytes.Join(values, nil)); got != want || (err == nil) != (want != "") || err != nil && !errors.Is(err, ErrMore) {
			t.Errorf("of %q: %s, %v; want %s", doc, got, err, want)
		}
	}
}
