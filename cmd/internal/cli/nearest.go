package cli

import (
	"cmp"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/near"
)

// maxNearest is the maximum number of names that a message suggests.
const maxNearest = 4

// nearest returns the known names that are most similar to an unknown one, at
// most maxNearest, the most similar first.
func nearest(name string, known []string) []string {
	type rated struct {
		name string
		cost int
	}
	if name == "" {
		return nil
	}
	var list []rated
	bound := min(3, len(name)/3)
	for _, k := range known {
		cost := near.Distance(name, k)
		part := len(name) >= 3 && (strings.Contains(k, name) || len(k) >= 3 && strings.Contains(name, k))
		if part {
			cost = min(cost, 2)
		}
		if part || cost <= bound {
			list = append(list, rated{k, cost})
		}
	}
	slices.SortFunc(list, func(a, b rated) int { return cmp.Or(cmp.Compare(a.cost, b.cost), cmp.Compare(a.name, b.name)) })
	list = slices.CompactFunc(list, func(a, b rated) bool { return a.name == b.name })
	var names []string
	for _, r := range list[:min(len(list), maxNearest)] {
		names = append(names, r.name)
	}
	return names
}

// hint returns the end of a message about an unknown name, with similar names.
func hint(name string, known []string) string {
	if names := nearest(name, known); len(names) > 0 {
		return "; did you mean " + strings.Join(names, ", ") + "?"
	}
	return ""
}
