// Package visible makes external text safe to display. Characters that a
// terminal would interpret, reorder or hide are escaped (S8).
package visible

import (
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Line returns a text for use within one line. Unprintable characters are
// escaped as in JSON, such as \n, \u001b or \u202e, and bytes that are not
// UTF-8 as \xff.
func Line(s string) string {
	i := strings.IndexFunc(s, hidden)
	if i < 0 {
		return s
	}
	return string(appendVisible([]byte(s[:i]), s[i:]))
}

// Lines returns a text of several lines, each escaped as by [Line].
func Lines(s string) string {
	lines := strings.Split(s, "\n")
	for i, line := range lines {
		lines[i] = Line(line)
	}
	return strings.Join(lines, "\n")
}

// Distinct is [Lines] for texts that are compared in displayed form: different
// texts stay different, because backslashes that look like the beginning of an
// escape are doubled. This includes texts that are not UTF-8.
func Distinct(s string) string {
	if strings.IndexByte(s, '\\') < 0 {
		return Lines(s)
	}
	var b strings.Builder
	for i := range len(s) {
		b.WriteByte(s[i])
		if s[i] != '\\' || i+1 == len(s) {
			continue
		}
		if r, n := utf8.DecodeRuneInString(s[i+1:]); strings.IndexByte(`\uxnrt`, s[i+1]) >= 0 || s[i+1] != '\n' && (r == utf8.RuneError && n == 1 || hidden(r)) {
			b.WriteByte('\\')
		}
	}
	return Lines(b.String())
}

// Words returns a text of several lines as one: its words separated by single
// spaces.
func Words(s string) string { return Line(strings.Join(strings.Fields(s), " ")) }

func appendVisible(b []byte, s string) []byte {
	for len(s) > 0 {
		r, n := utf8.DecodeRuneInString(s)
		if r == utf8.RuneError && n == 1 || hidden(r) {
			b = appendEscape(b, r, s[0], n)
		} else {
			b = append(b, s[:n]...)
		}
		s = s[n:]
	}
	return b
}

// hidden reports whether a rune must be escaped: control characters, format
// characters such as those that change the direction of text, zero-width runes,
// line and paragraph separators, unusual spaces, and unassigned code points.
// The selectors between text and emoji style are common and harmless.
func hidden(r rune) bool {
	switch {
	case ' ' <= r && r < 0x7f:
		return false
	case r == utf8.RuneError: // includes invalid UTF-8
		return true
	case r == 0xfe0e, r == 0xfe0f:
		return false
	}
	return !unicode.IsPrint(r) || unicode.Is(unicode.Other_Default_Ignorable_Code_Point, r) || unicode.Is(unicode.Variation_Selector, r)
}

// appendEscape appends the escape of a rune, or of a byte that is not UTF-8.
func appendEscape(b []byte, r rune, first byte, n int) []byte {
	const digits = "0123456789abcdef"
	unit := func(b []byte, u rune) []byte {
		return append(b, '\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15])
	}
	switch {
	case r == utf8.RuneError && n == 1:
		return append(b, '\\', 'x', digits[first>>4], digits[first&15])
	case r == utf8.RuneError:
		return utf8.AppendRune(b, r)
	case r == '\n':
		return append(b, `\n`...)
	case r == '\r':
		return append(b, `\r`...)
	case r == '\t':
		return append(b, `\t`...)
	case r > 0xffff:
		high, low := utf16.EncodeRune(r)
		return unit(unit(b, high), low)
	}
	return unit(b, r)
}
