package crd

import (
	"slices"

	"github.com/olmkit/olmkit/olm"
)

// AnnotationStandIn marks a generated CRD that replaces one whose manifest is unknown.
const AnnotationStandIn = "olmkit/stand-in"

// keepVersions adds the versions of the CRD in the cluster to a stand-in: the real CRD,
// which is unknown, keeps at least the stored versions.
func keepVersions(want, have *olm.CustomResourceDefinition) {
	versions := slices.Clone(want.Spec.Versions)
	for _, v := range have.Spec.AllVersions() {
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
