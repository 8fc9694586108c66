package olmv1_test

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// selectAnswer is a recorded answer of the running OLM v1.
type selectAnswer struct {
	OK         bool               `json:"ok"`
	Catalog    string             `json:"catalog"`
	Bundle     string             `json:"bundle"`
	Version    string             `json:"version"`
	Deprecated []olmv1.Deprecated `json:"deprecated"`
	AlsoSeen   json.RawMessage    `json:"alsoSeen"`
	Error      string             `json:"error"`
}

type selectCase struct {
	ID      string          `json:"id"`
	Request json.RawMessage `json:"request"`
	Want    selectAnswer    `json:"want"`
	WantB8  *selectAnswer   `json:"wantB8"`
	Note    string          `json:"note"`
}

func readLines[T any](t testing.TB, path string) []T {
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var out []T
	in := bufio.NewScanner(f)
	in.Buffer(nil, 64<<20)
	for in.Scan() {
		var x T
		if err := json.Unmarshal(in.Bytes(), &x); err != nil {
			t.Fatal(err)
		}
		out = append(out, x)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

// selectOf runs a recorded request, with its catalogs in reverse order if
// requested.
func selectOf(t testing.TB, c *selectCase, reverse bool, o olmv1.Options) (*olmv1.Selection, error) {
	for r, err := range document.Read[olmv1.Request](strings.NewReader(string(c.Request))) {
		if err != nil {
			t.Fatalf("%s: %v", c.ID, err)
		}
		if reverse {
			slices.Reverse(r.Catalogs)
		}
		r.Options = o
		if err := r.Open(context.Background(), nil); err != nil {
			return nil, err
		}
		return olmv1.Select(context.Background(), r)
	}
	t.Fatalf("%s: no request", c.ID)
	return nil, nil
}

// agrees reports whether an answer equals the recorded one.
func agrees(t *testing.T, c *selectCase, want *selectAnswer, sel *olmv1.Selection, err error, deprecated bool) bool {
	if !want.OK || err != nil {
		if want.OK == (err == nil) {
			return true
		}
		t.Errorf("%s: got %+v, %v\nwant %+v", c.ID, sel, err, *want)
		return false
	}
	got := selectAnswer{OK: true, Catalog: sel.Catalog, Bundle: sel.Bundle, Version: sel.Version}
	bundle := want.Bundle == got.Bundle || strings.Contains(string(want.AlsoSeen), `"`+got.Bundle+`"`)
	if !bundle || want.Catalog != got.Catalog || want.Version != got.Version && want.AlsoSeen == nil {
		t.Errorf("%s: got %s %s %s\nwant %s %s %s (%s)", c.ID, got.Catalog, got.Bundle, got.Version, want.Catalog, want.Bundle, want.Version, c.Note)
		return false
	}
	if !deprecated {
		return true
	}
	sorted := func(list []olmv1.Deprecated) []olmv1.Deprecated {
		return slices.SortedFunc(slices.Values(list), func(a, b olmv1.Deprecated) int {
			return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Message, b.Message))
		})
	}
	if !slices.Equal(sorted(sel.Deprecated), sorted(want.Deprecated)) {
		t.Errorf("%s: got deprecations %v\nwant %v", c.ID, sel.Deprecated, want.Deprecated)
		return false
	}
	return true
}

// TestSelectConformance compares answers with those of the running OLM v1
// (want). If the option of rule B8 changes the answer, that answer is recorded
// too (wantB8).
func TestSelectConformance(t *testing.T) {
	cases := readLines[selectCase](t, realcat.Shared(t, "conformance", "v1.jsonl"))
	agree, b8, agreeB8 := 0, 0, 0
	for i := range cases {
		c := &cases[i]
		sel, err := selectOf(t, c, false, olmv1.Options{})
		if agrees(t, c, &c.Want, sel, err, true) {
			agree++
		}
		checkFunnel(t, c.ID, sel, err)
		again, err2 := selectOf(t, c, true, olmv1.Options{})
		if a, b := answerText(sel, err), answerText(again, err2); a != b {
			t.Errorf("%s: the order of catalogs changes the answer:\n%s\n%s", c.ID, a, b)
		}
		if len(c.Request) > 0 {
			want := &c.Want
			if c.WantB8 != nil {
				want, b8 = c.WantB8, b8+1
			}
			sel, err := selectOf(t, c, false, olmv1.Options{OtherEdges: true})
			if agrees(t, c, want, sel, err, false) {
				agreeB8++
			}
		}
	}
	t.Logf("v1.jsonl: %d of %d answers agree (%.1f %%)", agree, len(cases), 100*float64(agree)/float64(len(cases)))
	t.Logf("with the edges of other channels: %d of %d answers agree (%.1f %%), of which %d differ from those without", agreeB8, len(cases), 100*float64(agreeB8)/float64(len(cases)), b8)
}

// answerText returns an answer as JSON.
func answerText(sel *olmv1.Selection, err error) string {
	var no *olmv1.Refusal
	var v any = sel
	if errors.As(err, &no) {
		v = no
	} else if err != nil {
		return "error"
	}
	b, _ := json.MarshalIndent(v, "", "  ")
	return string(b)
}

// checkFunnel checks that every bundle is accounted for once (G3).
func checkFunnel(t *testing.T, id string, sel *olmv1.Selection, err error) {
	var f olmv1.Funnel
	var no *olmv1.Refusal
	switch {
	case sel != nil:
		f = sel.Funnel
	case errors.As(err, &no):
		f = no.Funnel
	default:
		return // the request itself is invalid
	}
	if len(f.Stages) != 9 {
		t.Errorf("%s: %d stages: %v", id, len(f.Stages), f.Stages)
		return
	}
	total := 0
	for _, c := range f.Catalogs {
		total += c.Bundles
	}
	dropped := map[olmv1.Stage]int{}
	for _, d := range f.Dropped {
		dropped[d.Stage]++
		if d.Reason == "" {
			t.Errorf("%s: no reason for %v", id, d)
		}
	}
	for _, s := range f.Stages[1:] {
		total -= dropped[s.Stage]
		if s.Bundles != total {
			t.Errorf("%s: %d bundles survive stage %s, want %d", id, s.Bundles, s.Stage, total)
		}
	}
	if sel != nil && total != 1 {
		t.Errorf("%s: %d bundles are left", id, total)
	}
}

func TestVersionRangeConformance(t *testing.T) {
	type line struct {
		Syntax, Range, Version string
		Valid, Match           bool
	}
	lines := readLines[line](t, realcat.Shared(t, "conformance", "ranges.jsonl"))
	agree, n := 0, 0
	for _, l := range lines {
		if l.Syntax != "masterminds" {
			continue
		}
		n++
		r, err := olmv1.ParseVersionRange(l.Range)
		if (err == nil) != l.Valid {
			t.Errorf("%q: valid: %v, want %v (%v)", l.Range, err == nil, l.Valid, err)
			continue
		}
		if err == nil && r.Contains(semver.MustParse(l.Version)) != l.Match {
			t.Errorf("%q contains %s: %v, want %v", l.Range, l.Version, !l.Match, l.Match)
			continue
		}
		agree++
	}
	t.Logf("ranges.jsonl, masterminds: %d of %d answers agree (%.1f %%)", agree, n, 100*float64(agree)/float64(n))
}
