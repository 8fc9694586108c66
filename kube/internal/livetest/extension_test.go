package livetest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// TestExtension checks that the plan and the simulation of a ClusterExtension are the same for a
// cluster and for its objects in files, and what they are for a user who may not read Secrets.
func TestExtension(t *testing.T) { // K88, K240
	dir := programs(t)
	newCounter(t, dir)
	for i, v := range []string{"1.0.0", "2.0.0"} {
		bundle := filepath.Join(dir, "bundles", "demo", v)
		for name, text := range map[string]string{
			"manifests/csv.yaml":        strings.ReplaceAll(demoCSV, "VERSION", v),
			"manifests/config.yaml":     fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {release: \"%d\"}\n", i+1),
			"manifests/only.yaml":       fmt.Sprintf("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: only-%d}\n", i+1),
			"manifests/class.yaml":      "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: demo}\nvalue: 5\n",
			"metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: demo}\n",
		} {
			check(t, os.MkdirAll(filepath.Dir(filepath.Join(bundle, name)), 0o700))
			check(t, os.WriteFile(filepath.Join(bundle, name), []byte(text), 0o600))
		}
	}
	check(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(demoCatalog), 0o600))

	scheme := runtime.NewScheme()
	check(t, clientscheme.AddToScheme(scheme))
	check(t, api.AddToScheme(scheme))
	c, err := client.New(env.Config, client.Options{Scheme: scheme})
	check(t, err)
	for _, name := range []string{"ops", "olmv1-system"} {
		check(t, c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}))
	}
	check(t, c.Create(t.Context(), &api.ClusterCatalog{
		ObjectMeta: metav1.ObjectMeta{Name: "community"},
		Spec:       api.ClusterCatalogSpec{Source: api.CatalogSource{Type: "Image", Image: &api.ImageSource{Ref: "example.com/catalog:v1"}}},
	}))

	// The API server rejects objects in a namespace that does not exist, and of a kind that it does
	// not serve.
	check(t, os.CopyFS(filepath.Join(dir, "monitored"), os.DirFS(filepath.Join(dir, "bundles"))))
	check(t, os.WriteFile(filepath.Join(dir, "monitored/demo/1.0.0/manifests/monitor.yaml"), []byte("apiVersion: monitoring.coreos.com/v1\nkind: ServiceMonitor\nmetadata: {name: demo}\n"), 0o600))
	lost := demoExtension("lost", "nowhere")
	check(t, c.Create(t.Context(), lost))
	out, code := program(t, dir, "olmkit", "plan", "--cluster", "--extension", "lost", "--catalog", "community=catalog.yaml", "--bundles", "monitored")
	if code != 1 {
		t.Errorf("rejected objects: exit code %d", code)
	}
	wantAll(t, out,
		"\n  dry-run: ServiceAccount nowhere/demo: namespace nowhere does not exist, and OLM v1 does not create it; ",
		"\n  dry-run: ServiceMonitor nowhere/demo: the cluster does not serve ServiceMonitor (monitoring.coreos.com/v1); ")
	check(t, c.Delete(t.Context(), lost))

	t.Run("standard", func(t *testing.T) { planned(t, c, dir, nil) })
	text, err := os.ReadFile("../../extension/testdata/experimental/clusterobjectsets.yaml")
	check(t, err)
	sets := &unstructured.Unstructured{}
	check(t, yaml.Unmarshal(text, &sets.Object))
	check(t, c.Create(t.Context(), sets))
	for !slices.ContainsFunc(conditions(t, c, sets), func(x any) bool {
		m, _ := x.(map[string]any)
		return m["type"] == "Established" && m["status"] == "True"
	}) {
		time.Sleep(50 * time.Millisecond)
	}
	t.Run("experimental", func(t *testing.T) {
		planned(t, c, dir, c)
	})
	check(t, c.Delete(t.Context(), sets))
}

// conditions returns those of an object, read again.
func conditions(t *testing.T, c client.Client, o *unstructured.Unstructured) []any {
	t.Helper()
	check(t, c.Get(t.Context(), client.ObjectKeyFromObject(o), o))
	list, _, _ := unstructured.NestedSlice(o.Object, "status", "conditions")
	return list
}

// demoExtension returns an extension that installs version 1.0.0.
func demoExtension(name, namespace string) *api.ClusterExtension {
	e := &api.ClusterExtension{ObjectMeta: metav1.ObjectMeta{Name: name}}
	e.Spec = api.ClusterExtensionSpec{
		Namespace: namespace, ServiceAccount: api.ServiceAccountReference{Name: "unused"},
		Source: api.SourceConfig{SourceType: api.SourceTypeCatalog, Catalog: &api.CatalogFilter{PackageName: "demo", Version: "1.0.0"}},
	}
	return e
}

// planned installs, upgrades and removes an extension, and compares the plans with what follows. The
// revisions are object sets if these can be read.
func planned(t *testing.T, c client.Client, dir string, sets client.Reader) {
	e := demoExtension("demo", "ops")
	check(t, c.Create(t.Context(), e))
	files := demoFiles(dir)
	r := &extension.Reconciler{Client: c, Catalogs: files, Rollouts: &extension.Rollouts{Client: c, Objects: c, ObjectSets: sets, Namespace: "olmv1-system", Bundles: files}}
	roll(t, c, r, func() bool {
		check(t, c.Get(t.Context(), client.ObjectKeyFromObject(e), e))
		return e.Status.Install != nil
	})

	olmkit := func(args ...string) string {
		t.Helper()
		args = append(args, "--extension", "demo", "--catalog", "community=catalog.yaml", "--bundles", "bundles")
		out, code := program(t, dir, "olmkit", args...)
		if code != 0 {
			t.Errorf("%v: exit code %d\n%s", args, code, out)
		}
		return out
	}
	same := func(contains ...string) {
		t.Helper()
		program(t, dir, "olmkit", "snapshot", "--cluster", "-o", "snapshot.json")
		for name, args := range map[string][]string{ // as the help says
			"objects.yaml": {"configmaps,networkpolicies,poddisruptionbudgets,priorityclasses"},
			"secrets.yaml": {"secrets", "-l", "olm.operatorframework.io/owner-name"},
		} {
			text, _ := program(t, dir, "kubectl", append([]string{"get", "-A", "-o", "yaml"}, args...)...)
			check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600))
		}
		for _, command := range [][]string{{"plan"}, {"plan", "-o", "json"}, {"simulate", "--writes"}, {"simulate", "-o", "json"}} {
			want := olmkit(append(command, "--cluster")...)
			if got := olmkit(append(command, "-f", "snapshot.json", "-f", "objects.yaml", "-f", "secrets.yaml")...); got != want {
				t.Errorf("%v with files: %s", command, firstDifference(got, want))
			}
		}
		wantAll(t, olmkit("plan", "--cluster"), contains...)
	}
	same("ClusterExtension demo: nothing to do; demo.v1.0.0 (1.0.0) is installed in namespace ops\n")
	if sets != nil {
		var list api.ClusterObjectSetList
		if check(t, sets.List(t.Context(), &list)); len(list.Items) != 1 {
			t.Errorf("%d object sets", len(list.Items))
		}
	}

	// An upgrade changes an object, and replaces another.
	e.Spec.Source.Catalog.Version = "2.0.0"
	check(t, c.Update(t.Context(), e))
	upgrade := []string{
		"\n  change ConfigMap ops/config\n      .data.release: \"1\" -> \"2\"\n", "\n  create ConfigMap ops/only-2\n", "\n  change Deployment ops/demo\n",
		"\nRemoved with revision demo-1, phase configuration:\n  delete ConfigMap ops/only-1\n", "\nUnchanged: 2 objects\n",
	}
	same(upgrade...)

	// Without permission to read Secrets, ConfigMaps and PriorityClasses, the plan is what the
	// bundles render to, and reports it.
	role, _ := program(t, dir, "olmkit", "status", "--print-rbac")
	var viewer rbacv1.ClusterRole
	check(t, yaml.Unmarshal([]byte(role), &viewer))
	check(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &viewer)))
	check(t, client.IgnoreAlreadyExists(c.Create(t.Context(), &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "viewer"}, RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: viewer.Name},
		Subjects: []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: "viewer"}},
	})))
	unseen := olmkit("plan", "--as", "viewer")
	wantAll(t, unseen, append(upgrade, "you may not read them: ConfigMap, PriorityClass.scheduling.k8s.io\n")...)
	// The names of the Secrets of an object set prove that the objects are those that its bundle renders to.
	if strings.Contains(unseen, "revision demo-1: its objects are unknown; ") != (sets == nil) {
		t.Error(unseen)
	}

	check(t, c.Delete(t.Context(), e))
	roll(t, c, r, func() bool { return apierrors.IsNotFound(c.Get(t.Context(), client.ObjectKeyFromObject(e), e)) })
	check(t, c.DeleteAllOf(t.Context(), &corev1.Secret{}, client.InNamespace("olmv1-system"))) // as the garbage collector does
}

func wantAll(t *testing.T, got string, want ...string) {
	t.Helper()
	for _, text := range want {
		if !strings.Contains(got, text) {
			t.Errorf("no %q in\n%s", text, got)
		}
	}
}

// roll reconciles the extension demo until done returns true. It makes the deployment available.
func roll(t *testing.T, c client.Client, r *extension.Reconciler, done func() bool) {
	t.Helper()
	for range 50 {
		if done() {
			return
		}
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "demo"}}); err != nil && !apierrors.IsConflict(err) {
			t.Fatal(err)
		}
		d := &appsv1.Deployment{}
		if err := c.Get(t.Context(), client.ObjectKey{Namespace: "ops", Name: "demo"}, d); apierrors.IsNotFound(err) {
			continue
		} else if err != nil {
			t.Fatal(err)
		}
		d.Status = appsv1.DeploymentStatus{ObservedGeneration: d.Generation, Replicas: 1, UpdatedReplicas: 1,
			Conditions: []appsv1.DeploymentCondition{{Type: appsv1.DeploymentAvailable, Status: corev1.ConditionTrue}}}
		check(t, c.Status().Update(t.Context(), d))
	}
	var got unstructured.Unstructured
	got.SetGroupVersionKind(api.GroupVersion.WithKind("ClusterExtension"))
	check(t, c.Get(t.Context(), client.ObjectKey{Name: "demo"}, &got))
	t.Fatalf("the rollout does not end: %v", got.Object["status"])
}

// demoFiles is a directory with a catalog and bundles.
type demoFiles string

func (d demoFiles) Open(ctx context.Context, c *api.ClusterCatalog) (*graph.Catalog, error) {
	return graph.LoadReader(ctx, strings.NewReader(demoCatalog), c.Name, nil)
}

func (d demoFiles) Bundle(ctx context.Context, image string) (*registryv1.Bundle, error) {
	_, version, _ := strings.Cut(image, ":")
	return registryv1.Read(ctx, os.DirFS(filepath.Join(string(d), "bundles", "demo", version)), nil)
}

const demoCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: demo.vVERSION}
spec:
  version: VERSION
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec:
      deployments:
      - name: demo
        spec:
          selector: {matchLabels: {app: demo}}
          template:
            metadata: {labels: {app: demo}}
            spec:
              serviceAccountName: demo
              containers: [{name: demo, image: "example.com/demo:VERSION"}]
      clusterPermissions:
      - serviceAccountName: demo
        rules: [{apiGroups: [""], resources: [pods], verbs: [get]}]
`

const demoCatalog = `schema: olm.package
name: demo
defaultChannel: stable
---
schema: olm.channel
package: demo
name: stable
entries: [{name: demo.v1.0.0}, {name: demo.v2.0.0, replaces: demo.v1.0.0}]
---
schema: olm.bundle
package: demo
name: demo.v1.0.0
image: example.com/demo-bundle:1.0.0
properties: [{type: olm.package, value: {packageName: demo, version: 1.0.0}}]
---
schema: olm.bundle
package: demo
name: demo.v2.0.0
image: example.com/demo-bundle:2.0.0
properties: [{type: olm.package, value: {packageName: demo, version: 2.0.0}}]
`
