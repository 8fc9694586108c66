package olm

import (
	"bytes"
	stdjson "encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// marshal encodes v. Equal values give equal bytes.
func marshal(v any) ([]byte, error) {
	text, err := json.Marshal(v, json.Deterministic(true))
	return text, located(err)
}

// A Typed is a resource that has a spec and a status, as most kinds do.
type Typed[Spec, Status any] struct {
	Header
	Spec   Spec    `json:"spec,omitzero"`
	Status Status  `json:"status,omitzero"`
	Rest   Members `json:",unknown"`
}

// MarshalJSON writes the resource with its keys in a fixed order.
func (t Typed[Spec, Status]) MarshalJSON() ([]byte, error) {
	type plain Typed[Spec, Status]
	return marshal((*plain)(&t))
}

// UnmarshalJSON reads a resource.
func (t *Typed[Spec, Status]) UnmarshalJSON(text []byte) error {
	type plain Typed[Spec, Status]
	return unmarshal((*plain)(t), text)
}

// An Object is a resource of any kind.
type Object struct {
	Header
	Rest Members `json:",unknown"`
}

// MarshalJSON writes the object with its keys in a fixed order.
func (o Object) MarshalJSON() ([]byte, error) {
	type plain Object
	return marshal((*plain)(&o))
}

// UnmarshalJSON reads an object.
func (o *Object) UnmarshalJSON(text []byte) error {
	type plain Object
	return unmarshal((*plain)(o), text)
}

// ToObject returns r as an object of any kind. It fails only if a Rest in r holds text that is
// not JSON.
func ToObject(r Resource) (Object, error) {
	if o, ok := r.(*Object); ok {
		return *o, nil
	}
	var o Object
	text, err := marshal(r)
	if err == nil {
		err = unmarshal((*objectJSON)(&o), text)
	}
	if err != nil {
		return Object{}, fmt.Errorf("%s: %w", r.Head().Key(), err)
	}
	return o, nil
}

type objectJSON Object

// As converts o to a resource of a given kind: As[Subscription](o). The error names the
// object and has a JSON pointer to the element that the kind does not allow.
func As[T any, P interface {
	*T
	Resource
}](o Object) (*T, error) {
	v := new(T)
	text, err := marshal((*objectJSON)(&o))
	if err == nil {
		err = Unmarshal(text, v)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", o.Key(), err)
	}
	return v, nil
}

// Equal reports whether two resources have the same JSON, whatever the order of
// their keys.
func Equal(a, b Resource) bool {
	if reflect.DeepEqual(a, b) {
		return true
	}
	x, err1 := marshal(a)
	y, err2 := marshal(b)
	return err1 == nil && err2 == nil && EqualJSON(x, y) // keys of Rest are in the order in which they were read
}

// EqualJSON reports whether two JSON texts are equal, ignoring the order of keys.
// Texts that are not JSON are equal if their bytes are.
func EqualJSON(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	x, y := jsontext.Value(bytes.Clone(a)), jsontext.Value(bytes.Clone(b)) // cloned, because they are modified below
	return x.Canonicalize() == nil && y.Canonicalize() == nil && bytes.Equal(x, y)
}

// Members are the members of a JSON object, by name, for which a type of this package has no
// field. Copies of a resource share them, so they must not be modified in place.
type Members map[string]stdjson.RawMessage

// String returns the members as a JSON object, by name.
func (m Members) String() string {
	b := []byte{'{'}
	for i, name := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b = append(b, ',')
		}
		b, _ = jsontext.AppendQuote(b, name) // the only error is invalid UTF-8, which AppendQuote replaces
		b = append(append(b, ':'), m[name]...)
	}
	return string(append(b, '}'))
}

// Decode reads the members into a struct or a map, as [Unmarshal] does.
func (m Members) Decode(into any) error {
	text, err := marshal(m)
	if err != nil {
		return err
	}
	return Unmarshal(text, into)
}

// With returns a copy of m in which the member name is set to text, which is JSON. A nil text
// removes the member.
func (m Members) With(name string, text []byte) Members {
	out := maps.Clone(m)
	if out == nil {
		out = Members{}
	}
	if out[name] = text; text == nil {
		delete(out, name)
	}
	return out
}

// Get returns the JSON text at a path of member names and list indices, and whether it
// exists. The path begins at the top of the object. It cannot refer to a field of the
// header.
func (o *Object) Get(path ...string) (stdjson.RawMessage, bool) {
	if len(path) == 0 {
		return nil, false
	}
	v, ok := get(jsontext.Value(o.Rest[path[0]]), path[1:])
	return stdjson.RawMessage(v), ok
}

func get(v jsontext.Value, path []string) (jsontext.Value, bool) {
	for _, name := range path {
		var members map[string]jsontext.Value
		var elements []jsontext.Value
		switch {
		case v.Kind() == '{' && json.Unmarshal(v, &members) == nil:
			next, ok := members[name]
			if !ok {
				return nil, false
			}
			v = next
		case v.Kind() == '[' && json.Unmarshal(v, &elements) == nil:
			i, err := strconv.Atoi(name)
			if err != nil || i < 0 || i >= len(elements) {
				return nil, false
			}
			v = elements[i]
		default:
			return nil, false
		}
	}
	return v, len(v) > 0
}

// Set returns the object with a top-level member set to the JSON of value; a
// nil value removes the member.
func (o Object) Set(name string, value any) (Object, error) {
	var text []byte
	if value != nil {
		var err error
		if text, err = marshal(value); err != nil {
			return Object{}, fmt.Errorf("%s: /%s: %w", o.Key(), name, err)
		}
	}
	o.Rest = o.Rest.With(name, text)
	return o, nil
}
