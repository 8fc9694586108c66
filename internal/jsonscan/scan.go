// Package jsonscan finds the parts of JSON text without decoding anything. It accepts exactly
// what jsontext accepts with duplicate names and invalid UTF-8 allowed.
//
// The functions that read at an offset return where what they have read ends. If ok is
// false, end is len(text) if the text is valid but ends too early, and 0 otherwise.
package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// MaxDepth is the largest nesting that jsontext can read.
const MaxDepth = 10_000

// Member reads the name at i, with its quotes, and the colon after it. It returns the
// offset of the value.
func Member(text []byte, i int) (name []byte, value int, ok bool) {
	if i >= len(text) {
		return nil, len(text), false
	}
	if text[i] != '"' {
		return nil, 0, false
	}
	end, ok := skipString(text, i)
	if !ok {
		return nil, end, false
	}
	colon := Space(text, end)
	if colon == len(text) {
		return nil, colon, false
	}
	if text[colon] != ':' {
		return nil, 0, false
	}
	return text[i:end:end], Space(text, colon+1), true
}

// Space skips white space.
func Space(text []byte, i int) int {
	for i < len(text) && text[i] <= ' ' && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// Value returns the index after the value at i. ok is false if there is no value, or if it
// is nested more than left levels deep.
func Value(text []byte, i int, left int64) (end int, ok bool) {
	if i >= len(text) {
		return len(text), false
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{':
		if left--; left < 0 {
			return 0, false
		}
		i = Space(text, i+1)
		if i < len(text) && text[i] == '}' {
			return i + 1, true
		}
		for ; ; i = Space(text, i+1) {
			_, from, ok := Member(text, i)
			if !ok {
				return from, false
			}
			if i, ok = Value(text, from, left); !ok {
				return i, false
			}
			if i = Space(text, i); i == len(text) {
				return i, false
			}
			if text[i] == '}' {
				return i + 1, true
			}
			if text[i] != ',' {
				return 0, false
			}
		}
	case '[':
		if left--; left < 0 {
			return 0, false
		}
		i = Space(text, i+1)
		if i < len(text) && text[i] == ']' {
			return i + 1, true
		}
		for ; ; i = Space(text, i+1) {
			if i, ok = Value(text, i, left); !ok {
				return i, false
			}
			if i = Space(text, i); i == len(text) {
				return i, false
			}
			if text[i] == ']' {
				return i + 1, true
			}
			if text[i] != ',' {
				return 0, false
			}
		}
	case 't':
		return skipWord(text, i, "true")
	case 'f':
		return skipWord(text, i, "false")
	case 'n':
		return skipWord(text, i, "null")
	}
	return skipNumber(text, i)
}

func skipWord(text []byte, i int, word string) (end int, ok bool) {
	rest := text[i:min(i+len(word), len(text))]
	if string(rest) != word[:len(rest)] {
		return 0, false
	}
	return i + len(rest), len(rest) == len(word)
}

func skipNumber(text []byte, i int) (end int, ok bool) {
	digits := func() bool {
		from := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > from
	}
	failed := func() (int, bool) {
		if i < len(text) {
			i = 0
		}
		return i, false
	}
	if text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return failed()
	}
	if i < len(text) && text[i] == '.' {
		if i++; !digits() {
			return failed()
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return failed()
		}
	}
	return i, true
}

// skipString skips the string whose opening quote is at i.
func skipString(text []byte, i int) (end int, ok bool) {
	if i = Special(text, i+1); i < len(text) && text[i] == '"' {
		return i + 1, true
	}
	for ; i < len(text); i = Special(text, i) {
		if text[i] == '"' {
			return i + 1, true
		}
		if text[i] != '\\' {
			return 0, false // a control character
		}
		if i++; i == len(text) {
			break
		}
		switch text[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i++
		case 'u':
			i++
			for range 4 {
				if i == len(text) {
					return i, false
				}
				switch c := text[i]; {
				case '0' <= c && c <= '9', 'a' <= c && c <= 'f', 'A' <= c && c <= 'F':
					i++
				default:
					return 0, false
				}
			}
		default:
			return 0, false
		}
	}
	return len(text), false
}

// Special returns the place of the next quote, backslash or control character,
// or the length of text. It looks at eight bytes at a time.
func Special(text []byte, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		// A byte below n borrows from its high bit when n is taken from it. Flipping the second bit
		// turns a quote, but not a space, into one of the 33 smallest bytes.
		if m := (((x ^ ones*2) - ones*33) | ((x ^ ones*'\\') - ones)) &^ x & high; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(text) && text[i] >= 0x20 && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}
