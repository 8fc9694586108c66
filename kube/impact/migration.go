package impact

import (
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// A Migration is what the API server demands of a CRD before an upgrade: it refuses a CRD without a version
// that status.storedVersions lists.
type Migration struct {
	CRD string `json:"crd"`
	// Stored are the versions in which resources may be stored, and which the new CRD does not have. Kept are
	// the other stored versions.
	Stored []string `json:"stored,omitempty"`
	Kept   []string `json:"kept,omitempty"`
}

// Migrations returns what must be migrated before the last upgrade of a path, sorted by CRD, because resources may be
// stored as they were under earlier bundles. What the report on the upgrade itself has is left out.
func Migrations(path []Bundle) []Migration { // K226
	stored := map[string][]string{}
	var out []Migration
	for i := range path {
		out = nil
		for n := range path[i].CRDs {
			x := &path[i].CRDs[n].Object
			var kept, lost []string
			for _, v := range stored[x.Name] {
				if slices.ContainsFunc(x.Spec.Versions, func(w apiextensionsv1.CustomResourceDefinitionVersion) bool { return w.Name == v }) {
					kept = append(kept, v)
				} else {
					lost = append(lost, v)
				}
			}
			if n := len(stored[x.Name]); len(lost) > 0 && !slices.Contains(lost, stored[x.Name][n-1]) { // the last is that of the old bundle
				out = append(out, Migration{x.Name, lost, kept})
			}
			v := storage(x)
			stored[x.Name] = append(slices.DeleteFunc(slices.Clone(kept), func(w string) bool { return w == v }), v)
		}
	}
	slices.SortFunc(out, func(a, b Migration) int { return strings.Compare(a.CRD, b.CRD) })
	return out
}
