package bundledir

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/yamljson"
)

// A Document is the text of a document, from its first content on, and the line of the file
// where that is.
type Document struct {
	Text []byte
	Line int
}

// Documents yields the documents of a file, as kubectl splits them: a stream of JSON values
// if it begins with one, else YAML documents between lines "---" (K2). It leaves out those
// without content. An error is about where a document ends, so nothing follows it.
func Documents(text []byte) iter.Seq2[Document, error] {
	return func(yield func(Document, error) bool) {
		line := 1
		if head := bytes.TrimSpace(text); len(head) > 0 && head[0] == '{' {
			d := json.NewDecoder(bytes.NewReader(text))
			for n := 0; ; n++ {
				start := d.InputOffset()
				var v json.RawMessage
				err := d.Decode(&v)
				end := d.InputOffset() - int64(len(v))
				switch {
				case err == io.EOF:
					return
				case err != nil && n > 1:
					yield(Document{Line: line}, err)
					return
				case err != nil: // YAML may begin like JSON
					text = text[start:]
				default:
					line += bytes.Count(text[start:end], []byte("\n"))
					if !yield(Document{v, line}, nil) {
						return
					}
					line += bytes.Count(v, []byte("\n"))
					continue
				}
				break
			}
		}
		splitYAML(text, line, yield)
	}
}

// splitYAML yields the YAML documents in text. Package yamljson later reads each one as
// YAML 1.1 (K3), and reports text after an end-of-document marker as an error (K213).
func splitYAML(text []byte, line int, yield func(Document, error) bool) {
	var doc Document
	at := 0 // where the line begins
	for part := range bytes.Lines(text) {
		content := bytes.TrimSpace(part)
		if rest, ok := bytes.CutPrefix(part, []byte("---")); ok {
			if rest = bytes.TrimSpace(rest); len(rest) > 0 && rest[0] != '#' {
				yield(Document{Line: line}, fmt.Errorf("invalid document separator: %q; put it on a line without other text", content))
				return
			}
			if len(doc.Text) > 0 && !yield(doc, nil) {
				return
			}
			doc = Document{}
		} else if len(doc.Text) > 0 {
			doc.Text = doc.Text[:len(doc.Text)+len(part)]
		} else if len(content) > 0 && content[0] != '#' {
			doc = Document{text[at:][:len(part)], line}
		}
		at += len(part)
		line++
	}
	if len(doc.Text) > 0 {
		yield(doc, nil)
	}
}

// JSON returns a document as JSON, or nil if it is null. If there is an error, it returns the
// error's line in the file, and otherwise that of the document. The error is an
// [*fbc.LimitError], a [*yamljson.LimitError], a [*SyntaxError], or the cause of the context's end.
func (r *Reader) JSON(ctx context.Context, doc Document) (value []byte, line int, err error) {
	value, err = yamljson.JSON(ctx, doc.Text, &yamljson.Options{Expansion: &r.room})
	var syntax *yamljson.Error
	var limit *yamljson.LimitError
	switch size := int64(len(value)); {
	case errors.As(err, &syntax):
		return nil, doc.Line + max(syntax.Line-1, 0), &SyntaxError{doc.Text, syntax}
	case r.limits.Expansion > 0 && errors.As(err, &limit) && limit.Kind == yamljson.Expansion:
		err = &fbc.LimitError{Limit: "Expansion", What: "expansion of YAML aliases", Max: limit.Max}
	case err == nil && r.limits.DocumentSize > 0 && size > r.limits.DocumentSize:
		err = &fbc.LimitError{Limit: "DocumentSize", What: "document", Size: size, Max: r.limits.DocumentSize}
	case string(value) == "null":
		value = nil
	}
	return value, doc.Line, err
}

// Room returns how many bytes the aliases of further documents may add. It is less after a
// document that has aliases.
func (r *Reader) Room() int64 { return r.room }

// A SyntaxError reports a document that is not YAML or JSON.
type SyntaxError struct {
	text []byte
	// Err is the error of Kubernetes' parser.
	Err *yamljson.Error
}

// Error explains the error without the line.
func (e *SyntaxError) Error() string {
	if err := yamljson.CheckText(e.text); err != nil {
		return err.Error()
	}
	return "invalid YAML: " + e.Err.Plain()
}

// Unwrap returns e.Err.
func (e *SyntaxError) Unwrap() error { return e.Err }
