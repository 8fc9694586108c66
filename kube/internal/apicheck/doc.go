// Package apicheck returns what an API server refuses in objects of bundles, without an API
// server: deployments, permissions, services and other small kinds, and CRDs.
//
// The validation of Kubernetes is not a library: its packages belong to the module
// k8s.io/kubernetes, which no other module can require. The rules here are those of Kubernetes
// 1.36 for the fields that bundles use. TestServer in package registryv1 compares the verdicts with
// those of a real API server, in both directions. Not checked are defaults with CEL rules, volumes of storage
// vendors, resource claims, Windows, pod-level resources, annotations for AppArmor and seccomp, the DNS
// and host aliases of pods, and network policies. Admission plugins are a matter of a cluster.
package apicheck

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation/field"
)

// A check collects errors.
type check struct {
	errs     field.ErrorList
	ruled    bool // the schema of a CRD has CEL rules
	defaults bool // it has defaults
	complex  bool // it, or a part of it, is not plain
	patterns map[string]error
}

func (c *check) invalid(at *field.Path, v any, texts ...string) {
	for _, text := range texts {
		c.errs = append(c.errs, field.Invalid(at, v, text))
	}
}

// must adds an error unless a value is valid.
func (c *check) must(valid bool, at *field.Path, v any, text string) {
	if !valid {
		c.invalid(at, v, text)
	}
}

func (c *check) required(at *field.Path, text string) {
	c.errs = append(c.errs, field.Required(at, text))
}

func (c *check) duplicate(at *field.Path, v any) {
	c.errs = append(c.errs, field.Duplicate(at, v))
}

// text checks a required string.
func (c *check) text(at *field.Path, v string, valid func(string) []string) {
	if v == "" {
		c.required(at, "")
	} else if valid != nil {
		c.invalid(at, v, valid(v)...)
	}
}

// optional checks a string that may be empty.
func (c *check) optional(at *field.Path, v string, valid func(string) []string) {
	if v != "" {
		c.invalid(at, v, valid(v)...)
	}
}

// number checks an optional number.
func number[T int32 | int64](c *check, at *field.Path, v *T, least, most T) {
	if v != nil && (*v < least || *v > most) {
		c.invalid(at, *v, fmt.Sprintf("must be between %d and %d", least, most))
	}
}

// forbid reports a field of the object at a path, if it is bad.
func (c *check) forbid(bad bool, at *field.Path, name, text string) {
	if bad {
		c.errs = append(c.errs, field.Forbidden(at.Child(name), text))
	}
}

// oneOf checks that a value is one of a set. An empty one is refused if it is required.
func (c *check) oneOf(at *field.Path, v string, required bool, set ...string) {
	switch {
	case v == "" && required:
		c.required(at, "must be one of "+strings.Join(set, ", "))
	case v != "" && !slices.Contains(set, v):
		c.errs = append(c.errs, field.NotSupported(at, v, set))
	}
}

// count returns how many of the values are true.
func count(values ...bool) (n int) {
	for _, v := range values {
		if v {
			n++
		}
	}
	return n
}
