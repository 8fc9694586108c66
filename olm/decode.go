package olm

import (
	"errors"
	"fmt"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/internal/jsonkind"
)

// Unmarshal reads JSON into a value, which may hold values of this package at any depth. An
// error other than a syntax error names the element at fault by its JSON pointer. The same
// fault always has the same error text, because texts are written to statuses, where a
// difference causes a write. The texts of the underlying JSON package vary between processes.
func Unmarshal(text []byte, into any) error {
	return located(json.Unmarshal(text, into))
}

// unmarshal reads one resource into a new T, so that nothing of the old value remains. The
// result does not refer to text.
func unmarshal[T any](into *T, text []byte) error {
	var v T
	if err := Unmarshal(text, &v); err != nil {
		return err
	}
	*into = v
	return nil
}

// A locatedError is an error about one element of a JSON text.
type locatedError struct {
	path string // JSON pointer
	err  error
}

// Error returns "/spec/replicas: want a number, found a string".
func (e *locatedError) Error() string {
	if e.path == "" {
		return e.err.Error()
	}
	return e.path + ": " + e.err.Error()
}

// Unwrap returns the cause.
func (e *locatedError) Unwrap() error { return e.err }

// located converts an error of package json to one whose text is always the same.
func located(err error) error {
	var sem *json.SemanticError
	if !errors.As(err, &sem) {
		return err
	}
	path := string(sem.JSONPointer)
	var inner *locatedError
	switch {
	case errors.As(sem.Err, &inner): // an error from a type with an UnmarshalJSON method
		return &locatedError{path + inner.path, inner.err}
	case sem.Err != nil:
		return &locatedError{path, sem.Err}
	}
	return &locatedError{path, fmt.Errorf("want %s, found %s", jsonkind.Of(sem.GoType), jsonkind.Name(sem.JSONKind))}
}
