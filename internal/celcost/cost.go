package celcost

import (
	celast "github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
)

// This package computes the cost of an expression itself, because CEL's own tracker does
// not bound the time. CEL's tracker looks for operands on a stack that grows with the
// evaluation, and a single step may be any amount of work. Comparing [x, x], nested forty
// deep, with itself is one step of 2^40 comparisons. Adding lists creates a view whose
// size is recomputed each time. A "+" of dynamic type doubles a string for one unit, and
// a regular expression of a few bytes may compile to millions of instructions.
//
// CEL's only loops are macros; everything outside them is evaluated at most
// once. So each iteration of a macro is charged the number of nodes in its
// body, and calls that process texts, lists and maps are charged by their size
// before they run.

// Charging also checks whether the evaluation has been canceled (D18). CEL's
// own interruption is an error value of the innermost macro, which an enclosing
// macro may ignore: "error && false" is false.

// work is the budget of one evaluation. It is passed with the variables.
type work struct {
	left  uint64
	done  <-chan struct{} // closed when the evaluation is canceled
	looks uint            // how often spend was called

	constants map[string]*pattern // the regular expressions of the program
	patterns  map[string]*pattern // the regular expressions that this evaluation compiled
}

// varWork is the name of the *work among the variables. Expressions cannot use
// it.
const varWork = "#work"

// spend charges n to the budget, before the work is done (S2). If the budget is
// exceeded, the evaluation ends: cel-go recovers from this panic, and only this
// one, and returns it as an error. An error value would not work, because
// "error || true" is true in CEL.
func (w *work) spend(n uint64) {
	if w.looks++; w.looks%64 == 0 {
		select {
		case <-w.done:
			panic(interpreter.EvalCancelledError{
				Cause:   interpreter.ContextCancelled,
				Message: "cancelled",
			})
		default:
		}
	}
	if n > w.left {
		w.left = 0
		panic(interpreter.EvalCancelledError{
			Cause:   interpreter.CostLimitExceeded,
			Message: "cost limit exceeded",
		})
	}
	w.left -= n
}

func budget(vars interpreter.Activation) *work {
	if v, ok := vars.ResolveName(varWork); ok {
		if w, ok := v.(*work); ok {
			return w
		}
	}
	return &work{} // without a budget, any charge ends the evaluation
}

// A meter adds charges to one program.
type meter struct {
	base  uint64           // the price of the nodes outside macros
	impls map[string]impl  // prices of charged functions, by overload and by name
	turns map[int64]uint64 // the price of a macro's iteration, by the id of its step
	keys  map[int64]bool   // the keys of map literals that are not constants
	paid  map[int64]bool   // the steps and keys that are charged

	attributes interpreter.AttributeFactory
}

func newMeter(root celast.Expr, impls map[string]impl, adapter types.Adapter) *meter {
	m := &meter{impls: impls, turns: make(map[int64]uint64), keys: make(map[int64]bool), paid: make(map[int64]bool)}
	m.attributes = interpreter.NewAttributeFactory(nil, adapter, nil) // only for keys
	m.base = m.count(root)
	return m
}

// count returns the number of nodes in x outside the bodies of macros, and
// records the number in each body.
func (m *meter) count(x celast.Expr) uint64 {
	n := uint64(1)
	switch x.Kind() {
	case celast.ComprehensionKind:
		c := x.AsComprehension()
		m.turns[c.LoopStep().ID()] = m.count(c.LoopCondition()) + m.count(c.LoopStep())
		return n + m.count(c.IterRange()) + m.count(c.AccuInit()) + m.count(c.Result())
	case celast.LiteralKind:
		n += textCost(x.AsLiteral()) / 2 // for work on the literal, such as hashing a key
	case celast.MapKind:
		for _, e := range x.AsMap().Entries() {
			if key := e.AsMapEntry().Key(); key.Kind() != celast.LiteralKind {
				m.keys[key.ID()] = true
			}
		}
	}
	for _, part := range Parts(x) {
		n += m.count(part)
	}
	return n
}

// complete reports whether all macros and keys are charged. A step of a macro
// is never a key.
func (m *meter) complete() bool { return len(m.paid) == len(m.turns)+len(m.keys) }

// decorate is the interpreter.InterpretableDecorator of the program.
func (m *meter) decorate(i interpreter.Interpretable) (interpreter.Interpretable, error) {
	id := i.ID()
	switch x := i.(type) {
	case interpreter.InterpretableCall:
		i = m.call(x)
	case *attribute: // the attribute has one more qualifier
		x.key = m.keys[id]
	case interpreter.InterpretableAttribute:
		i = &attribute{x, m.attributes, m.keys[id]}
	case interpreter.InterpretableConstructor:
		if x.Type() == types.MapType {
			i = orderedMap{x}
		}
	}
	if m.keys[id] {
		m.paid[id] = true
		if _, ok := i.(*attribute); !ok {
			i = key{i}
		}
	}
	if n, ok := m.turns[id]; ok {
		m.paid[id] = true
		i = turn{i, n}
	}
	return i, nil
}

// A turn is the step of a macro, which is evaluated for each element.
type turn struct {
	interpreter.Interpretable
	price uint64
}

func (t turn) Eval(vars interpreter.Activation) ref.Val {
	budget(vars).spend(t.price)
	return t.Interpretable.Eval(vars)
}

// textFunctions are charged by the length of their texts. Any CEL function that
// is neither here nor in guard.go takes constant time.
var textFunctions = []string{
	overloads.Size, overloads.Contains, overloads.StartsWith, overloads.EndsWith,
	overloads.TypeConvertString, overloads.TypeConvertBytes,
	overloads.TypeConvertInt, overloads.TypeConvertUint, overloads.TypeConvertDouble, overloads.TypeConvertBool,
	overloads.TypeConvertTimestamp, overloads.TypeConvertDuration,
	operators.Less, operators.LessEquals, operators.Greater, operators.GreaterEquals,
}

// zonedFunctions take a time zone and are charged by its length.
var zonedFunctions = []string{
	overloads.TimeGetFullYear, overloads.TimeGetMonth, overloads.TimeGetDayOfYear, overloads.TimeGetDayOfMonth,
	overloads.TimeGetDate, overloads.TimeGetDayOfWeek, overloads.TimeGetHours, overloads.TimeGetMinutes,
	overloads.TimeGetSeconds, overloads.TimeGetMilliseconds,
}

// bytesCost is the price of processing a text of n bytes.
func bytesCost(n int) uint64 { return 1 + uint64(n)/16 }

// parserFactor is how many times longer it takes to parse a version than to
// scan its text.
const parserFactor = 6

func textCost(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return bytesCost(len(v))
	case types.Bytes:
		return bytesCost(len(v))
	}
	return 0
}

// weight counts the values in v; a long text counts as several. It stops at the
// limit, so that counting takes no longer than the budget allows.
func weight(v ref.Val, limit uint64) uint64 {
	n := max(1, textCost(v))
	switch v := v.(type) {
	case traits.Lister:
		for it := v.Iterator(); n <= limit && it.HasNext() == types.True; {
			n += weight(it.Next(), limit-n)
		}
	case traits.Mapper:
		for it := v.Iterator(); n <= limit && it.HasNext() == types.True; {
			key := it.Next()
			if n += weight(key, limit-n); n <= limit {
				n += weight(v.Get(key), limit-n)
			}
		}
	}
	return n
}

// compare charges for comparing two values, which takes time proportional to
// the smaller one.
func (w *work) compare(a, b ref.Val) {
	w.spend(weight(b, weight(a, w.left)))
}
