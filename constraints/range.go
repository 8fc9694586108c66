package constraints

import (
	"fmt"
	"iter"
	"strings"

	"github.com/blang/semver/v4"
)

// maxRangeSize is the maximum size of a range in bytes.
const maxRangeSize = 64 << 10

// A Range is a set of versions in blang/semver syntax, which versionRange and
// skipRange use, together with its text. The zero value contains no versions. A
// Range is immutable and safe for concurrent use.
//
// A range consists of alternatives separated by " || ". An alternative consists
// of comparisons separated by spaces, all of which must hold. A comparison is a
// version with one of the operators = (the default), != (or !), <, <=, > and
// >=. A version has three numbers; the last ones may be replaced with an x, as
// in "1.x" and "1.2.x". Pre-releases are ordered as in semantic versioning
// without special treatment, so "1.x" contains 2.0.0-rc.1.
type Range struct {
	text string
	alts []semver.Range
}

// ParseRange parses a range. The error is a [*RangeError].
func ParseRange(text string) (Range, error) { // H11
	if len(text) > maxRangeSize {
		return Range{}, &RangeError{
			Range:  text,
			Reason: fmt.Sprintf("has %d bytes; the limit is %d", len(text), maxRangeSize),
		}
	}
	// Parse each alternative separately: for "1.0.0 || || 2.0.0" the library
	// returns a function that panics.
	r := Range{text: text}
	for alt := range alternatives(text) {
		f, err := semver.ParseRange(alt)
		if err != nil {
			return Range{}, rangeError(text, alt, err)
		}
		r.alts = append(r.alts, f)
	}
	if len(r.alts) > 1 {
		// Parsed separately, a ">" before "||" would go unnoticed.
		if _, err := semver.ParseRange(text); err != nil {
			return Range{}, rangeError(text, text, err)
		}
	}
	return r, nil
}

// alternatives yields the texts between the words "||". Like the library, it
// splits words only at spaces.
func alternatives(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		start, i := 0, 0
		for word := range strings.SplitSeq(text, " ") {
			if word == "||" {
				if !yield(text[start:i]) {
					return
				}
				start = i + len(word)
			}
			i += len(word) + 1
		}
		yield(text[start:])
	}
}

// Contains reports whether v is in the range. Build metadata is ignored.
func (r Range) Contains(v semver.Version) bool {
	for _, f := range r.alts {
		if f(v) {
			return true
		}
	}
	return false
}

// String returns the text that the range was parsed from.
func (r Range) String() string { return r.text }

// IsZero reports whether r is the zero Range, which contains nothing.
func (r Range) IsZero() bool { return r.text == "" }
