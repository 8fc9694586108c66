package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/celcost"
	"github.com/olmkit/olmkit/reconcile/internal/celrule"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A schema is the structural schema of a version of a CRD.
type schema struct {
	compiled *jsonschema.Schema
	// source is the schema as the CRD has it, for the defaults.
	source map[string]any
	lists  []listRule
	rules  *celrule.Rules // nil if there are none
	// tooDeep are the paths below which the schema is not read, nothing if all
	// of it is.
	tooDeep []string
}

// maxPatterns is what the regular expressions of a schema may cost, in the unit of
// celcost: some tenths of a second.
const maxPatterns = 5_000_000

// A listRule is an x-kubernetes-list-type somewhere in a schema.
type listRule struct {
	path []string // "*" stands for any index or key
	keys []string // of a map; nil for a set
}

// compileSchema reads an OpenAPI v3 schema. JSON Schema draft 4 is what it comes
// from; the extensions of Kubernetes are put in its terms.
func compileSchema(ctx context.Context, text []byte) (*schema, error) {
	var source map[string]any
	if err := decode(text, &source); err != nil {
		return nil, err
	}
	s := &schema{source: source, rules: celrule.Compile(ctx, source)}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	patterns := uint64(maxPatterns)
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) { return celcost.Regexp(text, &patterns) })
	const url = "crd.json"
	if err := c.AddResource(url, s.convert(source, nil, 0)); err != nil {
		return nil, err
	}
	var err error
	s.compiled, err = c.Compile(url)
	return s, err
}

func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	return d.Decode(v)
}

// maxSchemaDepth bounds hostile schemas; those of the API server end long
// before.
const maxSchemaDepth = 256

// schemaKeywords are the keywords whose meaning is that of JSON Schema.
var schemaKeywords = []string{
	"type", "required", "enum", "pattern", "minLength", "maxLength", "minimum", "maximum",
	"exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems",
	"minProperties", "maxProperties",
}

// convert returns a schema in the terms of draft 4. What it does not know is
// left out: it would not refuse anything in a cluster either. Formats are, too:
// an API server only knows some of them, and refuses by fewer.
func (s *schema) convert(in map[string]any, path []string, depth int) map[string]any {
	out := map[string]any{}
	if depth > maxSchemaDepth {
		s.tooDeep = append(s.tooDeep, "/"+strings.Join(path, "/"))
		return out
	}
	for _, name := range schemaKeywords {
		if v, ok := in[name]; ok {
			out[name] = v
		}
	}
	child := func(v any, step ...string) any {
		m, ok := v.(map[string]any)
		if !ok {
			return v // additionalProperties: true
		}
		return s.convert(m, append(slices.Clip(path), step...), depth+1)
	}
	if m, ok := in["properties"].(map[string]any); ok {
		props := map[string]any{}
		for name, v := range m {
			props[name] = child(v, name)
		}
		out["properties"] = props
	}
	for name, step := range map[string][]string{"additionalProperties": {"*"}, "items": {"*"}, "not": nil} {
		if v, ok := in[name]; ok {
			out[name] = child(v, step...)
		}
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		if list, ok := in[name].([]any); ok {
			var all []any
			for _, v := range list {
				all = append(all, child(v))
			}
			out[name] = all
		}
	}
	s.extensions(in, out, path)
	return out
}

// extensions puts what Kubernetes adds to OpenAPI into draft 4.
func (s *schema) extensions(in, out map[string]any, path []string) {
	is := func(name string) bool { v, _ := in[name].(bool); return v }
	if is("x-kubernetes-int-or-string") {
		delete(out, "type")
		out["type"] = []any{"integer", "string"}
	}
	if is("x-kubernetes-embedded-resource") {
		out["type"] = "object"
		required, _ := out["required"].([]any)
		for _, name := range []any{"apiVersion", "kind"} {
			if !slices.Contains(required, name) {
				required = append(required, name)
			}
		}
		out["required"] = required
	}
	if is("nullable") {
		switch t := out["type"].(type) {
		case string:
			out["type"] = []any{t, "null"}
		case []any:
			out["type"] = append(slices.Clip(t), "null")
		}
		if enum, ok := out["enum"].([]any); ok {
			out["enum"] = append(slices.Clip(enum), nil)
		}
	}
	switch in["x-kubernetes-list-type"] {
	case "set":
		s.lists = append(s.lists, listRule{path: slices.Clone(path)})
	case "map":
		var keys []string
		list, _ := in["x-kubernetes-list-map-keys"].([]any)
		for _, k := range list {
			if k, ok := k.(string); ok {
				keys = append(keys, k)
			}
		}
		s.lists = append(s.lists, listRule{path: slices.Clone(path), keys: keys})
	}
}

// A schemaFault is an element of an object that the schema refuses, or that it
// might.
type schemaFault struct {
	path, message string
	unchecked     bool
}

// unchecked returns the rules of the schema that no object can be checked by.
func (s *schema) unchecked() []schemaFault {
	var out []schemaFault
	if n := len(s.tooDeep); n > 0 {
		slices.Sort(s.tooDeep) // members came from a map
		out = append(out, schemaFault{s.tooDeep[0], fmt.Sprintf("it is deeper than %d levels here, %s; what is below is not checked", maxSchemaDepth, places(n)), true})
	}
	if s.rules == nil {
		return out
	}
	return append(out, ruleFaults(s.rules.Faults)...)
}

func places(n int) string {
	if n == 1 {
		return "at this place alone"
	}
	return fmt.Sprintf("and at %d other places", n-1)
}

func ruleFaults(list []celrule.Fault) []schemaFault {
	var out []schemaFault
	for _, f := range list {
		out = append(out, schemaFault{f.Path, f.Message, f.Unchecked})
	}
	return out
}

// validate returns what the schema refuses of an object, by path. Defaults are
// filled in first, as the API server does when it reads the object. Metadata is
// the API server's affair. Rules are only checked on objects of the right form,
// as there.
func (s *schema) validate(ctx context.Context, o olm.Object, budget *celrule.Budget) []schemaFault {
	text, err := json.Marshal(o)
	if err != nil {
		return []schemaFault{{message: err.Error()}}
	}
	var v any
	if err := decode(text, &v); err != nil {
		return []schemaFault{{message: err.Error()}}
	}
	applyDefaults(s.source, v, 0)
	var faults []schemaFault
	if err := s.compiled.Validate(v); err != nil {
		if invalid, ok := err.(*jsonschema.ValidationError); ok {
			faults = leaves(faults, invalid)
		} else {
			faults = append(faults, schemaFault{message: err.Error()})
		}
	}
	for _, rule := range s.lists {
		faults = rule.check(faults, v, rule.path, "")
	}
	switch {
	case s.rules == nil:
	case len(faults) == 0:
		faults = ruleFaults(s.rules.Check(ctx, v, budget))
	default:
		faults = append(faults, schemaFault{message: "its rules are not checked before that is fixed", unchecked: true})
	}
	slices.SortStableFunc(faults, func(a, b schemaFault) int {
		return cmp.Or(compareBool(a.unchecked, b.unchecked), cmp.Compare(a.path, b.path), cmp.Compare(a.message, b.message))
	})
	return slices.Compact(faults)
}

var printer = message.NewPrinter(language.English)

// leaves collects the innermost causes.
func leaves(faults []schemaFault, e *jsonschema.ValidationError) []schemaFault {
	if len(e.Causes) == 0 {
		path := ""
		for _, p := range e.InstanceLocation {
			path += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(p)
		}
		return append(faults, schemaFault{path: path, message: e.ErrorKind.LocalizedString(printer)})
	}
	for _, c := range e.Causes {
		faults = leaves(faults, c)
	}
	return faults
}

// applyDefaults sets the members that an object lacks and its schema has a
// default for.
func applyDefaults(schema map[string]any, v any, depth int) {
	if depth > maxSchemaDepth {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		props, _ := schema["properties"].(map[string]any)
		for name, p := range props {
			p, ok := p.(map[string]any)
			if !ok {
				continue
			}
			if _, has := v[name]; !has {
				if d, ok := p["default"]; ok {
					v[name] = deepCopy(d)
				}
			}
			if child, has := v[name]; has {
				applyDefaults(p, child, depth+1)
			}
		}
		if more, ok := schema["additionalProperties"].(map[string]any); ok {
			for name, child := range v {
				if _, known := props[name]; !known {
					applyDefaults(more, child, depth+1)
				}
			}
		}
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for _, child := range v {
				applyDefaults(items, child, depth+1)
			}
		}
	}
}

func deepCopy(v any) any {
	switch v := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(v))
		for k, x := range v {
			out[k] = deepCopy(x)
		}
		return out
	case []any:
		out := make([]any, len(v))
		for i, x := range v {
			out[i] = deepCopy(x)
		}
		return out
	}
	return v
}

// check reports elements that occur twice in the lists at a path.
func (r listRule) check(faults []schemaFault, v any, path []string, at string) []schemaFault {
	if len(path) > 0 {
		switch v := v.(type) {
		case map[string]any:
			for name, child := range v {
				if path[0] == "*" || path[0] == name {
					faults = r.check(faults, child, path[1:], at+"/"+name)
				}
			}
		case []any:
			if path[0] == "*" {
				for i, child := range v {
					faults = r.check(faults, child, path[1:], fmt.Sprintf("%s/%d", at, i))
				}
			}
		}
		return faults
	}
	list, _ := v.([]any)
	seen := map[string]bool{}
	for i, x := range list {
		id := r.identity(x)
		if seen[id] {
			faults = append(faults, schemaFault{path: fmt.Sprintf("%s/%d", at, i), message: "occurs twice in the list"})
		}
		seen[id] = true
	}
	return faults
}

func (r listRule) identity(x any) string {
	if m, ok := x.(map[string]any); ok && r.keys != nil {
		parts := make([]any, len(r.keys))
		for i, k := range r.keys {
			parts[i] = m[k]
		}
		x = parts
	}
	text, err := json.Marshal(x)
	if err != nil {
		return fmt.Sprint(x)
	}
	return string(text)
}
