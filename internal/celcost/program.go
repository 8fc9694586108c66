package celcost

import (
	"context"
	"errors"
	"fmt"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"
	"github.com/google/cel-go/interpreter/functions"
)

// An Env plans programs that pay for what they do. It is immutable.
type Env struct {
	env   *cel.Env
	impls map[string]impl
}

// An impl is the implementation of a function that pays.
type impl struct {
	*functions.Overload
	product bool // pays for its arguments multiplied
	parser  bool // pays more for a byte, as it parses its arguments
	zoned   bool // its second argument is a time zone
}

// NewEnv returns the environment with prices. Functions in addition to CEL's own that
// parse texts are named in parsers: they pay by the length of their arguments. Those that go through an argument for each part of another one, or
// make that much, are named in products. All others have to take the same time
// for all arguments.
func NewEnv(env *cel.Env, parsers, products []string) (*Env, error) {
	e := &Env{env, map[string]impl{}}
	for _, group := range []struct {
		names                  []string
		product, parser, zoned bool
	}{{names: textFunctions}, {names: zonedFunctions, zoned: true}, {names: parsers, parser: true}, {names: products, product: true}} {
		for _, name := range group.names {
			f, ok := env.Functions()[name]
			if !ok {
				return nil, fmt.Errorf("CEL environment: no function %q", name)
			}
			bindings, err := f.Bindings()
			if err != nil {
				return nil, fmt.Errorf("CEL environment: %w", err)
			}
			for _, b := range bindings {
				e.impls[b.Operator] = impl{b, group.product, group.parser, group.zoned}
			}
		}
	}
	return e, nil
}

// A Program is an expression that can be evaluated within a budget, by any
// number of goroutines.
type Program struct {
	prg       cel.Program
	base      uint64 // the price of one evaluation without any macro's turns
	constants constants
}

// Program plans a checked expression. The error is ErrPatterns when the regular
// expressions that it states cost more to parse than the limit.
func (e *Env) Program(checked *cel.Ast, limit uint64) (*Program, error) {
	root := checked.NativeRep().Expr()
	texts := constantPatterns(root)
	var cost uint64
	for _, text := range texts {
		cost += 2 * parseCost(text) // as compile pays
	}
	if cost > limit {
		return nil, ErrPatterns
	}
	m := newMeter(root, e.impls, e.env.CELTypeAdapter())
	prg, err := e.env.Program(checked, cel.CustomDecorator(m.decorate))
	switch {
	case err != nil:
		return nil, err
	case !m.complete():
		return nil, errors.New("the cost of a macro or key is unknown")
	}
	return &Program{prg: prg, base: m.base, constants: constants{texts: texts}}, nil
}

// ErrPatterns is the error for an expression whose regular expressions cost more
// than one evaluation may.
var ErrPatterns = errors.New("its regular expressions cost too much to parse")

// ErrExceeded is the error of an evaluation that costs more than it may.
var ErrExceeded = errors.New("evaluation costs too much")

// Eval evaluates the program and returns the result and what it cost, which is
// at most the limit and does not include what [Program.Prepare] costs. The error is ErrExceeded, the cause of the context, or that
// of the expression.
func (p *Program) Eval(ctx context.Context, vars interpreter.Activation, limit uint64) (out ref.Val, spent uint64, err error) {
	if p.base > limit {
		return nil, 0, ErrExceeded
	}
	p.Prepare()
	w := &work{left: limit - p.base, done: ctx.Done(), constants: p.constants.kept}
	out, _, err = p.prg.Eval(&paying{vars, w})
	spent = limit - w.left
	if err == nil {
		return out, spent, nil
	}
	var cancelled interpreter.EvalCancelledError
	if errors.As(err, &cancelled) {
		if cancelled.Cause == interpreter.CostLimitExceeded {
			return nil, spent, ErrExceeded
		}
		if cause := context.Cause(ctx); cause != nil {
			return nil, spent, cause
		}
	}
	return nil, spent, plainError(err)
}

// plainError takes the library's wrapping off an error.
func plainError(err error) error {
	var e *types.Err
	if errors.As(err, &e) {
		if cause := e.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}

// paying are variables with a budget.
type paying struct {
	interpreter.Activation
	work *work
}

// ResolveName implements interpreter.Activation.
func (p *paying) ResolveName(name string) (any, bool) {
	if name == varWork {
		return p.work, true
	}
	return p.Activation.ResolveName(name)
}
