package yamljson

import (
	"encoding/binary"
	"math/bits"
	"slices"
	"unicode/utf8"
)

// Constants for processing eight bytes at a time: ones multiplied by a byte has that byte
// in each of its eight bytes (lanes).
const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// copyText appends the text at p as the inside of a JSON string, with the necessary escapes. It stops at the byte a or
// b, at a control character (including line breaks and tabs), at a character that YAML does not allow or treats as a
// line break, or at the end of doc, and returns that position.
func copyText(dst, doc []byte, p int, a, b byte) (out []byte, next int) {
	n := len(dst)
	dst = dst[:cap(dst)]
	as, bs := uint64(a)*ones, uint64(b)*ones
	for {
		if len(dst)-n < 16 {
			dst = slices.Grow(dst[:n], 64)
			dst = dst[:cap(dst)]
		}
		if len(doc)-p >= 8 {
			w := binary.LittleEndian.Uint64(doc[p:])
			binary.LittleEndian.PutUint64(dst[n:], w)
			if m := special(w, as, bs); m == 0 {
				n += 8
				p += 8
				continue
			} else {
				k := bits.TrailingZeros64(m) >> 3
				n += k
				p += k
			}
		} else if p == len(doc) {
			return dst[:n], p
		}
		switch c := doc[p]; {
		case c == a || c == b:
			return dst[:n], p
		case c == '"' || c == '\\':
			dst[n] = '\\'
			dst[n+1] = c
			n += 2
			p++
		case c >= 0x80:
			k := textRune(doc[p:])
			if k == 0 {
				return dst[:n], p
			}
			n += copy(dst[n:], doc[p:p+k])
			p += k
		case c < 0x20 || c == 0x7f:
			return dst[:n], p
		default: // near the end of doc
			dst[n] = c
			n++
			p++
		}
	}
}

// nextSpecial returns the position of the first byte at or after p that copyText would not copy unchanged, or
// len(doc).
func nextSpecial(doc []byte, p int, a, b byte) int {
	as, bs := uint64(a)*ones, uint64(b)*ones
	for ; len(doc)-p >= 8; p += 8 {
		if m := special(binary.LittleEndian.Uint64(doc[p:]), as, bs); m != 0 {
			return p + bits.TrailingZeros64(m)>>3
		}
	}
	for ; p < len(doc); p++ {
		if c := doc[p]; c < 0x20 || c >= 0x7f || c == '"' || c == '\\' || c == a || c == b {
			break
		}
	}
	return p
}

// special marks the lanes of w that contain a control character, a quote, a backslash, a non-ASCII byte, or the byte
// of as or bs. The lowest mark is exact; higher ones may be wrong.
func special(w, as, bs uint64) uint64 {
	q := w ^ 0x02*ones // turns the quote into a space, and leaves control characters below it
	m := (q - 0x21*ones) &^ q
	s := w ^ '\\'*ones
	m |= (s - ones) &^ s
	x := w ^ as
	m |= (x - ones) &^ x
	y := w ^ bs
	m |= (y - ones) &^ y
	m |= w | (w + ones) // not ASCII, or 0x7f
	return m & highs
}

// textRune returns the length of the non-ASCII character at the start of s, or 0 if YAML does not allow it or gives it
// a special meaning.
func textRune(s []byte) int {
	r, n := utf8.DecodeRune(s)
	switch {
	case r == utf8.RuneError && n == 1, // invalid
		r < 0xa0,                   // control characters, and the line break U+0085
		r == 0x2028 || r == 0x2029, // line breaks
		r == 0xfeff,                // byte order mark
		r == 0xfffe || r == 0xffff: // not allowed
		return 0
	}
	return n
}
