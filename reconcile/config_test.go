package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// E20: annotations in a subscription's config are added to deployments and pods unless
// these already have one with the same name. Other additions to a deployment stay.
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

// E35: containers get OpenShift's proxy, in place of the values in their CSV, unless the
// config of the subscription sets one of the variables.
func TestProxy(t *testing.T) {
	const sub = `
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: example, namespace: ops}
spec: {name: example, source: c, sourceNamespace: olm, startingCSV: example.v1.0.0, config: {env: [%s]}}
status: {installedCSV: example.v1.0.0, currentCSV: example.v1.0.0}
---
apiVersion: config.openshift.io/v1
kind: Proxy
metadata: {name: cluster}
spec: {httpProxy: "http://not-valid"}
status: %s
`
	csv := strings.Replace(conditionCSV, "{name: manager, ", "{name: manager, env: [{name: NO_PROXY, value: mine}], ", 1)
	if csv == conditionCSV {
		t.Fatal("the operator has no container")
	}
	for _, tt := range []struct{ config, status, want string }{
		{"", `{httpProxy: "http://p", noProxy: .svc}`, `[{"name":"NO_PROXY","value":".svc"},{"name":"HTTP_PROXY","value":"http://p"},{"name":"OPERATOR_CONDITION_NAME","value":"example.v1.0.0"}]`},
		{"{name: A, value: b}", `{httpsProxy: "http://p"}`, `[{"name":"NO_PROXY","value":"mine"},{"name":"A","value":"b"},{"name":"HTTPS_PROXY","value":"http://p"},{"name":"OPERATOR_CONDITION_NAME","value":"example.v1.0.0"}]`},
		{"{name: HTTPS_PROXY}", `{httpProxy: "http://p"}`, `[{"name":"NO_PROXY","value":"mine"},{"name":"HTTPS_PROXY"},{"name":"OPERATOR_CONDITION_NAME","value":"example.v1.0.0"}]`},
		{"", "{}", `[{"name":"NO_PROXY","value":"mine"},{"name":"OPERATOR_CONDITION_NAME","value":"example.v1.0.0"}]`},
	} {
		c, _ := settle(t, nil, csv+fmt.Sprintf(sub, tt.config, tt.status))
		d := get[olm.Deployment](t, c, "Deployment", "ops/example")
		if !strings.Contains(string(d.Spec), `"env":`+tt.want) {
			t.Errorf("with config [%s] and the proxy %s, got %s; want env %s", tt.config, tt.status, d.Spec, tt.want)
		}
	}
}
