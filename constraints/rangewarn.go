package constraints

import "strings"

// Warnings returns what is surprising about a range that parses: places where
// the library reads another thing than the author can have meant (H11). It is
// empty for nearly all ranges. The texts are for people, in the order of the
// range, and at most eight.
func (r Range) Warnings() []string {
	const most = 8
	var found []string
	for alt := range alternatives(r.text) {
		for _, word := range words(alt) {
			if s := surprise(word); s != "" && len(found) < most {
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
		return clip(word) + " is ignored: words of one character do not count"
	case !strings.Contains(word, "x"):
		return ""
	case !known(op) || strings.HasPrefix(version, "x"):
		return clip(word) + " is read as one exact version: the x hides an unknown operator"
	case strings.HasSuffix(version, ".x.x"):
		return clip(word) + " only covers the minor version 0: write " + clip(strings.TrimSuffix(word, ".x"))
	}
	return ""
}
