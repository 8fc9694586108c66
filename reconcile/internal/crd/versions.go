package crd

import (
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
)

// Immutable returns what a new definition changes although the API server refuses that once it serves the CRD: "scope", "kind",
// "scope or kind" for both, or "".
func Immutable(old, new *olm.CustomResourceDefinition) string {
	scope, kind := old.Spec.Scope != new.Spec.Scope, old.Spec.Names.Kind != new.Spec.Names.Kind
	switch {
	case !old.Status.IsEstablished() || !scope && !kind:
		return ""
	case scope && kind:
		return "scope or kind"
	case scope:
		return "scope"
	}
	return "kind"
}

// LostVersions returns the versions that an upgrade removes. With all set, these
// include versions without known users.
func LostVersions(old, new *olm.CustomResourceDefinition, users []*olm.ClusterServiceVersion, all bool) []Violation {
	versions := map[string]olm.CRDVersion{}
	for _, v := range new.Spec.AllVersions() {
		versions[v.Name] = v
	}
	var out []Violation
	for _, v := range old.Spec.AllVersions() {
		if !v.Served {
			continue
		}
		now, exists := versions[v.Name]
		by := usersOf(old.Metadata.Name, v.Name, users)
		message := ""
		switch {
		case !exists && (all || len(by) > 0):
			message = "is served, but missing from the new definition"
		case exists && !now.Served && len(by) > 0:
			message = "is served, but not by the new definition"
		default:
			continue
		}
		if len(by) > 0 {
			message += ", and used by " + phrase.Join(by, "and")
		}
		out = append(out, Violation{Version: v.Name, Message: message})
	}
	for _, name := range old.Status.StoredVersions {
		if _, exists := versions[name]; !exists && !slices.ContainsFunc(out, func(v Violation) bool { return v.Version == name }) {
			out = append(out, Violation{Version: name, Message: "has stored objects, but is missing from the new definition"})
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
