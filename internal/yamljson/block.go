package yamljson

// appendBlock appends the literal or folded scalar whose indicator is at p. parent is the column of the elements of
// the enclosing collection. It returns the start of the first line after the scalar.
func appendBlock(dst, doc []byte, p, parent int) (out []byte, next int, ok bool) {
	folded := doc[p] == '>'
	p++
	indent := 0
	chomp := byte(0)
	for ; p < len(doc); p++ {
		if c := doc[p]; chomp == 0 && (c == '-' || c == '+') {
			chomp = c
		} else if indent == 0 && c >= '1' && c <= '9' {
			indent = parent + int(c-'0')
		} else {
			break
		}
	}
	if p, ok = endLine(doc, p); !ok {
		return dst, 0, false
	}
	dst = append(dst, '"')

	line, blank := p, 0
	if indent == 0 {
		// The first line with text determines the indentation. The document is invalid if a blank line before it has
		// more spaces.
		most := parent + 1
		for {
			line = p
			p = skipSpaces(doc, p)
			most = max(most, p-line)
			if p == len(doc) || doc[p] != '\n' {
				break
			}
			blank++
			p++
		}
		indent = most
		if p < len(doc) && doc[p] == '\t' {
			return dst, 0, false
		}
	} else if line, p, blank, ok = blockLine(doc, p, indent); !ok {
		return dst, 0, false
	}

	broken := false // a line of text and its line break have been written
	var spaced, wasSpaced bool
	for p < len(doc) && p-line == indent {
		wasSpaced, spaced = spaced, doc[p] == ' ' || doc[p] == '\t'
		if broken && (!folded || spaced || wasSpaced) {
			dst = append(dst, `\n`...)
		} else if broken && blank == 0 {
			dst = append(dst, ' ')
		}
		if blank > 0 {
			dst = appendBreaks(dst, blank)
		}
		for {
			dst, p = copyText(dst, doc, p, '\n', '\n')
			if p == len(doc) || doc[p] != '\t' {
				break
			}
			dst = append(dst, `\t`...)
			p++
		}
		if broken = p < len(doc); !broken {
			line, blank = p, 0
			break
		}
		if doc[p] != '\n' {
			return dst, 0, false
		}
		if line, p, blank, ok = blockLine(doc, p+1, indent); !ok {
			return dst, 0, false
		}
	}
	if broken && chomp != '-' {
		dst = append(dst, `\n`...)
	}
	if chomp == '+' {
		dst = appendBreaks(dst, blank)
	}
	return append(dst, '"'), line, true
}

// blockLine skips blank lines of a block scalar, beginning at the line start p, and up to indent spaces of the next
// line. It returns the start of that line, the position after these spaces and the number of blank lines.
func blockLine(doc []byte, p, indent int) (line, text, blank int, ok bool) {
	for {
		line = p
		p = min(skipSpaces(doc, p), line+indent)
		if p == len(doc) {
			return line, p, blank, true
		}
		switch doc[p] {
		case '\n':
			blank++
			p++
		case '\t':
			return line, p, blank, p-line == indent
		default:
			return line, p, blank, true
		}
	}
}
