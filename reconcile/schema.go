package reconcile

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"golang.org/x/text/language"
	"golang.org/x/text/message"

	"github.com/olmkit/olmkit/internal/celcost"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/celrule"
)

// A schema is the structural schema of a version of a CRD.
type schema struct {
	compiled *jsonschema.Schema
	// converted is the schema as it was compiled, and patterns are its regular
	// expressions, by text: what validating costs.
	converted map[string]any
	patterns  map[string]*celcost.Regexp
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
	s := &schema{source: source, rules: celrule.Compile(ctx, source), patterns: map[string]*celcost.Regexp{}}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft4)
	budget := uint64(maxPatterns)
	c.UseRegexpEngine(func(text string) (jsonschema.Regexp, error) {
		re, err := celcost.NewRegexp(text, &budget)
		if err != nil {
			return nil, err
		}
		s.patterns[text] = re
		return re, nil
	})
	const url = "urn:crd" // absolute: the library puts a relative one into the working directory
	s.converted = s.convert(source, nil, 0)
	if err := c.AddResource(url, s.converted); err != nil {
		return nil, err
	}
	var err error
	s.compiled, err = c.Compile(url)
	return s, err
}

// decode decodes JSON with the numbers that an API server would have: integers of 64
// bits, and what a float64 makes of all others. The library computes with any number
// exactly, for which a few digits of an exponent are enough to take it minutes.
func decode(text []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(v); err != nil {
		return err
	}
	return roundNumbers(v)
}

// roundNumbers rounds the numbers in a decoded value, or that a pointer leads to.
func roundNumbers(v any) error {
	round := func(x any, set func(any)) error {
		n, ok := x.(json.Number)
		if !ok {
			return roundNumbers(x)
		}
		if _, err := n.Int64(); err == nil {
			return nil
		}
		f, err := n.Float64()
		if err != nil {
			return fmt.Errorf("number %.40s is out of range", n)
		}
		set(json.Number(strconv.FormatFloat(f, 'g', -1, 64)))
		return nil
	}
	switch v := v.(type) {
	case *any:
		return round(*v, func(x any) { *v = x })
	case *map[string]any:
		return roundNumbers(*v)
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(v)) {
			if err := round(v[name], func(x any) { v[name] = x }); err != nil {
				return err
			}
		}
	case []any:
		for i, x := range v {
			if err := round(x, func(x any) { v[i] = x }); err != nil {
				return err
			}
		}
	}
	return nil
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
// as there. An object that costs more to check than m pays for is not checked.
func (s *schema) validate(ctx context.Context, o olm.Object, m *schemaMeter, budget *celrule.Budget) []schemaFault {
	text, err := json.Marshal(o)
	if err != nil {
		return []schemaFault{{message: err.Error()}}
	}
	var v any
	if err := decode(text, &v); err != nil {
		return []schemaFault{{message: err.Error()}}
	}
	err = applyDefaults(m, s.source, v, 0)
	if err == nil {
		err = s.pay(m, s.converted, v)
	}
	if err != nil {
		return []schemaFault{{message: err.Error(), unchecked: true}}
	}
	var faults []schemaFault
	if err := s.compiled.Validate(v); err != nil {
		if invalid, ok := err.(*jsonschema.ValidationError); ok {
			faults = leaves(faults, invalid)
		} else {
			faults = append(faults, schemaFault{message: err.Error()})
		}
	}
	for _, rule := range s.lists {
		if faults, err = rule.check(m, faults, v, rule.path, ""); err != nil {
			return []schemaFault{{message: err.Error(), unchecked: true}}
		}
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
// default for, and pays for it.
func applyDefaults(m *schemaMeter, schema map[string]any, v any, depth int) error {
	if depth > maxSchemaDepth {
		return nil
	}
	switch v := v.(type) {
	case map[string]any:
		props, _ := schema["properties"].(map[string]any)
		if err := m.spend(uint64(1 + len(props))); err != nil {
			return err
		}
		for name, p := range props {
			p, ok := p.(map[string]any)
			if !ok {
				continue
			}
			if _, has := v[name]; !has {
				if d, ok := p["default"]; ok {
					if err := m.spend(visitCost * parts(d)); err != nil {
						return err
					}
					v[name] = deepCopy(d)
				}
			}
			if child, has := v[name]; has {
				if err := applyDefaults(m, p, child, depth+1); err != nil {
					return err
				}
			}
		}
		if more, ok := schema["additionalProperties"].(map[string]any); ok {
			for name, child := range v {
				if _, known := props[name]; !known {
					if err := applyDefaults(m, more, child, depth+1); err != nil {
						return err
					}
				}
			}
		}
	case []any:
		if items, ok := schema["items"].(map[string]any); ok {
			for _, child := range v {
				if err := applyDefaults(m, items, child, depth+1); err != nil {
					return err
				}
			}
		}
	}
	return nil
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

// check reports elements that occur twice in the lists at a path, and pays for it.
func (r listRule) check(m *schemaMeter, faults []schemaFault, v any, path []string, at string) ([]schemaFault, error) {
	err := m.spend(visitCost)
	if len(path) > 0 {
		switch v := v.(type) {
		case map[string]any:
			for name, child := range v {
				if err != nil || path[0] != "*" {
					break
				}
				faults, err = r.check(m, faults, child, path[1:], at+"/"+name)
			}
			if child, ok := v[path[0]]; ok && path[0] != "*" && err == nil {
				faults, err = r.check(m, faults, child, path[1:], at+"/"+path[0])
			}
		case []any:
			for i, child := range v {
				if err != nil || path[0] != "*" {
					break
				}
				faults, err = r.check(m, faults, child, path[1:], fmt.Sprintf("%s/%d", at, i))
			}
		}
		return faults, err
	}
	list, _ := v.([]any)
	if len(list) > 0 && err == nil {
		err = m.spend(4 * parts(v))
	}
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for i, x := range list {
		id := r.identity(x)
		if seen[id] {
			faults = append(faults, schemaFault{path: fmt.Sprintf("%s/%d", at, i), message: "occurs twice in the list"})
		}
		seen[id] = true
	}
	return faults, nil
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
