package registryv1

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/olmkit/olmkit/internal/jsonkind"
)

// maxWrongTypes is the number of values of the wrong type that are reported for one object.
const maxWrongTypes = 10

// A wrongType is a value that does not fit the Go type of its object.
type wrongType struct {
	path []any // of keys and indexes
	err  error
}

// wrongTypes returns why an object does not fit type T: all values of the wrong type, up to a limit, or
// the cause alone if its place is unknown.
func wrongTypes[T any](object map[string]any, cause error) (out []wrongType) {
	object = runtime.DeepCopyJSON(object)
	for len(out) < maxWrongTypes {
		text, err := json.Marshal(object)
		if err != nil {
			break
		}
		err = json.Unmarshal(text, new(T))
		if err == nil {
			break
		}
		path := []any{}
		var wrong *json.UnmarshalTypeError
		if errors.As(err, &wrong) {
			if path = pathAt(text, wrong.Offset); len(path) > 0 {
				err = fmt.Errorf("%s is %s; it must be %s", pathText(path), jsonValue(wrong.Value), goType(wrong.Type))
			}
		} else if len(text) <= maxSearched {
			path = search[T](object, nil, err.Error())
			err = fmt.Errorf("%s: %w", pathText(path), err)
		}
		if len(path) == 0 || !remove(object, path) {
			break
		}
		out = append(out, wrongType{path, err})
	}
	if len(out) == 0 {
		out = []wrongType{{err: readable(cause)}}
	}
	return out
}

// maxSearched is the size of an object, as JSON, in which a value is searched by trial.
const maxSearched = 256 << 10

// search returns the path of the value below an object that causes an error: without it, the error
// is another one, or there is none. It returns as much of the path as it finds.
func search[T any](root map[string]any, path []any, text string) []any {
	var at any = root
	for _, step := range path {
		at = child(at, step)
	}
	var steps []any
	switch at := at.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(at)) {
			steps = append(steps, key)
		}
	case []any:
		for i := range at {
			steps = append(steps, i)
		}
	}
	for _, step := range steps {
		next := append(append([]any{}, path...), step)
		without := runtime.DeepCopyJSON(root)
		if !remove(without, next) {
			continue
		}
		rest, err := json.Marshal(without)
		if err != nil {
			return path
		}
		if err := json.Unmarshal(rest, new(T)); err == nil || err.Error() != text {
			return search[T](root, next, text)
		}
	}
	return path
}

func child(v, step any) any {
	switch v := v.(type) {
	case map[string]any:
		key, _ := step.(string)
		return v[key]
	case []any:
		if i, ok := step.(int); ok && i < len(v) {
			return v[i]
		}
	}
	return nil
}

// remove removes the value at a path, or replaces an element of a list with null. It reports whether
// there was one.
func remove(root map[string]any, path []any) bool {
	var at any = root
	for _, step := range path[:len(path)-1] {
		at = child(at, step)
	}
	last := path[len(path)-1]
	if child(at, last) == nil {
		return false
	}
	switch at := at.(type) {
	case map[string]any:
		delete(at, last.(string))
	case []any:
		at[last.(int)] = nil
	}
	return true
}

// pathAt returns the path of the value in JSON that ends at an offset or, if it is an object or a
// list, begins before it.
func pathAt(text []byte, offset int64) []any {
	type level struct {
		key   any // a string, or an index
		list  bool
		value bool // the next token of an object is a value
	}
	var levels []level
	path := func() []any {
		var out []any
		for _, l := range levels {
			out = append(out, l.key)
		}
		return out
	}
	d := json.NewDecoder(bytes.NewReader(text))
	for {
		token, err := d.Token()
		if err != nil {
			return nil
		}
		delim, _ := token.(json.Delim)
		if delim == '}' || delim == ']' {
			levels = levels[:len(levels)-1]
		} else if n := len(levels) - 1; n >= 0 {
			switch l := &levels[n]; {
			case l.list:
				l.key = l.key.(int) + 1
			case !l.value:
				l.key, l.value = token, true
				continue
			default:
				l.value = false
			}
		}
		if d.InputOffset() >= offset {
			return path()
		}
		if delim == '{' || delim == '[' {
			levels = append(levels, level{key: any(-1), list: delim == '['})
		}
	}
}

// pathText returns a path such as spec.list[0].name.
func pathText(path []any) string {
	var b strings.Builder
	for _, step := range path {
		switch step := step.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", step)
		default:
			if b.Len() > 0 {
				b.WriteByte('.')
			}
			fmt.Fprint(&b, step)
		}
	}
	return b.String()
}

// jsonValue returns a value that encoding/json describes, such as "number 1.5", in words.
func jsonValue(text string) string {
	kind, value, ok := strings.Cut(text, " ")
	switch kind {
	case "bool":
		kind = "boolean"
	case "array":
		kind = "list"
	}
	if ok {
		kind += " " + value
	}
	if kind == "object" {
		return "an object"
	}
	return "a " + kind
}

// goType returns the JSON type of a Go type, in words.
func goType(t reflect.Type) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	switch t.Kind() {
	case reflect.Int, reflect.Int64:
		return "an integer"
	case reflect.Int32:
		return "an integer of 32 bits"
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			return "a string in base64"
		}
	}
	return jsonkind.Of(t)
}
