package reconcile

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// A CRDViolation is a reason why a new form of a CRD cannot replace the old one, or
// why that is not known.
type CRDViolation struct {
	// Version is the affected version of the API.
	Version string `json:"version"`
	// Object is the custom resource that the new schema refuses; zero when the
	// version itself is gone.
	Object olm.Key `json:"object,omitzero"`
	// Path is the field of the object, such as spec.ports[0].name. It is empty
	// for the object as a whole.
	Path    string `json:"path,omitempty"`
	Message string `json:"message"`
	// Unchecked reports that something could not be checked. Nothing is known to
	// break.
	Unchecked bool `json:"unchecked,omitzero"`
}

// String returns the violation on one line.
func (v CRDViolation) String() string {
	if v.Object == (olm.Key{}) {
		return "version " + v.Version + ": " + v.Message
	}
	if v.Path == "" {
		return fmt.Sprintf("%s (%s): %s", v.Object, v.Version, v.Message)
	}
	return fmt.Sprintf("%s (%s): %s: %s", v.Object, v.Version, v.Path, v.Message)
}

// lostVersions returns the versions that an upgrade removes. With all set, these
// include versions without known users.
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
