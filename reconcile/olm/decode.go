package olm

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// Unmarshal reads JSON into a value, which may hold values of this package at any
// depth. An error that is not one of syntax names the element at fault by its JSON
// pointer, and says so in the same words each time: it may end up in a status, and
// be compared there with that of another process. The JSON package below it has
// words by chance.
func Unmarshal(text []byte, into any) error {
	return located(json.Unmarshal(text, into))
}

// unmarshal reads one resource into a new T, so that nothing of an old value
// remains, and keeps no reference to the input.
func unmarshal[T any](into *T, text []byte) error {
	var v T
	if err := Unmarshal(text, &v); err != nil {
		return err
	}
	*into = v
	return nil
}

// A locatedError says what is wrong with an element of a JSON text.
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

// located returns an error of package json in words of our own.
func located(err error) error {
	var sem *json.SemanticError
	if !errors.As(err, &sem) {
		return err
	}
	path := string(sem.JSONPointer)
	var inner *locatedError
	switch {
	case errors.As(sem.Err, &inner): // of a type that reads itself
		return &locatedError{path + inner.path, inner.err}
	case sem.Err != nil:
		return &locatedError{path, sem.Err}
	}
	return &locatedError{path, fmt.Errorf("want %s, found %s", wanted(sem.GoType), found(sem.JSONKind))}
}

// wanted names the JSON that a Go type is written as.
func wanted(t reflect.Type) string {
	if t == nil {
		return "something else"
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return wanted(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	}
	return "a number"
}

func found(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '[':
		return "a list"
	case '{':
		return "an object"
	}
	return "something else"
}
