package document

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/near"
)

// A Kind is a kind of document that may be given by mistake instead of another.
type Kind struct {
	is   func(text []byte) bool
	hint string
}

// KindOf returns the kind of documents of type T. The hint describes such a
// document: "this is a ...".
func KindOf[T any](hint string) Kind {
	return Kind{func(text []byte) bool {
		var x T
		return json.Unmarshal(text, &x, json.RejectUnknownMembers(true)) == nil
	}, hint}
}

// meant returns the end of an error about an unknown field: the kind of
// document that the text probably is, or a similar field of type t. It returns
// "" if there is no suggestion.
func meant(text jsontext.Value, at jsontext.Pointer, t reflect.Type, others []Kind) string {
	for _, k := range others {
		if k.is(text) {
			return ": " + k.hint
		}
	}
	if likely := near.Names(at.LastToken(), fields(t), 1); len(likely) > 0 {
		return "; did you mean " + likely[0] + "?"
	}
	return ""
}

// fields returns the names of the fields of a type in JSON.
func fields(t reflect.Type) []string {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || t.Kind() != reflect.Struct {
		return nil
	}
	var names []string
	for _, f := range reflect.VisibleFields(t) {
		if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); name != "" && name != "-" {
			names = append(names, name)
		}
	}
	return names
}
