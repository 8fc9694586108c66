package decode

import (
	"bytes"
	"encoding/binary"
	"math/bits"

	"github.com/go-json-experiment/json/jsontext"
)

// The scanner finds the parts of a JSON document in one pass that validates everything
// and decodes nothing. It accepts exactly what jsontext accepts with duplicate names
// and invalid UTF-8 allowed. If it does not accept a document, jsontext reports why.
//
// Each function returns where what it has read ends. If ok is false, end is len(text) if
// the text is valid but ends too early, and 0 otherwise.

// A PropertySpan is a property as text: a type, which is a string, and a value.
type PropertySpan struct{ Type, Value []byte }

// Fields are the raw values of the fields of a document that blobs have, nil where
// absent.
type Fields struct {
	Schema, Package, Name []byte
	DefaultChannel, Image []byte
	Properties, Entries   []byte
	RelatedImages, Icon   []byte
	Description           []byte
	Regular               bool           // Spans are the properties, and nothing is wrong with them
	Spans                 []PropertySpan // until the next document is read

	members int // the number of fields, known ones or not
}

func (f *Fields) none() bool { return f.members == 0 }

// slot returns a pointer to the field with the given quoted JSON name, or nil if there is none.
func (f *Fields) slot(key []byte) *[]byte {
	if bytes.IndexByte(key, '\\') >= 0 {
		plain, _ := jsontext.AppendUnquote(nil, key)
		key = append(append([]byte{'"'}, plain...), '"')
	}
	switch string(key) {
	case `"schema"`:
		return &f.Schema
	case `"package"`:
		return &f.Package
	case `"name"`:
		return &f.Name
	case `"defaultChannel"`:
		return &f.DefaultChannel
	case `"image"`:
		return &f.Image
	case `"properties"`:
		return &f.Properties
	case `"entries"`:
		return &f.Entries
	case `"relatedImages"`:
		return &f.RelatedImages
	case `"icon"`:
		return &f.Icon
	case `"description"`:
		return &f.Description
	}
	return nil
}

// A scanner scans documents whose nesting is at most depth. It appends the properties of
// the documents to spans.
type scanner struct {
	depth int64
	spans []PropertySpan
}

// object finds the fields of the object at i. ok is false if there is anything to report:
// the text is not a JSON object, a field repeats, or the nesting is too deep.
func (s *scanner) object(text []byte, i int) (f Fields, end int, ok bool) {
	if i == len(text) {
		return f, i, false
	}
	left := s.depth - 1
	if text[i] != '{' || left < 0 {
		return f, 0, false
	}
	for i = skipSpace(text, i+1); ; i = skipSpace(text, i+1) {
		if i < len(text) && text[i] == '}' && f.none() {
			break
		}
		key, from, ok := member(text, i)
		if !ok {
			return f, from, false
		}
		slot := f.slot(key)
		if slot != nil && *slot != nil {
			return f, 0, false
		}
		if slot == &f.Properties {
			i, ok = s.properties(text, from, left, &f)
		} else {
			i, ok = skipValue(text, from, left)
		}
		if !ok {
			return f, i, false
		}
		if slot != nil {
			*slot = text[from:i:i]
		}
		f.members++
		if i = skipSpace(text, i); i == len(text) {
			return f, i, false
		}
		if text[i] == '}' {
			break
		}
		if text[i] != ',' {
			return f, 0, false
		}
	}
	return f, i + 1, true
}

// properties finds the properties in the value at i. It sets Regular and Spans of the
// fields.
func (s *scanner) properties(text []byte, i int, left int64, f *Fields) (end int, ok bool) {
	f.Regular = false
	if i == len(text) || text[i] != '[' || left < 2 {
		return skipValue(text, i, left)
	}
	from := len(s.spans)
	regular := true
	if i = skipSpace(text, i+1); i < len(text) && text[i] == ']' {
		f.Regular = true
		return i + 1, true
	}
	for ; ; i = skipSpace(text, i+1) {
		if i < len(text) && text[i] == '{' {
			var p PropertySpan
			var plain bool
			i, plain, ok = scanProperty(text, i, left-2, &p)
			regular = regular && plain
			s.spans = append(s.spans, p)
		} else {
			i, ok = skipValue(text, i, left-1)
			regular = false
		}
		if !ok {
			return i, false
		}
		if i = skipSpace(text, i); i == len(text) {
			return i, false
		}
		switch text[i] {
		case ']':
			f.Regular, f.Spans = regular, s.spans[from:]
			return i + 1, true
		case ',':
		default:
			return 0, false
		}
	}
}

// scanProperty finds the type and the value of the property at i. regular is false if there
// may be something to report about it.
func scanProperty(text []byte, i int, left int64, p *PropertySpan) (end int, regular, ok bool) {
	i = skipSpace(text, i+1)
	if i < len(text) && text[i] == '}' {
		return i + 1, false, true
	}
	regular = true
	for ; ; i = skipSpace(text, i+1) {
		key, from, ok := member(text, i)
		if !ok {
			return from, false, false
		}
		if i, ok = skipValue(text, from, left); !ok {
			return i, false, false
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
			return i, false, false
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
	if i >= len(text) {
		return nil, len(text), false
	}
	if text[i] != '"' {
		return nil, 0, false
	}
	end, ok := skipString(text, i)
	if !ok {
		return nil, end, false
	}
	colon := skipSpace(text, end)
	if colon == len(text) {
		return nil, colon, false
	}
	if text[colon] != ':' {
		return nil, 0, false
	}
	return text[i:end:end], skipSpace(text, colon+1), true
}

func skipSpace(text []byte, i int) int {
	for i < len(text) && text[i] <= ' ' && (text[i] == ' ' || text[i] == '\n' || text[i] == '\r' || text[i] == '\t') {
		i++
	}
	return i
}

// skipValue skips the value at i. ok is false if there is no value, or if its nesting
// exceeds left.
func skipValue(text []byte, i int, left int64) (end int, ok bool) {
	if i >= len(text) {
		return len(text), false
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
				return from, false
			}
			if i, ok = skipValue(text, from, left); !ok {
				return i, false
			}
			if i = skipSpace(text, i); i == len(text) {
				return i, false
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
				return i, false
			}
			if i = skipSpace(text, i); i == len(text) {
				return i, false
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
	rest := text[i:min(i+len(word), len(text))]
	if string(rest) != word[:len(rest)] {
		return 0, false
	}
	return i + len(rest), len(rest) == len(word)
}

func skipNumber(text []byte, i int) (end int, ok bool) {
	digits := func() bool {
		from := i
		for i < len(text) && '0' <= text[i] && text[i] <= '9' {
			i++
		}
		return i > from
	}
	failed := func() (int, bool) {
		if i < len(text) {
			i = 0
		}
		return i, false
	}
	if text[i] == '-' {
		i++
	}
	if i < len(text) && text[i] == '0' {
		i++
	} else if !digits() {
		return failed()
	}
	if i < len(text) && text[i] == '.' {
		if i++; !digits() {
			return failed()
		}
	}
	if i < len(text) && (text[i] == 'e' || text[i] == 'E') {
		if i++; i < len(text) && (text[i] == '+' || text[i] == '-') {
			i++
		}
		if !digits() {
			return failed()
		}
	}
	return i, true
}

// skipString skips the string whose opening quote is at i.
func skipString(text []byte, i int) (end int, ok bool) {
	if i = special(text, i+1); i < len(text) && text[i] == '"' {
		return i + 1, true
	}
	for ; i < len(text); i = special(text, i) {
		if text[i] == '"' {
			return i + 1, true
		}
		if text[i] != '\\' {
			return 0, false // a control character
		}
		if i++; i == len(text) {
			break
		}
		switch text[i] {
		case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
			i++
		case 'u':
			i++
			for range 4 {
				if i == len(text) {
					return i, false
				}
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
	return len(text), false
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
