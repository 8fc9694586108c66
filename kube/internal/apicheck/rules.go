package apicheck

import (
	"context"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/olmkit/olmkit/kube/internal/celrules"
)

// maxSchemaEstimate is the API server's StaticEstimatedCRDCostLimit, the highest cost of all rules of
// a schema.
const maxSchemaEstimate = 100_000_000

// ruleReasons are the reasons that a rule may have.
var ruleReasons = []string{"FieldValueDuplicate", "FieldValueForbidden", "FieldValueInvalid", "FieldValueRequired"}

// A rulesCheck compiles the rules of a schema. Rules whose compilation costs too much are not checked.
type rulesCheck struct {
	*check
	compiler *celrules.Compiler
	total    uint64
}

// A rulesPlace is where a part of a schema is.
type rulesPlace struct {
	at           *field.Path
	resource     bool
	count        *uint64     // how often an object may have the part, or nil without a limit
	uncorrelated *field.Path // the list or map around it whose parts cannot be compared with earlier ones, or nil
}

// celRules checks the CEL rules of a schema that is valid otherwise.
func (c *check) celRules(s *structuralschema.Structural, at *field.Path) {
	r := &rulesCheck{check: c, compiler: celrules.New(context.Background(), schemacel.NewExpressionsEnvLoader())} // the compiler bounds the cost
	before := len(c.errs)
	r.node(s, rulesPlace{at: at, resource: true, count: new(uint64(1))})
	if len(c.errs) == before {
		r.forbid(r.total > maxSchemaEstimate, at, "x-kubernetes-validations", tooCostly("the rules of the schema", r.total, maxSchemaEstimate))
	}
}

func tooCostly(what string, cost, limit uint64) string {
	return fmt.Sprintf("the estimated cost of %s is %d, more than %d; simplify it, or set maxItems, maxProperties and maxLength for the lists, maps and strings that it reads", what, cost, limit)
}

func (c *rulesCheck) node(s *structuralschema.Structural, in rulesPlace) {
	if len(s.XValidations) > 0 {
		c.part(s, in)
	}
	below := in
	if below.uncorrelated == nil && !schemacel.MapIsCorrelatable(s.XMapType) {
		below.uncorrelated = in.at
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		c.node(&p, below.part(&p, in.at.Child("properties").Key(name)))
	}
	limits := s.ValueValidation
	if limits == nil {
		limits = &structuralschema.ValueValidation{}
	}
	if a := s.AdditionalProperties; a != nil && a.Structural != nil {
		next := in.part(a.Structural, in.at.Child("additionalProperties"))
		next.count = times(in.count, limits.MaxProperties)
		c.node(a.Structural, next)
	}
	if s.Items != nil {
		next := in.part(s.Items, in.at.Child("items"))
		next.count = times(in.count, limits.MaxItems)
		if next.uncorrelated == nil && (s.XListType == nil || *s.XListType != "map") {
			next.uncorrelated = in.at
		}
		c.node(s.Items, next)
	}
}

// part returns the place of a part that occurs as often as the one around it.
func (in rulesPlace) part(s *structuralschema.Structural, at *field.Path) rulesPlace {
	in.at, in.resource = at, s.XEmbeddedResource
	return in
}

// times returns how often a part occurs in count lists or maps, each of which has at most limit items.
func times(count *uint64, limit *int64) *uint64 {
	if count == nil || limit == nil {
		return nil
	}
	return new(product(*count, uint64(max(0, *limit))))
}

// product returns a product, or the highest number.
func product(a, b uint64) uint64 {
	high, low := bits.Mul64(a, b)
	if high > 0 {
		return math.MaxUint64
	}
	return low
}

// part checks the rules of a part of a schema.
func (c *rulesCheck) part(s *structuralschema.Structural, in rulesPlace) {
	before, rules := len(c.errs), in.at.Child("x-kubernetes-validations")
	for i := range s.XValidations {
		c.rule(s, &s.XValidations[i], rules.Index(i))
	}
	if len(c.errs) > before {
		return
	}
	results, err := c.compiler.Rules(s, in.resource)
	if err != nil {
		c.invalid(rules, "", celrules.Line(err.Error()))
		return
	}
	for _, r := range results {
		if r.Unchecked != nil {
			continue
		}
		at := rules.Index(r.Index)
		count := r.MaxCardinality
		if in.count != nil {
			count = *in.count
		}
		c.cost(product(r.MaxCost, count), at, "rule")
		if r.Error != nil {
			c.invalid(at.Child("rule"), r.Rule.Rule, reason(r.Error.Detail))
		}
		if r.MessageExpressionError != nil {
			c.invalid(at.Child("messageExpression"), r.Rule.MessageExpression, reason(r.MessageExpressionError.Detail))
		} else if r.MessageExpression != nil {
			c.cost(r.MessageExpressionMaxCost, at, "messageExpression")
		}
		switch {
		case r.UsesOldSelf && in.uncorrelated != nil:
			c.invalid(at.Child("rule"), r.Rule.Rule, fmt.Sprintf("oldSelf cannot be used within %v, which is not a list with x-kubernetes-list-type=map or a map with x-kubernetes-map-type=granular", in.uncorrelated))
		case !r.UsesOldSelf && r.Rule.OptionalOldSelf != nil:
			c.invalid(at.Child("optionalOldSelf"), *r.Rule.OptionalOldSelf, "may not be set if oldSelf is not used in rule")
		}
	}
}

// reason returns why an expression is invalid, in a line.
func reason(detail string) string {
	const prefix = "compilation failed: ERROR: <input>:"
	line := strings.TrimPrefix(celrules.Line(detail), "messageExpression ")
	if rest, ok := strings.CutPrefix(line, prefix); ok {
		return "does not compile at " + rest // line, column and error
	}
	return line
}

// cost checks the estimated cost of an expression.
func (c *rulesCheck) cost(cost uint64, at *field.Path, name string) {
	c.forbid(cost > celrules.MaxEstimate, at, name, tooCostly("the "+name, cost, celrules.MaxEstimate))
	if c.total += cost; c.total < cost {
		c.total = math.MaxUint64
	}
}

// rule checks the fields of a rule.
func (c *rulesCheck) rule(s *structuralschema.Structural, r *apiextensionsv1.ValidationRule, at *field.Path) {
	lines := func(s string) bool { return strings.ContainsAny(s, "\n\r") }
	blank := func(s string) bool { return s != "" && strings.TrimSpace(s) == "" }
	message := strings.TrimSpace(r.Message)
	switch rule := strings.TrimSpace(r.Rule); {
	case rule == "":
		c.required(at.Child("rule"), "")
	case blank(r.Message):
		c.invalid(at.Child("message"), r.Message, "must be non-empty if specified")
	case lines(message):
		c.invalid(at.Child("message"), r.Message, "must not contain line breaks")
	case lines(rule) && message == "":
		c.required(at.Child("message"), "must be specified if rule contains line breaks")
	}
	if blank(r.MessageExpression) {
		c.required(at.Child("messageExpression"), "must be non-empty if specified")
	}
	if r.Reason != nil {
		c.oneOf(at.Child("reason"), string(*r.Reason), true, ruleReasons...)
	}
	if r.FieldPath == "" {
		return
	}
	at = at.Child("fieldPath")
	if blank(r.FieldPath) {
		c.invalid(at, r.FieldPath, "must be non-empty if specified")
	}
	if lines(r.FieldPath) {
		c.invalid(at, r.FieldPath, "must not contain line breaks")
	}
	if _, _, err := schemacel.ValidFieldPath(r.FieldPath, s); err != nil {
		c.invalid(at, r.FieldPath, fmt.Sprintf("must be a valid path: %v", err))
	}
}
