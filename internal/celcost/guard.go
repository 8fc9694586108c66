package celcost

import (
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/interpreter/functions"
)

// A guarded call evaluates its arguments, charges for the call, and then makes the call.
// It implements only ID and Eval, because cel-go would use any other methods to bypass
// Eval.
type guarded struct {
	id   int64
	args []interpreter.InterpretableV2
	do   func(w *work, args []ref.Val) ref.Val
}

func (g *guarded) ID() int64 { return g.id }

func (g *guarded) Eval(vars interpreter.Activation) ref.Val {
	vals := make([]ref.Val, len(g.args))
	for i, arg := range g.args {
		vals[i] = arg.Eval(vars)
	}
	for _, v := range vals {
		if types.IsUnknownOrError(v) {
			return v
		}
	}
	return types.LabelErrNode(g.id, g.do(budget(vars), vals))
}

// call returns a guarded call that charges for c, or c itself if it takes
// constant time.
func (m *meter) call(c interpreter.InterpretableCall) interpreter.Interpretable {
	g := &guarded{id: c.ID(), args: c.Args()}
	switch c.Function() {
	case operators.Equals:
		g.do = doEqual
	case operators.NotEquals:
		g.do = doNotEqual
	case operators.In, operators.OldIn:
		g.do = doIn
	case operators.Add:
		g.do = doAdd
	case overloads.Matches:
		g.do = doMatches
	default:
		// Like CEL, look for the implementation by overload first, then by
		// name.
		f, ok := m.impls[c.OverloadID()]
		if !ok {
			f, ok = m.impls[c.Function()]
		}
		if !ok {
			return c
		}
		g.do = func(w *work, args []ref.Val) ref.Val {
			for _, v := range args {
				n := textCost(v)
				if f.parser {
					n *= parserFactor
				}
				w.spend(n)
			}
			if f.zoned && len(args) == 2 {
				if err := checkZone(args[1]); err != nil {
					return err
				}
			}
			return anywhere(invoke(f.Overload, c, args))
		}
	}
	return g
}

// invoke calls an implementation as CEL does: directly if the first argument
// has the required trait, otherwise as a method of that argument.
func invoke(impl *functions.Overload, c interpreter.InterpretableCall, args []ref.Val) ref.Val {
	if len(args) == 0 {
		return noOverload(c.Function())
	}
	if impl.OperandTrait == 0 || args[0].Type().HasTrait(impl.OperandTrait) {
		switch {
		case len(args) == 1 && impl.Unary != nil:
			return impl.Unary(args[0])
		case len(args) == 2 && impl.Binary != nil:
			return impl.Binary(args[0], args[1])
		case impl.Function != nil:
			return impl.Function(args...)
		}
	}
	if r, ok := args[0].(traits.Receiver); ok {
		return r.Receive(c.Function(), c.OverloadID(), args[1:])
	}
	return noOverload(c.Function())
}

func noOverload(function string) ref.Val { return types.NewErr("no such overload: %s", function) }

func doEqual(w *work, args []ref.Val) ref.Val {
	w.compare(args[0], args[1])
	return types.Equal(args[0], args[1])
}

func doNotEqual(w *work, args []ref.Val) ref.Val {
	w.compare(args[0], args[1])
	return types.Bool(types.Equal(args[0], args[1]) != types.True)
}

func doIn(w *work, args []ref.Val) ref.Val {
	elem, in := args[0], args[1]
	switch in.(type) {
	case traits.Mapper: // a look-up
		w.spend(weight(elem, w.left))
	default:
		w.spend(weight(in, w.left))
	}
	if c, ok := in.(traits.Container); ok && in.Type().HasTrait(traits.ContainerType) {
		return c.Contains(elem)
	}
	return noOverload(operators.In)
}

func doAdd(w *work, args []ref.Val) ref.Val {
	switch a := args[0].(type) {
	case traits.MutableLister:
		// A macro's accumulator grows in place.
		if b, ok := args[1].(traits.Lister); ok {
			w.spend(length(b))
		}
	case traits.Lister:
		if b, ok := args[1].(traits.Lister); ok {
			w.spend(length(a) + length(b))
			return concat(a, b)
		}
	default:
		w.spend(textCost(args[0]) + textCost(args[1]))
	}
	if a, ok := args[0].(traits.Adder); ok && args[0].Type().HasTrait(traits.AdderType) {
		return a.Add(args[1])
	}
	return noOverload(operators.Add)
}

// concat returns a new list. CEL would return a view.
func concat(a, b traits.Lister) ref.Val {
	all := make([]ref.Val, 0, length(a)+length(b))
	for _, l := range []traits.Lister{a, b} {
		for it := l.Iterator(); it.HasNext() == types.True; {
			all = append(all, it.Next())
		}
	}
	return types.NewRefValList(types.DefaultTypeAdapter, all)
}

func length(l traits.Lister) uint64 {
	if n, ok := l.Size().(types.Int); ok && n > 0 {
		return uint64(n)
	}
	return 0
}
