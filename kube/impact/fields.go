package impact

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// A field is a difference between two JSON values.
type field struct {
	path     string
	keyword  string // the keyword of the schema at path, if the value belongs to a schema
	old, new any    // nil if absent
}

// diff returns the differences between two JSON values without defaults, sorted by path.
// Elements of lists that have names are compared by name. Other lists of objects are
// compared as sets, and lists of scalars as a whole.
func diff(path string, old, new any) (out []field) { // K224
	if reflect.DeepEqual(old, new) {
		return nil
	}
	if a, ok := old.(map[string]any); ok {
		if b, ok := new.(map[string]any); ok {
			for _, k := range union(a, b) {
				out = append(out, diff(path+step(k), a[k], b[k])...)
			}
			return out
		}
	}
	a, aOK := old.([]any)
	b, bOK := new.([]any)
	if !aOK || !bOK {
		return []field{{path: path, old: old, new: new}}
	}
	if x, y := byName(a, b); x != nil {
		for _, k := range union(x, y) {
			out = append(out, diff(path+"["+k+"]", x[k], y[k])...)
		}
		return out
	}
	if !objects(a) || !objects(b) {
		return []field{{path: path, old: old, new: new}}
	}
	for _, v := range without(a, b) {
		out = append(out, field{path: path + "[]", old: v})
	}
	for _, v := range without(b, a) {
		out = append(out, field{path: path + "[]", new: v})
	}
	return out
}

// diffSchema returns the differences between two schemas of a CRD. Paths are those of fields,
// such as ^.spec.size, as in package crdsafety.
func diffSchema(path string, old, new map[string]any) (out []field) {
	for _, k := range union(old, new) {
		a, aOK := old[k].(map[string]any)
		b, bOK := new[k].(map[string]any)
		switch {
		case k == "properties":
			for _, name := range union(a, b) {
				x, xOK := a[name].(map[string]any)
				y, yOK := b[name].(map[string]any)
				if xOK && yOK {
					out = append(out, diffSchema(path+step(name), x, y)...)
				} else {
					out = append(out, diff(path+step(name), a[name], b[name])...)
				}
			}
		case (k == "items" || k == "additionalProperties") && aOK && bOK:
			out = append(out, diffSchema(path+"."+k, a, b)...)
		case !reflect.DeepEqual(old[k], new[k]):
			out = append(out, field{path, k, old[k], new[k]})
		}
	}
	return out
}

// schemaAt returns the schema of the field at a path as diffSchema writes it, or nil. Schema is that of the
// field at the path from.
func schemaAt(from, path string, schema map[string]any) map[string]any {
	if from == path {
		return schema
	}
	nested := map[string]any{from + ".items": schema["items"], from + ".additionalProperties": schema["additionalProperties"]}
	properties, _ := schema["properties"].(map[string]any)
	for name, v := range properties {
		nested[from+step(name)] = v
	}
	for _, at := range union(nested, nil) {
		next, ok := nested[at].(map[string]any)
		if !ok || !strings.HasPrefix(path, at) {
			continue
		}
		if found := schemaAt(at, path, next); found != nil {
			return found
		}
	}
	return nil
}

// union returns the keys of two maps, sorted.
func union[V any](a, b map[string]V) []string {
	keys := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(keys)
	return slices.Compact(keys)
}

// step returns the text that a key appends to a path.
func step(key string) string {
	if key == "" || strings.ContainsAny(key, `./[]"`) {
		return "[" + strconv.Quote(key) + "]"
	}
	return "." + key
}

// nameFields are the fields that identify an element of a list in Kubernetes objects.
var nameFields = []string{"name", "mountPath", "containerPort", "port"}

// byName returns two lists as maps by the first field that identifies the elements of both,
// or nil if there is none.
func byName(a, b []any) (x, y map[string]any) {
	for _, name := range nameFields {
		x, y := index(a, name), index(b, name)
		if x != nil && y != nil {
			return x, y
		}
	}
	return nil, nil
}

// index returns the elements of a list by the value of a field, or nil if the values are not
// unique or an element has none.
func index(list []any, name string) map[string]any {
	out := make(map[string]any, len(list))
	for _, v := range list {
		o, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		k := keyOf(o, name)
		if k == "" {
			return nil
		}
		if _, twice := out[k]; twice {
			return nil
		}
		out[k] = o
	}
	return out
}

// keyOf returns the value of a field that identifies an element of a list, or "".
func keyOf(element any, name string) string {
	o, _ := element.(map[string]any)
	switch v := o[name].(type) {
	case string:
		return v
	case int64:
		return strconv.FormatInt(v, 10)
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	return ""
}

func objects(list []any) bool {
	return !slices.ContainsFunc(list, func(v any) bool { _, ok := v.(map[string]any); return !ok })
}

// without returns the elements of list that others lacks, as JSON sorts them. Repeated
// elements count separately.
func without(list, others []any) []any {
	have := map[string]int{}
	for _, v := range others {
		have[string(text(v))]++
	}
	var out []any
	for _, v := range list {
		k := string(text(v))
		if have[k]--; have[k] < 0 {
			out = append(out, v)
		}
	}
	slices.SortFunc(out, func(a, b any) int { return slices.Compare(text(a), text(b)) })
	return out
}

// text returns a value as JSON, or nil if it is absent.
func text(v any) json.RawMessage {
	if v == nil {
		return nil
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil // cannot happen: the value was decoded from JSON
	}
	return bytes.TrimSpace(b.Bytes())
}
