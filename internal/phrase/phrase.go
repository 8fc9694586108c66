// Package phrase builds the lists, plurals and noun phrases of English sentences.
package phrase

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/fbc"
)

// MaxOr is the maximum number of words that Or lists in full.
const MaxOr = 4

// Or joins words with commas and "or". If there are more than MaxOr, it ends with the number
// of those that it leaves out.
func Or(words []string) string {
	if n := len(words); n > MaxOr {
		return fmt.Sprintf("%s or %d others", strings.Join(words[:MaxOr-1], ", "), n-MaxOr+1)
	}
	return Join(words, "or")
}

// And joins words with commas and "and", and counts the rest if there are more than six.
func And(words []string) string {
	if n := len(words); n > 6 {
		return strings.Join(words[:5], ", ") + " and " + strconv.Itoa(n-5) + " others"
	}
	return Join(words, "and")
}

// Join joins all words with commas, and the last two with a conjunction.
func Join(words []string, conjunction string) string {
	switch n := len(words); n {
	case 0:
		return "nothing"
	case 1:
		return words[0]
	default:
		return strings.Join(words[:n-1], ", ") + " " + conjunction + " " + words[n-1]
	}
}

// Few returns the first three words, and how many more there are.
func Few(words []string) string {
	if n := len(words) - 3; n > 0 {
		return strings.Join(words[:3], ", ") + " and " + strconv.Itoa(n) + " more"
	}
	return Join(words, "and")
}

// Clause returns a text without its full stop, for use inside a sentence.
func Clause(text string) string { return strings.TrimSuffix(strings.TrimSpace(text), ".") }

// Count returns a number with its noun.
func Count(n int, noun string) string { return strconv.Itoa(n) + " " + Plural(n, noun) }

// Either returns one for a number of 1, and else many.
func Either(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// Plural returns the singular of a noun if n is 1, or else its plural.
func Plural(n int, noun string) string { return Either(n, noun, noun+"s") }

// Reason returns the text of an error without its position in a catalog, which the surrounding sentence states.
func Reason(err error) string {
	var d *fbc.Diagnostic
	if errors.As(err, &d) && d.Err != nil {
		return d.Err.Error()
	}
	return err.Error()
}
