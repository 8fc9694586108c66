package yamljson

import "bytes"

// A parser's nodes take much more memory than their text, so their number is limited before parsing by counting the
// bytes that can begin one. Bytes in literal and folded text are not counted if they certainly belong to it: a script
// in a ConfigMap may contain any number of them.

// fewNodes returns an error for a document that may have more than max nodes.
func fewNodes(doc []byte, max int64) error {
	n := nodeBytes(doc)
	if n <= freeNodes || n <= max || n-literalBytes(doc) <= max {
		return nil
	}
	return &LimitError{Kind: Nodes, Max: max}
}

// nodeBytes counts the bytes that can begin a node. Each begins at most three.
func nodeBytes(doc []byte) int64 {
	var n int64
	for _, c := range doc {
		switch c {
		case '-', '?', ':', ',', '[', '{':
			n++
		}
	}
	return n
}

// literalBytes returns the part of nodeBytes that is in the literal and folded text of a document.
func literalBytes(doc []byte) int64 {
	if bytes.IndexByte(doc, '\r') >= 0 {
		doc = bytes.ReplaceAll(doc, []byte("\r\n"), []byte("\n"))
	}
	var n int64
	literals(doc, func(text []byte) { n += nodeBytes(text) })
	return n
}

// literals calls visit with the lines of the literal and folded text of a document. It stops at the first line whose
// meaning is not certain.
func literals(doc []byte, visit func([]byte)) {
	if breaks(doc) {
		return
	}
	o := outline{doc: doc, column: -1}
	for o.line < len(doc) {
		indent, ok := o.next()
		if !ok {
			return
		}
		if indent > 0 {
			visit(o.text(indent))
		}
	}
}

// An outline goes through the lines of a document in block style.
type outline struct {
	doc    []byte
	line   int  // where the next line starts
	column int  // of the last key or indicator
	full   bool // it has a value, which may continue on lines with more indentation
}

// next skips a line, and quoted text that continues on other lines. indent is the indentation of the literal or folded
// text that follows, or 0 if none follows. ok is false if the meaning of the line is not certain.
func (o *outline) next() (indent int, ok bool) {
	doc := o.doc
	p := skipSpaces(doc, o.line)
	if p == len(doc) || doc[p] == '\n' || doc[p] == '#' {
		o.line = nextLine(doc, p)
		return 0, true
	}
	col := p - o.line
	if bytes.HasPrefix(doc[p:], []byte("\ufeff")) {
		return 0, false
	}
	if documentMarker(doc[p:]) && col == 0 {
		o.line, ok = endLine(doc, p+3)
		o.column, o.full = -1, false
		return 0, ok
	}
	if o.full && col > o.column {
		o.line = nextLine(doc, p)
		return 0, true
	}
	begun := false // the line has a key or an indicator
	for p < len(doc) && (doc[p] == '-' || doc[p] == '?' || doc[p] == ':') && (p+1 == len(doc) || doc[p+1] == ' ' || doc[p+1] == '\n') {
		begun, o.column = true, p-o.line
		p = skipSpaces(doc, p+1)
	}
	if p == len(doc) {
		o.line = p
		return 0, true
	}
	if colon, _ := keyEnd(doc, p); colon >= 0 {
		if doc[p] != '"' && doc[p] != '\'' && !startsPlain(doc, p) {
			return 0, false
		}
		begun, o.column = true, p-o.line
		p = skipSpaces(doc, colon+1)
	}
	if !begun && col <= o.column {
		return 0, false
	}
	for p < len(doc) && (doc[p] == '&' || doc[p] == '!') {
		for p < len(doc) && doc[p] != ' ' && doc[p] != '\n' {
			if bytes.IndexByte([]byte("[]{},\"'"), doc[p]) >= 0 {
				return 0, false
			}
			p++
		}
		p = skipSpaces(doc, p)
	}
	return o.value(p)
}

// value skips the value at p, which is the rest of its line.
func (o *outline) value(p int) (indent int, ok bool) {
	doc := o.doc
	o.full = p < len(doc) && doc[p] != '\n' && doc[p] != '#'
	if !o.full {
		o.line = nextLine(doc, p)
		return 0, true
	}
	switch doc[p] {
	case '|', '>':
		return o.header(p + 1)
	case '"', '\'':
		if p = endOfQuoted(doc, p); p < 0 {
			return 0, false
		}
	case '[', '{':
		if p = endOfFlow(doc, p); p < 0 {
			return 0, false
		}
	case '*':
		o.line = nextLine(doc, p)
		return 0, true
	default:
		o.line = nextLine(doc, p)
		return 0, startsPlain(doc, p)
	}
	o.line, ok = endLine(doc, p)
	return 0, ok
}

// header skips the indicators of literal or folded text at p, and returns the indentation of the text.
func (o *outline) header(p int) (indent int, ok bool) {
	doc, parent := o.doc, max(o.column, 0)
	for ; p < len(doc) && (doc[p] == '-' || doc[p] == '+' || '1' <= doc[p] && doc[p] <= '9'); p++ {
		if doc[p] != '-' && doc[p] != '+' {
			if indent > 0 {
				return 0, false
			}
			indent = parent + int(doc[p]-'0')
		}
	}
	if o.line, ok = endLine(doc, p); !ok || indent > 0 {
		return indent, ok
	}
	// The first line with text determines the indentation, unless a blank line before it has more spaces.
	indent = parent + 1
	for line := o.line; line < len(doc); line++ {
		start := line
		line = skipSpaces(doc, line)
		indent = max(indent, line-start)
		if line == len(doc) || doc[line] != '\n' {
			return indent, line == len(doc) || doc[line] != '\t'
		}
	}
	return indent, true
}

// text skips the lines of literal or folded text, and returns them.
func (o *outline) text(indent int) []byte {
	doc, start := o.doc, o.line
	for o.line < len(doc) {
		p := skipSpaces(doc, o.line)
		if p < len(doc) && doc[p] != '\n' && p-o.line < indent {
			break
		}
		o.line = nextLine(doc, p)
	}
	return doc[start:o.line]
}

// endOfFlow returns the position after the flow collection at p, or -1 if it is not certain. Inside the collection, a
// quote begins a scalar only after a bracket, a comma or a colon.
func endOfFlow(doc []byte, p int) int {
	depth, last := 0, byte(0) // the last byte other than white space
	for p < len(doc) {
		switch c := doc[p]; c {
		case ' ', '\t', '\n':
			p++
			continue
		case '[', '{':
			depth++
		case ']', '}':
			if depth--; depth == 0 {
				return p + 1
			}
		case '#':
			return -1
		case '"', '\'':
			if last != '[' && last != '{' && last != ',' && last != ':' {
				return -1
			}
			if p = endOfQuoted(doc, p); p < 0 {
				return -1
			}
			last = '"'
			continue
		}
		last = doc[p]
		p++
	}
	return -1
}
