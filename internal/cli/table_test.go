package cli

import (
	"strings"
	"testing"
)

// TestTable lays a table out for a terminal that is wide, too narrow, and far too
// narrow: the widest column is cut first, and none below minColumn.
func TestTable(t *testing.T) {
	tab := table{header: []string{"NAME", "LIST", "END"}}
	tab.add("a", strings.Repeat("x", 30), "")
	tab.add("longer-name\x1b[31m\n", "é", "z")
	for _, tt := range []struct {
		limit int
		want  string
	}{
		{0, "a                  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  -"},
		{80, "a                  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  -"},
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
	var b strings.Builder
	if err := tab.text(&b); err != nil {
		t.Fatal(err)
	}
	want := "NAME               LIST                            END\n" +
		"a                  xxxxxxxxxxxxxxxxxxxxxxxxxxxxxx  -\n" +
		"longer-name\uFFFD[31m   é                               z\n"
	if b.String() != want {
		t.Errorf("got\n%q, want\n%q", b.String(), want)
	}
}

// TestParseSelector reads what kubectl reads.
func TestParseSelector(t *testing.T) {
	labels := map[string]string{"env": "prod", "tier": "gold"}
	for _, tt := range []struct {
		text string
		want bool
	}{
		{"", true}, {"env=prod", true}, {"env==prod", true}, {"env=test", false}, {"env != test", true},
		{"env,tier", true}, {"!env", false}, {"!other", true}, {"other", false},
		{"env in (prod, test),tier notin (silver)", true}, {"env in (test)", false}, {"other notin (x)", true},
	} {
		s, err := parseSelector(tt.text)
		if err != nil {
			t.Errorf("%q: %v", tt.text, err)
		} else if got := s.Matches(labels); got != tt.want {
			t.Errorf("%q matches: %v, want %v", tt.text, got, tt.want)
		}
	}
	for _, text := range []string{"env prod", "=prod", "env in prod", "env in (a", "a=b=c", ",", "env in ()x"} {
		if s, err := parseSelector(text); err == nil {
			t.Errorf("%q is read as %+v", text, s)
		}
	}
}

// FuzzParseSelector reads anything without harm; what it reads can be evaluated.
func FuzzParseSelector(f *testing.F) {
	for _, text := range []string{"", "env=prod", "env in (a, b),!c", "a notin ()", "a=b=c", "((", ",,"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := parseSelector(text)
		if err == nil && s != nil {
			if err := s.Validate(); err != nil {
				t.Errorf("%q is read as %+v: %v", text, s, err)
			}
			s.Matches(map[string]string{"env": "prod"})
		}
	})
}

// FuzzParseSource reads anything without harm; what it reads has a path.
func FuzzParseSource(f *testing.F) {
	for _, text := range []string{"a=b", "./a", "a=b,priority=1,namespace=n,label=k=v", "=", "a,priority=1", ",", "a=,label=x"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if s, err := parseSource(text); err == nil && (s.path == "" || s.namespace == "") {
			t.Errorf("%q is read as %+v", text, s)
		}
	})
}
