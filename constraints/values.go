package constraints

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/olmkit/olmkit/property"
)

// Values are the properties of one bundle as CEL rules see them, decoded once.
// They are immutable; any number of goroutines may use them.
type Values struct {
	list ref.Val
}

// NewValues decodes the properties, whose order the rules see. A value that is
// not in memory (see property.IsHeavy) is null to them. One that is not JSON,
// or holds a number that no float64 can, makes an error of each use of it.
func NewValues(props iter.Seq[property.Property]) *Values {
	var elems []ref.Val
	for p := range props {
		elems = append(elems, mapValue(map[string]ref.Val{
			"type":  types.String(p.Type),
			"value": decodeValue(p),
		}))
	}
	return &Values{types.NewRefValList(types.DefaultTypeAdapter, elems)}
}

func decodeValue(p property.Property) ref.Val {
	if p.Value == nil {
		return types.NullValue
	}
	var v any
	if err := json.Unmarshal(p.Value, &v); err != nil {
		return types.WrapErr(fmt.Errorf("property %s: %w", clip(p.Type), err))
	}
	return jsonValue(v)
}

// jsonValue returns decoded JSON as a CEL value. Numbers are doubles, as the
// running OLM has them.
func jsonValue(v any) ref.Val {
	switch v := v.(type) {
	case bool:
		return types.Bool(v)
	case float64:
		return types.Double(v)
	case string:
		return types.String(v)
	case []any:
		elems := make([]ref.Val, len(v))
		for i, e := range v {
			elems[i] = jsonValue(e)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, elems)
	case map[string]any:
		m := make(map[string]ref.Val, len(v))
		for k, e := range v {
			m[k] = jsonValue(e)
		}
		return mapValue(m)
	}
	return types.NullValue
}

// mapValue returns a map that is visited in the order of its keys.
func mapValue(m map[string]ref.Val) ref.Val {
	keyed := make(map[ref.Val]ref.Val, len(m))
	for k, v := range m {
		keyed[types.String(k)] = v
	}
	v := types.NewRefValMap(types.DefaultTypeAdapter, keyed)
	//lint:ignore S1040 later versions of cel-go return a ref.Val
	if mapper, ok := v.(traits.Mapper); ok {
		return sorted(mapper)
	}
	return v
}
