package fbc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"iter"

	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/regular"
)

// A Document is a document of a file, which need not be a blob of a catalog.
type Document struct {
	Pos  Pos
	JSON json.RawMessage // an object
}

// Template returns a *TemplateError if the document is a template, and nil otherwise.
func (d Document) Template() *TemplateError { return templateIn(d.JSON) }

// A DocumentReader reads documents that are not blobs, such as manifests and
// templates, as [Load] reads a catalog: in YAML and JSON, within limits.
// Limits.Expansion applies to everything that the reader reads, the other limits to
// each file. A DocumentReader must not be used by several goroutines at once.
type DocumentReader struct {
	limits Limits
	room   int64 // what the aliases of YAML may still add
}

// NewDocumentReader returns a reader with these limits.
func NewDocumentReader(limits *Limits) *DocumentReader {
	l := limits.WithDefaults()
	return &DocumentReader{limits: l, room: l.Expansion}
}

// Read yields the documents of a file in order, and an error for each document that cannot
// be read. The name stands for the file in positions. When the context ends, the sequence
// ends; ignore its last error.
func (r *DocumentReader) Read(ctx context.Context, f io.Reader, name string) iter.Seq2[Document, *Diagnostic] {
	return func(yield func(Document, *Diagnostic) bool) {
		d := decode.NewReader(r.limits.ofDocuments(), true)
		d.Room = r.room
		defer func() { r.room = d.Room }()
		s := decode.NewSplitter(ctx, r.limits.ofDocuments(), decode.BatchSize)
		for s.Begin(f, false); ; {
			var b decode.Batch
			err := s.Next(&b)
			if err == io.EOF {
				return
			}
			if err != nil {
				code, limit := Code(codes.Unreadable), new(decode.LimitError)
				if errors.As(err, &limit) {
					code = codes.Limit
				}
				yield(Document{}, &Diagnostic{Code: code, Severity: Error, Pos: Pos{name, s.Line()}, Err: regular.Cause(limitError(err))})
				return
			}
			for _, doc := range b.Docs {
				at := Pos{name, doc.Line}
				text, _, faults, ok := d.Read(ctx, doc)
				if ok {
					if !yield(Document{at, text}, nil) {
						return
					}
					continue
				}
				for _, fault := range diagnosed(at, faults) {
					if !yield(Document{}, fault) {
						return
					}
				}
			}
		}
	}
}
