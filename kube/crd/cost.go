package crd

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"k8s.io/kube-openapi/pkg/validation/spec"

	"github.com/olmkit/olmkit/internal/celcost"
)

// The time to validate an object is proportional to the size of the object times
// the size of the schema: each of a hundred thousand elements may be compared
// with a hundred thousand alternatives. Neither size can be trusted, because
// schemas come from catalogs and objects from users. The API server relies on the
// deadlines of its requests. Validation cannot be interrupted, so this package
// computes its cost first, and stops when the budget or the context ends.

// Limits on costs. Their unit is about 20 nanoseconds, except for rules.
const (
	maxSchemaSize = 3 << 20     // bytes; the API server accepts no larger request
	maxPatterns   = 5_000_000   // for compiling the regular expressions of a schema
	maxObject     = 20_000_000  // for validating an object
	maxObjects    = 500_000_000 // for validating all objects
	maxRules      = 5 * celconfig.RuntimeCELCostBudget

	visitCost    = 50 // for comparing a value with a part of the schema
	propertyCost = 5  // for a property of the schema, whether the value has it or not
)

// A budget is the remaining cost for all objects.
type budget struct {
	each, left uint64 // for validating
	rules      int64  // for rules, in CEL's unit
	broke      bool   // one of the limits was exceeded, and a finding reports that
}

func newBudget() *budget { return &budget{each: maxObject, left: maxObjects, rules: maxRules} }

var (
	errObjectCost  = errors.New("it was not checked, because validating it costs too much")
	errObjectsCost = errors.New("this object and those after it were not checked, because validating all objects costs too much")
)

// A meter counts the cost of validating one object.
type meter struct {
	ctx   context.Context // of one check
	all   *budget
	left  uint64
	calls int
}

func (b *budget) meter(ctx context.Context) *meter {
	return &meter{ctx: ctx, all: b, left: min(b.each, b.left)}
}

// spend charges a cost of n. It returns an error if that exceeds a limit, or the
// error of the context.
func (m *meter) spend(n uint64) error {
	if m.calls++; m.calls%256 == 0 && m.ctx.Err() != nil {
		return context.Cause(m.ctx)
	}
	paid := min(n, m.left)
	m.left -= paid
	m.all.left -= paid
	switch {
	case paid == n:
		return nil
	case m.all.left == 0:
		m.all.broke = true
		return errObjectsCost
	}
	return errObjectCost
}

// pay charges for validating a value, including setting defaults.
func (s *schema) pay(m *meter, part *spec.Schema, v any) error { return s.payAt(m, part, v, 0) }

func (s *schema) payAt(m *meter, part *spec.Schema, v any, depth int) error {
	n := visitCost + uint64(depth) // errors and paths are copied at each level
	if part == nil {
		part = &spec.Schema{}
	}
	n += uint64(len(part.Required)) + uint64(len(part.Enum))*size(v)
	if part.UniqueItems {
		n += size(v) * size(v)
	}
	if text, ok := v.(string); ok {
		if p := s.patterns[part.Pattern]; p != nil {
			n += p.Cost(len(text))
		}
	}
	if _, ok := v.(map[string]any); ok {
		n += propertyCost * uint64(len(part.Properties))
	}
	if err := m.spend(n); err != nil {
		return err
	}
	for _, list := range [][]spec.Schema{part.AllOf, part.AnyOf, part.OneOf} {
		for i := range list {
			if err := s.payAt(m, &list[i], v, depth+1); err != nil {
				return err
			}
		}
	}
	if part.Not != nil {
		if err := s.payAt(m, part.Not, v, depth+1); err != nil {
			return err
		}
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			var items *spec.Schema
			if part.Items != nil {
				items = part.Items.Schema
			}
			if err := s.payAt(m, items, x, depth+1); err != nil {
				return err
			}
		}
	case map[string]any:
		return s.payMembers(m, part, v, depth+1)
	}
	return nil
}

func (s *schema) payMembers(m *meter, part *spec.Schema, v map[string]any, depth int) error {
	for name, p := range part.Properties {
		if _, ok := v[name]; !ok && p.Default != nil {
			if err := m.spend(visitCost * size(p.Default)); err != nil {
				return err
			}
		}
	}
	for name, x := range v {
		p, known := part.Properties[name]
		next := &p
		if !known {
			next = nil
			if part.AdditionalProperties != nil {
				next = part.AdditionalProperties.Schema
			}
		}
		if err := s.payAt(m, next, x, depth); err != nil {
			return err
		}
	}
	return nil
}

// size returns the number of values in v. A long string counts as several.
func size(v any) uint64 {
	n := uint64(1)
	switch v := v.(type) {
	case string:
		n += uint64(len(v)) / 16
	case []any:
		for _, x := range v {
			n += size(x)
		}
	case map[string]any:
		for name, x := range v {
			n += 1 + uint64(len(name))/16 + size(x)
		}
	}
	return n
}

// compilePatterns compiles the regular expressions of a schema.
func compilePatterns(root *spec.Schema) (map[string]*celcost.Regexp, error) {
	out := map[string]*celcost.Regexp{}
	left := uint64(maxPatterns)
	return out, eachSchema(root, func(s *spec.Schema) error {
		if s.Pattern == "" || out[s.Pattern] != nil {
			return nil
		}
		re, err := celcost.NewRegexp(s.Pattern, &left)
		if err != nil {
			return fmt.Errorf("pattern %.60q: %w", s.Pattern, err)
		}
		out[s.Pattern] = re
		return nil
	})
}

// eachSchema calls f for a schema and its parts in a fixed order, until an error.
func eachSchema(s *spec.Schema, f func(*spec.Schema) error) error {
	if err := f(s); err != nil {
		return err
	}
	for _, list := range [][]spec.Schema{s.AllOf, s.AnyOf, s.OneOf} {
		for i := range list {
			if err := eachSchema(&list[i], f); err != nil {
				return err
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		p := s.Properties[name]
		if err := eachSchema(&p, f); err != nil {
			return err
		}
	}
	next := []*spec.Schema{s.Not}
	if s.Items != nil {
		next = append(next, s.Items.Schema)
	}
	if s.AdditionalProperties != nil {
		next = append(next, s.AdditionalProperties.Schema)
	}
	for _, s := range next {
		if s != nil {
			if err := eachSchema(s, f); err != nil {
				return err
			}
		}
	}
	return nil
}
