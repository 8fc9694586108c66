package crd

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// Check returns the violations of a CRD by existing custom resources, in the
// order of the resources. Use it as reconcile.Options.CheckResources.
//
// Each resource is checked in its version and, where no webhook converts it,
// also in the storage version. As in the API server, it is pruned, gets
// defaults, and is validated by the schema, then by the CEL rules
// (x-kubernetes-validations), within the API server's cost limits. It is
// validated as a new object: existing values get no exemption, and rules that
// refer to the old object do not apply.
//
// Time and memory are limited. Resources that exceed a limit, and rules that do
// not compile, are in the results with Unchecked set. The error is that of the
// context.
func Check(ctx context.Context, crd *olm.CustomResourceDefinition, resources []olm.Object) ([]reconcile.CRDViolation, error) {
	c := newChecker(crd)
	for _, o := range resources {
		if ctx.Err() != nil {
			break
		}
		c.resource(ctx, o)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return c.out, nil
}

// A checker checks custom resources against one CRD.
type checker struct {
	crd     *olm.CustomResourceDefinition
	storage string
	schemas map[string]*schema // by version; nil for one that has none or is invalid
	budget  *budget            // for all resources
	out     []reconcile.CRDViolation
}

func newChecker(crd *olm.CustomResourceDefinition) *checker {
	c := &checker{crd: crd, schemas: map[string]*schema{}, budget: newBudget()}
	for _, v := range crd.Spec.AllVersions() {
		if v.Storage {
			c.storage = v.Name
		}
	}
	return c
}

// resource checks a resource in its own version and, unless a webhook converts
// between the versions, also in the storage version.
func (c *checker) resource(ctx context.Context, o olm.Object) {
	group, version, _ := strings.Cut(o.APIVersion, "/")
	has := slices.ContainsFunc(c.crd.Spec.AllVersions(), func(v olm.CRDVersion) bool { return v.Name == version })
	if has {
		c.version(ctx, o, version)
	}
	if version == c.storage || c.storage == "" {
		return
	}
	if conv := c.crd.Spec.Conversion; conv != nil && conv.Strategy != "" && conv.Strategy != "None" {
		if !has {
			c.out = append(c.out, reconcile.CRDViolation{Version: version, Object: o.Key(), Unchecked: true,
				Message: fmt.Sprintf("the result of converting it to version %s with strategy %s is unknown", c.storage, conv.Strategy)})
		}
		return
	}
	o.APIVersion = group + "/" + c.storage
	c.version(ctx, o, c.storage)
}

func (c *checker) version(ctx context.Context, o olm.Object, version string) {
	s := c.schema(ctx, version)
	if s == nil || c.budget.broke {
		return
	}
	for _, f := range s.validate(ctx, o, c.budget) {
		c.out = append(c.out, reconcile.CRDViolation{Version: version, Object: o.Key(), Path: clip(f.path), Message: f.message, Unchecked: f.unchecked})
	}
}

// schema returns the compiled schema of a version. It returns nil if the version
// has no schema, or an invalid one. Findings about the schema are reported once.
func (c *checker) schema(ctx context.Context, version string) *schema {
	if s, ok := c.schemas[version]; ok {
		return s
	}
	c.schemas[version] = nil
	for _, v := range c.crd.Spec.AllVersions() {
		if v.Name != version || v.Schema == nil || len(v.Schema.OpenAPIV3Schema) == 0 {
			continue
		}
		s, findings, err := compile(ctx, v.Schema.OpenAPIV3Schema)
		if err != nil {
			c.out = append(c.out, reconcile.CRDViolation{Version: version, Message: "invalid schema: " + clip(err.Error())})
			continue
		}
		for _, f := range findings {
			c.out = append(c.out, reconcile.CRDViolation{Version: version, Path: clip(f.path), Message: "schema of " + cmp.Or(clip(f.path), "the object") + ": " + f.message, Unchecked: f.unchecked})
		}
		c.schemas[version] = s
	}
	return c.schemas[version]
}

// A finding is a part of an object that is invalid or could not be checked.
type finding struct {
	path, message string
	unchecked     bool
}

func compareFindings(a, b finding) int {
	if a.unchecked != b.unchecked {
		if b.unchecked {
			return -1
		}
		return 1
	}
	return cmp.Or(cmp.Compare(a.path, b.path), cmp.Compare(a.message, b.message))
}

// clip truncates a message or path, which may quote a part of an object.
func clip(s string) string {
	const most = 300
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}
