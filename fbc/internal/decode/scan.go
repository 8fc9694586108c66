package decode

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/jsonscan"
)

// The scanner finds the parts of a JSON document in one pass that validates everything
// and decodes nothing. It accepts exactly what jsontext accepts with duplicate names
// and invalid UTF-8 allowed. If it does not accept a document, jsontext reports why.
//
// Each function returns where what it has read ends, as in package jsonscan.

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
	for i = jsonscan.Space(text, i+1); ; i = jsonscan.Space(text, i+1) {
		if i < len(text) && text[i] == '}' && f.none() {
			break
		}
		key, from, ok := jsonscan.Member(text, i)
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
			i, ok = jsonscan.Value(text, from, left)
		}
		if !ok {
			return f, i, false
		}
		if slot != nil {
			*slot = text[from:i:i]
		}
		f.members++
		if i = jsonscan.Space(text, i); i == len(text) {
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
		return jsonscan.Value(text, i, left)
	}
	from := len(s.spans)
	regular := true
	if i = jsonscan.Space(text, i+1); i < len(text) && text[i] == ']' {
		f.Regular = true
		return i + 1, true
	}
	for ; ; i = jsonscan.Space(text, i+1) {
		if i < len(text) && text[i] == '{' {
			var p PropertySpan
			var plain bool
			i, plain, ok = scanProperty(text, i, left-2, &p)
			regular = regular && plain
			s.spans = append(s.spans, p)
		} else {
			i, ok = jsonscan.Value(text, i, left-1)
			regular = false
		}
		if !ok {
			return i, false
		}
		if i = jsonscan.Space(text, i); i == len(text) {
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
	i = jsonscan.Space(text, i+1)
	if i < len(text) && text[i] == '}' {
		return i + 1, false, true
	}
	regular = true
	for ; ; i = jsonscan.Space(text, i+1) {
		key, from, ok := jsonscan.Member(text, i)
		if !ok {
			return from, false, false
		}
		if i, ok = jsonscan.Value(text, from, left); !ok {
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
		if i = jsonscan.Space(text, i); i == len(text) {
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
