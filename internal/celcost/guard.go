package celcost

import (
	"errors"
	"fmt"
	"math"
	"math/bits"
	"regexp"
	"regexp/syntax"
	"strings"

	"github.com/google/cel-go/common/operators"
	"github.com/google/cel-go/common/overloads"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/interpreter/functions"
)

// A guarded call evaluates its arguments, pays for the call, and makes it. It
// embeds no more than cel-go needs of it: later versions find a way past Eval by
// further methods of a call.
type guarded struct {
	interpreter.Interpretable
	args []interpreter.Interpretable
	do   func(w *work, args []ref.Val) ref.Val
}

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
	return types.LabelErrNode(g.ID(), g.do(budget(vars), vals))
}

// call returns the call in a form that pays, or as it is if it costs nothing.
func (m *meter) call(c interpreter.InterpretableCall) interpreter.Interpretable {
	g := &guarded{Interpretable: c, args: interpretables(c.Args())}
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
		// The order in which CEL itself looks for the implementation.
		f, ok := m.impls[c.OverloadID()]
		if !ok {
			f, ok = m.impls[c.Function()]
		}
		if !ok {
			return c
		}
		g.do = func(w *work, args []ref.Val) ref.Val {
			if f.product {
				w.spendProduct(args)
			} else {
				for _, v := range args {
					w.spend(textCost(v))
				}
			}
			return invoke(f.Overload, c, args)
		}
	}
	return g
}

// interpretables returns the arguments of a call, whose type is another one in
// later versions of cel-go.
func interpretables[T interpreter.Interpretable](args []T) []interpreter.Interpretable {
	out := make([]interpreter.Interpretable, len(args))
	for i, arg := range args {
		out[i] = arg
	}
	return out
}

// invoke calls an implementation as CEL does: if the first argument has what it
// takes, otherwise as a method of that argument.
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

// spendProduct pays for a call that may go through each argument for each part
// of the others, or make that much.
func (w *work) spendProduct(args []ref.Val) {
	n := uint64(1)
	for _, v := range args {
		high, low := bits.Mul64(n, weight(v, w.left))
		if n = low; high > 0 {
			n = math.MaxUint64
		}
	}
	w.spend(n)
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
		// What a macro collects grows in place.
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

// concat returns a new list, where CEL would return a view of the two.
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

func doMatches(w *work, args []ref.Val) ref.Val {
	s, ok1 := args[0].(types.String)
	pattern, ok2 := args[1].(types.String)
	if !ok1 || !ok2 {
		return noOverload(overloads.Matches)
	}
	w.spend(uint64(len(pattern))) // parsing takes some hundred bytes for each
	parsed, err := syntax.Parse(string(pattern), syntax.Perl)
	if err != nil {
		return types.WrapErr(regexpError(err))
	}
	// Compiling and matching take time in proportion to the size of the
	// program, which repetitions multiply.
	w.spend(regexpSize(parsed) / 4 * bytesCost(len(s)))
	re, err := regexp.Compile(string(pattern))
	if err != nil {
		return types.WrapErr(regexpError(err))
	}
	return types.Bool(re.MatchString(string(s)))
}

func regexpError(err error) error {
	var e *syntax.Error
	if errors.As(err, &e) {
		return fmt.Errorf("matches: %s: %s", e.Code, clip(e.Expr))
	}
	return err
}

// clip quotes the beginning of a text.
func clip(s string) string {
	const most = 80
	if len(s) <= most {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprintf("%q…", strings.ToValidUTF8(s[:most], ""))
}

// maxRegexpSize stands for all larger sizes. It exceeds any sensible budget and
// is small enough to be multiplied.
const maxRegexpSize = 1 << 30

// regexpSize estimates how many instructions an expression compiles to.
func regexpSize(re *syntax.Regexp) uint64 {
	n := uint64(4 + len(re.Rune)/2)
	for _, sub := range re.Sub {
		n = min(n+regexpSize(sub), maxRegexpSize)
	}
	if re.Op == syntax.OpRepeat {
		n *= uint64(max(re.Min, re.Max, 1))
	}
	return min(n, maxRegexpSize)
}
