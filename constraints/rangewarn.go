package constraints

import "strings"

// Warnings returns warnings for valid ranges that the library probably interprets
// differently from what the author meant. There are at most eight, and none for
// nearly all ranges. They are complete sentences, in the order of the text.
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
		return clip(word) + " is ignored, because it has only one character"
	case !strings.Contains(word, "x"):
		return ""
	case !known(op) || strings.HasPrefix(version, "x"):
		return clip(word) + " is parsed as an exact version, because the parser does not report unknown comparison operators next to an x"
	case strings.HasSuffix(version, ".x.x"):
		return clip(word) + " includes only minor version 0; write " + clip(strings.TrimSuffix(word, ".x"))
	}
	return ""
}
