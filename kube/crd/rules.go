package crd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel/model"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/apiserver/pkg/cel/environment"

	"github.com/olmkit/olmkit/internal/celcost"
)

// A ruleCompiler finds the rules of a schema that do not compile, or that cost
// too much to compile. It removes them, so that the others can be evaluated. Rules
// within allOf, anyOf, oneOf and not are not structural.
type ruleCompiler struct {
	ctx      context.Context // of one call
	left     uint64
	findings []finding
}

func compileRules(ctx context.Context, s *structural.Structural) []finding {
	c := &ruleCompiler{ctx: ctx, left: maxCompilation}
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

// rules returns those of the rules of a schema that compile.
func (c *ruleCompiler) rules(list apiextensionsv1.ValidationRules, s *structural.Structural, root bool, path string) apiextensionsv1.ValidationRules {
	if len(list) == 0 || c.ctx.Err() != nil {
		return nil
	}
	var good apiextensionsv1.ValidationRules
	cost := environmentCost + nodeCost*nodes(s)
	for _, r := range list {
		price, err := rulePrice(r)
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
	results, err := schemacel.Compile(&one, model.SchemaDeclType(s, root), celconfig.PerCallLimit,
		environment.MustBaseEnvSet(environment.DefaultCompatibilityVersion()), schemacel.StoredExpressionsEnvLoader())
	if err != nil {
		c.report(path, good[0].Rule, err)
		return nil
	}
	var out apiextensionsv1.ValidationRules
	for i, r := range results {
		if r.Error != nil {
			c.report(path, good[i].Rule, r.Error)
			continue
		}
		out = append(out, good[i])
	}
	return out
}

func (c *ruleCompiler) report(path, rule string, err error) {
	message, _, _ := strings.Cut(selfType.ReplaceAllString(err.Error(), "self"), "\n") // then comes a picture
	c.findings = append(c.findings, finding{path: path, unchecked: true, message: clip(fmt.Sprintf("rule %q: %s", clip(rule), message))})
}

// selfType is the name that the API server's code makes up for the type of self.
var selfType = regexp.MustCompile(`\bselfType[0-9]+\b`)

func child(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

// Prices of compiling rules, measured with BenchmarkCompileRules.
const (
	environmentCost = 500_000 // of a schema that has rules
	nodeCost        = 2_000   // of a part of that schema
	tokenCost       = 3_000
	maxRuleTokens   = 8_000
)

var errCompilation = errors.New("compiling it costs too much: it is not checked")

// rulePrice returns the price of compiling a rule, or why it is not compiled.
func rulePrice(r apiextensionsv1.ValidationRule) (uint64, error) {
	n := celcost.Tokens(r.Rule) + celcost.Tokens(r.MessageExpression)
	if n > maxRuleTokens || celcost.Expands(r.Rule) || celcost.Expands(r.MessageExpression) {
		return 0, errCompilation
	}
	return tokenCost * uint64(n), nil
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
