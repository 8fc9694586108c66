package yamljson

import "bytes"

// skipValue passes over the value of the key "value" whose colon it is given, if that is not wanted.
func (c *converter) skipValue(colon int) bool {
	f := c.top()
	if !f.typed {
		if typ := typeBelow(c.doc, colon, f.indent); typ != nil {
			c.setType(typ)
		}
	}
	if !f.unwanted {
		return false
	}
	c.null()
	c.p = endOfValue(c.doc, colon, f.indent)
	c.line = c.p
	return true
}

// setType takes note of the type of the property in the innermost frame.
func (c *converter) setType(typ []byte) {
	f := c.top()
	f.typed, f.unwanted = true, c.skip(typ)
}

// plainText returns the text of a JSON string that has no escapes.
func plainText(json []byte) ([]byte, bool) {
	if len(json) < 2 || json[0] != '"' || bytes.IndexByte(json, '\\') >= 0 {
		return nil, false
	}
	return json[1 : len(json)-1], true
}

// endOfValue returns the start of a line after the value of the key whose colon is at p, judged by indentation:
// the value is the rest of the line, the lines indented more than the key's column indent, and, if nothing else
// follows the key, a sequence at its column. Comments and blank lines after the value are left to the caller.
func endOfValue(doc []byte, p, indent int) int {
	line := nextLine(doc, p)
	sequence := false
	if rest := skipSpaces(doc, p+1); rest == len(doc) || doc[rest] == '\n' || doc[rest] == '#' {
		if _, first, ok := nextContent(doc, line, line); ok && first < len(doc) {
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
	end := endOfValue(doc, p, indent)
	line, q, ok := nextContent(doc, end, end)
	rest, found := bytes.CutPrefix(doc[q:], []byte("type: "))
	if !ok || !found || q-line != indent {
		return nil
	}
	text, _, _ := bytes.Cut(rest, []byte{'\n'})
	if nextSpecial(text, 0, ':', '#') < len(text) || bytes.ContainsAny(text, " '") {
		return nil
	}
	if len(text) == 0 || !startsPlain(text, 0) || !isText(text) {
		return nil
	}
	// Text may go on in the next line.
	end = len(doc) - len(rest) + len(text)
	line, q, ok = nextContent(doc, end, end)
	if !ok || q < len(doc) && q-line > indent {
		return nil
	}
	return text
}
