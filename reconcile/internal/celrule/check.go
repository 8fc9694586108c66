package celrule

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/interpreter"

	"github.com/olmkit/olmkit/internal/celcost"
)

// A Budget is what evaluations may cost, in the unit of constraints.Limits.
type Budget struct {
	// Each is the most that one evaluation may cost.
	Each uint64
	// Left is what all that follow may cost together. Check takes from it.
	Left uint64

	prepared map[*celcost.Program]bool // those whose patterns are paid
}

// prepare takes from the budget what the patterns of a program cost, once.
func (b *Budget) prepare(p *celcost.Program) {
	if b.prepared[p] {
		return
	}
	if b.prepared == nil {
		b.prepared = map[*celcost.Program]bool{}
	}
	b.prepared[p] = true
	b.Left -= min(b.Left, p.Prepare())
}

// NewBudget returns the budget that package constraints has by default.
func NewBudget() *Budget { return &Budget{Each: 500_000, Left: 50_000_000} }

// Check returns the rules that an object breaks, and those that cannot be
// evaluated on it, from the leaves up and in the order of the schema. The object
// is as encoding/json decodes it, with json.Number for numbers or without. A nil
// r has no rules. If the context ends, faults are missing.
func (r *Rules) Check(ctx context.Context, object any, b *Budget) []Fault {
	if r == nil || r.root == nil {
		return nil
	}
	c := &check{ctx: ctx, budget: b}
	c.visit(r.root, object, "")
	return c.faults
}

type check struct {
	ctx    context.Context // of one call of Check
	budget *Budget
	broke  bool // the budget is used up, which was told
	faults []Fault
}

// visit evaluates the rules of a part of the object and of its own parts, and
// returns it as a value. A nil node is a part that the schema says nothing of.
func (c *check) visit(n *node, v any, path string) ref.Val {
	if n == nil {
		n = &node{}
	}
	val := c.value(n, v, path)
	if v != nil {
		for i := range n.rules {
			c.rule(&n.rules[i], val, path)
		}
	}
	return val
}

func (c *check) value(n *node, v any, path string) ref.Val {
	switch v := v.(type) {
	case map[string]any:
		return celcost.MapValue(c.members(n, v, path))
	case []any:
		elems := make([]ref.Val, len(v))
		for i, x := range v {
			elems[i] = c.visit(n.items, x, path+"/"+strconv.Itoa(i))
		}
		return types.NewRefValList(types.DefaultTypeAdapter, elems)
	}
	return scalar(n, v)
}

// members returns the members of an object that rules see: all of a map, of
// others those that the schema has.
func (c *check) members(n *node, v map[string]any, path string) map[string]any {
	out := make(map[string]any, len(v))
	if n.props == nil && !n.resource {
		for _, name := range slices.Sorted(maps.Keys(v)) {
			out[name] = c.visit(n.values, v[name], path+"/"+pointerToken(name))
		}
		return out
	}
	for _, name := range n.names {
		x, ok := v[name]
		if !ok {
			continue
		}
		val := c.visit(n.props[name], x, path+"/"+pointerToken(name))
		if escaped, ok := escape(name); ok {
			out[escaped] = val
		}
	}
	if n.resource {
		header(out, v)
	}
	return out
}

// header adds what rules see of every resource.
func header(out map[string]any, v map[string]any) {
	for _, name := range []string{"apiVersion", "kind"} {
		if s, ok := v[name].(string); ok {
			out[name] = types.String(s)
		}
	}
	meta := map[string]any{}
	m, _ := v["metadata"].(map[string]any)
	for _, name := range []string{"name", "generateName"} {
		if s, ok := m[name].(string); ok {
			meta[name] = types.String(s)
		}
	}
	out["metadata"] = celcost.MapValue(meta)
}

// rule evaluates a rule and notes what is wrong.
func (c *check) rule(r *rule, self ref.Val, path string) {
	if c.broke || c.ctx.Err() != nil {
		return
	}
	out, err := c.eval(r.program, self)
	var exceeded *exceededError
	switch {
	case errors.As(err, &exceeded):
		c.faults = append(c.faults, Fault{Path: path, Message: fmt.Sprintf("rule %s: %s", clip(r.text), err), Unchecked: true})
		c.broke = exceeded.total
	case c.ctx.Err() != nil:
	case err != nil:
		// The API server refuses an object on which a rule fails, too. But only a
		// key that is missing here is missing there for certain.
		c.faults = append(c.faults, Fault{Path: path, Message: fmt.Sprintf("rule %s: %s", clip(r.text), err), Unchecked: !isMissingKey(err)})
	case out == types.True:
	case out == types.False:
		c.faults = append(c.faults, Fault{Path: path, Message: c.message(r, self)})
	default:
		c.faults = append(c.faults, Fault{Path: path, Message: fmt.Sprintf("rule %s is of type %s: want bool", clip(r.text), out.Type().TypeName()), Unchecked: true})
	}
}

// An exceededError says which part of the budget does not do.
type exceededError struct {
	total bool
	limit uint64
}

// Error names the limit.
func (e *exceededError) Error() string {
	if e.total {
		return "the evaluation of all rules costs too much: this one and those after it are not checked"
	}
	return fmt.Sprintf("its evaluation costs more than %d", e.limit)
}

func (c *check) eval(p *celcost.Program, self ref.Val) (ref.Val, error) {
	c.budget.prepare(p)
	limit := min(c.budget.Each, c.budget.Left)
	out, spent, err := p.Eval(c.ctx, &variables{self}, limit)
	c.budget.Left -= spent
	if errors.Is(err, celcost.ErrExceeded) {
		return nil, &exceededError{total: limit < c.budget.Each, limit: limit}
	}
	return out, err
}

// message returns what the author says of a broken rule.
func (c *check) message(r *rule, self ref.Val) string {
	if r.messages != nil {
		if out, err := c.eval(r.messages, self); err == nil {
			if s, ok := out.(types.String); ok && s != "" {
				return string(s)
			}
		}
	}
	if r.message != "" {
		return r.message
	}
	return "breaks rule " + clip(r.text)
}

// variables are the inputs of a rule.
type variables struct{ self ref.Val }

// ResolveName implements interpreter.Activation.
func (v *variables) ResolveName(name string) (any, bool) {
	if name == varSelf {
		return v.self, true
	}
	return nil, false
}

// Parent implements interpreter.Activation.
func (*variables) Parent() interpreter.Activation { return nil }
