package crd

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	schemacel "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/listtype"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	utiljson "k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/olmkit/olmkit/internal/celcost"
	"github.com/olmkit/olmkit/olm"
)

// A schema is the compiled schema of a version of a CRD.
type schema struct {
	structural *structural.Structural
	openAPI    *spec.Schema
	patterns   map[string]*celcost.Regexp // the regular expressions of openAPI
	rules      *schemacel.Validator       // nil if the schema has no rules
}

// compile compiles a schema in the same steps as the API server. It also
// returns a finding for each rule that cannot be used.
func compile(ctx context.Context, text []byte) (*schema, []finding, error) {
	if len(text) > maxSchemaSize {
		return nil, nil, fmt.Errorf("it has %d bytes; the API server accepts at most %d", len(text), maxSchemaSize)
	}
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal(text, &v1); err != nil {
		return nil, nil, err
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &props, nil); err != nil {
		return nil, nil, err
	}
	s := &schema{}
	var err error
	if s.structural, err = structural.NewStructural(&props); err != nil {
		return nil, nil, err
	}
	if _, s.openAPI, err = validation.NewSchemaValidator(&props); err != nil {
		return nil, nil, err
	}
	if s.patterns, err = compilePatterns(s.openAPI); err != nil {
		return nil, nil, err
	}
	if errs := structural.ValidateStructural(nil, s.structural); len(errs) > 0 {
		return nil, nil, errs[0]
	}
	s.structural = s.structural.DeepCopy() // defaults are shared with props
	if err := defaulting.PruneDefaults(s.structural); err != nil {
		return nil, nil, err
	}
	findings := compileRules(ctx, s.structural)
	if ctx.Err() == nil {
		s.rules = schemacel.NewValidator(s.structural, true, celconfig.PerCallLimit)
	}
	return s, findings, nil
}

// validate returns the violations of the schema by an object, sorted by path.
// An object that exceeds the budget is not checked.
func (s *schema) validate(ctx context.Context, o olm.Object, b *budget) []finding {
	text, err := json.Marshal(o)
	if err != nil {
		return []finding{{message: clip(err.Error())}}
	}
	var v map[string]any
	if err := utiljson.Unmarshal(text, &v); err != nil {
		return []finding{{message: clip(err.Error())}}
	}
	m := b.meter(ctx)
	if err := s.pay(m, s.openAPI, v); err != nil {
		return []finding{{message: err.Error(), unchecked: true}}
	}
	defaulting.Default(v, s.structural)
	pruning.Prune(v, s.structural, true)
	defaulting.PruneNonNullableNullsWithoutDefaults(v, s.structural)
	if err := s.pay(m, s.openAPI, v); err != nil { // pay again, because defaults may have made the object larger
		return []finding{{message: err.Error(), unchecked: true}}
	}
	l := &limited{ctx: ctx, schema: s.openAPI}
	errs := validation.ValidateCustomResource(nil, v, l)
	if l.tooMany() {
		return []finding{{message: fmt.Sprintf("it has more than %d violations", maxViolations)}}
	}
	errs = append(errs, objectmeta.Validate(nil, v, s.structural, false)...)
	errs = append(errs, listtype.ValidateListSetsAndMaps(nil, s.structural, v)...)
	var findings []finding
	switch {
	case s.rules == nil:
	case slices.ContainsFunc(errs, blocksRules):
		findings = append(findings, finding{message: "its rules were not checked, because it violates the schema", unchecked: true})
	default:
		broken, unchecked := s.checkRules(ctx, v, b)
		errs = append(errs, broken...)
		findings = append(findings, unchecked...)
	}
	for _, e := range errs {
		findings = append(findings, finding{path: pathOf(e), message: clip(e.ErrorBody())})
	}
	slices.SortStableFunc(findings, compareFindings) // members are validated in random order
	return slices.Compact(findings)
}

// blocksRules reports whether the API server does not evaluate the rules on an
// object that has this error.
func blocksRules(e *field.Error) bool {
	switch e.Type {
	case field.ErrorTypeNotSupported, field.ErrorTypeRequired, field.ErrorTypeTooLong, field.ErrorTypeTooMany, field.ErrorTypeTypeInvalid:
		return true
	}
	return false
}

// checkRules evaluates the rules on an object, within the API server's budget
// for one object and what is left of the budget for all.
func (s *schema) checkRules(ctx context.Context, v map[string]any, b *budget) (field.ErrorList, []finding) {
	limit := min(b.rules, celconfig.RuntimeCELCostBudget)
	errs, left := s.rules.Validate(ctx, nil, s.structural, v, nil, limit)
	if left >= 0 {
		b.rules -= limit - left
		return errs, nil
	}
	b.rules -= limit
	if limit == celconfig.RuntimeCELCostBudget {
		return errs, nil // the API server refuses the object as well
	}
	b.broke = true
	return nil, []finding{{message: errRulesCost.Error(), unchecked: true}}
}

var errRulesCost = errors.New("the rules were not evaluated on this object and those after it, because evaluating them on all objects costs too much")

// pathOf returns the path of an error, "" for the whole object.
func pathOf(e *field.Error) string {
	if e.Field == (*field.Path)(nil).String() {
		return ""
	}
	return e.Field
}
