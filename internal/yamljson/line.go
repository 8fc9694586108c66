package yamljson

import (
	"encoding/binary"
	"math/bits"
)

// nextContent returns the start of the line of the next content at or after p, and the position of the content. p is
// on the line that starts at start, preceded only by spaces. Blank lines and comments are not content. At the end of
// doc, the position is len(doc).
func nextContent(doc []byte, start, p int) (line, content int, ok bool) {
	for line = start; ; line = p {
		p = skipSpaces(doc, p)
		if p == len(doc) {
			return line, p, true
		}
		switch doc[p] {
		case '\n':
			p++
		case '#':
			if p, ok = endLine(doc, p); !ok {
				return 0, 0, false
			}
		case '\t':
			return 0, 0, false
		default:
			return line, p, true
		}
	}
}

// endLine skips spaces and a comment at p and returns the start of the next line. It returns false if the line has
// other text. A comment must follow a space unless the line begins with it.
func endLine(doc []byte, p int) (next int, ok bool) {
	if p < len(doc) && doc[p] == '\n' {
		return p + 1, true
	}
	start := p
	p = skipSpaces(doc, p)
	if p == len(doc) {
		return p, true
	}
	if doc[p] == '\n' {
		return p + 1, true
	}
	if doc[p] != '#' || p > 0 && p == start && doc[p-1] != ' ' && doc[p-1] != '\n' {
		return 0, false
	}
	for p < len(doc) {
		switch c := doc[p]; {
		case c == '\n':
			return p + 1, true
		case c >= 0x80:
			n := textRune(doc[p:])
			if n == 0 {
				return 0, false
			}
			p += n
		case c < 0x20 && c != '\t' || c == 0x7f:
			return 0, false
		default:
			p++
		}
	}
	return p, true
}

func skipSpaces(doc []byte, p int) int {
	for len(doc)-p >= 8 {
		w := binary.LittleEndian.Uint64(doc[p:]) ^ 0x2020202020202020
		if w != 0 {
			return p + bits.TrailingZeros64(w)>>3
		}
		p += 8
	}
	for p < len(doc) && doc[p] == ' ' {
		p++
	}
	return p
}

// dash reports whether a sequence item begins at p.
func dash(doc []byte, p int) bool {
	return doc[p] == '-' && (p+1 == len(doc) || doc[p+1] == ' ' || doc[p+1] == '\n')
}

// documentMarker reports whether line begins with --- or ..., regardless of what follows.
func documentMarker(line []byte) bool {
	return len(line) >= 3 && (string(line[:3]) == "---" || string(line[:3]) == "...")
}
