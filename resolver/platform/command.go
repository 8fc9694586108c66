package platform

import (
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
)

// objects returns the objects that manage an operator.
func (o *Operator) objects() []kubectl.Operator {
	v1 := o.Reading == graph.V1
	if len(o.Objects) == 0 {
		if v1 {
			return []kubectl.Operator{{V1: true, Name: o.Package}}
		}
		return []kubectl.Operator{{Namespace: "operators", Name: o.Package}}
	}
	out := make([]kubectl.Operator, len(o.Objects))
	for i, x := range o.Objects {
		out[i] = kubectl.Operator{V1: v1, Namespace: x.Namespace, Name: x.Name}
	}
	return out
}
