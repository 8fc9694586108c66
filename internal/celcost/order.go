package celcost

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// CEL leaves open in which order macros visit the keys of a map, and cel-go
// takes Go's random one. Answers must not depend on it (D15): here keys come
// sorted, whether the map is a variable's or made by the expression.

// A sortedMap is a map that is visited in the order of its keys.
type sortedMap struct {
	traits.Mapper
	keys []ref.Val
}

// sorted returns m with its keys sorted by type, then as text.
func sorted(m traits.Mapper) ref.Val {
	s := &sortedMap{Mapper: m}
	for it := m.Iterator(); it.HasNext() == types.True; {
		s.keys = append(s.keys, it.Next())
	}
	slices.SortFunc(s.keys, func(a, b ref.Val) int {
		return cmp.Or(
			cmp.Compare(a.Type().TypeName(), b.Type().TypeName()),
			cmp.Compare(fmt.Sprint(a.Value()), fmt.Sprint(b.Value())),
		)
	})
	return s
}

// Iterator implements traits.Iterable.
func (s *sortedMap) Iterator() traits.Iterator {
	//lint:ignore S1040 later versions of cel-go return a ref.Val
	l, _ := types.NewRefValList(types.DefaultTypeAdapter, s.keys).(traits.Lister)
	return l.Iterator()
}

// orderedMap is a map literal.
type orderedMap struct {
	interpreter.Interpretable
}

func (o orderedMap) Eval(vars interpreter.Activation) ref.Val {
	v := o.Interpretable.Eval(vars)
	if m, ok := v.(traits.Mapper); ok && m.Size() != types.IntZero {
		return sorted(m)
	}
	return v
}

// MapValue returns a map that macros visit in the order of its keys.
func MapValue(m map[string]ref.Val) ref.Val {
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
