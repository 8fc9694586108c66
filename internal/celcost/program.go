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

// An Env compiles programs with charging. It is immutable.
type Env struct {
	env   *cel.Env
	impls map[string]impl
}

// An impl is the implementation of a charged function.
type impl struct {
	*functions.Overload
	parser bool // parses its arguments, so a byte costs more
	zoned  bool // its second argument is a time zone
}

// NewEnv returns an Env for a CEL environment. parsers names the functions, in
// addition to CEL's own, that parse texts and are charged by the length of
// their arguments. All other functions must take constant time.
func NewEnv(env *cel.Env, parsers ...string) (*Env, error) {
	e := &Env{env, map[string]impl{}}
	for _, group := range []struct {
		names         []string
		parser, zoned bool
	}{{names: textFunctions}, {names: zonedFunctions, zoned: true}, {names: parsers, parser: true}} {
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
				e.impls[b.Operator] = impl{b, group.parser, group.zoned}
			}
		}
	}
	return e, nil
}

// A Program is an expression that can be evaluated within a budget. It is safe
// for concurrent use.
type Program struct {
	prg       cel.Program
	base      uint64 // the price of one evaluation, not counting iterations of macros
	constants constants
}

// Program compiles a checked expression. The error is ErrPatterns if parsing
// its constant regular expressions costs more than the limit.
func (e *Env) Program(checked *cel.Ast, limit uint64) (*Program, error) {
	root := checked.NativeRep().Expr()
	texts := constantPatterns(root)
	var cost uint64
	for _, text := range texts {
		cost += 2 * parseCost(text) // charge for parsing twice, because compile parses again
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

// ErrPatterns is the error for regular expressions that exceed the limit.
var ErrPatterns = errors.New("its regular expressions cost too much to parse")

// ErrExceeded is the error of an evaluation that exceeds the limit.
var ErrExceeded = errors.New("evaluation costs too much")

// Eval evaluates the program and returns the result and its cost, which is at most the
// limit and does not include [Program.Prepare]. The error is ErrExceeded, the context's,
// or an error of the expression.
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

// plainError unwraps the library's errors.
func plainError(err error) error {
	var e *types.Err
	if errors.As(err, &e) {
		if cause := e.Unwrap(); cause != nil {
			return cause
		}
	}
	return err
}

// paying adds a budget to the variables of an evaluation.
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
