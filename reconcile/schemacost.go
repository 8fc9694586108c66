package reconcile

import (
	"context"
	"errors"
)

// Schemas come from catalogs and objects from users, and what checking one by the other
// takes is their product: a list of a hundred thousand elements, each of which is held
// against as many alternatives, or gets as many defaults. The library that validates
// cannot be interrupted. So what it will do is counted first, by going through the
// schema and the object as it does, and that ends with the budget or the context.

// What checking objects may cost, in the unit of celcost, of which a regular expression
// takes what it does there.
const (
	maxObjectCost = 20_000_000  // of one object: a second or two
	maxSchemaCost = 500_000_000 // of all objects of a CRD
	visitCost     = 10          // of a part of an object that is held against a part of the schema
)

// A schemaBudget is what checking objects by their schemas may cost.
type schemaBudget struct {
	each, left uint64
	broke      bool // it is used up, which was reported
}

func newSchemaBudget() *schemaBudget { return &schemaBudget{each: maxObjectCost, left: maxSchemaCost} }

var (
	errObjectCost = errors.New("checking it by the schema costs too much: it is not checked")
	errSchemaCost = errors.New("checking all objects by the schema costs too much: this one and those after it are not checked")
)

// A schemaMeter pays for the check of one object.
type schemaMeter struct {
	ctx   context.Context // of one check
	all   *schemaBudget
	left  uint64 // of the object
	calls int
}

// meter returns the meter for another object.
func (b *schemaBudget) meter(ctx context.Context) *schemaMeter {
	return &schemaMeter{ctx: ctx, all: b, left: min(b.each, b.left)}
}

// spend takes n from the budget. The error names the limit that is exceeded, or is
// that of the context.
func (m *schemaMeter) spend(n uint64) error {
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
		return errSchemaCost
	}
	return errObjectCost
}

// parts counts the values that v consists of, a long text for several.
func parts(v any) uint64 {
	n := uint64(1)
	switch v := v.(type) {
	case string:
		n += uint64(len(v)) / 16
	case []any:
		for _, x := range v {
			n += parts(x)
		}
	case map[string]any:
		for name, x := range v {
			n += 1 + uint64(len(name))/16 + parts(x)
		}
	}
	return n
}

// pay pays for validating a value by a part of the converted schema.
func (s *schema) pay(m *schemaMeter, part, v any) error {
	in, ok := part.(map[string]any)
	if !ok {
		return m.spend(visitCost)
	}
	required, _ := in["required"].([]any)
	enum, _ := in["enum"].([]any)
	n := visitCost + uint64(len(required))
	if len(enum) > 0 {
		n += uint64(len(enum)) * parts(v)
	}
	if in["uniqueItems"] == true {
		n += 20 * parts(v) // up to twenty elements are compared with each other
	}
	if text, ok := v.(string); ok {
		if p, ok := in["pattern"].(string); ok && s.patterns[p] != nil {
			n += s.patterns[p].Cost(len(text))
		}
		n += uint64(len(text)) / 16
	}
	if err := m.spend(n); err != nil {
		return err
	}
	for _, name := range []string{"allOf", "anyOf", "oneOf"} {
		list, _ := in[name].([]any)
		for _, part := range list {
			if err := s.pay(m, part, v); err != nil {
				return err
			}
		}
	}
	if not, ok := in["not"]; ok {
		if err := s.pay(m, not, v); err != nil {
			return err
		}
	}
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			if err := s.pay(m, in["items"], x); err != nil {
				return err
			}
		}
	case map[string]any:
		props, _ := in["properties"].(map[string]any)
		for name, x := range v {
			part, known := props[name]
			if !known {
				part = in["additionalProperties"]
			}
			if err := s.pay(m, part, x); err != nil {
				return err
			}
		}
	}
	return nil
}
