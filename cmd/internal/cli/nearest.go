package cli

import (
	"strings"

	"github.com/olmkit/olmkit/internal/near"
)

// maxNearest is the maximum number of names that a message suggests.
const maxNearest = 4

// nearest returns the known names that are most similar to an unknown one, at
// most maxNearest, the most similar first.
func nearest(name string, known []string) []string { return near.Names(name, known, maxNearest) }

// hint returns the end of a message about an unknown name, with similar names.
func hint(name string, known []string) string {
	if list := near.ByVersion(name, known); len(list) > 0 {
		return "; did you mean " + strings.Join(list[:min(len(list), maxNearest)], ", ") + "?"
	}
	switch names, crowded := near.Similar(name, known, maxNearest); {
	case crowded:
		return "; many have similar names, such as " + strings.Join(names, ", ")
	case len(names) > 0:
		return "; did you mean " + strings.Join(names, ", ") + "?"
	}
	return ""
}
