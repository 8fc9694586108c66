package platform_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/platform"
)

// G5: a bundle that ships objects of a removed API, or needs the API, cannot be installed; an installed one that needs it
// fails when the platform stops serving it.
func TestRemovedAPIs(t *testing.T) {
	budget := base64.StdEncoding.EncodeToString([]byte("apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: p}\n"))
	other := base64.StdEncoding.EncodeToString([]byte("not: [an object"))
	with := func(text *string, bundle, props string) {
		old := fmt.Sprintf(`"version":%q}}`, bundle)
		if !strings.Contains(*text, old) {
			t.Fatalf("no version %s in %s", bundle, *text)
		}
		*text = strings.Replace(*text, old, old+","+props, 1)
	}
	lines := "p/s: 1.0.0, 1.1.0 <1.0.0, 1.2.0 <1.1.0\nq/s: 1.0.0\nr/s: 1.0.0, 2.0.0 <1.0.0"
	problem := func() platform.Problem {
		text := catalog(lines)
		with(text, "1.2.0", fmt.Sprintf(`{"type":"olm.bundle.object","value":{"data":%q}},{"type":"olm.bundle.object","value":{"data":%q}}`, other, budget))
		needs := `{"type":"olm.csv.metadata","value":{"nativeAPIs":[{"group":"","version":"v1","kind":"Secret"},{"group":"flow.k8s.io","version":"v1beta3","kind":"Flow"}]}}`
		*text = strings.ReplaceAll(*text, `"packageName":"q","version":"1.0.0"}}`, `"packageName":"q","version":"1.0.0"}},`+needs)
		*text = strings.ReplaceAll(*text, `"packageName":"r","version":"1.0.0"}}`, `"packageName":"r","version":"1.0.0"}},`+needs)
		return platform.Problem{
			From: "4.18", To: "4.19",
			Catalogs: []platform.Catalog{{Platform: "4.18", FBC: text}, {Platform: "4.19", FBC: text}},
			Installed: []platform.Operator{
				{Name: "p.v1.0.0", Package: "p"}, {Name: "q.v1.0.0", Package: "q"},
				{Name: "r.v1.0.0", Package: "r", Properties: []property.Property{}},
			},
			Removed: func(api property.GVK) (platform.RemovedAPI, bool) {
				switch api {
				case property.GVK{Group: "policy", Version: "v1beta1", Kind: "PodDisruptionBudget"}:
					return platform.RemovedAPI{Since: property.MinorVersion{Major: 1, Minor: 25}, Instead: "policy/v1"}, true
				case property.GVK{Group: "flow.k8s.io", Version: "v1beta3", Kind: "Flow"}:
					return platform.RemovedAPI{Since: property.MinorVersion{Major: 1, Minor: 32}}, true
				}
				return platform.RemovedAPI{}, false
			},
		}
	}
	p := problem()
	got := plan(t, p)
	walkThrough(t, p, got)
	golden.File(t, "removed.txt", got.String())

	p = problem()
	p.Removed = nil
	if got := plan(t, p); len(got.Blockers) > 0 || got.Operators[0].To.Name != "p.v1.2.0" {
		t.Errorf("without a table, APIs are checked: %+v", got.Blockers)
	}
}
