package reconcile

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/celrule"
)

// A CRDViolation is a reason for which a CRD cannot take the place of an older
// one (E7), or cannot be told to be able to.
type CRDViolation struct {
	// Version is the version of the API that is concerned.
	Version string `json:"version"`
	// Object is the custom resource that the new schema refuses; zero when the
	// version itself is gone.
	Object olm.Key `json:"object,omitzero"`
	// Path is the JSON pointer of the element at fault.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	// Unchecked says that nothing is known to break, but that something could
	// not be checked.
	Unchecked bool `json:"unchecked,omitzero"`
}

// String tells the violation.
func (v CRDViolation) String() string {
	if v.Object == (olm.Key{}) {
		return "version " + v.Version + ": " + v.Message
	}
	return fmt.Sprintf("%s (%s): %s: %s", v.Object, v.Version, orRoot(v.Path), v.Message)
}

func orRoot(path string) string {
	if path == "" {
		return "/"
	}
	return path
}

// A CRDUse is what would notice that a CRD changes.
type CRDUse struct {
	// Resources are its custom resources, of any of its versions.
	Resources []olm.Object
	// Operators are the CSVs that own or require it and are to stay.
	Operators []*olm.ClusterServiceVersion
}

// CheckCRD returns every reason for which a new form of a CRD would break what
// exists (E7), in order:
//
//   - versions that the old form serves, or in which objects are stored, and the
//     new one does not have, and versions that it has but no longer serves
//     although an operator uses them;
//   - custom resources that the new form refuses, by the schema and the rules
//     (x-kubernetes-validations) of their version. Where the version is another
//     one than objects are stored in and no webhook converts them, also by those
//     of the storage version.
//
// Rules that compare with an older state (oldSelf) do not apply to objects at
// rest. What cannot be checked, such as a rule that calls a function which only
// the API server has, is among the results, marked as Unchecked. The error is
// that of the context.
func CheckCRD(ctx context.Context, old, new *olm.CustomResourceDefinition, use CRDUse) ([]CRDViolation, error) {
	c := &crdCheck{crd: new, schemas: map[string]*schema{}, rules: celrule.NewBudget(), budget: newSchemaBudget()}
	c.out = lostVersions(old, new, use.Operators, true)
	for _, v := range new.AllVersions() {
		if v.Storage {
			c.storage = v.Name
		}
	}
	for _, o := range use.Resources {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c.resource(ctx, o)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return c.out, nil
}

// lostVersions returns the versions that an upgrade takes away. With all set
// those that nobody is known to use count, too.
func lostVersions(old, new *olm.CustomResourceDefinition, users []*olm.ClusterServiceVersion, all bool) []CRDViolation {
	versions := map[string]olm.CRDVersion{}
	for _, v := range new.AllVersions() {
		versions[v.Name] = v
	}
	var out []CRDViolation
	for _, v := range old.AllVersions() {
		if !v.Served {
			continue
		}
		now, exists := versions[v.Name]
		by := usersOf(old.Metadata.Name, v.Name, users)
		message := ""
		switch {
		case !exists && (all || len(by) > 0):
			message = "served and missing from the new definition"
		case exists && !now.Served && len(by) > 0:
			message = "served and not served by the new definition"
		default:
			continue
		}
		if len(by) > 0 {
			message += ", and used by " + list(by)
		}
		out = append(out, CRDViolation{Version: v.Name, Message: message})
	}
	for _, name := range old.Status.StoredVersions {
		if _, exists := versions[name]; !exists && !slices.ContainsFunc(out, func(v CRDViolation) bool { return v.Version == name }) {
			out = append(out, CRDViolation{Version: name, Message: "stored and missing from the new definition"})
		}
	}
	return out
}

// usersOf returns the operators that own or require a version of a CRD.
func usersOf(crd, version string, users []*olm.ClusterServiceVersion) []string {
	is := func(d olm.CRDDescription) bool { return d.Name == crd && d.Version == version }
	var names []string
	for _, c := range users {
		if slices.ContainsFunc(c.Spec.CRDs.Owned, is) || slices.ContainsFunc(c.Spec.CRDs.Required, is) {
			names = append(names, c.Metadata.Namespace+"/"+c.Metadata.Name)
		}
	}
	return names
}

// A crdCheck checks custom resources against a new form of their CRD.
type crdCheck struct {
	crd     *olm.CustomResourceDefinition
	storage string
	schemas map[string]*schema // by version; nil for one that cannot be read
	rules   *celrule.Budget    // of all rules on all resources
	budget  *schemaBudget      // of all schemas on all resources
	out     []CRDViolation
}

// resource checks a custom resource in the version that it is in and, where
// the API server would take it for the same in the storage version, in that.
func (c *crdCheck) resource(ctx context.Context, o olm.Object) {
	_, version, _ := strings.Cut(o.APIVersion, "/")
	has := slices.ContainsFunc(c.crd.AllVersions(), func(v olm.CRDVersion) bool { return v.Name == version })
	if has {
		c.version(ctx, o, version)
	}
	if version == c.storage || c.storage == "" {
		return
	}
	if conv := c.crd.Spec.Conversion; conv != nil && conv.Strategy != "" && conv.Strategy != "None" {
		if !has {
			c.out = append(c.out, CRDViolation{Version: version, Object: o.Key(), Unchecked: true,
				Message: fmt.Sprintf("what conversion %s makes of it in version %s is not known", conv.Strategy, c.storage)})
		}
		return
	}
	group, _, _ := strings.Cut(o.APIVersion, "/")
	o.APIVersion = group + "/" + c.storage
	c.version(ctx, o, c.storage)
}

func (c *crdCheck) version(ctx context.Context, o olm.Object, version string) {
	s := c.schema(ctx, version)
	if s == nil || c.budget.broke {
		return
	}
	for _, f := range s.validate(ctx, o, c.budget.meter(ctx), c.rules) {
		c.out = append(c.out, CRDViolation{Version: version, Object: o.Key(), Path: f.path, Message: f.message, Unchecked: f.unchecked})
	}
}

// schema returns the schema of a version, or nil if it has none or it cannot be
// read, which is told once.
func (c *crdCheck) schema(ctx context.Context, version string) *schema {
	s, ok := c.schemas[version]
	if ok {
		return s
	}
	for _, v := range c.crd.AllVersions() {
		if v.Name != version || v.Schema == nil || len(v.Schema.OpenAPIV3Schema) == 0 {
			continue
		}
		var err error
		if s, err = compileSchema(ctx, v.Schema.OpenAPIV3Schema); err != nil {
			c.out = append(c.out, CRDViolation{Version: version, Message: "the schema cannot be read: " + err.Error()})
			s = nil
			continue
		}
		for _, f := range s.unchecked() {
			c.out = append(c.out, CRDViolation{Version: version, Path: f.path, Message: "schema of " + orRoot(f.path) + ": " + f.message, Unchecked: true})
		}
	}
	c.schemas[version] = s
	return s
}
