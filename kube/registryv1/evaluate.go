package registryv1

import (
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/message"
)

// A violation is a node in the tree of the reasons why a value violates a schema.
//
// The tree is that of github.com/santhosh-tekuri/jsonschema, which operator-controller uses,
// and FuzzConfig compares the two. That library is not linked, because it compiles the
// schemas of five drafts whenever a program starts, which took a third of the time of
// "olmkit version".
type violation struct {
	at     []string // the path of the value
	kind   violationKind
	causes []*violation
}

// A violationKind is one of the types in package kind.
type violationKind interface {
	LocalizedString(*message.Printer) string
}

// A format checks a value that has the type of the schema.
type format func(value any) error

// An evaluator validates values against schemas. It knows the keywords that the schema of a
// configuration uses, and ignores formats that it has no function for.
type evaluator struct {
	formats map[string]format
}

// check returns the violations of a schema by the value at a path, or nil if it is valid.
func (e *evaluator) check(schema map[string]any, v any, at []string) *violation {
	at = slices.Clip(at)
	one := func(k violationKind, causes ...*violation) *violation { return &violation{at, k, causes} }
	if want, ok := schema["type"].(string); ok && !hasType(v, want) {
		return one(&kind.Type{Got: jsonType(v), Want: []string{want}})
	}
	if name, ok := schema["format"].(string); ok && e.formats[name] != nil {
		if err := e.formats[name](v); err != nil {
			return one(&kind.Format{Got: v, Want: name, Err: err})
		}
	}
	if ref, ok := schema["$ref"].(string); ok {
		name := strings.TrimPrefix(ref, componentPrefix)
		if cause := e.check(components()[name].(map[string]any), v, at); cause != nil {
			return one(&kind.Reference{Keyword: "$ref", URL: ref}, cause.members()...)
		}
		return nil
	}
	var out []*violation
	switch v := v.(type) {
	case map[string]any:
		out = e.object(schema, v, at)
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for i, item := range v {
				out = append(out, e.check(items, item, append(at, strconv.Itoa(i))))
			}
		}
	case string:
		for _, k := range checkString(schema, v) {
			out = append(out, one(k))
		}
	}
	for _, keyword := range []string{"allOf", "anyOf", "oneOf"} {
		list, ok := schema[keyword].([]any)
		if !ok {
			continue
		}
		var matches []int
		var causes []*violation
		for i, s := range list {
			if cause := e.check(s.(map[string]any), v, at); cause != nil {
				causes = append(causes, cause)
			} else {
				matches = append(matches, i)
			}
		}
		switch {
		case keyword == "allOf" && len(causes) > 0:
			out = append(out, one(&kind.AllOf{}, causes...))
		case keyword == "anyOf" && len(matches) == 0:
			out = append(out, one(&kind.AnyOf{}, causes...))
		case keyword == "oneOf" && len(matches) != 1:
			out = append(out, one(&kind.OneOf{Subschemas: matches}, causes...))
		}
	}
	out = slices.DeleteFunc(out, func(x *violation) bool { return x == nil })
	switch len(out) {
	case 0:
		return nil
	case 1:
		return out[0]
	}
	return one(&kind.Group{}, out...)
}

// object returns the violations of the keywords about objects. Some are nil.
func (e *evaluator) object(schema, v map[string]any, at []string) (out []*violation) {
	required, _ := schema["required"].([]any)
	var missing []string
	for _, name := range required {
		if _, ok := v[name.(string)]; !ok {
			missing = append(missing, name.(string))
		}
	}
	if missing != nil {
		out = append(out, &violation{at: at, kind: &kind.Required{Missing: missing}})
	}
	properties, _ := schema["properties"].(map[string]any)
	var unknown []string
	for _, name := range slices.Sorted(maps.Keys(v)) {
		s, ok := properties[name].(map[string]any)
		if !ok {
			switch additional := schema["additionalProperties"].(type) {
			case bool:
				if !additional {
					unknown = append(unknown, name)
				}
			case map[string]any:
				s, ok = additional, true
			}
		}
		if ok {
			out = append(out, e.check(s, v[name], append(at, name)))
		}
	}
	if unknown != nil {
		out = append(out, &violation{at: at, kind: &kind.AdditionalProperties{Properties: unknown}})
	}
	return out
}

// checkString returns the violations of the keywords about strings.
func checkString(schema map[string]any, s string) (out []violationKind) {
	n := utf8.RuneCountInString(s)
	if least, ok := schema["minLength"].(int); ok && n < least {
		out = append(out, &kind.MinLength{Got: n, Want: least})
	}
	if most, ok := schema["maxLength"].(int); ok && n > most {
		out = append(out, &kind.MaxLength{Got: n, Want: most})
	}
	if pattern, ok := schema["pattern"].(string); ok && !regexp.MustCompile(pattern).MatchString(s) {
		out = append(out, &kind.Pattern{Got: s, Want: pattern})
	}
	return out
}

// members returns the causes of a group, and any other violation alone.
func (v *violation) members() []*violation {
	if _, ok := v.kind.(*kind.Group); ok {
		return v.causes
	}
	return []*violation{v}
}

// list returns the violation and those below it, as the library's basic output lists them:
// the only cause of a reference is left out, and what is below it.
func (v *violation) list() []*violation {
	out := []*violation{v}
	if _, ok := v.kind.(*kind.Reference); ok && len(v.causes) == 1 {
		return out
	}
	for _, cause := range v.causes {
		out = append(out, cause.list()...)
	}
	return out
}

func hasType(v any, want string) bool {
	if n, ok := v.(float64); ok && want == "integer" {
		return n == math.Trunc(n)
	}
	return jsonType(v) == want
}

// jsonType returns the JSON type of a value that encoding/json decoded.
func jsonType(v any) string {
	switch v.(type) {
	case nil:
		return "null"
	case bool:
		return "boolean"
	case float64:
		return "number"
	case string:
		return "string"
	case []any:
		return "array"
	case map[string]any:
		return "object"
	}
	panic(fmt.Sprintf("%T is not a type of JSON", v)) // cannot happen: encoding/json decoded it
}
