package jsonscan

import (
	"bytes"
	"iter"

	"github.com/go-json-experiment/json/jsontext"
)

// Elements yields the elements of a valid list.
func Elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := Space(raw, 1); i < len(raw) && raw[i] != ']'; {
			end, ok := Value(raw, i, MaxDepth)
			if !ok || !yield(raw[i:end:end]) {
				return
			}
			if i = Space(raw, end); i < len(raw) && raw[i] == ',' {
				i = Space(raw, i+1)
			}
		}
	}
}

// Members yields the members of a valid object: names, with their quotes, and values.
func Members(raw []byte) iter.Seq2[[]byte, []byte] {
	return func(yield func(key, value []byte) bool) {
		for i := Space(raw, 1); i < len(raw) && raw[i] != '}'; {
			key, from, ok := Member(raw, i)
			if !ok {
				return
			}
			end, ok := Value(raw, from, MaxDepth)
			if !ok || !yield(key, raw[from:end:end]) {
				return
			}
			if i = Space(raw, end); i < len(raw) && raw[i] == ',' {
				i = Space(raw, i+1)
			}
		}
	}
}

// Field returns the value of the member with a name. If several members have it, Field
// returns the last. It returns nil if there is none, or if the valid text is not an object.
func Field(raw []byte, name string) (value []byte) {
	if raw = raw[Space(raw, 0):]; len(raw) == 0 || raw[0] != '{' {
		return nil
	}
	for key, v := range Members(raw) {
		if bytes.IndexByte(key, '\\') >= 0 {
			plain, _ := jsontext.AppendUnquote(nil, key)
			if string(plain) == name {
				value = v
			}
		} else if string(key[1:len(key)-1]) == name {
			value = v
		}
	}
	return value
}
