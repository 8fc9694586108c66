package yamljson

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
)

// A Stream reads the documents of a stream one at a time, so that memory is bounded by the largest. A line that begins
// with "---" or "..." ends a document.
type Stream struct {
	ctx  context.Context // of the stream
	r    *bufio.Reader
	max  int64
	next []byte // the last separator, if it also has content of the next document

	begun bool // something was read
	err   error
}

// NewStream returns a Stream of documents of at most max bytes each.
func NewStream(ctx context.Context, r io.Reader, max int64) *Stream {
	return &Stream{ctx: ctx, r: bufio.NewReader(r), max: max}
}

// A SizeError is the error for a document that is too long.
type SizeError struct{ Max int64 }

// Error returns a message that names the limit. Callers that have another name for the limit wrap the error.
func (e *SizeError) Error() string {
	return fmt.Sprintf("the document exceeds the limit of %d bytes", e.Max)
}

// Next returns the next document, or io.EOF after the last one. Documents may be empty, except for text before the
// first separator.
func (s *Stream) Next() ([]byte, error) {
	for s.err == nil {
		doc, err := s.read()
		if s.err = err; err == nil || err == io.EOF && !nothing(doc) {
			if first := !s.begun; first && nothing(doc) {
				s.begun = true
				continue
			}
			s.begun = true
			return doc, nil
		}
	}
	return nil, s.err
}

// read returns the text up to the next separator, with io.EOF if there is none.
func (s *Stream) read() ([]byte, error) {
	doc := s.next
	s.next = nil
	for start := true; ; {
		part, err := s.r.ReadSlice('\n')
		if s.ctx.Err() != nil {
			return nil, context.Cause(s.ctx)
		}
		if start && separates(part) && !onlyDirectives(doc) {
			if rest := bytes.TrimSpace(part[3:]); part[0] == '-' && len(rest) > 0 && rest[0] != '#' {
				s.next = bytes.Clone(part) // "--- a: b" is content, too
			}
			return doc, nil
		}
		if doc = append(doc, part...); int64(len(doc)) > s.max {
			return nil, &SizeError{Max: s.max}
		}
		if start = err == nil; err != nil && err != bufio.ErrBufferFull {
			return doc, err
		}
	}
}

// separates reports whether a line, or the beginning of one, separates documents.
func separates(line []byte) bool {
	return documentMarker(line) && (len(line) == 3 || bytes.IndexByte([]byte(" \t\r\n"), line[3]) >= 0)
}

// nothing reports whether a document has neither content nor directives.
func nothing(doc []byte) bool {
	for line := range bytes.Lines(doc) {
		if text := bytes.TrimSpace(line); len(text) > 0 && text[0] != '#' {
			return false
		}
	}
	return true
}

// onlyDirectives reports whether the document has not begun: the next "---" then belongs to it.
func onlyDirectives(doc []byte) bool {
	found := false
	for line := range bytes.Lines(doc) {
		if text := bytes.TrimSpace(line); line[0] == '%' {
			found = true
		} else if len(text) > 0 && text[0] != '#' {
			return false
		}
	}
	return found
}
