package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/internal/realcat"
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
	want, err := desired.Want(t.Context(), e, &rollout.Bundle{Name: "demo.v1.0.0", Package: "demo", Version: "1.0.0", Image: "example.com/demo-bundle:1.0.0"}, bundle, registryv1.RenderOptions{Certificates: registryv1.CertManager})
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
	if got := plan(); !strings.Contains(got, "revision demo-1: its objects are unknown") || !strings.Contains(got, `.data.a: "b" -> "other"`) {
		t.Errorf("got\n%s", got)
	}
}

func writeList(t *testing.T, name string, items []any) {
	t.Helper()
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "List", "items": items})
	check(t, err)
	check(t, os.WriteFile(name, text, 0o600))
}

// TestSharedPacking simulates the installation of the bundles of the conformance set, and compares the
// names of the Secrets, which depend on the content, and the order of the objects (K76).
func TestSharedPacking(t *testing.T) {
	dir := realcat.Shared(t, "conformance", "v1render")
	text, err := os.ReadFile(filepath.Join(dir, "packing.jsonl"))
	check(t, err)
	for line := range bytes.Lines(text) {
		var c struct {
			ID, Bundle, InstallNamespace, CertProvider string
			Config                                     json.RawMessage
			Secrets                                    []struct{ Name string }
			Objects                                    [][4]string
		}
		check(t, json.Unmarshal(line, &c))
		t.Run(c.ID, func(t *testing.T) {
			t.Chdir(t.TempDir())
			check(t, os.MkdirAll("bundles/b", 0o700))
			check(t, os.CopyFS("bundles/b/1.2.3", os.DirFS(filepath.Join(dir, "bundles", c.Bundle))))
			b, err := registryv1.Read(t.Context(), os.DirFS("bundles/b/1.2.3"), nil)
			check(t, err)
			check(t, os.WriteFile("catalog.yaml", []byte(strings.NewReplacer("demo.v1.0.0", b.CSV().Name, "demo", "b", "1.0.0", "1.2.3").Replace(extensionCatalog)), 0o600))
			config := ""
			if string(c.Config) != "null" {
				config = fmt.Sprintf("\n  config: {configType: Inline, inline: %s}", c.Config)
			}
			check(t, os.WriteFile("state.yaml", fmt.Appendf(nil, `apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: ext, uid: u}
spec:
  namespace: %s%s
  source: {sourceType: Catalog, catalog: {packageName: b}}
---
apiVersion: v1
kind: Namespace
metadata: {name: %s}
`, c.InstallNamespace, config, c.InstallNamespace), 0o600))
			var out, errs bytes.Buffer
			args := []string{"simulate", "-f", "state.yaml", "--complete", "--catalog", "catalog.yaml", "--bundles", "bundles", "--cert-provider", c.CertProvider, "--as-upstream", "-o", "json"}
			cli.Run(t.Context(), args, nil, &out, &errs)
			var secrets []string
			var objects [][2]string
			for line := range bytes.Lines(out.Bytes()) {
				var step struct {
					Op, Phase string
					Object    struct{ Group, Kind, Namespace, Name string }
				}
				check(t, json.Unmarshal(line, &step))
				switch o := step.Object; {
				case step.Op != "create":
				case step.Phase == "":
					secrets = append(secrets, o.Name)
				case step.Phase != "":
					objects = append(objects, [2]string{step.Phase, o.Kind + "/" + o.Namespace + "/" + o.Name})
				}
			}
			var wantSecrets []string
			var wantObjects [][2]string
			for _, s := range c.Secrets {
				wantSecrets = append(wantSecrets, s.Name)
			}
			for _, o := range c.Objects { // phase, version/kind/namespace/name or group/version/kind/namespace/name, …
				parts := strings.Split(o[1], "/")
				wantObjects = append(wantObjects, [2]string{o[0], strings.Join(parts[len(parts)-3:], "/")})
			}
			if d := cmp.Diff(wantSecrets, secrets); d != "" {
				t.Errorf("Secrets (-want +got):\n%s%s", d, errs.String())
			}
			if blocked := strings.Contains(out.String(), `"blocked":`); blocked && len(objects) < len(wantObjects) {
				wantObjects = wantObjects[:len(objects)] // up to the phase that the cluster does not accept
			}
			seen := map[string]bool{}
			for _, o := range c.Objects {
				if seen[o[1]] {
					wantObjects = nil // OLM v1 never rolls out an object that is there twice
				}
				seen[o[1]] = true
			}
			if d := cmp.Diff(wantObjects, objects); d != "" {
				t.Errorf("objects (-want +got):\n%s", d)
			}
		})
	}
}
