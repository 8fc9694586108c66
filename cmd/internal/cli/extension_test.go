package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

const (
	extensionCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: demo.v1.0.0}
spec:
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec: {deployments: [{name: demo, spec: {selector: {matchLabels: {app: demo}}, template: {metadata: {labels: {app: demo}}, spec: {containers: [{name: demo, image: "example.com/demo:1"}]}}}}]}
`
	extensionCatalog = `schema: olm.package
name: demo
defaultChannel: stable
---
schema: olm.channel
package: demo
name: stable
entries: [{name: demo.v1.0.0}]
---
schema: olm.bundle
package: demo
name: demo.v1.0.0
image: example.com/demo-bundle:1.0.0
properties: [{type: olm.package, value: {packageName: demo, version: 1.0.0}}]
`
)

// TestExtensionSecrets checks that the plan of an installed extension does not need the Secrets
// that hold its objects: what its bundle renders is packed into Secrets of the same names.
func TestExtensionSecrets(t *testing.T) { // K76, K240
	t.Chdir(t.TempDir())
	for name, text := range map[string]string{
		"catalog.yaml": extensionCatalog, "bundles/demo/1.0.0/manifests/csv.yaml": extensionCSV,
		"bundles/demo/1.0.0/manifests/config.yaml":     "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: b}\n",
		"bundles/demo/1.0.0/metadata/annotations.yaml": "annotations: {operators.operatorframework.io.bundle.package.v1: demo}\n",
	} {
		check(t, os.MkdirAll(filepath.Dir(name), 0o700))
		check(t, os.WriteFile(name, []byte(text), 0o600))
	}
	e := &api.ClusterExtension{TypeMeta: metav1.TypeMeta{APIVersion: "olm.operatorframework.io/v1", Kind: "ClusterExtension"}}
	e.Name, e.UID = "demo", "u-demo"
	e.Spec.Namespace = "ops"
	e.Spec.Source = api.SourceConfig{SourceType: api.SourceTypeCatalog, Catalog: &api.CatalogFilter{PackageName: "demo"}}
	e.Status.Install = &api.InstallStatus{Bundle: api.BundleMetadata{Name: "demo.v1.0.0", Version: "1.0.0"}}
	bundle, err := registryv1.Read(t.Context(), os.DirFS("bundles/demo/1.0.0"), nil)
	check(t, err)
	want, err := desired.Want(t.Context(), e, &rollout.Bundle{Name: "demo.v1.0.0", Package: "demo", Version: "1.0.0", Image: "example.com/demo-bundle:1.0.0"}, bundle, registryv1.CertManager)
	check(t, err)
	h, err := rollout.Rehearse(&rollout.Snapshot{Extension: rollout.Extension{Name: e.Name, UID: e.UID}, Namespace: "olmv1-system"}, want)
	check(t, err)

	var state, secrets []any
	for _, o := range h.After.Objects {
		state = append(state, o.Object)
	}
	r := h.After.Revisions[0]
	set := &api.ClusterObjectSet{TypeMeta: metav1.TypeMeta{APIVersion: e.APIVersion, Kind: "ClusterObjectSet"}}
	set.Name, set.UID, set.Finalizers = r.Name, r.UID, []string{"olm.operatorframework.io/teardown"}
	set.Labels = map[string]string{"olm.operatorframework.io/owner-name": "demo"}
	set.Annotations = map[string]string{"olm.operatorframework.io/bundle-name": "demo.v1.0.0", "olm.operatorframework.io/package-name": "demo", "olm.operatorframework.io/bundle-version": "1.0.0"}
	set.Spec = api.ClusterObjectSetSpec{LifecycleState: api.LifecycleActive, Revision: 1, CollisionProtection: "Prevent"}
	for i, refs := range r.Refs {
		p := api.ObjectSetPhase{Name: r.Phases[i].Name}
		for _, ref := range refs {
			p.Objects = append(p.Objects, api.ObjectSetObject{Ref: &api.ObjectSetRef{Name: ref.Name, Namespace: ref.Namespace, Key: ref.Key}})
		}
		set.Spec.Phases = append(set.Spec.Phases, p)
	}
	set.Status.Conditions = r.Conditions
	for _, d := range r.Observed {
		set.Status.ObservedPhases = append(set.Status.ObservedPhases, api.ObservedPhase{Name: d.Phase, Digest: d.Digest})
	}
	e.Finalizers = []string{"olm.operatorframework.io/teardown"}
	state = append(state, set, e)
	for _, s := range h.After.Secrets {
		s.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"}
		secrets = append(secrets, s)
	}
	writeList(t, "state.json", state)
	writeList(t, "secrets.json", secrets)

	plan := func(args ...string) string {
		stdout, stderr, code := run(t, "", append([]string{"plan", "-f", "state.json", "--catalog", "catalog.yaml", "--bundles", "bundles"}, args...), "", "")
		if code != 0 {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
		return stdout
	}
	got := plan()
	if want := "ClusterExtension demo: nothing to do; demo.v1.0.0 (1.0.0) is installed in namespace ops\n  from catalog catalog\n"; got != want {
		t.Errorf("got\n%s, want\n%s", got, want)
	}
	if with := plan("-f", "secrets.json"); with != got {
		t.Errorf("with Secrets:\n%s", with)
	}

	// Objects that the rendered ones do not explain are reported.
	check(t, os.WriteFile("bundles/demo/1.0.0/manifests/config.yaml", []byte("apiVersion: v1\nkind: ConfigMap\nmetadata: {name: config}\ndata: {a: other}\n"), 0o600))
	if got := plan(); !strings.Contains(got, "revision demo-1: its objects are not known") || !strings.Contains(got, `.data.a: "b" -> "other"`) {
		t.Errorf("got\n%s", got)
	}
}

func writeList(t *testing.T, name string, items []any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	check(t, err)
	check(t, os.WriteFile(name, text, 0o600))
}
