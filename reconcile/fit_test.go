package reconcile_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// largeBundle returns content whose one bundle has ConfigMaps of some size.
func largeBundle(t *testing.T, size, n int) *reconcile.Catalogs {
	t.Helper()
	var b strings.Builder
	b.WriteString("schema: olm.package\nname: a\ndefaultChannel: stable\n---\nschema: olm.channel\npackage: a\nname: stable\nentries: [{name: a.v1}]\n")
	b.WriteString("---\nschema: olm.bundle\npackage: a\nname: a.v1\nimage: example.com/a\nproperties:\n- {type: olm.package, value: {packageName: a, version: 1.0.0}}\n")
	add := func(text string) {
		fmt.Fprintf(&b, "- {type: olm.bundle.object, value: {data: %s}}\n", base64.StdEncoding.EncodeToString([]byte(text)))
	}
	add(thingsCSV)
	for i := range n {
		add(fmt.Sprintf(`{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"large-%d"},"data":{"text":%q}}`, i, strings.Repeat("x", size)))
	}
	blobs, err := fbc.LoadReader(t.Context(), strings.NewReader(b.String()), "a.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	content := &reconcile.Catalogs{}
	if err := content.Add(t.Context(), resolver.CatalogID{Name: "community", Namespace: "olm"}, blobs); err != nil {
		t.Fatal(err)
	}
	return content
}

const largeWorld = `
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: global, namespace: ops}
spec: {}
status: {namespaces: [""]}
---
apiVersion: v1
kind: Namespace
metadata: {name: ops}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: community, namespace: olm}
spec: {sourceType: grpc, address: "x:1"}
status: {connectionState: {lastObservedState: READY}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: a, namespace: ops}
spec: {name: a, channel: stable, source: community, sourceNamespace: olm, installPlanApproval: Manual}
`

// largePlan returns a cluster in which a large bundle waits for approval, and its plan. The
// cluster rejects objects that are too large for etcd.
func largePlan(t *testing.T, content reconcile.Content) (*memcluster.Cluster, *reconcile.Loop, *olm.InstallPlan) {
	t.Helper()
	c := &memcluster.Cluster{GlobalNamespace: "olm", KubeVersion: "v1.30.2", Controllers: true}
	c.Intercept = func(change reconcile.Change, apply func() error) error {
		if text, err := json.Marshal(change.Object); err != nil || len(text) > 3<<19 {
			return errors.New("etcdserver: request is too large")
		}
		return apply()
	}
	for _, o := range objects(t, []byte(largeWorld)) {
		if err := c.Put(&o); err != nil {
			t.Fatal(err)
		}
	}
	l := &reconcile.Loop{Cluster: c, Content: content, MaxPasses: 200}
	if _, err := l.Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	return c, l, onlyPlan(t, c)
}

func onlyPlan(t *testing.T, c *memcluster.Cluster) *olm.InstallPlan {
	t.Helper()
	for _, o := range c.List() {
		if o.Kind == olm.KindInstallPlan {
			ip, err := olm.As[olm.InstallPlan](o)
			if err != nil {
				t.Fatal(err)
			}
			return ip
		}
	}
	t.Fatal("there is no install plan")
	return nil
}

func approvePlan(t *testing.T, c *memcluster.Cluster, ip *olm.InstallPlan) {
	t.Helper()
	ip.Spec.Approved = true
	o, err := olm.ToObject(ip)
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Put(&o); err != nil {
		t.Fatal(err)
	}
}

// E2: manifests that are too large for an install plan stay in their bundle, and are still
// installed.
func TestLargeBundle(t *testing.T) {
	content := largeBundle(t, 500<<10, 4)
	c, l, ip := largePlan(t, content)
	if ip.Status.Phase != olm.PlanRequiresApproval {
		t.Fatalf("the plan is %q: %s", ip.Status.Phase, ip.Status.Message)
	}
	references := 0
	for i := range ip.Status.Plan {
		if _, ok := ip.Status.Plan[i].Resource.Reference(); ok {
			references++
		}
	}
	if references < 2 || references > 3 {
		t.Errorf("%d steps refer to the bundle: want those that there is no room for", references)
	}
	approvePlan(t, c, ip)
	if _, err := l.Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if ip = onlyPlan(t, c); ip.Status.Phase != olm.PlanComplete {
		t.Fatalf("the plan is %s: %s", ip.Status.Phase, ip.Status.Message)
	}
	for i := range 4 {
		o, err := c.Get(olm.Key{Kind: "ConfigMap", Namespace: testNamespace, Name: fmt.Sprintf("large-%d", i)})
		if err != nil || len(o.Rest.String()) < 500<<10 {
			t.Errorf("large-%d: %d bytes, %v", i, len(o.Rest.String()), err)
		}
	}
}

// E2: a change of the catalog after the approval does not change what is installed.
func TestLargeBundleChanges(t *testing.T) {
	c, l, ip := largePlan(t, largeBundle(t, 500<<10, 4))
	approvePlan(t, c, ip)
	l.Content = largeBundle(t, 501<<10, 4)
	if _, err := l.Run(context.Background(), testNamespace); err != nil {
		t.Fatal(err)
	}
	ip = onlyPlan(t, c)
	if ip.Status.Phase != olm.PlanInstalling || !strings.Contains(ip.Status.Message, "has changed since the plan was created") {
		t.Errorf("the plan is %s: %s", ip.Status.Phase, ip.Status.Message)
	}
}

// E2: a plan that is still too large fails with that message.
func TestTooManySteps(t *testing.T) {
	_, _, ip := largePlan(t, largeBundle(t, 1, 4000))
	if ip.Status.Phase != olm.PlanFailed || !strings.Contains(ip.Status.Message, "an install plan can hold only 1048576") {
		t.Errorf("the plan is %q: %s", ip.Status.Phase, ip.Status.Message)
	}
}
