package crd

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// AnnotationStandIn marks a CRD that is made up.
const AnnotationStandIn = "olmkit/stand-in"

// keepVersions gives a CRD that is made up the versions that the cluster has of
// it: the true one, which nobody has seen, keeps at least those that are stored.
func keepVersions(want, have *olm.CustomResourceDefinition) {
	versions := slices.Clone(want.Spec.Versions)
	for _, v := range have.AllVersions() {
		i := slices.IndexFunc(versions, func(o olm.CRDVersion) bool { return o.Name == v.Name })
		if i < 0 {
			v.Storage = false
			versions = append(versions, v)
			continue
		}
		versions[i].Schema = v.Schema
	}
	want.Spec.Versions = versions
}
