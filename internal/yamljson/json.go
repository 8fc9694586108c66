package yamljson

import (
	"bytes"
	"context"
	"encoding/json"
)

// JSON returns the JSON form of a document that is YAML or JSON. JSON is returned as it is, and part of doc. Errors are
// those of [Slow].
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
