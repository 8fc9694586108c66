package constraints

import (
	"slices"
	"testing"

	"github.com/blang/semver/v4"
)

// around returns, in order, the versions next to each version that the range names, and
// some others.
func around(r Range) []semver.Version {
	list := []semver.Version{{}, {Major: 1 << 62}}
	for _, pre := range []string{"0", "a", "rc.1", "next"} {
		list = append(list, semver.MustParse("1.0.0-"+pre), semver.MustParse("1.2.0-"+pre), semver.MustParse("2.0.0-"+pre))
	}
	for major := range uint64(4) {
		for minor := range uint64(4) {
			list = append(list, semver.Version{Major: major, Minor: minor}, semver.Version{Major: major, Minor: minor, Patch: 1})
		}
	}
	for _, b := range r.bounds() {
		next, before := b, b
		next.Patch++
		next.Pre, before.Pre = nil, append(slices.Clip(b.Pre), semver.PRVersion{VersionNum: 0, IsNum: true})
		list = append(list, b, next, before)
	}
	slices.SortFunc(list, semver.Version.Compare)
	return list
}

// checkSpans compares the spans of a range with what it contains (C2).
func checkSpans(t *testing.T, r Range, versions []semver.Version) {
	t.Helper()
	spans := r.Spans(versions)
	for i, v := range versions {
		in := slices.ContainsFunc(spans, func(s Span) bool { return s.From <= i && i < s.To })
		if in != r.Contains(v) {
			t.Fatalf("%q: spans %v hold %s at %d: %t", r, spans, v, i, in)
		}
	}
	for i, s := range spans {
		if s.From >= s.To || i > 0 && s.From <= spans[i-1].To {
			t.Fatalf("%q: spans %v", r, spans)
		}
	}
}

func TestRangeSpans(t *testing.T) {
	for _, text := range []string{
		"1.0.0", "!1.2.0", "!=1.2.0 <3.0.0", ">=1.0.0 <1.2.0", "<1.0.0 || >=2.0.0", "1.x", "1.2.x", ">1.x", "<=1.x", "!=1.2.x", "!1.x <3.0.0",
		">= 1.0.0", "<1.0.0 >2.0.0", ">=1.0.0-next <2.0.0-rc.1", "1.x.x", "<1.2.x || 2.x || 3.1.0", ">=1.0.0-a.x", "=1.0.0-next", ">1.0.0 !=1.2.0 !=1.2.1",
	} {
		r, err := ParseRange(text)
		if err != nil {
			t.Logf("%q: %v", text, err)
			continue
		}
		checkSpans(t, r, around(r))
		checkSpans(t, r, nil)
	}
	checkSpans(t, Range{}, around(Range{}))
}

// TestRangeCovers compares Covers with a search for a version that only the other range contains.
func TestRangeCovers(t *testing.T) {
	var ranges []Range
	for _, text := range []string{
		"1.0.0", ">=1.0.0", ">1.0.0", ">=1.0.0 <2.0.0", ">=1.0.0 <1.2.0", ">=1.0.0 <1.2.0 || 2.0.0", "1.x", "1.2.x", ">=1.0.0-rc.1", "<1.0.0 || >=2.0.0",
		"!=1.2.0", "!=1.2.0 <3.0.0", ">=0.0.0", ">=0.0.0-0", ">=1.0.0-next <2.0.0-rc.1", ">1.0.0 <1.0.1", "<0.0.0-0",
	} {
		r, err := ParseRange(text)
		if err != nil {
			t.Fatal(err)
		}
		ranges = append(ranges, r)
	}
	ranges = append(ranges, Range{})
	yes := 0
	for _, a := range ranges {
		for _, b := range ranges {
			want := true
			for _, v := range slices.Concat(around(a), around(b)) {
				want = want && (a.Contains(v) || !b.Contains(v))
			}
			if a.Covers(b) != want {
				t.Errorf("%q covers %q: got %t", a, b, !want)
			}
			if want {
				yes++
			}
		}
	}
	if yes == 0 || yes == len(ranges)*len(ranges) {
		t.Error(yes)
	}
}
