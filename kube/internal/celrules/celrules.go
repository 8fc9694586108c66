// Package celrules compiles the CEL rules of CRDs with the code of the API server. Rules are hostile
// input, and compiling one cannot be interrupted, so its cost is computed first.
package celrules

import (
	"context"
	"errors"
	"strings"

	celast "github.com/google/cel-go/common/ast"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/celcost"
	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// The costs of compiling rules, in about 20 nanoseconds, and the limits in addition to those of
// package constraints.
const (
	maxCompilation  = 200_000_000 // for all rules of a schema
	environmentCost = 500_000     // for each part of it that has rules
	nodeCost        = 2_000       // for each part of that
	tokenCost       = 3_000
	maxGrowth       = 1_000
)

// MaxEstimate is the API server's StaticEstimatedCostLimit, the highest cost of a rule.
const MaxEstimate = 10_000_000

var (
	errCompilation = errors.New("it was not checked, because compiling it costs too much")
	errGrowth      = errors.New("it was not checked, because its macros may build values that are too large")
)

// A Compiler compiles the rules of one schema, part by part.
type Compiler struct {
	ctx    context.Context // of the call that compiles
	loader schemacel.EnvLoader
	envs   *environment.EnvSet
	left   uint64
}

// New returns a compiler for rules as the loader allows them.
func New(ctx context.Context, loader schemacel.EnvLoader) *Compiler {
	return &Compiler{ctx: ctx, loader: loader, envs: environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), left: maxCompilation}
}

// A Result is a rule. Unchecked is why it was not compiled, or nil.
type Result struct {
	schemacel.CompilationResult
	Rule      apiextensionsv1.ValidationRule
	Index     int
	Unchecked error
}

// Rules compiles the rules of a part of a schema, without those of its parts. Root means that the
// part is a resource. The error is that of the API server for all rules. After the end of
// the context, it returns nothing.
func (c *Compiler) Rules(s *structural.Structural, root bool) (out []Result, err error) {
	if len(s.XValidations) == 0 || c.ctx.Err() != nil {
		return nil, nil
	}
	var cheap apiextensionsv1.ValidationRules
	cost := environmentCost + nodeCost*nodes(s)
	for i, r := range s.XValidations {
		price, err := c.price(r)
		if cost += price; err == nil && cost > c.left {
			err = errCompilation
		}
		out = append(out, Result{Rule: r, Index: i, Unchecked: err})
		if err == nil {
			cheap = append(cheap, r)
		}
	}
	c.left -= min(cost, c.left)
	if len(cheap) == 0 {
		return out, nil
	}
	one := *s
	one.XValidations = cheap
	results, err := schemacel.Compile(&one, model.SchemaDeclType(s, root), celconfig.PerCallLimit, c.envs, c.loader)
	for i := range out {
		if out[i].Unchecked == nil && len(results) > 0 {
			out[i].CompilationResult, results = results[0], results[1:]
		}
	}
	return out, err
}

// Line returns the first line of an error about a rule, because the others quote the source. It
// does not contain the name that the API server generates for the type of self.
func Line(err string) string {
	line, _, _ := strings.Cut(selfType().ReplaceAllString(err, "self"), "\n")
	return line
}

var selfType = lazyregexp.New(`\bselfType[0-9]+\b`)

// price returns the cost of compiling a rule, or an error if the rule must not be compiled.
func (c *Compiler) price(r apiextensionsv1.ValidationRule) (uint64, error) {
	limits, tokens := new(constraints.Limits).WithDefaults(), 0
	for _, text := range []string{r.Rule, r.MessageExpression} {
		if tokens += celcost.Tokens(text); tokens > limits.MaxRuleTokens || celcost.Expands(text) {
			return 0, errCompilation
		}
		parsed, issues := c.envs.StoredExpressionsEnv().Parse(text)
		if text == "" || issues.Err() != nil {
			continue // Compile reports the error
		}
		root := parsed.NativeRep().Expr()
		if celcost.Size(root) > limits.MaxRuleNodes {
			return 0, errCompilation
		}
		if growth(root) > maxGrowth {
			return 0, errGrowth
		}
	}
	return tokenCost * uint64(tokens), nil
}

// growth returns how many times the value of an expression may contain the same part of the
// object. CEL's cost limit does not cover this: forty nested macros that each build [x, x]
// create a value whose comparison is one step for CEL but compares 2^40 elements and cannot
// be interrupted. A value can be repeated only by referring to a variable of a macro more
// than once.
func growth(x celast.Expr) uint64 {
	n, parts := uint64(1), celcost.Parts(x)
	if x.Kind() == celast.ComprehensionKind {
		c := x.AsComprehension()
		n = uint64(max(1, references(c.LoopStep(), c.IterVar())+references(c.LoopStep(), c.IterVar2()))) * growth(c.IterRange())
		parts = []celast.Expr{c.LoopStep(), c.LoopCondition(), c.Result()}
	}
	most := uint64(1)
	for _, part := range parts {
		most = max(most, growth(part))
	}
	return min(n*most, maxGrowth+1)
}

// references counts the references to a variable.
func references(x celast.Expr, name string) int {
	n := 0
	celast.PostOrderVisit(x, celast.NewExprVisitor(func(x celast.Expr) {
		if x.Kind() == celast.IdentKind && x.AsIdent() == name && name != "" {
			n++
		}
	}))
	return n
}

// nodes counts the parts of a schema.
func nodes(s *structural.Structural) uint64 {
	n := uint64(1)
	for _, p := range s.Properties {
		n += nodes(&p)
	}
	if s.Items != nil {
		n += nodes(s.Items)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		n += nodes(s.AdditionalProperties.Structural)
	}
	return n
}
