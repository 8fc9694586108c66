package takeover_test

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/olmkit/olmkit/kube/internal/envtest"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

var env envtest.Environment

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard()) // failures report their cause
	envtest.Main(m, &env)
}

// onServer lists the snapshots that are taken over on a real API server, all at once: one
// of each kind. TestWrites covers all snapshots.
var onServer = []string{
	"all_ns/2-upgraded", "config/2-changed", "conversion/1-installed", "delete_offline/1-offline", "dep_gvk/1-end",
	"manual/2-upgrade-pending", "own/1-end", "sa_docs/1-end", "targets/3-own-again", "twenty/1-installed", "upgrade/1-end", "webhook/2-upgraded",
}

// E22, E23, E39: on a real API server, which adds defaults, a takeover changes neither the
// generation nor the UID of any deployment. A dry run lists exactly its writes.
func TestGenerations(t *testing.T) {
	c, err := client.New(env.Config, client.Options{})
	must(t, err)
	r := recorded(t)
	var objects []olm.Object
	for _, name := range onServer {
		objects = append(objects, r.Snapshots[name]...)
	}
	must(t, c.Create(t.Context(), &unstructured.Unstructured{Object: map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "olm"}}}))
	restore(t, c, objects)
	before := deployments(t, c)
	if len(before) < len(onServer)-1 {
		t.Fatalf("%d deployments were restored, want at least %d", len(before), len(onServer)-1)
	}
	cat := catalogOf(t, "olm", objects)
	serve(t, c, cat)
	want := dryRun(t, "--catalog", "cat="+file(t, "cat.json", cat)+",namespace=olm")
	for _, k := range []olm.Key{
		{Group: olm.Group, Kind: olm.KindCatalogSource, Namespace: "olm", Name: "cat"},
		{Group: olm.Group, Kind: olm.KindCatalogSource, Namespace: "default", Name: "other"},
		{Group: olm.Group, Kind: olm.KindOLMConfig, Name: "cluster"},
	} {
		if w := written(reconcile.UpdateStatus, k); !slices.Contains(want, w) {
			t.Errorf("the dry run lacks %q", w)
		}
	}
	got := run(t).settled(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("writes (-dry run +takeover):\n%s", diff)
	}
	after := deployments(t, c)
	for name, was := range before {
		if after[name] != was {
			t.Errorf("deployment %s was %s, and is %s", name, was, after[name])
		}
	}
}

// deployments returns the UIDs and generations of all deployments.
func deployments(t *testing.T, c client.Client) map[string]string {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetGroupVersionKind(schema.GroupVersionKind{Group: "apps", Version: "v1", Kind: "DeploymentList"})
	must(t, c.List(t.Context(), list))
	out := map[string]string{}
	for _, u := range list.Items {
		out[u.GetNamespace()+"/"+u.GetName()] = fmt.Sprintf("%s at generation %d", u.GetUID(), u.GetGeneration())
	}
	return out
}

// restore creates objects with their statuses, owners first. It replaces the UIDs in owner
// references with the new ones.
func restore(t *testing.T, c client.Client, objects []olm.Object) {
	t.Helper()
	order := []string{"Namespace", olm.KindCRD, olm.KindOperatorGroup, olm.KindCatalogSource, olm.KindInstallPlan, olm.KindSubscription, olm.KindClusterServiceVersion, "APIService"}
	rank := func(o olm.Object) int {
		if i := slices.Index(order, o.Kind); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(objects, func(a, b olm.Object) int {
		if d := rank(a) - rank(b); d != 0 {
			return d
		}
		return a.Key().Compare(b.Key())
	})
	var uids []string // old and new
	done := map[olm.Key]bool{}
	var statuses []*unstructured.Unstructured
	for _, o := range objects {
		if done[o.Key()] {
			continue
		}
		done[o.Key()] = true
		old := o.Metadata.UID
		text, err := o.MarshalJSON()
		must(t, err)
		u := &unstructured.Unstructured{}
		must(t, u.UnmarshalJSON([]byte(strings.NewReplacer(uids...).Replace(string(bytes.TrimSpace(text))))))
		u.SetUID("")
		u.SetResourceVersion("")
		u.SetGeneration(0)
		if o.Kind == "Service" {
			unstructured.RemoveNestedField(u.Object, "spec", "clusterIP")
			unstructured.RemoveNestedField(u.Object, "spec", "clusterIPs")
		}
		status := u.Object["status"]
		if err := c.Create(t.Context(), u); err != nil && !apierrors.IsAlreadyExists(err) {
			t.Fatalf("%s: %v", o.Key(), err)
		}
		if old != "" {
			uids = append(uids, old, string(u.GetUID()))
		}
		if status != nil && slices.Contains([]string{"operators.coreos.com", "apps", "apiregistration.k8s.io"}, o.Key().Group) {
			u.Object["status"] = status
			statuses = append(statuses, u)
		}
	}
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, time.Minute, true, func(ctx context.Context) (bool, error) {
		crds := &unstructured.UnstructuredList{}
		crds.SetAPIVersion("apiextensions.k8s.io/v1")
		crds.SetKind("CustomResourceDefinition")
		if err := c.List(ctx, crds); err != nil {
			return false, err
		}
		return !slices.ContainsFunc(crds.Items, func(u unstructured.Unstructured) bool { return !isEstablished(u) }), nil
	})
	must(t, err)
	for _, u := range statuses {
		text, err := u.MarshalJSON()
		must(t, err)
		must(t, u.UnmarshalJSON([]byte(strings.NewReplacer(uids...).Replace(string(text)))))
		if err := c.Status().Update(t.Context(), u); err != nil {
			t.Fatalf("%s %s: %v", u.GetKind(), u.GetName(), err)
		}
	}
}

// isEstablished reports whether the API server serves a CRD.
func isEstablished(crd unstructured.Unstructured) bool {
	list, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	return slices.ContainsFunc(list, func(c any) bool {
		m, _ := c.(map[string]any)
		return m["type"] == "Established" && m["status"] == "True"
	})
}
