package compare_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/operator-framework/operator-registry/pkg/image"
	"github.com/operator-framework/operator-registry/pkg/registry"

	"github.com/olmkit/olmkit/fbc/bundle"
)

// bundleFiles is a bundle directory with every file that opm reads.
var bundleFiles = map[string]string{
	"manifests/csv.yaml": `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: etcd.v0.9.2
  annotations:
    olm.skipRange: <0.9.2
    olm.properties: '[{"type":"olm.maxOpenShiftVersion","value":"4.19"}]'
spec:
  version: 0.9.2
  replaces: etcd.v0.9.0
  relatedImages:
  - {name: backup, image: "quay.io/example/backup:v1"}
  customresourcedefinitions:
    owned:
    - {name: etcdclusters.etcd.example.com, version: v1, kind: EtcdCluster}
    required:
    - {name: vaults.vault.example.com, version: v1, kind: Vault}
  apiservicedefinitions:
    required:
    - {name: things, group: things.example.com, version: v1alpha1, kind: Thing}
  install:
    strategy: deployment
    spec:
      deployments:
      - name: op
        spec:
          selector: {matchLabels: {a: b}}
          template:
            metadata: {labels: {a: b}}
            spec:
              containers: [{name: z, image: "quay.io/example/z:1"}]
`,
	"manifests/crd.yaml": `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: etcdclusters.etcd.example.com}
spec:
  group: etcd.example.com
  scope: Namespaced
  names: {kind: EtcdCluster, plural: etcdclusters}
  versions: [{name: v1, served: true, storage: true}, {name: v1beta1, served: true, storage: false}]
`,
	"manifests/README.md":   "# etcd\n\nUsage: see: below\n",
	"manifests/values.yaml": "a: b\n",
	"metadata/NOTES":        "Notes: [\n",
	"metadata/annotations.yaml": `annotations:
  operators.operatorframework.io.bundle.package.v1: etcd
  operators.operatorframework.io.bundle.channels.v1: stable
`,
	"metadata/dependencies.yaml": `dependencies:
- type: olm.package
  value: {packageName: prometheus, version: '>0.27.0'}
- type: olm.gvk
  value: {group: vault.example.com, kind: Vault, version: v1}
- type: olm.constraint
  value: {failureMessage: needs it, gvk: {group: a.b, version: v1, kind: K}}
`,
	"metadata/properties.yaml": `properties:
- type: olm.kubeversion
  value: {version: 1.16.0}
- type: color
  value: red
`,
}

// TestBundleDirLikeOPM checks that a bundle directory is rendered as by "opm render", except for properties that are
// left out for their size, and that the same stray files are ignored (A14).
func TestBundleDirLikeOPM(t *testing.T) {
	dir := t.TempDir()
	for name, text := range bundleFiles {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	const ref = "quay.io/example/etcd-bundle:v0.9.2"
	input, err := registry.NewImageInput(image.SimpleReference(ref), dir)
	if err != nil {
		t.Fatal(err)
	}
	_, properties, err := registry.ObjectsAndPropertiesFromBundle(input.Bundle)
	if err != nil {
		t.Fatal(err)
	}
	b, err := bundle.Load(t.Context(), os.DirFS(dir), &bundle.Options{Image: ref})
	if err != nil {
		t.Fatal(err)
	}
	if len(b.Findings) != 3 || b.Findings.Err() != nil {
		t.Errorf("findings: %v, want three stray files", b.Findings)
	}
	want, got := input.Bundle, b.Bundle
	if want.Name != got.Name || want.Package != got.Package || want.BundleImage != got.Image {
		t.Errorf("opm has %s of %s, %s; olmkit has %s of %s, %s", want.Name, want.Package, want.BundleImage, got.Name, got.Package, got.Image)
	}
	type property struct {
		Type  string
		Value any
	}
	values := func(typ string, raw json.RawMessage) property {
		var v any
		if err := json.Unmarshal(raw, &v); err != nil {
			t.Fatal(err)
		}
		return property{typ, v}
	}
	var a, o []property
	for _, p := range properties {
		if p.Type != "olm.bundle.object" && p.Type != "olm.csv.metadata" {
			o = append(o, values(p.Type, p.Value))
		}
	}
	for _, p := range got.Properties {
		a = append(a, values(p.Type, p.Value))
	}
	if diff := cmp.Diff(o, a); diff != "" {
		t.Errorf("properties (-opm +olmkit):\n%s", diff)
	}
}
