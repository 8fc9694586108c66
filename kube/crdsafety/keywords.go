package crdsafety

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A comparison collects the findings between two schemas.
type comparison struct {
	ctx     context.Context
	scope   Scope
	version string // one version, or a pair of versions
	found   []judged
}

// A judged is a finding and the schemas that it compares.
type judged struct {
	Finding
	old, new *node
}

func (c *comparison) add(old, new *node, found ...Finding) {
	for _, f := range found {
		f.Scope, f.Version, f.Path = c.scope, c.version, old.path
		c.found = append(c.found, judged{f, old, new})
	}
}

// fields compares a field and the fields below it, each at its own path. New is
// nil if the field was removed.
func (c *comparison) fields(old, new *node) error {
	if c.ctx.Err() != nil {
		return context.Cause(c.ctx)
	}
	if new == nil {
		c.add(old, nil, Finding{Validation: "existingFieldRemoval"})
		if c.scope == ScopeSame {
			c.found[len(c.found)-1].Scope = ScopeCRD
		}
		return nil
	}
	a, b := old.own(), new.own()
	clearDocs(a)
	clearDocs(b)
	if !reflect.DeepEqual(a, b) {
		c.add(old, new, slices.DeleteFunc(validate(a, b), func(f Finding) bool { return relaxes(f, a, b) })...)
		c.add(old, new, keywords(a, b)...)
	}
	c.add(old, new, unknownFields(old, new)...)
	c.add(old, new, alternatives(old, new)...)
	to := new.index()
	for _, step := range old.nested {
		if step.field() {
			if err := c.fields(step.node, to[[2]string{step.keyword, step.key}]); err != nil {
				return err
			}
		}
	}
	return nil
}

// relaxes reports whether a change that operator-controller refuses only accepts more (K60).
func relaxes(f Finding, old, new *schema) bool {
	switch f.Validation {
	case "type":
		switch {
		case new.Type == "number":
			return old.Type == "integer"
		case new.Type != "":
			return false
		case new.XIntOrString:
			return old.Type == "integer" || old.Type == "string"
		}
		return new.XPreserveUnknownFields != nil && *new.XPreserveUnknownFields
	case "enum":
		return len(new.Enum) == 0
	case "nullable":
		return string(f.New) == "true"
	case "pattern":
		return f.New == nil
	}
	return false
}

// field reports whether the step leads to a field, or to the elements of a list
// or a map. All other steps lead to conditions on the parent.
func (n nested) field() bool {
	switch n.keyword {
	case "properties":
		return true
	case "items", "additionalProperties":
		return n.key == ""
	}
	return false
}

// keywords compares the keywords that operator-controller does not validate. A
// keyword that this package does not know must not change (K55).
func keywords(old, new *schema) []Finding {
	before, after := rest(old), rest(new)
	var out []Finding
	for _, key := range union(before, after) {
		f := Finding{Validation: key, Old: before[key], New: after[key]}
		bad := !bytes.Equal(f.Old, f.New)
		switch key {
		case "exclusiveMaximum", "exclusiveMinimum", "uniqueItems":
			bad = bad && f.New != nil
		case "format":
			wider := old.Format == "int32" && new.Format == "int64" || old.Format == "float" && new.Format == "double"
			bad = bad && f.New != nil && !wider
		case "multipleOf":
			bad = bad && f.New != nil && (f.Old == nil || *new.MultipleOf == 0 || math.Mod(*old.MultipleOf, *new.MultipleOf) != 0)
		case "x-kubernetes-int-or-string":
			bad = bad && f.New == nil // a type that excludes one of the two is a finding
		case "x-kubernetes-preserve-unknown-fields":
			bad = bad && string(f.Old) == "true"
		case "x-kubernetes-list-type":
			bad = bad && (orDefault(f.Old, `"atomic"`) != orDefault(f.New, `"atomic"`))
		case "x-kubernetes-map-type":
			bad = bad && (orDefault(f.Old, `"granular"`) != orDefault(f.New, `"granular"`))
		case "x-kubernetes-validations":
			added, removed := addedRules(old.XValidations, new.XValidations), addedRules(new.XValidations, old.XValidations)
			bad = len(added) > 0
			if f.Old, f.New = nil, value(added); len(removed) > 0 {
				f.Old = value(removed)
			}
		}
		if bad {
			out = append(out, f)
		}
	}
	return out
}

// rest returns the keywords of a schema that are neither documentation nor
// compared by validate, as JSON.
func rest(s *schema) map[string]json.RawMessage {
	own := *s
	clearValidated(&own)
	clearDocs(&own)
	own.ID, own.Schema = "", ""
	return members(&own)
}

// members returns the keywords of a schema as JSON.
func members(s *schema) map[string]json.RawMessage {
	out := map[string]json.RawMessage{}
	text, err := json.Marshal(s)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		return nil // cannot happen: a node was created from the schema
	}
	return out
}

// union returns the keys of two maps, sorted.
func union[V any](a, b map[string]V) []string {
	all := slices.AppendSeq(slices.Collect(maps.Keys(a)), maps.Keys(b))
	slices.Sort(all)
	return slices.Compact(all)
}

func orDefault(v json.RawMessage, def string) string {
	if v == nil {
		return def
	}
	return string(v)
}

// addedRules returns the CEL expressions in new that are not in old. Messages
// and reasons are ignored, because they do not affect what is valid.
func addedRules(old, new apiextensionsv1.ValidationRules) []string {
	key := func(r apiextensionsv1.ValidationRule) string {
		if r.OptionalOldSelf != nil && *r.OptionalOldSelf {
			return r.Rule + " (optionalOldSelf)"
		}
		return r.Rule
	}
	keys := func(rules apiextensionsv1.ValidationRules) (out []string) {
		for _, r := range rules {
			out = append(out, key(r))
		}
		return out
	}
	return without(keys(new), keys(old))
}

// unknownFields compares additionalProperties unless both sides have a schema.
// A field that preserves unknown fields must continue to; a field that drops
// them may become a map.
func unknownFields(old, new *node) []Finding {
	const keyword = "additionalProperties"
	before, after := old.index(), new.index()
	if before[[2]string{keyword, ""}] != nil {
		return nil // removed, or compared as a field
	}
	has := func(nodes map[[2]string]*node, key string) bool {
		_, ok := nodes[[2]string{keyword, key}]
		return ok
	}
	f := Finding{Validation: keyword}
	if to := after[[2]string{keyword, ""}]; to != nil {
		f.New = value(members(to.own()))
	}
	switch {
	case has(before, "true") && !has(after, "true"):
		f.Old = value(true)
	case f.New != nil && old.whole.XPreserveUnknownFields != nil && *old.whole.XPreserveUnknownFields:
	default:
		return nil
	}
	return []Finding{f}
}

// alternatives compares the keywords whose values are schemas that act as
// conditions. Each is compared as a set of entries, without documentation. A
// change is safe if it only accepts more.
func alternatives(old, new *node) []Finding {
	before, after := conditions(old), conditions(new)
	var out []Finding
	for _, keyword := range union(before, after) {
		removed := missing(before[keyword], after[keyword])
		added := missing(after[keyword], before[keyword])
		if len(removed) == 0 && len(added) == 0 || widens(keyword, before[keyword], after[keyword], len(removed), len(added)) {
			continue
		}
		out = append(out, Finding{Validation: keyword, Old: removed.value(), New: added.value()})
	}
	return out
}

// widens reports whether a change to the entries of a keyword only accepts more (K60): a condition
// is gone, or an alternative is added to others.
func widens(keyword string, before, after entries, removed, added int) bool {
	switch keyword {
	case "allOf":
		return added == 0
	case "anyOf":
		return len(after) == 0 || removed == 0 && len(before) > 0
	case "not", "oneOf":
		return len(after) == 0
	}
	return false
}

// entries holds the schemas of one keyword.
type entries []nested

// conditions returns the nested schemas that are not fields, by keyword.
func conditions(n *node) map[string]entries {
	out := map[string]entries{}
	for _, step := range n.nested {
		if !step.field() && step.keyword != "additionalProperties" {
			out[step.keyword] = append(out[step.keyword], step)
		}
	}
	if n.whole.XIntOrString && eitherType(out["anyOf"]) {
		delete(out, "anyOf") // x-kubernetes-int-or-string has the same effect
	}
	return out
}

// eitherType reports whether alternatives are an integer or a string.
func eitherType(l entries) bool {
	types := map[string]bool{}
	for _, e := range l {
		s := *e.node.whole
		types[s.Type] = true
		if s.Type = ""; !reflect.DeepEqual(s, schema{}) {
			return false
		}
	}
	return len(l) == 2 && types["integer"] && types["string"]
}

// id identifies an entry, regardless of its place in the list.
func (n nested) id() string {
	if n.list() > 0 {
		return fmt.Sprintf("%x", n.sums().plain)
	}
	return fmt.Sprintf("%s %x", n.key, n.sums().plain)
}

// missing returns the entries of list that are not in others. Repeated entries
// count separately.
func missing(list, others entries) (out entries) {
	have := map[string]int{}
	for _, e := range others {
		have[e.id()]++
	}
	for _, e := range list {
		if have[e.id()]--; have[e.id()] < 0 {
			out = append(out, e)
		}
	}
	return out
}

// value returns the entries as a JSON list.
func (l entries) value() json.RawMessage {
	if len(l) == 0 {
		return nil
	}
	texts := make([]string, len(l))
	for i, e := range l {
		texts[i] = string(e.text())
	}
	slices.Sort(texts)
	return list(texts)
}

// text returns the step's schema as JSON, or its key.
func (n nested) text() json.RawMessage {
	if n.node == nil {
		return value(n.key)
	}
	text, err := json.Marshal(n.node.whole)
	if err != nil {
		return nil // cannot happen: a node was created from the schema
	}
	return text
}
