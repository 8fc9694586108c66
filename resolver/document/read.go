package document

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/jsonkind"
)

// Read returns the documents in a stream: one JSON document, several, or JSON Lines. Unknown
// and repeated fields are errors, which suggest a field, or name the kind of the document if
// it is one of others. json.Unmarshal reads the same documents, but ignores unknown fields.
//
// A document that is not a T yields an [*Error] and a T with only the ID set, and the
// sequence continues. Text that is not JSON yields an [*Error], and the sequence continues
// with the next line that begins with a brace. An error of the reader ends it.
func Read[T any](r io.Reader, others ...Kind) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		s := newStream(r)
		for n := 1; ; n++ {
			var p T
			text, err := s.next()
			if err == io.EOF {
				return
			}
			if err != nil {
				if !yield(p, readError(n, s, nil, err, nil)) || !errors.As(err, new(*jsontext.SyntacticError)) {
					return
				}
				if err := s.resume(); err != nil {
					if err != io.EOF {
						yield(p, err)
					}
					return
				}
				continue
			}
			if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
				var named T
				json.Unmarshal(text, &named) // only for the ID; the error has been found already
				if !yield(named, readError(n, s, text, err, others)) {
					return
				}
				continue
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// ReadOne returns the only document of a stream, as [Read] does.
func ReadOne[T any](r io.Reader, others ...Kind) (T, error) {
	var one T
	n := 0
	for p, err := range Read[T](r, others...) {
		if err != nil {
			return p, err
		}
		if n++; n > 1 {
			return p, &Error{Document: n, Err: errors.New("want one document")}
		}
		one = p
	}
	if n == 0 {
		return one, &Error{Err: errors.New("there is no document; want one JSON object")}
	}
	return one, nil
}

// A stream reads JSON values, and continues after text that is not JSON.
type stream struct {
	in    *bufio.Reader
	dec   *jsontext.Decoder
	lines int // how many the decoder has read
	first int // the number of the first line that it has read
}

func newStream(r io.Reader) *stream {
	s := &stream{in: withoutBOM(r), first: 1}
	s.dec = jsontext.NewDecoder(s)
	return s
}

// Read reads for the decoder, and counts lines.
func (s *stream) Read(p []byte) (int, error) {
	n, err := s.in.Read(p)
	s.lines += bytes.Count(p[:n], []byte("\n"))
	return n, err
}

func (s *stream) next() (jsontext.Value, error) { return s.dec.ReadValue() }

// line returns the line of an offset in or after the value that could not be read.
func (s *stream) line(offset int64) int {
	left := s.dec.UnreadBuffer()
	at := min(max(offset-s.dec.InputOffset(), 0), int64(len(left)))
	return s.first + s.lines - bytes.Count(left[at:], []byte("\n"))
}

// resume skips to the next line that begins with a brace. It returns io.EOF if there is none, or the
// error of the reader.
func (s *stream) resume() error {
	line := s.line(s.dec.InputOffset()) // where the value begins, or white space before it
	left := bytes.Clone(s.dec.UnreadBuffer())
	broken := bytes.TrimLeft(left, " \t\r\n")
	line += bytes.Count(left[:len(left)-len(broken)], []byte("\n"))
	s.in = bufio.NewReader(io.MultiReader(bytes.NewReader(broken), s.in))
	for {
		switch _, err := s.in.ReadSlice('\n'); err {
		case bufio.ErrBufferFull: // the line goes on
			continue
		case nil:
			line++
		default:
			return err
		}
		if next, _ := s.in.Peek(1); string(next) == "{" {
			s.first, s.lines = line, 0
			s.dec = jsontext.NewDecoder(s)
			return nil
		}
	}
}

// withoutBOM skips a byte order mark, as loading catalogs does (H19).
func withoutBOM(r io.Reader) *bufio.Reader {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	return in
}

// readError reports which document of a stream is at fault, where, and why.
func readError(n int, s *stream, text jsontext.Value, err error, others []Kind) error {
	var sem *json.SemanticError
	var syn *jsontext.SyntacticError
	switch {
	case errors.As(err, &sem):
		cause := sem.Err
		switch {
		case errors.As(cause, new(*versionError)):
		case errors.Is(err, json.ErrUnknownName):
			cause = errors.New("unknown field" + meant(text, sem.JSONPointer, sem.GoType, others))
		case sem.JSONKind == '0' && cause != nil:
			cause = errors.New("want a whole number that fits into 64 bits")
		case cause == nil:
			cause = fmt.Errorf("want %s, found %s", jsonkind.Of(sem.GoType), jsonkind.Name(sem.JSONKind))
		}
		return &Error{Document: n, Path: string(sem.JSONPointer), Err: cause}
	case errors.As(err, &syn):
		cause := syn.Err
		switch {
		case errors.Is(cause, io.ErrUnexpectedEOF):
			cause = errors.New("the text ends inside the document")
		case errors.Is(cause, jsontext.ErrDuplicateName):
			return &Error{Document: n, Path: string(syn.JSONPointer), Err: errors.New("appears twice in one object; keep one")}
		case syn.JSONPointer == "":
			cause = fmt.Errorf("%w; a document is one JSON object, and a stream is one after another", cause)
		}
		return &Error{Document: n, Path: string(syn.JSONPointer), Err: fmt.Errorf("invalid JSON on line %d: %w", s.line(syn.ByteOffset), cause)}
	}
	return err
}
