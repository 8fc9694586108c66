// Package jsonkind returns uniform names of JSON kinds for messages such as
// "want a string, found a list".
package jsonkind

import (
	"reflect"
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// Nothing is the name of an invalid kind.
const Nothing = "nothing"

// Name returns the name of a kind with an article, or [Nothing].
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

// Of returns the name of the JSON kind of a Go type, or "another type" if it is
// unknown.
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
