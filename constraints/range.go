package constraints

import (
	"fmt"
	"iter"
	"strings"

	"github.com/blang/semver/v4"
)

// MaxRangeSize is the longest text of a range in bytes.
const MaxRangeSize = 64 << 10

// A Range is a set of versions in blang/semver syntax, the syntax of
// versionRange and skipRange (C2), together with the text that it came from.
// The zero value contains nothing. A Range is immutable; any number of
// goroutines may use it.
//
// The version that a comparison names and the operators = (or none), !=
// (or !), <, <=, > and >= make a comparison; comparisons separated by spaces
// must all hold; alternatives are separated by " || ". A version has three
// numbers, or an x in place of the last ones: "1.x", "1.2.x". Pre-releases
// order as in semantic versioning and get no other treatment, so "1.x"
// contains 2.0.0-rc.1 (H11).
type Range struct {
	text string
	alts []semver.Range
}

// ParseRange parses a range. The error is a [*RangeError].
func ParseRange(text string) (Range, error) {
	if len(text) > MaxRangeSize {
		return Range{}, &RangeError{
			Range:  text,
			Reason: fmt.Sprintf("has %d bytes: at most %d are allowed", len(text), MaxRangeSize),
		}
	}
	// Each alternative is parsed by itself: of "1.0.0 || || 2.0.0" the library
	// makes a function that panics when it is called.
	r := Range{text: text}
	for alt := range alternatives(text) {
		f, err := semver.ParseRange(alt)
		if err != nil {
			return Range{}, rangeError(text, alt, err)
		}
		r.alts = append(r.alts, f)
	}
	if len(r.alts) > 1 {
		// A ">" before "||" gets lost when the alternatives are apart.
		if _, err := semver.ParseRange(text); err != nil {
			return Range{}, rangeError(text, text, err)
		}
	}
	return r, nil
}

// alternatives yields the texts between the words "||". The library splits
// words at spaces only.
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

// Contains reports whether v is in the range. Build metadata does not count.
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
