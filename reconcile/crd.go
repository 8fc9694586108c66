package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// crdStep plans the creation or the upgrade of a CRD (E7).
func (e *execution) crdStep(s *olm.Step, o olm.Object) (olm.StepStatus, string, error) {
	have := e.crd(o.Metadata.Name)
	if have == nil {
		if s.Status == olm.StepWaitingForAPI {
			s.Status = olm.StepUnknown // it was deleted before it was served
		}
		return olm.StepWaitingForAPI, "", e.emit(Create, &o, e.plan.Key(), nil, "step of the install plan for %s", s.Resolving)
	}
	if s.Status == olm.StepWaitingForAPI {
		if have.IsEstablished() {
			return olm.StepCreated, "", nil
		}
		return s.Status, "", nil
	}
	want, err := olm.As[olm.CustomResourceDefinition](o)
	if err != nil {
		return s.Status, err.Error(), nil
	}
	old, err := olm.ToObject(have)
	if err != nil {
		return s.Status, "", err
	}
	merged, err := merge(&old, &o)
	if err != nil {
		return s.Status, "", err
	}
	if olm.Equal(&old, merged) {
		return olm.StepPresent, "", nil
	}
	owners := e.crdOwners(have.Metadata.Name, s.Resolving)
	if len(owners) > 0 || e.opts.CRDs == CheckAlways {
		if violations := CheckCRD(have, want, e.instances(have)); len(violations) > 0 {
			return s.Status, crdProblem(have.Metadata.Name, owners, violations), nil
		}
	}
	return olm.StepPresent, "", e.emit(Update, merged, e.plan.Key(), nil, "the version of %s; %s", s.Resolving, ownersText(owners))
}

func ownersText(owners []string) string {
	if len(owners) == 0 {
		return "no other operator owns it (E7)"
	}
	return "nothing breaks for " + list(owners) + ", which own it, too (E7)"
}

func crdProblem(name string, owners []string, violations []CRDViolation) string {
	var parts []string
	for _, v := range violations {
		parts = append(parts, v.String())
	}
	shared := ""
	if len(owners) > 0 {
		shared = ", which belongs to " + list(owners) + ", too,"
	}
	return fmt.Sprintf("CustomResourceDefinition %s%s cannot be upgraded: %s", name, shared, strings.Join(parts, "; "))
}

// crdOwners returns the operators of the cluster, beside the one that brings a
// CRD and the ones that it replaces, that own the CRD, too.
func (p *planner) crdOwners(crd, bringing string) []string {
	replaced := map[string]bool{bringing: true}
	for c := p.csv(bringing); c != nil; c = p.replaced(c) {
		if replaced[c.Spec.Replaces] {
			break
		}
		replaced[c.Spec.Replaces] = true
	}
	for _, ip := range p.InstallPlans { // the CSV may not be there yet
		for _, s := range ip.Status.Plan {
			if s.Resource.Kind == olm.KindClusterServiceVersion && s.Resource.Name == bringing && !isFinished(ip) {
				replaced[replacesOf(s)] = true
			}
		}
	}
	var owners []string
	for _, c := range p.CSVs {
		if c.IsCopied() || c.Metadata.IsDeleted() || c.Metadata.Namespace == p.Namespace && replaced[c.Metadata.Name] {
			continue
		}
		if slices.ContainsFunc(c.Spec.CRDs.Owned, func(d olm.CRDDescription) bool { return d.Name == crd }) {
			owners = append(owners, c.Metadata.Namespace+"/"+c.Metadata.Name)
		}
	}
	return owners
}

func replacesOf(s olm.Step) string {
	var c olm.ClusterServiceVersion
	if c.UnmarshalJSON([]byte(s.Resource.Manifest)) != nil {
		return ""
	}
	return c.Spec.Replaces
}

// instances returns the custom resources of a CRD that the snapshot has.
func (p *planner) instances(crd *olm.CustomResourceDefinition) []olm.Object {
	var list []olm.Object
	for _, o := range p.Objects {
		if k := o.Key(); k.Group == crd.Spec.Group && k.Kind == crd.Spec.Names.Kind {
			list = append(list, o)
		}
	}
	return list
}

// A CRDViolation is a reason for which a CRD cannot take the place of an older
// one while several operators own it (E7).
type CRDViolation struct {
	// Version is the version of the API that is concerned.
	Version string `json:"version"`
	// Object is the custom resource that the new schema refuses; zero when the
	// version itself is gone.
	Object olm.Key `json:"object,omitzero"`
	// Path is the JSON pointer of the element at fault.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
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

// CheckCRD returns every reason for which a new form of a CRD would break what
// exists (E7), in order: versions that the old form serves, or in which objects
// are stored, and the new one does not have; then custom resources that the
// schema of their version in the new form refuses.
func CheckCRD(old, new *olm.CustomResourceDefinition, resources []olm.Object) []CRDViolation {
	var out []CRDViolation
	versions := map[string]olm.CRDVersion{}
	for _, v := range new.AllVersions() {
		versions[v.Name] = v
	}
	gone := map[string]bool{}
	lost := func(name, why string) {
		if _, ok := versions[name]; !ok && !gone[name] {
			gone[name] = true
			out = append(out, CRDViolation{Version: name, Message: why + " and missing from the new definition"})
		}
	}
	for _, v := range old.AllVersions() {
		if v.Served {
			lost(v.Name, "served")
		}
	}
	for _, name := range old.Status.StoredVersions {
		lost(name, "stored")
	}
	schemas := map[string]*schema{}
	for _, o := range resources {
		_, version, _ := strings.Cut(o.APIVersion, "/")
		v, ok := versions[version]
		if !ok || v.Schema == nil || len(v.Schema.OpenAPIV3Schema) == 0 {
			continue
		}
		s, ok := schemas[version]
		if !ok {
			var err error
			if s, err = compileSchema(v.Schema.OpenAPIV3Schema); err != nil {
				out = append(out, CRDViolation{Version: version, Message: "the schema cannot be read: " + err.Error()})
				s = nil
			}
			schemas[version] = s
		}
		if s == nil {
			continue
		}
		for _, f := range s.validate(o) {
			out = append(out, CRDViolation{Version: version, Object: o.Key(), Path: f.path, Message: f.message})
		}
	}
	return out
}
