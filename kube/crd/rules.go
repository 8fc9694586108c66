package crd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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

// A ruleCompiler removes the rules of a schema that do not compile, or that cost too much
// to compile, so that the others can be evaluated. Rules within allOf, anyOf, oneOf and not
// are not part of a structural schema.
type ruleCompiler struct {
	ctx      context.Context // of the call that compiles
	envs     *environment.EnvSet
	left     uint64
	findings []finding
}

func compileRules(ctx context.Context, s *structural.Structural) []finding {
	c := &ruleCompiler{ctx: ctx, envs: environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), left: maxCompilation}
	c.node(s, true, "")
	return c.findings
}

// node compiles the rules of a schema and its parts.
func (c *ruleCompiler) node(s *structural.Structural, root bool, path string) {
	s.XValidations = c.rules(s.XValidations, s, root || s.XEmbeddedResource, path)
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		c.node(&p, false, child(path, name))
		s.Properties[name] = p
	}
	if s.Items != nil {
		c.node(s.Items, false, path+"[*]")
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Structural != nil {
		c.node(s.AdditionalProperties.Structural, false, path+"[*]")
	}
}

// rules returns the rules that compile, and records the others.
func (c *ruleCompiler) rules(list apiextensionsv1.ValidationRules, s *structural.Structural, root bool, path string) apiextensionsv1.ValidationRules {
	if len(list) == 0 || c.ctx.Err() != nil {
		return nil
	}
	var good apiextensionsv1.ValidationRules
	cost := environmentCost + nodeCost*nodes(s)
	for _, r := range list {
		price, err := c.price(r)
		if cost += price; err == nil && cost > c.left {
			err = errCompilation
		}
		if err != nil {
			c.report(path, r.Rule, err)
			continue
		}
		good = append(good, r)
	}
	if c.left -= min(cost, c.left); len(good) == 0 {
		return nil
	}
	one := *s
	one.XValidations = good
	results, err := schemacel.Compile(&one, model.SchemaDeclType(s, root), celconfig.PerCallLimit, c.envs, schemacel.StoredExpressionsEnvLoader())
	if err != nil {
		c.report(path, good[0].Rule, err)
		return nil
	}
	var out apiextensionsv1.ValidationRules
	for i, r := range results {
		switch cost := max(r.MaxCost, r.MessageExpressionMaxCost); {
		case r.Error != nil:
			c.report(path, good[i].Rule, r.Error)
			continue
		case cost > maxEstimate:
			c.report(path, good[i].Rule, fmt.Errorf("its estimated cost is %d; the API server accepts at most %d in a new rule", cost, maxEstimate))
			continue
		}
		out = append(out, good[i])
	}
	return out
}

func (c *ruleCompiler) report(path, rule string, err error) {
	message, _, _ := strings.Cut(selfType().ReplaceAllString(err.Error(), "self"), "\n") // the other lines quote the source
	c.findings = append(c.findings, finding{path: path, unchecked: true, message: fmt.Sprintf("rule %q: %s", clip(rule), clip(message))})
}

// selfType matches the name that the API server generates for the type of self.
var selfType = lazyregexp.New(`\bselfType[0-9]+\b`)

func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// The costs of compiling rules, and the limits in addition to those of package constraints.
const (
	environmentCost = 500_000 // for each schema that has rules
	nodeCost        = 2_000   // for each part of that schema
	tokenCost       = 3_000
	maxGrowth       = 1_000
	// maxEstimate is the API server's StaticEstimatedCostLimit. The limits at run time are
	// not enough: functions such as replace build their result before its cost is charged.
	maxEstimate = 10_000_000
)

var (
	errCompilation = errors.New("it was not checked, because compiling it costs too much")
	errGrowth      = errors.New("it was not checked, because its macros may build values that are too large")
)

// price returns the cost of compiling a rule, or an error if the rule must not be compiled.
func (c *ruleCompiler) price(r apiextensionsv1.ValidationRule) (uint64, error) {
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
	most := uint64(1)
	each := func(list ...celast.Expr) {
		for _, e := range list {
			most = max(most, growth(e))
		}
	}
	switch x.Kind() {
	case celast.ComprehensionKind:
		c := x.AsComprehension()
		n := uint64(max(1, references(c.LoopStep(), c.IterVar())+references(c.LoopStep(), c.IterVar2())))
		each(c.LoopStep(), c.LoopCondition(), c.Result())
		return min(n*most*growth(c.IterRange()), maxGrowth+1)
	case celast.CallKind:
		if x.AsCall().IsMemberFunction() {
			each(x.AsCall().Target())
		}
		each(x.AsCall().Args()...)
	case celast.ListKind:
		each(x.AsList().Elements()...)
	case celast.MapKind:
		for _, e := range x.AsMap().Entries() {
			each(e.AsMapEntry().Key(), e.AsMapEntry().Value())
		}
	case celast.StructKind:
		for _, f := range x.AsStruct().Fields() {
			each(f.AsStructField().Value())
		}
	case celast.SelectKind:
		each(x.AsSelect().Operand())
	}
	return most
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
