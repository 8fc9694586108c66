package document

import (
	"bufio"
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
// sequence continues. Text that is not JSON yields an [*Error] and ends the sequence, as
// does an error of the reader.
func Read[T any](r io.Reader, others ...Kind) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		dec := jsontext.NewDecoder(withoutBOM(r))
		for n := 1; ; n++ {
			var p T
			text, err := dec.ReadValue()
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(p, readError(n, nil, err, nil))
				return
			}
			if err := json.Unmarshal(text, &p, json.RejectUnknownMembers(true)); err != nil {
				var named T
				json.Unmarshal(text, &named) // only for the ID; the error has been found already
				if !yield(named, readError(n, text, err, others)) {
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

// withoutBOM skips a byte order mark, as loading catalogs does (H19).
func withoutBOM(r io.Reader) io.Reader {
	in := bufio.NewReader(r)
	if mark, _ := in.Peek(3); string(mark) == "\xef\xbb\xbf" {
		in.Discard(3)
	}
	return in
}

// readError reports which document of a stream is at fault, where, and why.
func readError(n int, text jsontext.Value, err error, others []Kind) error {
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
		return &Error{Document: n, Path: string(syn.JSONPointer), Err: fmt.Errorf("invalid JSON at byte %d: %w", syn.ByteOffset, cause)}
	}
	return err
}
