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
		elems = append(elems, celcost.MapValue(map[string]ref.Val{
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
		return celcost.MapValue(m)
	}
	return types.NullValue
}
