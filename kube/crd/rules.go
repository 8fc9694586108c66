package crd

import (
	"context"
	"fmt"
	"maps"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"

	"github.com/olmkit/olmkit/kube/internal/celrules"
)

// A ruleCompiler removes the rules of a schema that do not compile, or that cost too much
// to compile, so that the others can be evaluated. Rules within allOf, anyOf, oneOf and not
// are not part of a structural schema.
type ruleCompiler struct {
	*celrules.Compiler
	findings []finding
}

func compileRules(ctx context.Context, s *structural.Structural) []finding {
	c := &ruleCompiler{Compiler: celrules.New(ctx, schemacel.StoredExpressionsEnvLoader())}
	c.node(s, true, "")
	return c.findings
}

// node compiles the rules of a schema and its parts.
func (c *ruleCompiler) node(s *structural.Structural, root bool, path string) {
	s.XValidations = c.rules(s, root || s.XEmbeddedResource, path)
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
func (c *ruleCompiler) rules(s *structural.Structural, root bool, path string) (out apiextensionsv1.ValidationRules) {
	results, err := c.Rules(s, root)
	for _, r := range results {
		cost := max(r.MaxCost, r.MessageExpressionMaxCost)
		switch {
		case r.Unchecked != nil:
			c.report(path, r.Rule.Rule, r.Unchecked.Error())
		case err != nil:
			c.report(path, r.Rule.Rule, err.Error())
			return nil
		case r.Error != nil:
			c.report(path, r.Rule.Rule, r.Error.Error())
		case cost > celrules.MaxEstimate: // the limits at run time are not enough: functions such as replace build their result first
			c.report(path, r.Rule.Rule, fmt.Sprintf("its estimated cost is %d; the API server accepts at most %d in a new rule", cost, celrules.MaxEstimate))
		default:
			out = append(out, r.Rule)
		}
	}
	return out
}

func (c *ruleCompiler) report(path, rule, err string) {
	c.findings = append(c.findings, finding{path: path, unchecked: true, message: fmt.Sprintf("rule %q: %s", clip(rule), clip(celrules.Line(err)))})
}

func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}
