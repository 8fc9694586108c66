// Package near finds known names that are similar to an unknown one.
package near

import (
	"cmp"
	"slices"
	"strings"
)

// Names returns at most max known names that name may be a misspelling of, the
// most similar first, without duplicates. The number of edits allowed grows
// with the length of name: none below three letters, three from nine letters
// on. A difference only in the ending "-operator" counts as one edit.
func Names(name string, known []string, max int) []string {
	type rated struct {
		name string
		cost int
	}
	bound := min(len(name)/3, 3)
	var list []rated
	for _, k := range known {
		cost := Distance(name, k)
		if cost > 0 {
			cost = min(cost, 1+Distance(stem(name), stem(k)))
		}
		if cost <= bound && k != name {
			list = append(list, rated{k, cost})
		}
	}
	slices.SortFunc(list, func(a, b rated) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.name, b.name)) })
	var names []string
	for _, r := range slices.Compact(list) {
		if len(names) == max {
			break
		}
		names = append(names, r.name)
	}
	return names
}

func stem(name string) string { return strings.TrimSuffix(strings.ToLower(name), "-operator") }

// Distance returns the number of insertions, deletions, replacements and
// transpositions of adjacent letters between two words. Case is ignored.
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
