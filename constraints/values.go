package constraints

import (
	"encoding/json"
	"fmt"
	"iter"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/olmkit/olmkit/internal/celcost"
	"github.com/olmkit/olmkit/property"
)

// Values are the properties of one bundle as CEL rules see them. Each is
// decoded when a rule first reads it. Values are immutable and safe for
// concurrent use.
type Values struct {
	list ref.Val
}

// NewValues returns the values of properties in their order. The caller must
// not modify them. A value that is not in memory (see property.IsHeavy) is
// null. Using a value that is not JSON, or that contains a number outside the
// range of float64, is an error.
func NewValues(props iter.Seq[property.Property]) *Values {
	var elems []ref.Val
	for p := range props {
		elems = append(elems, celcost.MapValue(map[string]any{
			"type":  types.String(p.Type),
			"value": &celcost.Later{Make: func() ref.Val { return decodeValue(p) }},
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

// jsonValue converts decoded JSON to a CEL value. Numbers are doubles, as in
// OLM.
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
		for k, e := range v { // the map is not shared
			v[k] = jsonValue(e)
		}
		return celcost.MapValue(v)
	}
	return types.NullValue
}
