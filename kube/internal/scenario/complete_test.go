package scenario_test

import (
	"encoding/json"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/olm"
)

// required holds the fields that the API server requires. Scenarios leave them
// out, because they do not affect the result.
var required = map[string]string{
	olm.KindClusterServiceVersion: `{spec: {displayName: Example}}`,
	olm.KindOperatorGroup:         `{status: {lastUpdated: "2026-01-01T00:00:00Z"}}`,
	olm.KindInstallPlan:           `{status: {phase: "", catalogSources: []}, spec: {approval: Automatic, approved: true, clusterServiceVersionNames: []}}`,
	olm.KindCatalogSource:         `{spec: {sourceType: grpc}}`,
	olm.KindSubscription:          `{status: {lastUpdated: "2026-01-01T00:00:00Z"}}`,
	olm.KindCRD:                   `{spec: {scope: Namespaced, versions: [{schema: {openAPIV3Schema: {type: object}}}]}}`,
	// For a deployment without a template.
	"Deployment":              `{spec: {template: {metadata: {labels: {app: example}}, spec: {containers: [{name: other, image: example.com/other}]}}}}`,
	olm.KindOperatorCondition: `{spec: {conditions: [{lastTransitionTime: "2026-01-01T00:00:00Z"}]}}`,
}

// complete adds the required fields to an object, for both clusters.
func complete(t *testing.T, o *olm.Object) {
	t.Helper()
	more, ok := required[o.Kind]
	if !ok {
		return
	}
	var m, v map[string]any
	must(t, yaml.Unmarshal([]byte(more), &m))
	text, err := o.MarshalJSON()
	must(t, err)
	must(t, json.Unmarshal(text, &v))
	spec, _ := v["spec"].(map[string]any)
	if template, _ := spec["template"].(map[string]any); len(template) > 0 {
		return
	}
	fill(v, m)
	text, err = json.Marshal(v)
	must(t, err)
	*o = olm.Object{}
	must(t, json.Unmarshal(text, o))
}

// fill adds missing fields, also to each element of a list. It adds no list
// except that of containers.
func fill(v, more map[string]any) {
	for name, x := range more {
		have, ok := v[name]
		each, _ := x.([]any)
		switch {
		case !ok && name != "status" && (len(each) == 0 || name == "containers"):
			v[name] = x
		case len(each) == 0:
			a, isMap := have.(map[string]any)
			b, both := x.(map[string]any)
			if isMap && both {
				fill(a, b)
			}
		default:
			list, _ := have.([]any)
			for _, e := range list {
				a, isMap := e.(map[string]any)
				b, both := each[0].(map[string]any)
				if isMap && both {
					fill(a, b)
				}
			}
		}
	}
}
