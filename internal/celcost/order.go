package celcost

import (
	"cmp"
	"fmt"
	"slices"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// CEL does not specify the order in which macros visit the keys of a map, and
// cel-go uses Go's random order. Results must not depend on it (D15), so keys
// are sorted here, both in variables and in maps created by the expression.

// A sortedMap is a map that is visited in key order. Most maps are only looked
// up, so the keys are sorted on the first visit.
type sortedMap struct {
	traits.Mapper
	once sync.Once
	keys []ref.Val // by type, then as text
}

// Iterator implements traits.Iterable.
func (s *sortedMap) Iterator() traits.Iterator {
	s.once.Do(func() {
		type key struct {
			typ, text string
			ref.Val
		}
		var keys []key
		for it := s.Mapper.Iterator(); it.HasNext() == types.True; {
			k := it.Next()
			keys = append(keys, key{k.Type().TypeName(), fmt.Sprint(k.Value()), k})
		}
		slices.SortFunc(keys, func(a, b key) int {
			return cmp.Or(cmp.Compare(a.typ, b.typ), cmp.Compare(a.text, b.text))
		})
		s.keys = make([]ref.Val, len(keys))
		for i, k := range keys {
			s.keys[i] = k.Val
		}
	})
	return types.NewRefValList(types.DefaultTypeAdapter, s.keys).Iterator()
}

// orderedMap is a map literal.
type orderedMap struct {
	interpreter.Interpretable
}

func (o orderedMap) Eval(vars interpreter.Activation) ref.Val {
	v := o.Interpretable.Eval(vars)
	if m, ok := v.(traits.Mapper); ok && m.Size() != types.IntZero {
		return &sortedMap{Mapper: m}
	}
	return v
}

// MapValue returns a map that macros visit in key order. Its values are CEL
// values or [Later]. The result keeps a reference to m.
func MapValue(m map[string]any) ref.Val {
	return &sortedMap{Mapper: types.NewStringInterfaceMap(values{types.DefaultTypeAdapter}, m)}
}

// A Later is a map value that is computed when it is first used, since a rule
// reads only few of them. It is safe for concurrent use.
type Later struct {
	Make  func() ref.Val
	once  sync.Once
	value ref.Val
}

// values is an adapter that returns CEL values unchanged.
type values struct{ types.Adapter }

// NativeToValue implements types.Adapter.
func (a values) NativeToValue(v any) ref.Val {
	switch v := v.(type) {
	case ref.Val:
		return v
	case *Later:
		v.once.Do(func() { v.value = v.Make() })
		return v.value
	}
	return a.Adapter.NativeToValue(v)
}
