package main

import (
	"bytes"
	"encoding"
	"encoding/json"
	"path"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/invopop/jsonschema"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver/document"
)

const module = "github.com/olmkit/olmkit"

// generate returns the schema of a kind of document. For documents that olmkit reads, no
// field is required, because missing fields have defaults or are checked later.
func generate(d cli.Document, comments map[string]string) ([]byte, error) {
	is := reflect.TypeOf(d.Is)
	named := map[string]reflect.Type{}
	r := jsonschema.Reflector{
		Anonymous: true, ExpandedStruct: true, RequiredFromJSONSchemaTags: d.Read, AllowAdditionalProperties: !d.Read || d.More,
		Namer: func(t reflect.Type) string {
			if t.Name() == "" {
				return ""
			}
			name := path.Base(t.PkgPath()) + "." + t.Name()
			named[name] = t
			return name
		},
		Mapper: special,
		LookupComment: func(t reflect.Type, field string) string {
			key := t.PkgPath() + "." + t.Name()
			if field != "" {
				key += "." + field
			}
			if c := comments[key]; c != "" || is == nil {
				return c
			}
			return comments[is.PkgPath()+"."+is.Name()+"."+field]
		},
	}
	s := r.ReflectFromType(reflect.TypeOf(d.Type))
	if !d.Read {
		requireLists(s, reflect.TypeOf(d.Type))
		for name, def := range s.Definitions {
			requireLists(def, named[name])
		}
	}
	s.Title = d.Title
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	if err := json.Indent(&out, text, "", "  "); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// requireLists makes the lists with omitzero required: they are omitted only from values
// that never occur in answers, such as the zero value.
func requireLists(s *jsonschema.Schema, t reflect.Type) {
	if t == nil || t.Kind() != reflect.Struct || s.Properties == nil {
		return
	}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if _, ok := s.Properties.Get(name); ok && f.Type.Kind() == reflect.Slice && f.Type != reflect.TypeFor[json.RawMessage]() && options == "omitzero" && !slices.Contains(s.Required, name) {
			s.Required = append(s.Required, name)
		}
	}
}

// special returns the schema of a type with its own marshaler, or nil.
func special(t reflect.Type) *jsonschema.Schema {
	switch t {
	case reflect.TypeFor[document.FormatVersion]():
		return &jsonschema.Schema{Const: document.Version, Description: "The version of the document."}
	case reflect.TypeFor[graph.Reading]():
		return &jsonschema.Schema{Type: "string", Enum: []any{graph.Classic.String(), graph.V1.String()}}
	case reflect.TypeFor[olm.Object]():
		return &jsonschema.Schema{Type: "object", Description: "A Kubernetes object."}
	case reflect.TypeFor[json.RawMessage]():
		return &jsonschema.Schema{}
	}
	if t != reflect.TypeFor[time.Time]() && t.Implements(reflect.TypeFor[encoding.TextMarshaler]()) {
		return &jsonschema.Schema{Type: "string"}
	}
	return nil
}

// plainComment converts a doc comment to a description, with the brackets of links removed.
func plainComment(text string) string {
	return strings.NewReplacer("[", "", "]", "").Replace(strings.Join(strings.Fields(text), " "))
}
