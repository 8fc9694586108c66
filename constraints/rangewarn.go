package constraints

import (
	"fmt"
	"strings"
)

// Warnings returns what is surprising about a range that parses: places where
// the library reads another thing than the author can have meant (H11). It is
// empty for nearly all ranges. The texts are for people, in the order of the
// range.
func (r Range) Warnings() []string {
	var found []string
	for alt := range alternatives(r.text) {
		for _, word := range words(alt) {
			if s := surprise(word); s != "" {
				found = append(found, s)
			}
		}
	}
	return found
}

func surprise(word string) string {
	op, version := splitOperator(word)
	switch {
	case len(word) == 1:
		return fmt.Sprintf("%q is ignored: words of one character do not count", word)
	case !strings.Contains(word, "x"):
		return ""
	case !known(op) || strings.HasPrefix(version, "x"):
		return fmt.Sprintf("%q is read as one exact version: the x hides an unknown operator", word)
	case strings.HasSuffix(version, ".x.x"):
		return fmt.Sprintf("%q only covers the minor version 0: write %q", word, strings.TrimSuffix(word, ".x"))
	}
	return ""
}
