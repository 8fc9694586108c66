// Package document reads JSON documents such as
// [github.com/olmkit/olmkit/resolver.Problem], and the catalogs that they name. The error
// for a malformed document of any kind is an [Error].
package document

import (
	"fmt"

	"github.com/olmkit/olmkit/internal/visible"
)

// An Error reports a malformed document, as opposed to a problem without a solution.
type Error struct {
	// Document is the number of the document in a stream, from 1; 0 if it was not
	// read from one.
	Document int
	// Path is the JSON pointer of the fault: /subscriptions/2/package.
	Path string
	Err  error
}

// Error returns "problem: document n: path: what is wrong".
func (e *Error) Error() string {
	text := "problem: "
	if e.Document > 0 {
		text += fmt.Sprintf("document %d: ", e.Document)
	}
	if e.Path != "" {
		text += visible.Line(e.Path) + ": "
	}
	return text + e.Err.Error()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Errorf returns an [*Error] for the value at a path.
func Errorf(path, format string, args ...any) error {
	return &Error{Path: path, Err: fmt.Errorf(format, args...)}
}
