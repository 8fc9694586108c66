package reconcile_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A deleted operator is not reinstalled automatically, as in OLM v0.45. The subscription
// reports this, and the remedy that it names works.
func TestDeletedCSV(t *testing.T) {
	w := worldOf(t, "drift")
	run := func() *reconcile.Plan {
		t.Helper()
		r, err := w.loop().Run(t.Context(), testNamespace)
		if err != nil {
			t.Fatal(err)
		}
		return r.Plan
	}
	run()
	fresh := subscription(t, w, "example")
	csv := key(olm.KindClusterServiceVersion, testNamespace+"/"+fresh.Status.InstalledCSV)
	if err := w.Remove(csv); err != nil {
		t.Fatal(err)
	}
	plan := run()
	if _, err := w.Get(csv); err == nil {
		t.Fatal("the operator came back")
	}
	want := csv.Name + " was deleted, and is not installed again because subscription example already has it; recreate the subscription to install it"
	sub := subscription(t, w, "example")
	if c, ok := olm.FindCondition(sub.Status.Conditions, "InstalledCSVMissing"); !ok || c.Status != olm.ConditionTrue || c.Message != want {
		t.Errorf("conditions %+v, want one that contains %q", sub.Status.Conditions, want)
	}
	noted(t, plan, "example", want)

	if err := w.Remove(sub.Key()); err != nil {
		t.Fatal(err)
	}
	again := &olm.Subscription{Header: sub.Header, Spec: sub.Spec}
	again.Metadata = olm.Metadata{Name: sub.Metadata.Name, Namespace: sub.Metadata.Namespace}
	w.put(t, again)
	run()
	if _, err := w.Get(csv); err != nil {
		t.Error("with the subscription created again the operator did not come back")
	}
	if _, ok := olm.FindCondition(subscription(t, w, "example").Status.Conditions, "InstalledCSVMissing"); ok {
		t.Error("the condition is still there")
	}
}

// A failed install plan and its subscription name a remedy, and it works.
func TestFailedPlan(t *testing.T) {
	w := worldOf(t, "drift")
	now := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	w.Now = func() time.Time { return now }
	refuse := true
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if refuse && c.Object.Kind == olm.KindCRD {
			return errors.New("is forbidden")
		}
		return apply()
	}
	if _, err := w.loop().Run(t.Context(), testNamespace); err == nil {
		t.Fatal("nothing was refused")
	}
	now = now.Add(2 * time.Minute)
	r, err := w.loop().Run(t.Context(), testNamespace)
	if err != nil {
		t.Fatal(err)
	}
	ref := subscription(t, w, "example").Status.InstallPlanRef
	const advice = "to try again, fix the cause and delete install plan "
	noted(t, r.Plan, ref.Name, "failed and is not retried: ")
	noted(t, r.Plan, ref.Name, advice)
	c, _ := olm.FindCondition(subscription(t, w, "example").Status.Conditions, "InstallPlanFailed")
	if !strings.Contains(c.Message, "is forbidden") || !strings.Contains(c.Message, advice) {
		t.Errorf("the subscription reports %q", c.Message)
	}
	refuse = false
	if err := w.Remove(key(olm.KindInstallPlan, testNamespace+"/"+ref.Name)); err != nil {
		t.Fatal(err)
	}
	if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if sub := subscription(t, w, "example"); sub.Status.State != olm.StateAtLatestKnown {
		t.Errorf("with the plan deleted the subscription is %s: %+v", sub.Status.State, sub.Status.Conditions)
	}
}

// Every change depends on the install plan or the CSV that it is made for, so a loop that
// was paused does not continue obsolete work.
func TestChangesRest(t *testing.T) {
	w := worldOf(t, "version-deadlock")
	kinds := map[reconcile.Op]int{}
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		rests := c.For.Kind == olm.KindInstallPlan && c.Key() != c.For
		if rests && (len(c.If) != 1 || c.If[0].Key != c.For) {
			t.Errorf("%s depends on %v", &c, c.If)
		}
		if c.If != nil {
			kinds[c.Op]++
		}
		return apply()
	}
	w.script(t, func(*strings.Builder) {
		if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
			t.Fatal(err)
		}
	})
	if kinds[reconcile.Create] == 0 || kinds[reconcile.Update] == 0 {
		t.Errorf("changes that depend on other objects: %v, want creations and updates", kinds)
	}
}

// E3: the objects of a bundle are created in the namespace, except cluster-scoped ones.
func TestScopeOfBundleObjects(t *testing.T) {
	w := worldOf(t, "drift")
	for _, text := range []string{
		`{apiVersion: autoscaling.k8s.io/v1, kind: VerticalPodAutoscaler, metadata: {name: scaler}}`,
		`{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: first}}`,
		`{apiVersion: console.openshift.io/v1, kind: ConsoleLink, metadata: {name: link}}`,
		`{apiVersion: example.com/v1, kind: ConsoleLink, metadata: {name: link}}`,
		`{apiVersion: wide.io/v1, kind: ServiceMonitor, metadata: {name: wide}}`,
		`{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: wides.wide.io}, spec: {group: wide.io, scope: Cluster, names: {kind: ServiceMonitor, plural: wides}, versions: [{name: v1, served: true, storage: true}]}}`,
		`{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: policy}}`,
	} {
		o := fromYAML[olm.Object](t, text)
		for name := range w.manifests {
			w.manifests[name] = append(w.manifests[name], *o)
		}
	}
	if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, o := range w.List() {
		got[o.Kind+"."+o.Key().Group] = o.Metadata.Namespace
	}
	for kind, want := range map[string]string{
		"VerticalPodAutoscaler.autoscaling.k8s.io": "ops",
		"PriorityClass.scheduling.k8s.io":          "", "ConsoleLink.console.openshift.io": "", "ConsoleLink.example.com": "ops",
		"ServiceMonitor.wide.io": "", "NetworkPolicy.networking.k8s.io": "ops",
	} {
		if ns, ok := got[kind]; !ok || ns != want {
			t.Errorf("%s is in namespace %q (there: %v), want %q", kind, ns, ok, want)
		}
	}
}

// E41: nothing is created for a bundle with a kind that OLM does not install. A kind in another group
// has the same name.
func TestKindsOfBundleObjects(t *testing.T) {
	for kind, installed := range map[string]bool{
		"apps/v1 StatefulSet": false, "v1 PersistentVolumeClaim": false, "v1 Namespace": false, "monitoring.coreos.com/v1 PodMonitor": false,
		"operators.coreos.com/v1 OperatorGroup": false, "operators.coreos.com/v1alpha1 CatalogSource": false,
		"monitoring.coreos.com/v1 ServiceMonitor": true, "example.com/v1 ServiceMonitor": true,
	} {
		w := worldOf(t, "drift")
		version, name, _ := strings.Cut(kind, " ")
		w.bundled(t, fmt.Sprintf("{apiVersion: %s, kind: %s, metadata: {name: extra}}", version, name))
		if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
			t.Fatal(err)
		}
		sub := subscription(t, w, "example")
		failed, _ := olm.FindCondition(sub.Status.Conditions, "BundleUnpackFailed")
		if got := sub.Status.State == olm.StateAtLatestKnown; got != installed {
			t.Errorf("%s: installed is %t, want %t", kind, got, installed)
		}
		want := fmt.Sprintf("bundle \"example.v0.1.1\": %s \"extra\": classic OLM does not create objects of this kind", name)
		if !installed && failed.Message != want {
			t.Errorf("%s: condition %q, want %q", kind, failed.Message, want)
		}
		for _, o := range w.List() {
			if !installed && (o.Kind == olm.KindClusterServiceVersion || o.Kind == olm.KindInstallPlan) {
				t.Errorf("%s: %s was created", kind, o.Key())
			}
		}
	}
}
