package yamljson

import "bytes"

// endOfValue returns the start of a line after the value of the key whose colon is at p, judged by indentation:
// the value is the rest of the line, the lines indented more than the key's column indent, and, if nothing else
// follows the key, a sequence at its column. Comments and blank lines after the value are left to the caller.
func endOfValue(doc []byte, p, indent int) int {
	line := nextLine(doc, p)
	sequence := false
	if rest := skipSpaces(doc, p+1); rest == len(doc) || doc[rest] == '\n' || doc[rest] == '#' {
		if _, first, ok := nextContent(doc, line); ok && first < len(doc) {
			sequence = dash(doc, first)
		}
	}
	end := line
	for line < len(doc) {
		q := skipSpaces(doc, line)
		if q == len(doc) {
			break
		}
		col := q - line
		line = nextLine(doc, q)
		switch {
		case doc[q] == '\n':
		case col > indent || sequence && col == indent && dash(doc, q):
			end = line
		case doc[q] != '#':
			return end
		}
	}
	return end
}

// nextLine returns the start of the line after p.
func nextLine(doc []byte, p int) int {
	if i := bytes.IndexByte(doc[p:], '\n'); i >= 0 {
		return p + i + 1
	}
	return len(doc)
}

// typeBelow returns the text of the key "type" if that is the next key after the one whose colon is at p, in a
// mapping at column indent. It returns nil when that is not so, or not plain to see.
func typeBelow(doc []byte, p, indent int) []byte {
	line, q, ok := nextContent(doc, endOfValue(doc, p, indent))
	rest, found := bytes.CutPrefix(doc[q:], []byte("type: "))
	if !ok || !found || q-line != indent {
		return nil
	}
	text, _, _ := bytes.Cut(rest, []byte{'\n'})
	for _, c := range text {
		if keyBytes[c] != 0 || c == ' ' || c == '\'' {
			return nil
		}
	}
	if len(text) == 0 || !startsPlain(text, 0) || !isText(text) {
		return nil
	}
	// Text may go on in the next line.
	line, q, ok = nextContent(doc, len(doc)-len(rest)+len(text))
	if !ok || q < len(doc) && q-line > indent {
		return nil
	}
	return text
}
