package crdsafety

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// unhandled is the validation of a change that no other one covers.
const unhandled = "unhandled"

// validate compares the keywords that operator-controller validates, except
// oneOf (K60). The findings have no version or path yet.
func validate(old, new *schema) []Finding {
	var out []Finding
	add := func(validation string, bad bool, before, after any) {
		if bad {
			out = append(out, Finding{Validation: validation, Old: value(before), New: value(after)})
		}
	}
	add("type", old.Type != new.Type, old.Type, new.Type)
	add("pattern", old.Pattern != new.Pattern, old.Pattern, new.Pattern)
	if old.Nullable != new.Nullable {
		add("nullable", true, &old.Nullable, &new.Nullable)
	}
	if before, after := raw(old.Default), raw(new.Default); !bytes.Equal(before, after) {
		out = append(out, Finding{Validation: "default", Old: before, New: after})
	}
	required := without(new.Required, old.Required)
	add("required", len(required) > 0, nil, required)

	before, after := enum(old), enum(new)
	if len(before) == 0 {
		add("enum", len(after) > 0, nil, list(without(after, nil)))
	} else {
		removed := without(before, after)
		add("enum", len(removed) > 0, list(removed), nil)
	}

	bound(add, "minimum", 1, old.Minimum, new.Minimum)
	bound(add, "minItems", 1, old.MinItems, new.MinItems)
	bound(add, "minLength", 1, old.MinLength, new.MinLength)
	bound(add, "minProperties", 1, old.MinProperties, new.MinProperties)
	bound(add, "maximum", -1, old.Maximum, new.Maximum)
	bound(add, "maxItems", -1, old.MaxItems, new.MaxItems)
	bound(add, "maxLength", -1, old.MaxLength, new.MaxLength)
	bound(add, "maxProperties", -1, old.MaxProperties, new.MaxProperties)
	return out
}

// clearValidated clears the keywords that validate compares, and the
// description.
func clearValidated(s *schema) {
	s.Type, s.Pattern, s.Description, s.Nullable = "", "", "", false
	s.Default, s.Enum, s.Required = nil, nil, nil
	s.Minimum, s.MinItems, s.MinLength, s.MinProperties = nil, nil, nil, nil
	s.Maximum, s.MaxItems, s.MaxLength, s.MaxProperties = nil, nil, nil, nil
}

// bound adds a finding if a bound became tighter.
func bound[T int64 | float64](add func(string, bool, any, any), validation string, tighter int, old, new *T) {
	switch {
	case new == nil:
	case old == nil:
		add(validation, true, nil, *new)
	default:
		add(validation, cmp.Compare(*new, *old) == tighter, *old, *new)
	}
}

// enum returns the values of an enum as JSON.
func enum(s *schema) []string {
	var out []string
	for _, v := range s.Enum {
		out = append(out, string(v.Raw))
	}
	return out
}

// without returns the elements of list that are not in other, sorted and
// without duplicates.
func without(list, other []string) []string {
	known := make(map[string]bool, len(other))
	for _, s := range other {
		known[s] = true
	}
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return known[s] })
	slices.Sort(list)
	return slices.Compact(list)
}

// raw returns the JSON of an optional value.
func raw(v *apiextensionsv1.JSON) json.RawMessage {
	if v == nil {
		return nil
	}
	return v.Raw
}

// list returns JSON values as one list.
func list(values []string) json.RawMessage {
	return json.RawMessage("[" + strings.Join(values, ",") + "]")
}

// value returns a value of a finding as JSON, or nil if it is empty.
func value(v any) json.RawMessage {
	if v == nil || v == "" {
		return nil
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false) // do not escape <, > and & in patterns
	if err := enc.Encode(v); err != nil {
		return nil // cannot happen for strings, numbers, booleans and raw values
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}
