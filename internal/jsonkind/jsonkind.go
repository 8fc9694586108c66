// Package jsonkind names kinds of JSON for messages, everywhere in the same words:
// "want a string, found a list".
package jsonkind

import (
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Nothing is the name of what is no JSON.
const Nothing = "nothing"

// Name returns the name of a kind with its article, or [Nothing].
func Name(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return Nothing
}

// Of returns the name of what a Go type is written as; "another type" if that is
// not known.
func Of(t reflect.Type) string {
	if t == nil {
		return "another type"
	}
	if t == reflect.TypeFor[time.Time]() {
		return "a time"
	}
	switch t.Kind() {
	case reflect.Pointer:
		return Of(t.Elem())
	case reflect.String:
		return "a string"
	case reflect.Bool:
		return "a boolean"
	case reflect.Slice, reflect.Array:
		return "a list"
	case reflect.Struct, reflect.Map:
		return "an object"
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64,
		reflect.Uint, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64, reflect.Float32, reflect.Float64:
		return "a number"
	}
	return "another type"
}
