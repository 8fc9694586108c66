package reconcile_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// E20: annotations of a subscription's config are those of deployments and pods, where
// these have none with the name, and additions to a deployment stay.
func TestConfigAnnotations(t *testing.T) {
	c, _ := settle(t, nil, conditionCSV+`
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: example, namespace: ops}
spec:
  name: example
  source: c
  sourceNamespace: olm
  startingCSV: example.v1.0.0
  config: {annotations: {team: storage, olm.targetNamespaces: mine}}
status: {installedCSV: example.v1.0.0, currentCSV: example.v1.0.0}
`)
	deployment := func() *olm.Deployment { return get[olm.Deployment](t, c, "Deployment", "ops/example") }
	d := deployment()
	if got := d.Metadata.Annotations["team"]; got != "storage" {
		t.Errorf("annotation of the deployment: %q, want storage", got)
	}
	if s := string(d.Spec); !strings.Contains(s, `"team":"storage"`) || strings.Contains(s, "mine") {
		t.Errorf("spec of the deployment: %s", s)
	}
	d.Metadata.SetAnnotation("added", "yes")
	sub := get[olm.Subscription](t, c, olm.KindSubscription, "ops/example")
	sub.Spec.Config.Annotations = map[string]string{"team": "network"}
	if err := c.Put(d, sub); err != nil {
		t.Fatal(err)
	}
	if _, err := (&reconcile.Loop{Cluster: c, MaxPasses: 50}).Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if a := deployment().Metadata.Annotations; a["team"] != "network" || a["added"] != "yes" {
		t.Errorf("annotations after the config changed: %v", a)
	}
}
