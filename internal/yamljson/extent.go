package yamljson

import (
	"bytes"
	"encoding/binary"
)

// endOfValue returns the start of the first line after the value of the key whose colon
// is at p. The value consists of the rest of the line, the following lines that are
// indented more than indent, which is the key's column, and, if these are empty, a
// sequence at that column. Comments and blank lines after the value are left to the
// caller. Quoted scalars and flow collections may continue at any column, so indentation
// has no meaning inside them; endOfValue finds the end of each one that begins in the
// value. ok is false if it is not certain where they begin.
func (c *converter) endOfValue(p, indent int) (end int, ok bool) {
	doc := c.doc
	from, sequence := p, false
	line, full, ok := c.endOfNode(skipSpaces(doc, p+1))
	if !ok {
		return 0, false
	}
	if !full {
		_, first, ok := nextContent(doc, line, line)
		sequence = ok && first < len(doc) && dash(doc, first)
	}
	// Once the value of a key or dash has begun, lines with more indentation than the key or dash are part of it, or
	// invalid.
	parent := indent
	for end = line; line < len(doc); {
		q := skipSpaces(doc, line)
		if q == len(doc) {
			break
		}
		col := q - line
		switch {
		case doc[q] == '\n':
			line = q + 1
			continue
		case col <= indent && !(sequence && col == indent && dash(doc, q)):
			if doc[q] == '#' {
				line = nextLine(doc, q)
				continue
			}
			return end, !breaks(doc[from:end])
		case full && col > parent, doc[q] == '#':
			line = nextLine(doc, q)
		default:
			if line, parent, full, ok = c.endOfElement(line, q); !ok {
				return 0, false
			}
		}
		end = line
	}
	return end, !breaks(doc[from:end])
}

// endOfElement skips the line of a key or of dashes whose text begins at p, and quoted text that continues on other
// lines. It returns the start of the next line, the column of the innermost key or dash, and whether that has a value
// on its line.
func (c *converter) endOfElement(line, p int) (next, column int, full, ok bool) {
	doc, dashes := c.doc, false
	for dash(doc, p) {
		dashes, column = true, p-line
		if p = skipSpaces(doc, p+1); p == len(doc) || doc[p] == '\n' || doc[p] == '#' {
			return nextLine(doc, p), column, false, true
		}
	}
	if next, full, ok = ordinary(doc, p); ok {
		return next, p - line, full, true
	}
	colon, simple := keyEnd(doc, p)
	if colon < 0 {
		// Text without a key is the value of what precedes it, which is usually a dash.
		if !dashes || startsPlain(doc, p) && bytes.IndexByte(doc[p:nextLine(doc, p)], '\t') >= 0 {
			return 0, 0, false, false
		}
		next, full, ok = c.endOfNode(p)
		return next, column, full, ok
	}
	if doc[p] != '"' && doc[p] != '\'' && !(startsPlain(doc, p) && (simple || bytes.IndexByte(doc[p:colon], '\t') < 0)) {
		return 0, 0, false, false
	}
	next, full, ok = c.endOfNode(skipSpaces(doc, colon+1))
	return next, p - line, full, ok
}

// ordinary is a faster endOfElement for most lines: a key of letters and similar characters, and at most one word
// after it.
func ordinary(doc []byte, p int) (next int, full, ok bool) {
	if !flowByte(doc[p]) || doc[p] == '~' {
		return 0, false, false
	}
	for p++; p < len(doc) && (flowByte(doc[p]) || doc[p] == '-'); p++ {
	}
	if len(doc)-p < 3 || doc[p] != ':' {
		return 0, false, false
	}
	switch c := doc[p+2]; {
	case doc[p+1] == '\n':
		return p + 2, false, true
	case doc[p+1] == ' ' && (c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9'):
		return nextLine(doc, p+2), true, true
	}
	return 0, false, false
}

// endOfNode skips the part of a value that begins at p, on the line of its key or dash, and quoted text that continues
// on other lines. It returns the start of the next line, and in full whether there is a value. Plain scalars and
// literal text may continue on the following lines.
func (c *converter) endOfNode(p int) (next int, full, ok bool) {
	doc := c.doc
	if p == len(doc) {
		return p, false, true
	}
	switch doc[p] {
	case '\n':
		return p + 1, false, true
	case '#':
		return nextLine(doc, p), false, true
	case '"', '\'':
		if p = endOfQuoted(doc, p); p < 0 {
			return 0, false, false
		}
	case '[', '{':
		// The text that appendFlow appends is discarded.
		if _, p, ok = appendFlow(c.dst, doc, p); !ok {
			return 0, false, false
		}
	case '|', '>':
		for p++; p < len(doc) && (doc[p] == '-' || doc[p] == '+' || '0' <= doc[p] && doc[p] <= '9'); p++ {
		}
	default:
		return nextLine(doc, p), true, startsPlain(doc, p)
	}
	next, ok = endLine(doc, p)
	return next, true, ok
}

// endOfQuoted returns the position after the quoted scalar at p, or -1 if it is unterminated.
func endOfQuoted(doc []byte, p int) int {
	quote := doc[p]
	for start := p + 1; ; {
		n := bytes.IndexByte(doc[p+1:], quote)
		if n < 0 {
			return -1
		}
		p += 1 + n
		if quote == '"' {
			slashes := 0
			for p-slashes > start && doc[p-slashes-1] == '\\' {
				slashes++
			}
			if slashes%2 == 1 {
				continue
			}
		} else if p+1 < len(doc) && doc[p+1] == '\'' {
			p++
			continue
		}
		return p + 1
	}
}

// breaks reports whether text holds a line break of YAML 1.1 other than a line feed.
func breaks(text []byte) bool {
	if bytes.IndexByte(text, '\r') >= 0 {
		return true
	}
	text = text[ascii(text):]
	return follows(text, 0x85, "\xc2") || follows(text, 0xa8, "\xe2\x80") || follows(text, 0xa9, "\xe2\x80")
}

// ascii returns the length of a prefix of text that is ASCII.
func ascii(text []byte) int {
	p := 0
	for ; len(text)-p >= 32; p += 32 {
		t := text[p : p+32]
		if (binary.LittleEndian.Uint64(t)|binary.LittleEndian.Uint64(t[8:])|binary.LittleEndian.Uint64(t[16:])|binary.LittleEndian.Uint64(t[24:]))&highs != 0 {
			break
		}
	}
	return p
}

// follows reports whether the byte last follows the bytes before anywhere in text.
func follows(text []byte, last byte, before string) bool {
	for {
		i := bytes.IndexByte(text, last)
		if i < 0 {
			return false
		}
		if bytes.HasSuffix(text[:i], []byte(before)) {
			return true
		}
		text = text[i+1:]
	}
}

// nextLine returns the start of the line after p.
func nextLine(doc []byte, p int) int {
	if i := bytes.IndexByte(doc[p:], '\n'); i >= 0 {
		return p + i + 1
	}
	return len(doc)
}
