package yamljson

import "bytes"

// skipValue skips the value of the key "value" whose colon is at p, if it is not wanted and its end is certain. Other
// values are converted.
func (c *converter) skipValue(colon int) bool {
	f := c.top()
	if !f.typed {
		if typ := c.typeBelow(colon, f.indent); typ != nil {
			c.setType(typ)
		}
	}
	if !f.unwanted {
		return false
	}
	end, ok := c.endOfValue(colon, f.indent)
	if !ok {
		return false
	}
	c.null()
	c.p, c.line = end, end
	return true
}

// setType records the type of the property in the innermost frame.
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

// typeBelow returns the text of the key "type" if it is the key after the one whose colon is at p, in a mapping at
// column indent. It returns nil if it is not, or if that is not certain.
func (c *converter) typeBelow(p, indent int) []byte {
	doc := c.doc
	end, ok := c.endOfValue(p, indent)
	if !ok {
		return nil
	}
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
	// The text may continue on the next line.
	end = len(doc) - len(rest) + len(text)
	line, q, ok = nextContent(doc, end, end)
	if !ok || q < len(doc) && q-line > indent {
		return nil
	}
	return text
}
