package visible_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/visible"
)

func TestLine(t *testing.T) {
	for in, want := range map[string]string{
		"":                      "",
		"étcd ✓ 日本 👍️":          "étcd ✓ 日本 👍️",
		"a\nb\r\tc":             `a\nb\r\tc`,
		"\x1b[31mred\x07\x7f":   `\u001b[31mred\u0007\u007f`,
		"a\u202eb\u2066c\u200b": `a\u202eb\u2066c\u200b`,
		"\u0085\u2028\u2029":    `\u0085\u2028\u2029`,
		"\ufeff\u00ad\u00a0":    `\ufeff\u00ad\u00a0`,
		"\u3164\U000e0041":      `\u3164\udb40\udc41`,
		"a\xffb\xc3":            `a\xffb\xc3`,
		"\ufffd":                "\ufffd",
	} {
		if got := visible.Line(in); got != want {
			t.Errorf("Line(%q) = %s, want %s", in, got, want)
		}
	}
	if got := visible.Lines("a\tb\n\u202ec\n"); got != "a\\tb\n\\u202ec\n" {
		t.Errorf("Lines: %q", got)
	}
	if got := visible.Words(" a\n\tb\u2028c\x1b "); got != `a b c\u001b` {
		t.Errorf("Words: %s", got)
	}
}

// FuzzWriter checks that hidden characters never pass through, however the input is split into writes, that lines stay
// lines, and that JSON keeps its meaning (S8).
func FuzzWriter(f *testing.F) {
	f.Add("a\x1b[31mb\n\u202e\xe2\x80", 3)
	f.Add("\U000e0041\x1b[1m\x1b[9m\xff\n\n", 1)
	f.Fuzz(func(t *testing.T, s string, piece int) {
		if piece < 1 {
			return
		}
		keep := []string{"\x1b[1m", "\x1b[0m"}
		write := func(s string, keep []string) string {
			var b bytes.Buffer
			w := visible.NewWriter(&b, func() []string { return keep })
			for rest := []byte(s); len(rest) > 0; {
				n := min(piece, len(rest))
				if _, err := w.Write(rest[:n]); err != nil {
					t.Fatal(err)
				}
				rest = rest[n:]
			}
			if err := w.Flush(); err != nil {
				t.Fatal(err)
			}
			return b.String()
		}
		got := write(s, nil)
		for _, r := range got {
			if r != '\n' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				t.Errorf("%q lets %q through: %q", s, r, got)
			}
		}
		if want := visible.Lines(s); got != want {
			t.Errorf("%q is written as %q, want %q", s, got, want)
		}
		colored := write(s, keep)
		for _, k := range keep {
			if strings.Count(colored, k) != strings.Count(s, k) {
				t.Errorf("%q is written as %q with %q kept", s, colored, k)
			}
		}
		if !utf8.ValidString(s) {
			return
		}
		text, err := json.Marshal(s)
		if err != nil {
			t.Fatal(err)
		}
		var back string
		if err := json.Unmarshal([]byte(write(string(text), nil)), &back); err != nil || back != s {
			t.Errorf("%s comes back as %q, %v", text, back, err)
		}
	})
}

// TestDistinct checks that escaping does not make two different texts equal (S8).
func TestDistinct(t *testing.T) {
	parts := []string{"a", "u202e", "n", "\u202e", "\\", "\n", "\r", "x", "xff", "\xff", "\u200b", "q"}
	seen := map[string]string{}
	var try func(s string, left int)
	try = func(s string, left int) {
		got := visible.Distinct(s)
		if first, ok := seen[got]; ok && first != s {
			t.Fatalf("%q and %q are both %s", first, s, got)
		}
		seen[got] = s
		for _, p := range parts {
			if left > 0 {
				try(s+p, left-1)
			}
		}
	}
	try("", 4)
	if got := visible.Distinct(`C:\dir \d+` + "\n" + `a\u202e`); got != `C:\dir \d+`+"\n"+`a\\u202e` {
		t.Errorf("got %s", got)
	}
}
