package resolver

import (
	"reflect"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/near"
)

// What somebody may have meant by a document that cannot be read: one of another
// kind, or a field with another name.

// documents are the kinds of documents, each with what reads it.
var documents = []struct {
	is  func(text jsontext.Value) bool
	say string
}{
	{isDocument[Problem], `this is a problem, which "olmkit resolve" answers and "olmkit explain --record" records`},
	{isDocument[Record], `this is a record of a problem, which "olmkit replay" reads`},
	{isDocument[SelectRequest], `this is a request for OLM v1, which "olmkit select" answers`},
}

func isDocument[T any](text jsontext.Value) bool {
	var x T
	return json.Unmarshal(text, &x, json.RejectUnknownMembers(true)) == nil
}

// meant says what a text is that was read as something else, or which field was
// meant by one that there is not, for the end of a clause; "" when nothing is like
// it. t is the type without that field.
func meant(text jsontext.Value, at jsontext.Pointer, t reflect.Type) string {
	for _, d := range documents {
		if d.is(text) {
			return ": " + d.say
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
