package constraints

import (
	"cmp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"unicode"

	"github.com/blang/semver/v4"
)

// A Span is a part of a list: the elements from From up to but not including
// To.
type Span struct{ From, To int }

// Spans returns the parts of versions that the range contains. The versions
// must be in ascending order. It takes time logarithmic in their number,
// because membership changes only at the versions that the range names.
func (r Range) Spans(versions []semver.Version) []Span {
	cuts := []int{0, len(versions)}
	for _, b := range r.bounds() {
		cuts = append(cuts,
			sort.Search(len(versions), func(i int) bool { return versions[i].GE(b) }),
			sort.Search(len(versions), func(i int) bool { return versions[i].GT(b) }))
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var out []Span
	for i, to := range cuts[1:] {
		from := cuts[i]
		switch n := len(out); {
		case !r.Contains(versions[from]):
		case n > 0 && out[n-1].To == from:
			out[n-1].To = to
		default:
			out = append(out, Span{from, to})
		}
	}
	return out
}

// Common returns a version that all ranges contain: the lowest release that a range
// names or that follows one, or else a pre-release. It reports false if there is none.
func Common(ranges ...Range) (semver.Version, bool) {
	list := probes(ranges)
	slices.SortFunc(list, func(a, b semver.Version) int {
		return cmp.Or(cmp.Compare(min(len(a.Pre), 1), min(len(b.Pre), 1)), a.Compare(b))
	})
	for _, v := range list {
		if !slices.ContainsFunc(ranges, func(r Range) bool { return !r.Contains(v) }) {
			return v, true
		}
	}
	return semver.Version{}, false
}

// Covers reports whether r contains every version that other contains.
func (r Range) Covers(other Range) bool {
	return !slices.ContainsFunc(probes([]Range{r, other}), func(v semver.Version) bool { return other.Contains(v) && !r.Contains(v) })
}

// probes returns versions of each kind that ranges distinguish: those at which membership
// may change, and one between each of them and the next, a release if there is one.
func probes(ranges []Range) []semver.Version {
	list := []semver.Version{{}, {Pre: []semver.PRVersion{{IsNum: true}}}}
	for _, r := range ranges {
		for _, v := range r.bounds() {
			next := v
			if v.Build = nil; len(v.Pre) > 0 {
				release := v
				release.Pre = nil
				list = append(list, release)
				next.Pre = append(slices.Clip(v.Pre), semver.PRVersion{IsNum: true})
			} else {
				next.Patch++
				list = append(list, next)
				next.Pre = []semver.PRVersion{{IsNum: true}}
			}
			next.Build = nil
			list = append(list, v, next) // nothing is between them
		}
	}
	return list
}

// bounds returns the versions at which membership may change: those in the text
// of the range, and those that the library substitutes for a wildcard such as
// 1.x.
func (r Range) bounds() (out []semver.Version) {
	add := func(text string) {
		if v, err := semver.Parse(text); err == nil {
			out = append(out, v)
		}
	}
	for word := range strings.SplitSeq(r.text, " ") {
		i := strings.IndexFunc(word, unicode.IsDigit)
		if i < 0 {
			continue
		}
		text := word[i:]
		add(text)
		if !strings.Contains(text, "x") {
			continue
		}
		flat := strings.Replace(strings.Replace(text, ".x.x", ".x", 1), ".x", ".0", 1)
		parts := strings.Split(flat, ".")
		if len(parts) == 2 {
			parts = append(parts, "0")
		}
		add(strings.Join(parts, "."))
		for i := range min(len(parts), 2) { // the next major and minor versions
			next := slices.Clone(parts)
			if n, err := strconv.Atoi(next[i]); err == nil {
				next[i] = strconv.Itoa(n + 1)
				add(strings.Join(next, "."))
			}
		}
	}
	return out
}
