package property

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// build returns a property of the shape with the given values for its keys.
// Optional keys are left out when empty.
func build(s *shape, vals ...string) Property {
	b := []byte{'{'}
	for i, v := range vals {
		if v == "" && i >= s.required {
			continue
		}
		if i > 0 {
			b = append(b, ',')
		}
		b = appendString(b, s.keys[i])
		b = append(b, ':')
		b = appendString(b, v)
	}
	return Property{Type: s.typ, Value: append(b, '}')}
}

// appendString appends s as JSON, with U+FFFD for each invalid byte and, in
// contrast to encoding/json, the signs of a version range as they are.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	return b
}

func newString(typ, s string) Property {
	return Property{Type: typ, Value: json.RawMessage(appendString(nil, s))}
}
