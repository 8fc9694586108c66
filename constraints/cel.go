package constraints

import (
	"errors"
	"fmt"
	"strings"
	"sync"

	"github.com/blang/semver/v4"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"

	"github.com/olmkit/olmkit/internal/celcost"
)

// The names that a rule can use in addition to CEL's own.
const (
	varProperties = "properties"
	varCluster    = "cluster"
	funcSemver    = "semver_compare"
)

// A program is a compiled rule. once guards the other fields, which are
// read-only afterwards.
type program struct {
	rule string
	once sync.Once
	err  error
	prg  *celcost.Program
	cost uint64 // the limit for one evaluation
}

type celEnv struct {
	env    *cel.Env
	limits *Limits
	costs  *celcost.Env
}

func newCELEnv(limits *Limits) (*celEnv, error) {
	env, err := cel.NewEnv(
		// Any rather than Dyn, as OLM declares the properties: it affects which
		// rules type-check.
		cel.Variable(varProperties, cel.ListType(cel.MapType(cel.StringType, cel.AnyType))),
		cel.Variable(varCluster, cel.MapType(cel.StringType, cel.DynType)),
		cel.Function(funcSemver, cel.Overload(funcSemver,
			[]*cel.Type{cel.AnyType, cel.AnyType}, cel.IntType,
			cel.BinaryBinding(semverCompare))),
		cel.ParserExpressionSizeLimit(limits.MaxRuleSize),
		cel.ParserRecursionLimit(limits.MaxRuleDepth),
	)
	if err != nil {
		return nil, fmt.Errorf("CEL environment: %w", err)
	}
	costs, err := celcost.NewEnv(env, funcSemver)
	if err != nil {
		return nil, err
	}
	return &celEnv{env, limits, costs}, nil
}

func (e *celEnv) compile(p *program) error {
	if n := celcost.Tokens(p.rule); n > e.limits.MaxRuleTokens {
		return limitErrorf("MaxRuleTokens", "the rule counts as %d tokens; the limit is %d", n, e.limits.MaxRuleTokens)
	}
	parsed, issues := e.env.Parse(p.rule)
	if issues.Err() != nil {
		return e.compileError(issues)
	}
	if n := celcost.Size(parsed.NativeRep().Expr()); n > e.limits.MaxRuleNodes {
		return limitErrorf("MaxRuleNodes", "the rule has %d nodes; the limit is %d", n, e.limits.MaxRuleNodes)
	}
	checked, issues := e.env.Check(parsed)
	if issues.Err() != nil {
		return e.compileError(issues)
	}
	if t := checked.OutputType(); !t.IsExactType(types.BoolType) {
		return fmt.Errorf("the rule has type %s; it must be bool", typeName(t))
	}
	prg, err := e.costs.Program(checked, e.limits.MaxCost)
	if errors.Is(err, celcost.ErrPatterns) {
		return limitErrorf("MaxCost", "parsing the regular expressions of the rule costs more than %d", e.limits.MaxCost)
	}
	if err != nil {
		return fmt.Errorf("planning the rule: %w", err)
	}
	p.prg, p.cost = prg, e.limits.MaxCost
	return nil
}

func typeName(t *cel.Type) string {
	return strings.ReplaceAll(t.String(), types.AnyType.String(), "any")
}

// compileError returns the checker's errors on one line.
func (e *celEnv) compileError(issues *cel.Issues) error {
	var b strings.Builder
	b.WriteString("the rule does not compile: ")
	const most = 3
	errs := issues.Errors()
	for i, err := range errs {
		if strings.Contains(err.Message, "recursion limit exceeded") ||
			strings.Contains(err.Message, "max recursion depth exceeded") {
			return limitErrorf("MaxRuleDepth", "the rule is nested more than %d deep", e.limits.MaxRuleDepth)
		}
		if i == most {
			fmt.Fprintf(&b, "; and %d more", len(errs)-most)
			break
		}
		if i > 0 {
			b.WriteString("; ")
		}
		message := strings.ReplaceAll(err.Message, " (in container '')", "")
		fmt.Fprintf(&b, "%d:%d: %s", err.Location.Line(), err.Location.Column()+1, cut(message))
	}
	return errors.New(b.String())
}

// semverCompare implements semver_compare(a, b), which returns -1, 0 or 1. As
// in OLM, it takes strings and numbers and is tolerant: "v1.2" means 1.2.0.
func semverCompare(a, b ref.Val) ref.Val {
	va, err := tolerantVersion(a)
	if err != nil {
		return types.WrapErr(err)
	}
	vb, err := tolerantVersion(b)
	if err != nil {
		return types.WrapErr(err)
	}
	return types.Int(va.Compare(vb))
}

func tolerantVersion(v ref.Val) (semver.Version, error) {
	switch v.(type) {
	case types.String, types.Int, types.Uint, types.Double:
	default:
		return semver.Version{}, fmt.Errorf("semver_compare: want a version as a string, found %s", v.Type().TypeName())
	}
	text := fmt.Sprint(v.Value())
	parsed, err := semver.ParseTolerant(text)
	if err != nil {
		return semver.Version{}, fmt.Errorf("semver_compare: %s is not a version", clip(text))
	}
	return parsed, nil
}
