package yamljson

import "unicode/utf8"

// appendSingle appends the single-quoted scalar at p and returns the position after it.
func appendSingle(dst, doc []byte, p int) (out []byte, next int, ok bool) {
	dst = append(dst, '"')
	p++
	kept := len(dst) // spaces before this are text even at the end of a line
	for {
		dst, p = copyText(dst, doc, p, '\'', '\'')
		if p == len(doc) {
			return dst, 0, false
		}
		switch doc[p] {
		case '\'':
			p++
			if p == len(doc) || doc[p] != '\'' {
				return append(dst, '"'), p, true
			}
			dst = append(dst, '\'')
			p++
			kept = len(dst)
		case '\n':
			var blank int
			if p, blank, ok = nextQuoted(doc, p); !ok {
				return dst, 0, false
			}
			dst = appendFold(trimSpaces(dst, kept), blank)
			kept = len(dst)
		default:
			return dst, 0, false
		}
	}
}

// appendDouble appends the double-quoted scalar at p and returns the position after it.
func appendDouble(dst, doc []byte, p int) (out []byte, next int, ok bool) {
	dst = append(dst, '"')
	p++
	kept := len(dst)
	for {
		dst, p = copyText(dst, doc, p, '"', '\\')
		if p == len(doc) {
			return dst, 0, false
		}
		switch doc[p] {
		case '"':
			return append(dst, '"'), p + 1, true
		case '\n':
			var blank int
			if p, blank, ok = nextQuoted(doc, p); !ok {
				return dst, 0, false
			}
			dst = appendFold(trimSpaces(dst, kept), blank)
			kept = len(dst)
		case '\\':
			p++
			if p == len(doc) {
				return dst, 0, false
			}
			if doc[p] == '\n' { // an escaped line break, which is not part of the text
				var blank int
				if p, blank, ok = nextQuoted(doc, p); !ok {
					return dst, 0, false
				}
				dst = appendBreaks(dst, blank)
			} else if dst, p, ok = appendEscape(dst, doc, p); !ok {
				return dst, 0, false
			}
			kept = len(dst)
		default:
			return dst, 0, false
		}
	}
}

// nextQuoted skips the line break at p, blank lines and the indentation of the next text of a quoted scalar, which the
// full parser accepts at any column. It returns the position of that text and the number of blank lines.
func nextQuoted(doc []byte, p int) (next, blank int, ok bool) {
	line, p, blank, ok := nextText(doc, p)
	if !ok || p == len(doc) || p == line && documentMarker(doc[p:]) {
		return 0, 0, false
	}
	return p, blank, true
}

// trimSpaces removes spaces from the end of dst, but not below the length kept.
func trimSpaces(dst []byte, kept int) []byte {
	n := len(dst)
	for n > kept && dst[n-1] == ' ' {
		n--
	}
	return dst[:n]
}

// appendEscape appends the character that the escape at p stands for. The backslash is before p.
func appendEscape(dst, doc []byte, p int) (out []byte, next int, ok bool) {
	var r rune
	digits := 0
	switch doc[p] {
	case '0':
		r = 0
	case 'a':
		r = '\a'
	case 'b':
		r = '\b'
	case 't', '\t':
		r = '\t'
	case 'n':
		r = '\n'
	case 'v':
		r = '\v'
	case 'f':
		r = '\f'
	case 'r':
		r = '\r'
	case 'e':
		r = 0x1b
	case ' ', '"', '\'', '\\':
		r = rune(doc[p])
	case 'N':
		r = 0x85
	case '_':
		r = 0xa0
	case 'L':
		r = 0x2028
	case 'P':
		r = 0x2029
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		return dst, 0, false
	}
	p++
	if len(doc)-p < digits {
		return dst, 0, false
	}
	for ; digits > 0; digits-- {
		var d byte
		switch c := doc[p]; {
		case c >= '0' && c <= '9':
			d = c - '0'
		case c >= 'a' && c <= 'f':
			d = c - 'a' + 10
		case c >= 'A' && c <= 'F':
			d = c - 'A' + 10
		default:
			return dst, 0, false
		}
		if r > utf8.MaxRune {
			return dst, 0, false
		}
		r = r<<4 | rune(d)
		p++
	}
	if !utf8.ValidRune(r) {
		return dst, 0, false
	}
	return appendRune(dst, r), p, true
}

// appendRune appends r to a JSON string, encoded as by copyText, because keys are compared in encoded form.
func appendRune(dst []byte, r rune) []byte {
	const hex = "0123456789abcdef"
	switch {
	case r == '"' || r == '\\':
		return append(dst, '\\', byte(r))
	case r == '\n':
		return append(dst, `\n`...)
	case r == '\t':
		return append(dst, `\t`...)
	case r < 0x20:
		return append(dst, '\\', 'u', '0', '0', hex[r>>4], hex[r&0xf])
	}
	return utf8.AppendRune(dst, r)
}
