// Package near finds known names that are similar to an unknown one.
package near

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// Names returns at most max known names that name may be a misspelling or a part of, the
// most similar first, without duplicates. The number of edits allowed grows with the
// length of name without the ending "operator": none below three letters, three from nine letters
// on. A difference only in that ending counts as one edit, which is always allowed, and so does each
// word that name lacks. If no name is similar, it returns those that contain name, or that name
// contains, if the part has at least three letters.
func Names(name string, known []string, max int) []string {
	names, _ := Similar(name, known, max)
	return names
}

// Crowd is the number of similar names from which on none of them is a likely meaning.
const Crowd = 9

// Similar returns the same names as [Names]. crowded reports whether at least [Crowd] known names are
// as similar as the first, or have all words of name, so they are examples rather than suggestions. Of
// the latter, one that differs from name only in the ending "operator" is a suggestion.
func Similar(name string, known []string, max int) (names []string, crowded bool) {
	type rated struct {
		name string
		cost int
	}
	exists := slices.Contains(known, name)
	var list []rated
	worded := 0 // how many have all words of name
	for _, k := range known {
		cost, near := edits(name, k)
		n := cmp.Or(lacks(name, k), lacks(stem(name), k))
		if n > 0 && !exists && (!near || n < cost) {
			near, cost = true, n
			worded++
		}
		if near && k != name {
			list = append(list, rated{k, cost})
		}
	}
	if len(list) == 0 && !exists {
		for _, k := range known {
			if contains(name, k) || contains(k, name) {
				list = append(list, rated{k, Distance(name, k)})
			}
		}
	}
	slices.SortFunc(list, func(a, b rated) int { return cmp.Or(cmp.Compare(a.cost, b.cost), newest(a.name, b.name)) })
	list = slices.Compact(list)
	if worded >= Crowd && stem(list[0].name) == stem(name) {
		return []string{list[0].name}, false
	}
	for _, r := range list[:min(len(list), max)] {
		names = append(names, r.name)
	}
	return names, worded >= Crowd || len(list) >= Crowd && list[Crowd-1].cost == list[0].cost
}

// edits returns the number of edits between two names, and whether it is small enough for a misspelling.
func edits(name, known string) (n int, few bool) {
	if n = Distance(name, known); n > 0 {
		n = min(n, 1+Distance(stem(name), stem(known)))
	}
	return n, n <= min(len(stem(name))/3, 3) || n > 0 && stem(name) != "" && stem(name) == stem(known)
}

// Misspelled reports whether name may be a misspelling of one of some known names.
func Misspelled(name string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool { _, few := edits(name, k); return few })
}

// Worded reports whether one of some known names has all words of name.
func Worded(name string, known []string) bool {
	return slices.ContainsFunc(known, func(k string) bool { return lacks(name, k)+lacks(stem(name), k) > 0 })
}

// contains reports whether part, of at least three letters, is in a name. It ignores case.
func contains(name, part string) bool {
	return len(part) >= 3 && strings.Contains(strings.ToLower(name), strings.ToLower(part))
}

// lacks returns how many words known has beyond those of name, or 0 if known lacks any word of name
// or a word of name is shorter than three letters.
func lacks(name, known string) int {
	words := func(s string) []string {
		return strings.FieldsFunc(strings.ToLower(s), func(r rune) bool { return strings.ContainsRune("-._/", r) })
	}
	mine, its := words(name), words(known)
	for _, w := range mine {
		if len(w) < 3 || !slices.Contains(its, w) {
			return 0
		}
	}
	if len(mine) == 0 {
		return 0
	}
	return max(0, len(its)-len(mine))
}

// stem returns a name without the ending that most names have.
func stem(name string) string {
	return strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(name), "operator"), "-")
}

// Distance returns the number of insertions, deletions, replacements and transpositions
// of adjacent letters between two words. It ignores case.
func Distance(a, b string) int {
	a, b = strings.ToLower(a), strings.ToLower(b)
	var before []int // the row before the last
	last := make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, last[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last = last, row
	}
	return last[len(b)]
}

// ByVersion returns the known names that differ from name only in the version that they contain,
// such as stable-1.10 from stable-1.9. The nearest version comes first, and of two equally near
// ones the higher. Before them come names that continue name, such as stable-1.10 for stable-1, the
// newest first.
func ByVersion(name string, known []string) []string {
	prefix, asked, suffix := cutVersion(name)
	if asked == nil {
		return nil
	}
	type rated struct {
		name      string
		parts     []int
		continues bool
		at, apart int // the first part that differs, and by how much
		higher    bool
	}
	var list []rated
	for _, k := range known {
		p, v, s := cutVersion(k)
		r := rated{name: k, parts: v, continues: strings.HasPrefix(k, name)}
		if k == name || v == nil || p != prefix || s != suffix && !r.continues {
			continue
		}
		for r.at = range max(len(asked), len(v)) {
			if d := at(v, r.at) - at(asked, r.at); d != 0 {
				r.apart, r.higher = max(d, -d), d > 0
				break
			}
		}
		list = append(list, r)
	}
	first := func(a, b bool) int { // orders what is true first
		switch {
		case a == b:
			return 0
		case a:
			return -1
		}
		return 1
	}
	slices.SortStableFunc(list, func(a, b rated) int {
		versions := slices.Compare(a.parts, b.parts)
		if !a.higher || a.continues {
			versions = -versions
		}
		if a.continues && b.continues {
			return cmp.Or(versions, cmp.Compare(a.name, b.name))
		}
		return cmp.Or(first(a.continues, b.continues), cmp.Compare(b.at, a.at), cmp.Compare(a.apart, b.apart), first(a.higher, b.higher), versions, cmp.Compare(a.name, b.name))
	})
	names := make([]string, len(list))
	for i, r := range list {
		names[i] = r.name
	}
	return names
}

// at returns the i-th part of a version, or 0 if it is missing.
func at(v []int, i int) int {
	if i < len(v) {
		return v[i]
	}
	return 0
}

// version matches the first version in a name.
var version = lazyregexp.New(`\d+(?:\.\d+)*`)

// cutVersion returns the text before the version in a name, the parts of the version and the text
// after it. If the name has no version, or a number of the version is too large for an int, parts
// is nil and prefix is the whole name.
func cutVersion(name string) (prefix string, parts []int, suffix string) {
	m := version().FindStringIndex(name)
	if m == nil {
		return name, nil, ""
	}
	for text := range strings.SplitSeq(name[m[0]:m[1]], ".") {
		n, err := strconv.Atoi(text)
		if err != nil {
			return name, nil, ""
		}
		parts = append(parts, n)
	}
	return name[:m[0]], parts, name[m[1]:]
}

// newest orders names; those that differ only in their versions have the highest first.
func newest(a, b string) int {
	prefix, v, suffix := cutVersion(a)
	p, w, s := cutVersion(b)
	if c := cmp.Or(cmp.Compare(prefix, p), cmp.Compare(suffix, s)); c != 0 {
		return c
	}
	for i := range max(len(v), len(w)) {
		if c := cmp.Compare(at(w, i), at(v, i)); c != 0 {
			return c
		}
	}
	return cmp.Compare(a, b)
}
