package celcost

import (
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
)

// A map hashes each key and compares it with an existing one. A constant key is
// charged as a node. Any other key is charged by its length before it is used:
// in m[k] when cel-go qualifies m with k, in {k: v} after k is evaluated.

// An attribute wraps a cel-go attribute to charge for it when it is used as a key.
type attribute struct {
	interpreter.InterpretableAttribute
	factory interpreter.AttributeFactory
	key     bool // in a map literal
}

// Eval implements interpreter.Interpretable.
func (x *attribute) Eval(vars interpreter.Activation) ref.Val {
	return x.Exec(interpreter.AsFrame(vars))
}

// Exec implements interpreter.InterpretableV2.
func (x *attribute) Exec(frame *interpreter.ExecutionFrame) ref.Val {
	v := x.InterpretableAttribute.Exec(frame)
	if x.key {
		budget(frame).spend(textCost(v))
	}
	return v
}

// Qualify implements interpreter.Qualifier.
func (x *attribute) Qualify(vars interpreter.Activation, obj any) (any, error) {
	q, err := x.qualifier(vars)
	if err != nil {
		return nil, err
	}
	return q.Qualify(vars, obj)
}

// QualifyIfPresent implements interpreter.Qualifier.
func (x *attribute) QualifyIfPresent(vars interpreter.Activation, obj any, presenceOnly bool) (any, bool, error) {
	q, err := x.qualifier(vars)
	if err != nil {
		return nil, false, err
	}
	return q.QualifyIfPresent(vars, obj, presenceOnly)
}

// qualifier evaluates the key and charges for it.
func (x *attribute) qualifier(vars interpreter.Activation) (interpreter.Qualifier, error) {
	v, err := x.Resolve(vars)
	if err != nil {
		return nil, err
	}
	budget(vars).spend(textCost(x.Adapter().NativeToValue(v)))
	return x.factory.NewQualifier(nil, x.ID(), v, false)
}

// A key is a map literal's key that is not an attribute.
type key struct {
	interpreter.Interpretable
}

// Eval implements interpreter.Interpretable.
func (k key) Eval(vars interpreter.Activation) ref.Val {
	v := k.Interpretable.Eval(vars)
	budget(vars).spend(textCost(v))
	return v
}
