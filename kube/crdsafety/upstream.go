package crdsafety

import (
	"context"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
)

// A flat holds the schemas of a version by path. If two have the same path, such as a
// property named "not" and the keyword, the last one counts (K58).
type flat struct {
	nodes []*node
	at    map[string]*node
}

func flatten(root *node) *flat {
	f := &flat{at: map[string]*node{}}
	var visit func(n *node)
	visit = func(n *node) {
		f.nodes = append(f.nodes, n)
		f.at[n.path] = n
		for _, step := range n.nested {
			if step.node != nil {
				visit(step.node)
			}
		}
	}
	if root != nil {
		visit(root)
	}
	f.nodes = slices.DeleteFunc(f.nodes, func(n *node) bool { return f.at[n.path] != n })
	return f
}

// paths compares two versions as operator-controller does (K57, K59, K60).
func (c *comparison) paths(old, new *node) error {
	before, after := flatten(old), flatten(new)
	for _, o := range before.nodes {
		if c.ctx.Err() != nil {
			return context.Cause(c.ctx)
		}
		n := after.at[o.path]
		if n == nil {
			n = &node{path: o.path, whole: &schema{}}
			if c.scope == ScopeSame {
				c.add(o, n, Finding{Validation: "existingFieldRemoval"})
				c.found[len(c.found)-1].Scope = ScopeCRD
			}
		}
		a, b := o.own(), n.own()
		c.add(o, n, validate(a, b)...)
		c.add(o, n, oneOf(o, n)...)
		clearValidated(a)
		clearValidated(b)
		if !sameKeywords(a, b) || !sameUnjudged(o, n) {
			d := &differences{}
			d.between(o, n, "", 0)
			c.add(o, n, Finding{Validation: unhandled, Old: d.old(), New: d.new()})
		}
	}
	return nil
}

// oneOf compares the entries of oneOf as sets. It ignores the documentation of an entry,
// but not that of the schemas nested in it.
func oneOf(old, new *node) []Finding {
	before, after := oneOfEntries(old), oneOfEntries(new)
	only := func(a, b map[digest]nested) json.RawMessage {
		var out entries
		for id, e := range a {
			if _, ok := b[id]; !ok {
				out = append(out, e)
			}
		}
		return out.value() // sorted
	}
	removed, added := only(before, after), only(after, before)
	switch {
	case removed != nil:
		return []Finding{{Validation: "oneOf", Old: removed}}
	case added != nil:
		return []Finding{{Validation: "oneOf", New: added}}
	}
	return nil
}

func oneOfEntries(n *node) map[digest]nested {
	out := map[digest]nested{}
	for _, step := range n.nested {
		if step.keyword == "oneOf" {
			out[step.node.sums.entry] = step
		}
	}
	return out
}

// sameKeywords reports whether two schemas without nested ones are equal. Reflection takes
// less time for schemas that are equal, as most are.
func sameKeywords(a, b *schema) bool {
	return reflect.DeepEqual(a, b) || equality.Semantic.DeepEqual(a, b)
}

// sameUnjudged reports whether the keywords that operator-controller does not validate lead
// to equal schemas (K59).
func sameUnjudged(old, new *node) bool {
	return slices.EqualFunc(old.unjudged(), new.unjudged(), func(a, b nested) bool {
		return a.keyword == b.keyword && a.key == b.key && (a.node == nil) == (b.node == nil) && a.sums().documented == b.sums().documented
	})
}

// unjudged returns the steps whose keywords operator-controller does not validate.
func (n *node) unjudged() []nested {
	return slices.DeleteFunc(slices.Clone(n.nested), func(n nested) bool { return n.structural() || n.keyword == "oneOf" })
}

// sameText reports whether two findings have the same text in operator-controller, which
// then treats f as known (K61). Operator-controller lists several required fields in random
// order, so such texts count as different (K62). The text of an unhandled change includes
// some unchanged values and omits some changed ones. Comparing such texts takes exponential
// time for nested lists. Therefore room limits how many more schemas may be compared;
// beyond that, texts count as different.
func sameText(f, known judged, room *int) bool {
	if f.Validation == unhandled {
		size, lists := 0, 0
		for _, n := range []*node{f.old, f.new, known.old, known.new} {
			for _, step := range n.unjudged() {
				if step.node != nil {
					size += step.node.size
					lists = max(lists, step.node.lists+step.list())
				}
			}
		}
		if size > *room || lists > 3 && size > 300 {
			return false
		}
		*room -= size
		return diff(f) == diff(known)
	}
	uncertain := f.Validation == "required" && strings.Contains(string(f.New), ",")
	return slices.Equal(f.Old, known.Old) && slices.Equal(f.New, known.New) && !uncertain
}

// diff returns operator-controller's text of an unhandled change.
func diff(f judged) string {
	unjudged := func(n *node) *schema {
		s := *n.whole
		clearValidated(&s)
		s.Properties, s.Items, s.OneOf = nil, nil, nil
		return &s
	}
	return cmp.Diff(unjudged(f.old), unjudged(f.new))
}

// differences collects the values that differ between two schemas, by path.
type differences struct {
	from, to map[string]json.RawMessage
}

// enough is the maximum number of differences in the text of an unhandled finding.
const enough = 5

func (d *differences) old() json.RawMessage { return object(d.from) }
func (d *differences) new() json.RawMessage { return object(d.to) }

func object(m map[string]json.RawMessage) json.RawMessage {
	if len(m) == 0 {
		return nil
	}
	text, err := json.Marshal(m)
	if err != nil {
		return nil // cannot happen: the values were decoded from JSON
	}
	return text
}

// add records a difference and reports whether there is room for more.
func (d *differences) add(path string, from, to json.RawMessage) bool {
	if d.from == nil {
		d.from, d.to = map[string]json.RawMessage{}, map[string]json.RawMessage{}
	}
	path = strings.TrimPrefix(path, ".")
	if from != nil {
		d.from[path] = from
	}
	if to != nil {
		d.to[path] = to
	}
	return len(d.from)+len(d.to) < enough
}

// between records the differences between two schemas, down to a limited depth. At the top,
// keywords that have a validation are ignored.
func (d *differences) between(old, new *node, at string, depth int) bool {
	from, to := old.nested, new.nested
	var before, after map[string]json.RawMessage
	switch {
	case depth == 0:
		before, after = unjudgedMembers(old), unjudgedMembers(new)
		from, to = old.unjudged(), new.unjudged()
	default:
		before, after = members(old.own()), members(new.own())
	}
	for _, key := range union(before, after) {
		if string(before[key]) != string(after[key]) && !d.add(at+"."+key, before[key], after[key]) {
			return false
		}
	}
	was, is := steppedTo(from), steppedTo(to)
	for _, step := range union(was, is) {
		o, inOld := was[step]
		n, inNew := is[step]
		switch {
		case inOld && inNew && o.sums().documented == n.sums().documented:
		case inOld && inNew && o.node != nil && n.node != nil && depth < 20:
			if !d.between(o.node, n.node, at+step, depth+1) {
				return false
			}
		case !d.add(at+step, o.shown(), n.shown()):
			return false
		}
	}
	return true
}

// unjudgedMembers returns the keywords that operator-controller does not validate, as JSON.
func unjudgedMembers(n *node) map[string]json.RawMessage {
	own := n.own()
	clearValidated(own)
	return members(own)
}

// steppedTo returns steps by their text.
func steppedTo(steps []nested) map[string]nested {
	out := make(map[string]nested, len(steps))
	for _, step := range steps {
		out[step.step()] = step
	}
	return out
}

// shown returns the keywords of a nested schema without what is nested in it.
func (n nested) shown() json.RawMessage {
	switch {
	case n.keyword == "":
		return nil
	case n.node == nil:
		return value(n.key)
	}
	return value(members(n.node.own()))
}
