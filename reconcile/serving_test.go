package reconcile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// serve runs the loop until nothing is left to do, and returns its writes.
func serve(t *testing.T, c *memcluster.Cluster, namespace string) (writes []string, plan *reconcile.Plan) {
	t.Helper()
	l := &reconcile.Loop{Cluster: c, MaxPasses: 50, Options: reconcile.Options{NewKey: fixedKey}}
	l.Progress = func(_ int, c reconcile.Change, _ error) { writes = append(writes, string(c.Op)+" "+c.Key().String()) }
	r, err := l.Run(t.Context(), namespace)
	if err != nil {
		t.Fatal(err)
	}
	return writes, r.Plan
}

// fixedTime is a time at which all certificates of tests are valid.
func fixedTime() time.Time { return time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC) }

// phase fails unless a CSV has a phase and a reason, and its message contains a
// text.
func phase(t *testing.T, c *memcluster.Cluster, name string, want olm.Phase, reason olm.Reason, text string) *olm.ClusterServiceVersion {
	t.Helper()
	csv := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, name)
	if st := csv.Status; st.Phase != want || st.Reason != reason || !strings.Contains(st.Message, text) {
		t.Errorf("%s is %s, %s: %s; want %s, %s: %s", name, st.Phase, st.Reason, st.Message, want, reason, text)
	}
	return csv
}

// E15: the registrations of an operator are restored when they are deleted or changed.
func TestServingIsRestored(t *testing.T) {
	a, err := txtar.ParseFile("testdata/scenario/webhooks.txtar")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t, a)
	l := w.loop()
	if _, err := l.Run(context.Background(), testNamespace); err != nil {
		t.Fatal(err)
	}
	csv := phase(t, w.Cluster, "ops/example.v1.0.0", olm.PhaseSucceeded, reason.InstallSuccessful, "")
	if csv.Status.CertsRotateAt.Sub(csv.Status.CertsLastUpdated) != 729*24*time.Hour {
		t.Errorf("certificates of %s are replaced at %s", csv.Status.CertsLastUpdated, csv.Status.CertsRotateAt)
	}
	for _, test := range []struct {
		kind, name string
		reason     olm.Reason
	}{
		{"Service", "ops/example-service", reason.ComponentUnhealthy},
		{"Secret", "ops/example-service-cert", reason.NeedsCertRotation},
		{"Role", "ops/example-service-cert", reason.ComponentUnhealthy},
		{"ValidatingWebhookConfiguration", "-/validate.example.com-e0830", reason.ComponentUnhealthy},
		{"ClusterRoleBinding", "-/example-service-system:auth-delegator", ""},
		{"RoleBinding", "kube-system/example-service-auth-reader", ""},
	} {
		k := key(test.kind, test.name)
		if err := w.Delete(k); err != nil {
			t.Fatal(err)
		}
		var reasons []olm.Reason
		l.Progress = func(_ int, c reconcile.Change, _ error) {
			if c.Key().Kind == olm.KindClusterServiceVersion {
				csv, err := olm.As[olm.ClusterServiceVersion](c.Object)
				if err != nil {
					t.Fatal(err)
				}
				reasons = append(reasons, csv.Status.Reason)
			}
		}
		if _, err := l.Run(context.Background(), testNamespace); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Get(k); err != nil {
			t.Error(err)
		}
		if test.reason != "" && !slices.Contains(reasons, test.reason) || test.reason == "" && len(reasons) > 0 {
			t.Errorf("without %s: reasons %v, want %q among them", k, reasons, test.reason)
		}
		phase(t, w.Cluster, "ops/example.v1.0.0", olm.PhaseSucceeded, reason.InstallSuccessful, "")
	}
}

// apiOperator is an operator that serves an aggregated API.
const apiOperator = `
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: group, namespace: ops}
spec: {targetNamespaces: [ops]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: things.v1, namespace: ops}
spec:
  installModes: [{type: OwnNamespace, supported: true}]
  apiservicedefinitions:
    owned: [{name: things, group: example.com, version: v1, kind: Thing, deploymentName: things, containerPort: 5443}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: things
        spec:
          selector: {matchLabels: {app: things}}
          template: {metadata: {labels: {app: things}}, spec: {containers: [{name: server, image: example.com/things}]}}
`

func apiCluster(t *testing.T, more string) *memcluster.Cluster {
	t.Helper()
	c := &memcluster.Cluster{GlobalNamespace: "olm", Controllers: true, Now: fixedTime}
	for _, o := range objects(t, []byte("apiVersion: v1\nkind: Namespace\nmetadata: {name: ops}\n---"+apiOperator+more)) {
		if err := c.Put(&o); err != nil {
			t.Fatal(err)
		}
	}
	return c
}

// E15: an operator with an aggregated API succeeds only when the API is available, and the
// registration is deleted with the operator.
func TestAPIService(t *testing.T) {
	c := apiCluster(t, "")
	down := true
	c.Available = func(*olm.Deployment) bool { return !down }
	serve(t, c, testNamespace)
	phase(t, c, "ops/things.v1", olm.PhaseInstalling, reason.Waiting, `deployment "things" is not available`)
	down = false
	d, err := c.Get(key("Deployment", "ops/things"))
	if err != nil {
		t.Fatal(err)
	}
	c.Controllers = false // the deployment becomes available, but the API is not available yet
	if d, err = d.Set("status", map[string]any{"conditions": []olm.Condition{{Type: "Available", Status: olm.ConditionTrue}}, "observedGeneration": d.Metadata.Generation}); err != nil {
		t.Fatal(err)
	}
	if err := c.Put(&d); err != nil {
		t.Fatal(err)
	}
	serve(t, c, testNamespace)
	phase(t, c, "ops/things.v1", olm.PhaseInstalling, reason.Waiting, "apiServices not installed: APIService v1.example.com is not available: EndpointsNotFound")
	setAvailable := func(status string) {
		t.Helper()
		api, err := c.Get(key("APIService", "-/v1.example.com"))
		if err != nil {
			t.Fatal(err)
		}
		if api, err = api.Set("status", map[string]any{"conditions": []olm.Condition{{Type: "Available", Status: status}}}); err != nil {
			t.Fatal(err)
		}
		if err := c.Put(&api); err != nil {
			t.Fatal(err)
		}
		serve(t, c, testNamespace)
	}
	setAvailable(olm.ConditionTrue)
	phase(t, c, "ops/things.v1", olm.PhaseSucceeded, reason.InstallSuccessful, "")
	setAvailable(olm.ConditionFalse)
	phase(t, c, "ops/things.v1", olm.PhaseFailed, reason.ComponentUnhealthy, "apiServices not installed")
	setAvailable(olm.ConditionTrue)
	phase(t, c, "ops/things.v1", olm.PhaseSucceeded, reason.InstallSuccessful, "")

	// Without its registration it is installed again.
	if err := c.Delete(key("APIService", "-/v1.example.com")); err != nil {
		t.Fatal(err)
	}
	serve(t, c, testNamespace)
	csv := phase(t, c, "ops/things.v1", olm.PhaseInstalling, reason.Waiting, "")
	var reasons []olm.Reason
	for _, s := range csv.Status.Conditions {
		reasons = append(reasons, s.Reason)
	}
	for _, want := range []olm.Reason{reason.APIServiceResourceIssue, reason.APIServiceResourcesNeedReinstall} {
		if !slices.Contains(reasons, want) {
			t.Errorf("reasons %v, want %s among them", reasons, want)
		}
	}
	if err := c.Delete(key(olm.KindClusterServiceVersion, "ops/things.v1")); err != nil {
		t.Fatal(err)
	}
	serve(t, c, testNamespace)
	for _, o := range c.List() {
		if k := o.Kind; k != "Namespace" && k != "OperatorGroup" && k != "ClusterRole" {
			t.Errorf("%s is left", o.Key())
		}
	}
}

// E15: an APIService that was not made for the operator is not taken over, unless its
// operator is being replaced.
func TestAPIServiceOfAnother(t *testing.T) {
	const api = `---
apiVersion: apiregistration.k8s.io/v1
kind: APIService
metadata: {name: v1.example.com, labels: {%s}}
spec: {group: example.com, version: v1, groupPriorityMinimum: 7, versionPriority: 7, service: {namespace: other, name: other}}
`
	c := apiCluster(t, fmt.Sprintf(api, ""))
	writes, _ := serve(t, c, testNamespace)
	phase(t, c, "ops/things.v1", olm.PhaseFailed, reason.OwnerConflict, "unable to adopt APIService v1.example.com")
	for _, w := range writes {
		if strings.Contains(w, "Deployment") || strings.Contains(w, "APIService") || strings.Contains(w, "Secret") {
			t.Errorf("%s, although the operator cannot be installed", w)
		}
	}
	c = apiCluster(t, fmt.Sprintf(api, "olm.owner: gone.v1, olm.owner.kind: ClusterServiceVersion, olm.owner.namespace: ops"))
	serve(t, c, testNamespace)
	phase(t, c, "ops/things.v1", olm.PhaseSucceeded, reason.InstallSuccessful, "")
}

// E14: without a clock an operator that needs a certificate waits, and a note reports it.
func TestServingWithoutClock(t *testing.T) {
	c := apiCluster(t, "")
	c.Now = nil
	writes, plan := serve(t, c, testNamespace)
	phase(t, c, "ops/things.v1", olm.PhaseInstallReady, reason.RequirementsMet, "")
	noted(t, plan, "things.v1", "the certificate in Secret ops/things-service-cert cannot be made without a clock")
	if slices.ContainsFunc(writes, func(w string) bool { return strings.Contains(w, "Deployment") }) {
		t.Error("the deployment was created without its certificate")
	}
}

// E14: a plan is due when the next certificate is replaced.
func TestCertificateDue(t *testing.T) {
	c := apiCluster(t, "")
	_, plan := serve(t, c, testNamespace)
	if want := fixedTime().AddDate(0, 0, 729); !plan.Due.Equal(want) {
		t.Errorf("due at %s, want %s", plan.Due, want)
	}
}

// G2: two plans that differ in the key of a new certificate have one hash.
func TestHashWithoutKeys(t *testing.T) {
	c := apiCluster(t, "")
	if err := c.Put(objectIn(t, c, "ops/things.v1", olm.PhaseInstallReady)); err != nil {
		t.Fatal(err)
	}
	var hashes, secrets []string
	for range 2 {
		s, err := c.Read(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := reconcile.Decide(t.Context(), s, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, plan.Hash())
		for _, x := range plan.Changes {
			if x.Key().Kind == "Secret" {
				data, _ := x.Object.Get("data")
				secrets = append(secrets, string(data))
			}
		}
	}
	if len(secrets) != 2 || secrets[0] == secrets[1] {
		t.Fatalf("%d new certificates, want two that differ", len(secrets))
	}
	if hashes[0] != hashes[1] {
		t.Error("the hashes differ")
	}
}

// objectIn returns a CSV that was admitted by its group, in a phase.
func objectIn(t *testing.T, c *memcluster.Cluster, name string, p olm.Phase) *olm.ClusterServiceVersion {
	t.Helper()
	csv := get[olm.ClusterServiceVersion](t, c, olm.KindClusterServiceVersion, name)
	csv.Metadata.Annotations = map[string]string{"olm.operatorGroup": "group", "olm.operatorNamespace": "ops", "olm.targetNamespaces": "ops"}
	csv.Metadata.Finalizers = []string{"operators.coreos.com/csv-cleanup"}
	csv.Status = olm.CSVStatus{Phase: p}
	g := get[olm.OperatorGroup](t, c, olm.KindOperatorGroup, "ops/group")
	g.Status.Namespaces = []string{"ops"}
	g.Metadata.Annotations = map[string]string{"olm.providedAPIs": "Thing.v1.example.com"}
	if err := c.Put(g); err != nil {
		t.Fatal(err)
	}
	return csv
}

// E13, E17: objects that OLM made for an operator with webhooks or an aggregated API are
// taken over without a write.
func TestServingTakeover(t *testing.T) {
	for _, file := range []string{"webhook", "conversion", "apiservice"} {
		text, err := os.ReadFile("internal/serving/testdata/" + file + ".json")
		if err != nil {
			t.Fatal(err)
		}
		var list []olm.Object
		if err := json.Unmarshal(text, &list); err != nil {
			t.Fatal(err)
		}
		c := &memcluster.Cluster{GlobalNamespace: "olm", Now: fixedTime}
		available := map[string]any{"conditions": []olm.Condition{{Type: "Available", Status: olm.ConditionTrue}, {Type: "Established", Status: olm.ConditionTrue}, {Type: "NamesAccepted", Status: olm.ConditionTrue}}}
		namespace := ""
		for _, o := range list {
			switch o.Kind {
			case olm.KindClusterServiceVersion:
				namespace = o.Metadata.Namespace
				o, err = o.Set("status", olm.CSVStatus{Phase: olm.PhaseSucceeded, Reason: reason.InstallSuccessful})
			case "Deployment", "APIService", olm.KindCRD:
				available["observedGeneration"] = o.Metadata.Generation
				o, err = o.Set("status", available)
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := c.Put(&o); err != nil {
				t.Fatal(err)
			}
		}
		crd := &olm.CustomResourceDefinition{Header: olm.Header{APIVersion: olm.GroupCRD + "/v1", Kind: olm.KindCRD, Metadata: olm.Metadata{Name: "widgets.g-webhook.example.com"}}}
		crd.Spec.Group, crd.Spec.Names.Kind, crd.Spec.Versions = "g-webhook.example.com", "Widget", []olm.CRDVersion{{Name: "v1", Served: true, Storage: true}}
		crd.Status.Conditions = []olm.Condition{{Type: "Established", Status: olm.ConditionTrue}, {Type: "NamesAccepted", Status: olm.ConditionTrue}}
		account := &olm.Object{Header: olm.Header{APIVersion: "v1", Kind: "ServiceAccount", Metadata: olm.Metadata{Name: "widget-sa", Namespace: namespace}}}
		if err := c.Put(crd, account); err != nil {
			t.Fatal(err)
		}
		writes, _ := serve(t, c, namespace)
		for _, w := range writes {
			for _, kind := range []string{"Service ", "Secret", "WebhookConfiguration", "APIService", olm.KindCRD, "-cert"} {
				if strings.Contains(w, kind) {
					t.Errorf("%s: %s", file, w)
				}
			}
		}
	}
}

// E13: operators of two namespaces whose deployments have the same name share the bindings,
// which have both subjects. Neither loop reverts the other's writes, and the bindings stay
// as long as one of the operators does.
func TestServingSharedBindings(t *testing.T) {
	c := apiCluster(t, "---\napiVersion: v1\nkind: Namespace\nmetadata: {name: more}\n---"+
		strings.NewReplacer("namespace: ops", "namespace: more", "[ops]", "[more]", "example.com, version", "other.example.com, version").Replace(apiOperator))
	namespaces := []string{"ops", "more"}
	for range 2 {
		for _, ns := range namespaces {
			serve(t, c, ns)
		}
	}
	subjects := func() (out []string) {
		t.Helper()
		for _, k := range []olm.Key{key("ClusterRoleBinding", "-/things-service-system:auth-delegator"), key("RoleBinding", "kube-system/things-service-auth-reader")} {
			o, err := c.Get(k)
			if err != nil {
				t.Fatal(err)
			}
			b, err := olm.As[olm.RoleBinding](o)
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range b.Subjects {
				out = append(out, s.Namespace)
			}
		}
		return out
	}
	if got := subjects(); !slices.Equal(got, []string{"ops", "more", "ops", "more"}) {
		t.Errorf("subjects of %v", got)
	}
	for _, ns := range namespaces {
		if writes, _ := serve(t, c, ns); len(writes) > 0 {
			t.Errorf("after settling, %s writes %v", ns, writes)
		}
	}
	if err := c.Delete(key(olm.KindClusterServiceVersion, "ops/things.v1")); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		for _, ns := range namespaces {
			serve(t, c, ns)
		}
	}
	if got := subjects(); !slices.Equal(got, []string{"more", "more"}) {
		t.Errorf("after the removal of one operator, subjects of %v", got)
	}
}
