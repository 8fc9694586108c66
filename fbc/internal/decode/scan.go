package decode

import (
	"encoding/binary"
	"math/bits"
)

// The scanner finds the parts of a JSON document in one pass that validates everything
// and decodes nothing. It accepts exactly what jsontext accepts with duplicate names
// and invalid UTF-8 allowed. If it does not accept a document, jsontext reports why.

// A PropertySpan is a property as text: a type, which is a string, and a value.
type PropertySpan struct{ Type, Value []byte }

// scan finds the fields of the object in text. ok is false if there is anything to
// report: the text is not a JSON object, a field repeats, or the nesting is too deep.
func (d *Reader) scan(text []byte) (f Fields, ok bool) {
	i := skipSpace(text, 0)
	if i == len(text) || text[i] != '{' {
		return f, false
	}
	left := d.limits.Depth - 1
	if left < 0 {
		return f, false
	}
	for i = skipSpace(text, i+1); ; i = skipSpace(text, i+1) {
		if i < len(text) && text[i] == '}' && f.none() {
			break
		}
		key, from, ok := member(text, i)
		if !ok {
			return f, false
		}
		slot := f.slot(key)
		if slot != nil && *slot != nil {
			return f, false
		}
		if slot == &f.Properties {
			i, f.Regular, ok = d.scanProperties(text, from, left)
		} else {
			i, ok = skipValue(text, from, left)
		}
		if !ok {
			return f, false
		}
		if slot != nil {
			*slot = text[from:i:i]
		}
		f.members++
		if i = skipSpace(text, i); i == len(text) {
			return f, false
		}
		if text[i] == '}' {
			break
		}
		if text[i] != ',' {
			return f, false
		}
	}
	f.Spans = d.spans
	return f, skipSpace(text, i+1) == len(text)
}

// scanProperties finds the properties in the value at i. regular is false if there
// may be something to report about them.
func (d *Reader) scanProperties(text []byte, i int, left int64) (end int, regular, ok bool) {
	d.spans = d.spans[:0]
	if i == len(text) || text[i] != '[' || left < 2 {
		end, ok = skipValue(text, i, left)
		return end, false, ok
	}
	regular = true
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == ']' {
		return i + 1, true, true
	}
	for ; ; i = skipSpace(text, i+1) {
		if i < len(text) && text[i] == '{' {
			var p PropertySpan
			var plain bool
			i, plain, ok = scanProperty(text, i, left-2, &p)
			regular = regular && plain
			d.spans = append(d.spans, p)
		} else {
			i, ok = skipValue(text, i, left-1)
			regular = false
		}
		if !ok {
			return 0, false, false
		}
		if i = skipSpace(text, i); i == len(text) {
			return 0, false, false
		}
		switch text[i] {
		case ']':
			return i + 1, regular, true
		case ',':
		default:
			return 0, false, false
		}
	}
}

// scanProperty finds the type and the value of the property at i.
func scanProperty(text []byte, i int, left int64, p *PropertySpan) (end int, regular, ok bool) {
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == '}' {
		return i + 1, false, true
	}
	regular = true
	for ; ; i = skipSpace(text, i+1) {
		key, from, ok := member(text, i)
		if !ok {
			return 0, false, false
		}
		if i, ok = skipValue(text, from, left); !ok {
			return 0, false, false
		}
		switch {
		case string(key) == `"type"` && p.Type == nil && text[from] == '"':
			p.Type = text[from:i:i]
		case string(key) == `"value"` && p.Value == nil:
			p.Value = text[from:i:i]
		default:
			regular = false
		}
		if i = skipSpace(text, i); i == len(text) {
			return 0, false, false
		}
		switch text[i] {
		case '}':
			return i + 1, regular && len(p.Type) > len(`""`) && p.Value != nil, true
		case ',':
		default:
			return 0, false, false
		}
	}
}

// member reads the name at i, with its quotes, and the colon after it. It returns the
// offset of the value.
func member(text []byte, i int) (name []byte, value int, ok bool) {
	if i >= len(text) || text[i] != '"' {
		return nil, 0, false
	}
	end, ok := skipString(text, i)
	if !ok {
		return nil, 0, false
	}
	colon := skipSpace(text, end)
	if colon == len(text) || text[colon] != ':' {
		return nil, 0, false
	}
	return text[i:end:end], skipSpace(text, colon+1), true
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// skipValue returns where the value at i ends. ok is false if there is no
// value, or if its nesting exceeds left.
func skipValue(text []byte, i int, left int64) (end int, ok bool) {
	if i >= len(text) {
		return 0, false
	}
	switch text[i] {
	case '"':
		return skipString(text, i)
	case '{':
		if left--; left < 0 {
			return 0, false
		}
		i = skipSpace(text, i+1)
		if i < len(text) && text[i] == '}' {
			return i + 1, true
		}
		for ; ; i = skipSpace(text, i+1) {
			_, from, ok := member(text, i)
			if !ok {
				return 0, false
			}
			if i, ok = skipValue(text, from, left); !ok {
				return 0, false
			}
			if i = skipSpace(text, i); i == len(text) {
				return 0, false
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
		i = skipSpace(text, i+1)
		if i < len(text) && text[i] == ']' {
			return i + 1, true
		}
		for ; ; i = skipSpace(text, i+1) {
			if i, ok = skipValue(text, i, left); !ok {
				return 0, false
			}
			if i = skipSpace(text, i); i == len(text) {
				return 0, false
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
	end = i + len(word)
	return end, end <= len(text) && string(text[i:end]) == word
}

func skipNumber(text []byte, i int) (end int, ok bool) {
	digits := func() bool {
		from := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > from
	}
	if text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return 0, false
	}
	if i < len(text) && text[i] == '.' {
		if i++; !digits() {
			return 0, false
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return 0, false
		}
	}
	return i, true
}

// skipString returns where the string whose opening quote is at i ends.
func skipString(text []byte, i int) (end int, ok bool) {
	for i = special(text, i+1); i < len(text); i = special(text, i) {
		if text[i] == '"' {
			return i + 1, true
		}
		if text[i] != '\\' || i+1 == len(text) {
			return 0, false // a control character
		}
		switch text[i+1] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i += 2
		case 'u':
			if i += 2; i+4 > len(text) {
				return 0, false
			}
			for range 4 {
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
	return 0, false
}

// special returns the place of the next quote, backslash or control character,
// or the length of text. It looks at eight bytes at a time.
func special(text []byte, i int) int {
	const ones, high = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		x := binary.LittleEndian.Uint64(text[i:])
		quote, slash := x^(ones*'"'), x^(ones*'\\')
		// A byte below n borrows from its high bit when n is taken from it.
		if m := ((x-ones*0x20)&^x | (quote-ones)&^quote | (slash-ones)&^slash) & high; m != 0 {
			return i + bits.TrailingZeros64(m)/8
		}
	}
	for i < len(text) && text[i] >= 0x20 && text[i] != '"' && text[i] != '\\' {
		i++
	}
	return i
}
