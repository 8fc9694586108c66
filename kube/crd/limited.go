package crd

import (
	"context"

	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/kube-openapi/pkg/validation/spec"
	"k8s.io/kube-openapi/pkg/validation/strfmt"
	"k8s.io/kube-openapi/pkg/validation/validate"
)

// maxViolations is the maximum number of violations of the schema by an object.
// Validation stops there, because the validator compares each violation with
// all others.
const maxViolations = 1_000

// A limited validator is the API server's validator with two additional reasons
// to stop: too many violations, and the end of the context.
type limited struct {
	ctx    context.Context // of one check
	schema *spec.Schema
	found  int
}

var _ validation.SchemaCreateValidator = (*limited)(nil)

// Validate implements validation.SchemaCreateValidator.
func (l *limited) Validate(v any, _ ...validation.ValidationOption) *validate.Result {
	return part{l, validate.NewSchemaValidator(l.schema, nil, "", strfmt.Default, l.hook)}.Validate(v)
}

func (l *limited) tooMany() bool { return l.found > maxViolations }

// hook makes the validator use a part for each member and element.
func (l *limited) hook(o *validate.SchemaValidatorOptions) {
	o.NewValidatorForField = func(_ string, s *spec.Schema, root any, path string, formats strfmt.Registry, _ ...validate.Option) validate.ValueValidator {
		return part{l, validate.NewSchemaValidator(s, root, path, formats, l.hook)}
	}
	o.NewValidatorForIndex = func(_ int, s *spec.Schema, root any, path string, formats strfmt.Registry, _ ...validate.Option) validate.ValueValidator {
		return part{l, validate.NewSchemaValidator(s, root, path, formats, l.hook)}
	}
}

// A part validates the object, a member or an element.
type part struct {
	limit *limited
	validate.ValueValidator
}

// Validate implements validate.ValueValidator.
func (p part) Validate(v any) *validate.Result {
	if p.limit.tooMany() || p.limit.ctx.Err() != nil {
		return &validate.Result{}
	}
	before := p.limit.found
	result := p.ValueValidator.Validate(v)
	p.limit.found = max(p.limit.found, before+len(result.Errors))
	return result
}
