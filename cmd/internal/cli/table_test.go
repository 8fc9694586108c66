package cli

import (
	"strings"
	"testing"
)

// TestTable prints a table for a terminal that is wide, too narrow, and far too narrow. The widest column is truncated
// first, and no column becomes narrower than minColumn.
func TestTable(t *testing.T) {
	tab := table{header: []string{"NAME", "LIST", "END"}}
	tab.add("a", strings.Repeat("x", 30), "")
	tab.add("longer-name\x1b[31m\n", "é", "z")
	for _, tt := range []struct {
		limit int
		want  string
	}{
		{0, "a                      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  -"},
		{80, "a                      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  -"},
		{40, "a                 xxxxxxxx…xxxxxxxx  -"},
		{10, "a             xxxxx…xxxxxx  -"},
	} {
		if got := line(tab.rows[0], tab.widths(tt.limit)); got != tt.want {
			t.Errorf("in %d columns: %q, want %q", tt.limit, got, tt.want)
		}
	}
	if got := cut("etcdoperator.v0.9.4", 12); got != "etcdo…v0.9.4" {
		t.Errorf("cut in the middle: %q", got)
	}
	if got := cut("required by etcdoperator.v0.9.4", 14); got != "required by e…" {
		t.Errorf("a sentence is cut: %q", got)
	}
	var b strings.Builder
	if err := tab.text(&b); err != nil {
		t.Fatal(err)
	}
	want := "NAME                   LIST                            END\n" +
		"a                      xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  -\n" +
		"longer-name\\u001b[31m  é                               z\n"
	if b.String() != want {
		t.Errorf("got\n%q, want\n%q", b.String(), want)
	}
}

// FuzzParseSource checks that any input is parsed without a panic, and that a result has a path.
func FuzzParseSource(f *testing.F) {
	for _, text := range []string{"a=b", "./a", "a=b,priority=1,namespace=n,label=k=v", "=", "a,priority=1", ",", "a=,label=x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseSource(text, "olm"); err == nil && (s.path == "" || s.namespace == "") {
			t.Errorf("%q is read as %+v", text, s)
		}
	})
}
