package constraints

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"sync/atomic"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/olmkit/olmkit/internal/celcost"
	"github.com/olmkit/olmkit/property"
)

// A Bundle is a bundle that constraints can be tested against.
//
// A bundle may also have a method Values() *Values, which must always return the
// same pointer. An Evaluator then uses it in place of Properties, and caches the
// results of CEL rules under that pointer.
type Bundle interface {
	// Provides reports whether the bundle provides the API.
	Provides(property.GVK) bool
	// InPackage reports whether the bundle belongs to the package.
	InPackage(name string) bool
	// VersionIn reports whether the bundle's version is in the range.
	VersionIn(Range) bool
	// HasLabel reports whether the bundle has the label.
	HasLabel(string) bool
	// Properties returns all properties in catalog order.
	Properties() iter.Seq[property.Property]
}

// Cluster holds facts about the cluster for CEL rules.
type Cluster struct {
	// KubeVersion is the Kubernetes version, which rules read as
	// cluster.kubeVersion.
	KubeVersion string `json:"kubeVersion,omitempty"`
	// PlatformVersion is the version of the platform, such as OpenShift's, which
	// rules read as cluster.platformVersion.
	PlatformVersion string `json:"platformVersion,omitempty"`
	// Facts are additional facts of the caller, which rules read as cluster.facts.
	Facts map[string]string `json:"facts,omitempty"`
}

// value returns the CEL variable cluster. The key of an unknown version is absent: rules
// can test for it with has(cluster.kubeVersion), and reading it is an error.
func (c Cluster) value() ref.Val {
	facts := make(map[string]any, len(c.Facts))
	for k, v := range c.Facts {
		facts[k] = types.String(v)
	}
	m := map[string]any{"facts": celcost.MapValue(facts)}
	if c.KubeVersion != "" {
		m["kubeVersion"] = types.String(c.KubeVersion)
	}
	if c.PlatformVersion != "" {
		m["platformVersion"] = types.String(c.PlatformVersion)
	}
	return celcost.MapValue(m)
}

// A Result is the result of testing a constraint against a bundle.
type Result struct {
	// OK reports whether the bundle satisfies the constraint.
	OK bool
	// Problems holds the CEL rules that could not be evaluated and were treated
	// as false, in tree order. Under a not they make the constraint true, so
	// there may be problems even if OK is true. Parts of the tree that could
	// not change the result are not evaluated.
	Problems []*EvalError
}

// An EvalError reports a CEL rule that could not be evaluated.
type EvalError struct {
	// Expr is the constraint that contains the rule.
	Expr *CEL
	// Limit is the name of the field of Limits that was exceeded, else "".
	Limit string
	// Err is the cause.
	Err error
}

// Error returns the rule and the cause.
func (e *EvalError) Error() string { return "cel " + clip(e.Expr.Rule) + ": " + e.Err.Error() }

// Unwrap returns the cause.
func (e *EvalError) Unwrap() error { return e.Err }

// An Evaluator tests one bundle at a time against whole constraints, as OLM does.
// It is safe for concurrent use. It caches results of CEL rules for bundles that
// have a method Values, and keeps these Values in memory; discard the Evaluator
// after the resolution.
type Evaluator struct {
	cluster Cluster
	limits  Limits

	// What rules need is made for the first one. The compiler is for rules that have not been
	// compiled.
	first    sync.Once
	value    ref.Val // of the cluster
	compiler *Compiler

	spent    atomic.Uint64
	memo     sync.Map // memoKey → outcome
	prepared sync.Map // *program → struct{}: programs whose patterns have been paid for
}

type memoKey struct {
	program *program
	values  *Values
}

type outcome struct {
	ok    bool
	limit string
	err   error
}

// NewEvaluator returns an Evaluator for a cluster. Nil limits mean the
// defaults.
func NewEvaluator(cluster Cluster, limits *Limits) *Evaluator {
	return &Evaluator{
		cluster: cluster,
		limits:  limits.WithDefaults(),
	}
}

// Satisfies tests the whole tree against the bundle: one bundle must satisfy
// all parts of an all, and none of the parts of a not. Parts are tested in
// order until the result is certain.
//
// A rule that cannot be evaluated is treated as false and listed in the result's
// Problems. The error is the context's, or an [*EvalError] for MaxTotalCost.
func (e *Evaluator) Satisfies(ctx context.Context, x Expr, b Bundle) (Result, error) {
	t := test{e: e, ctx: ctx, b: b}
	ok, err := t.expr(x)
	if err != nil {
		return Result{}, err
	}
	return Result{OK: ok, Problems: t.problems}, nil
}

// A test is one call of Satisfies.
type test struct {
	e        *Evaluator
	ctx      context.Context
	b        Bundle
	vals     *Values // created for the first rule
	problems []*EvalError
}

// expr reports whether the bundle of the test satisfies an expression (D6).
func (t *test) expr(x Expr) (bool, error) {
	switch x := x.(type) {
	case *All:
		for _, c := range x.Of {
			if ok, err := t.expr(c); !ok || err != nil {
				return false, err
			}
		}
		return true, nil
	case *Any:
		return t.any(x.Of)
	case *Not:
		ok, err := t.any(x.Of)
		return !ok && err == nil, err
	case *GVK:
		return t.b.Provides(x.GVK), nil
	case *Package:
		return t.b.InPackage(x.Name) && t.b.VersionIn(x.Range), nil
	case *Label:
		return t.b.HasLabel(x.Label), nil
	case *CEL:
		return t.cel(x)
	}
	return false, errors.New("nil constraint")
}

func (t *test) any(of []Expr) (bool, error) {
	for _, c := range of {
		if ok, err := t.expr(c); ok || err != nil {
			return ok, err
		}
	}
	return false, nil
}

func (t *test) cel(x *CEL) (bool, error) {
	if t.vals == nil {
		if v, ok := t.b.(interface{ Values() *Values }); ok {
			t.vals = v.Values()
		}
	}
	remember := t.vals != nil
	if !remember {
		t.vals = NewValues(t.b.Properties())
	}
	ok, err := t.e.rule(t.ctx, x, t.vals, remember)
	var problem *EvalError
	if errors.As(err, &problem) && problem.Limit != limitTotal {
		t.problems = append(t.problems, problem)
		return false, nil
	}
	return ok, err
}

// Rule evaluates a rule on a bundle's values and caches the result. The error is the
// context's, or an [*EvalError]. Treat a rule with an EvalError as false, unless its
// Limit is MaxTotalCost.
func (e *Evaluator) Rule(ctx context.Context, x *CEL, v *Values) (bool, error) {
	return e.rule(ctx, x, v, true)
}

const limitTotal = "MaxTotalCost"

func (e *Evaluator) rule(ctx context.Context, x *CEL, v *Values, remember bool) (bool, error) {
	e.first.Do(func() { e.value, e.compiler = e.cluster.value(), NewCompiler(&e.limits) })
	p := x.program
	if p == nil {
		var err error
		if p, err = e.compiler.program(x.Rule); err != nil {
			return false, &EvalError{Expr: x, Err: err}
		}
	}
	key := memoKey{p, v}
	if remember {
		if o, ok := e.memo.Load(key); ok {
			return o.(outcome).result(x)
		}
	}
	if err := context.Cause(ctx); err != nil {
		return false, err
	}
	if e.spent.Load() >= e.limits.MaxTotalCost {
		return false, &EvalError{x, limitTotal,
			limitErrorf(limitTotal, "evaluating CEL rules has cost a total of %d", e.limits.MaxTotalCost)}
	}
	o := e.run(ctx, p, v)
	if err := context.Cause(ctx); err != nil && o.err != nil {
		return false, err
	}
	if remember {
		e.memo.Store(key, o)
	}
	return o.result(x)
}

func (o outcome) result(x *CEL) (bool, error) {
	if o.err != nil {
		return false, &EvalError{x, o.limit, o.err}
	}
	return o.ok, nil
}

// run evaluates the rule and charges its cost.
func (e *Evaluator) run(ctx context.Context, p *program, v *Values) outcome {
	if _, paid := e.prepared.LoadOrStore(p, struct{}{}); !paid {
		e.spent.Add(p.prg.Prepare())
	}
	out, spent, err := p.prg.Eval(ctx, &variables{v.list, e.value}, p.cost)
	e.spent.Add(spent)
	switch {
	case errors.Is(err, celcost.ErrExceeded):
		return costExceeded(p)
	case err != nil:
		return outcome{err: err}
	}
	if ok, isBool := out.(types.Bool); isBool {
		return outcome{ok: bool(ok)}
	}
	return outcome{err: fmt.Errorf("the result has type %s; it must be bool", out.Type().TypeName())}
}

func costExceeded(p *program) outcome {
	return outcome{limit: "MaxCost", err: limitErrorf("MaxCost", "evaluation costs more than %d", p.cost)}
}

// variables holds the variables of one evaluation.
type variables struct {
	properties ref.Val
	cluster    ref.Val
}

// ResolveName implements interpreter.Activation.
func (v *variables) ResolveName(name string) (any, bool) {
	switch name {
	case varProperties:
		return v.properties, true
	case varCluster:
		return v.cluster, true
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (*variables) Parent() interpreter.Activation { return nil }
