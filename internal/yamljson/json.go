package yamljson

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
)

// JSON returns the JSON form of a document that is YAML or JSON. If it is JSON, the result shares memory with doc. The
// errors are those of [Slow].
func JSON(ctx context.Context, doc []byte, opts *Options) ([]byte, error) {
	text := bytes.TrimSpace(doc)
	if len(text) > 0 && (text[0] == '{' || text[0] == '[') && json.Valid(text) {
		return text, nil
	}
	if out, ok := Convert(nil, doc, opts); ok {
		return out, nil
	}
	return Slow(ctx, doc, opts)
}

// Values returns the JSON form of all values in a document. JSON may have several, one after the other, as in logs;
// YAML has one. The errors are those of [Slow], including [ErrMore].
func Values(ctx context.Context, doc []byte, opts *Options) ([][]byte, error) {
	if values, ok := jsonValues(doc); ok {
		return values, nil
	}
	out, err := JSON(ctx, doc, opts)
	if err != nil {
		return nil, err
	}
	return [][]byte{out}, nil
}

// jsonValues returns the values of a JSON text that consists of objects and lists.
func jsonValues(text []byte) (values [][]byte, ok bool) {
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		var v json.RawMessage
		if err := d.Decode(&v); err == io.EOF {
			return values, len(values) > 0
		} else if err != nil || v[0] != '{' && v[0] != '[' {
			return nil, false
		}
		values = append(values, v)
	}
}
