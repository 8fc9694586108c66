package property

import (
	"encoding/json"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// build returns a property of a shape with the given values for its keys. Empty
// optional keys are left out.
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

// appendString appends s as JSON. Each invalid byte becomes U+FFFD and, unlike
// in encoding/json, the operators of version ranges are not escaped.
func appendString(b []byte, s string) []byte {
	b, _ = jsontext.AppendQuote(b, strings.ToValidUTF8(s, "\uFFFD"))
	return b
}

func newString(typ, s string) Property {
	return Property{Type: typ, Value: json.RawMessage(appendString(nil, s))}
}
