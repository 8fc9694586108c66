package registryv1

import (
	"encoding/json"
	"slices"
	"strconv"
	"unicode/utf8"

	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// decodeObject decodes a JSON object as Kubernetes' util/json does, with integers as int64. It
// reads the text once and shares equal short strings, which most of a schema consists of.
func decodeObject(text []byte) (map[string]any, error) {
	d := jsonDecoder{text: text, short: map[string]string{}}
	if v, ok := d.value(0); ok && d.next() == 0 && d.at == len(text) {
		if object, ok := v.(map[string]any); ok {
			return object, nil
		}
	}
	var object map[string]any
	err := utiljson.Unmarshal(text, &object)
	return object, err
}

const (
	// maxShort is the length of strings that are shared.
	maxShort = 24
	// maxDecoderDepth is the depth of values that are not left to util/json.
	maxDecoderDepth = 1000
)

// A jsonDecoder decodes valid JSON. Its methods return false for what util/json must judge.
type jsonDecoder struct {
	text  []byte
	at    int
	short map[string]string
}

// next skips white space. It returns the next byte, or 0 at the end.
func (d *jsonDecoder) next() byte {
	for ; d.at < len(d.text); d.at++ {
		switch c := d.text[d.at]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (d *jsonDecoder) skip(c byte) bool {
	ok := d.next() == c
	if ok {
		d.at++
	}
	return ok
}

func (d *jsonDecoder) value(depth int) (any, bool) {
	switch c := d.next(); {
	case depth > maxDecoderDepth:
		return nil, false
	case c == '{':
		return d.object(depth)
	case c == '[':
		return d.list(depth)
	case c == '"':
		return d.string()
	case c == 't':
		return true, d.literal("true")
	case c == 'f':
		return false, d.literal("false")
	case c == 'n':
		return nil, d.literal("null")
	}
	return d.number()
}

func (d *jsonDecoder) literal(want string) bool {
	end := d.at + len(want)
	ok := end <= len(d.text) && string(d.text[d.at:end]) == want
	d.at = end
	return ok
}

func (d *jsonDecoder) object(depth int) (any, bool) {
	d.at++
	out := map[string]any{}
	if d.skip('}') {
		return out, true
	}
	for {
		if d.next() != '"' {
			return nil, false
		}
		key, ok := d.string()
		if !ok || !d.skip(':') {
			return nil, false
		}
		v, ok := d.value(depth + 1)
		if !ok {
			return nil, false
		}
		out[key] = v
		if d.skip('}') {
			return out, true
		}
		if !d.skip(',') {
			return nil, false
		}
	}
}

func (d *jsonDecoder) list(depth int) (any, bool) {
	d.at++
	out := []any{}
	if d.skip(']') {
		return out, true
	}
	for {
		v, ok := d.value(depth + 1)
		if !ok {
			return nil, false
		}
		out = append(out, v)
		if d.skip(']') {
			return out, true
		}
		if !d.skip(',') {
			return nil, false
		}
	}
}

func (d *jsonDecoder) string() (string, bool) {
	d.at++
	start, escapes, ascii := d.at, 0, true
	for ; d.at < len(d.text) && d.text[d.at] != '"'; d.at++ {
		switch c := d.text[d.at]; {
		case c == '\\':
			escapes++
			d.at++
		case c < ' ':
			return "", false
		case c >= utf8.RuneSelf:
			ascii = false
		}
	}
	if d.at >= len(d.text) {
		return "", false
	}
	text := d.text[start:d.at]
	d.at++
	if !ascii && !utf8.Valid(text) {
		return "", false
	}
	if escapes > 0 {
		return unescaped(text, escapes)
	}
	if len(text) > maxShort {
		return string(text), true
	}
	out, ok := d.short[string(text)]
	if !ok {
		out = string(text)
		d.short[out] = out
	}
	return out, true
}

// unescaped returns the value of a string with escapes.
func unescaped(text []byte, escapes int) (string, bool) {
	out := make([]byte, 0, len(text)-escapes)
	for i := 0; i < len(text); i++ {
		c := text[i]
		if c != '\\' {
			out = append(out, c)
			continue
		}
		i++
		switch c := text[i]; c {
		case '"', '\\', '/':
			out = append(out, c)
		case 'n':
			out = append(out, '\n')
		case 't':
			out = append(out, '\t')
		case 'r':
			out = append(out, '\r')
		case 'b':
			out = append(out, '\b')
		case 'f':
			out = append(out, '\f')
		case 'u':
			var whole string
			err := json.Unmarshal(slices.Concat([]byte{'"'}, text, []byte{'"'}), &whole)
			return whole, err == nil
		default:
			return "", false
		}
	}
	return string(out), true
}

func (d *jsonDecoder) number() (any, bool) {
	start, whole := d.at, true
	for ; d.at < len(d.text); d.at++ {
		c := d.text[d.at]
		if c == '.' || c == 'e' || c == 'E' || c == '+' {
			whole = false
		} else if c != '-' && (c < '0' || c > '9') {
			break
		}
	}
	text := d.text[start:d.at]
	if digits := len(text); whole && digits > 0 && digits < 19 && (text[0] != '0' || digits == 1) && text[0] != '-' {
		n, err := strconv.ParseInt(string(text), 10, 64)
		return n, err == nil
	}
	var out any // negative, fractional and large numbers
	err := utiljson.Unmarshal(text, &out)
	return out, err == nil
}
