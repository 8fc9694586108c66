package fbc

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/property"
)

const testCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: etcd.v0.9.2
  labels: {a: b}
  annotations:
    olm.skipRange: <0.9.2
    olm.properties: '[{"type":"olm.maxOpenShiftVersion","value":"4.19"}]'
spec:
  version: 0.9.2
  replaces: etcd.v0.9.0
  skips: [etcd.v0.9.1]
  displayName: etcd
  description: |
    A store.
    For keys.
  icon:
  - base64data: PHN2Zy8+
    mediatype: image/svg+xml
  provider: {name: Example}
  relatedImages:
  - {name: backup, image: "quay.io/example/backup:v1"}
  customresourcedefinitions:
    owned:
    - {name: etcdclusters.etcd.example.com, version: v1, kind: EtcdCluster}
    required:
    - {name: vaults.vault.example.com, version: v1, kind: Vault}
  apiservicedefinitions:
    owned:
    - {name: stores, group: api.example.com, version: v1, kind: Store}
    required:
    - {name: things, group: things.example.com, version: v1alpha1, kind: Thing}
  install:
    strategy: deployment
    spec:
      deployments:
      - name: op
        spec:
          template:
            spec:
              containers: [{name: z, image: "quay.io/example/z:1"}, {name: b, image: "quay.io/example/backup:v1"}]
              initContainers: [{name: i, image: "quay.io/example/init:1"}]
`

func bundleTree() fstest.MapFS {
	return files(
		"manifests/csv.yaml", testCSV,
		"manifests/crd.yaml", "apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\nmetadata: {name: etcdclusters.etcd.example.com}\nspec:\n  group: etcd.example.com\n  names: {kind: EtcdCluster, plural: etcdclusters}\n  versions: [{name: v1}, {name: v1beta1}]\n",
		"manifests/.hidden", "{{",
		"manifests/two.yaml", "---\nkind: Service\nmetadata: {name: a}\n---\nkind: ConfigMap\nmetadata: {name: b}\n",
		"metadata/annotations.yaml", "annotations:\n  operators.operatorframework.io.bundle.package.v1: etcd\n  operators.operatorframework.io.bundle.channels.v1: stable, beta\n  operators.operatorframework.io.bundle.channel.default.v1: stable\n",
		"metadata/dependencies.yaml", "dependencies:\n- type: olm.package\n  value: {packageName: prometheus, version: '>0.27.0'}\n- type: olm.gvk\n  value: {group: vault.example.com, kind: Vault, version: v1}\n- type: olm.constraint\n  value: {failureMessage: needs it, gvk: {group: a.b, version: v1, kind: K}}\n",
		"metadata/properties.yaml", "properties:\n- type: olm.kubeversion\n  value: {version: 1.16.0}\n- property: {type: color, value: red}\n- property: {type: shape, value: {b: 1, a: 2}}\n- property: {type: olm.gvk, value: {version: v1, kind: EtcdCluster, group: etcd.example.com}}\n",
	)
}

// TestBundleDir renders a bundle directory with everything in it (A14).
func TestBundleDir(t *testing.T) {
	g := golden{file: "bundledir.txtar"}
	for name, data := range map[string]BundleData{"plain": NoData} {
		dir, err := ReadBundleDir(t.Context(), bundleTree(), &BundleDirOptions{Image: "quay.io/example/etcd-bundle:v0.9.2", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		g.add(name, string(written(t, &Catalog{Bundles: []*Bundle{dir.Bundle}}, YAML)))
		g.add(name+"-rest", fmt.Sprintf("entry %+v\nchannels %q default %q\ndescription %q\nicon %+v\n", dir.Entry, dir.Channels, dir.DefaultChannel, dir.Description, *dir.Icon))
	}
	for _, data := range []BundleData{CSVMetadata, BundleObjects} {
		dir, err := ReadBundleDir(t.Context(), bundleTree(), &BundleDirOptions{Image: "i", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		var heavy []property.Property
		for _, p := range dir.Bundle.Properties {
			if property.IsHeavy(p.Type) {
				heavy = append(heavy, p)
			}
		}
		b := &Bundle{Meta: Meta{Schema: SchemaBundle, Name: "heavy", Properties: heavy}}
		g.add(fmt.Sprintf("data-%d", data), string(written(t, &Catalog{Bundles: []*Bundle{b}}, JSONLines)))
	}
	for _, c := range []struct {
		name   string
		change func(fstest.MapFS)
	}{
		{"no-directories", func(f fstest.MapFS) { clear(f) }},
		{"no-csv", func(f fstest.MapFS) { delete(f, "manifests/csv.yaml") }},
		{"two-csvs", func(f fstest.MapFS) { f["manifests/z.yaml"] = f["manifests/csv.yaml"] }},
		{"no-annotations", func(f fstest.MapFS) { delete(f, "metadata/annotations.yaml") }},
		{"no-package", func(f fstest.MapFS) {
			f["metadata/annotations.yaml"] = &fstest.MapFile{Data: []byte("annotations: {x: y}\n")}
		}},
		{"broken-files", func(f fstest.MapFS) {
			f["manifests/b.yaml"] = &fstest.MapFile{Data: []byte("a: b\n---\n[]\n---\nx: {\n")}
			f["metadata/x.yaml"] = &fstest.MapFile{Data: []byte("properties: 1\ndependencies: [{type: a}, {value: 1}, {type: olm.gvk, value: 1}, {type: olm.package, value: {packageName: x}}]\n")}
		}},
		{"unreadable-csv", func(f fstest.MapFS) {
			f["manifests/csv.yaml"] = &fstest.MapFile{Data: []byte("kind: {")}
		}},
		{"broken-csv", func(f fstest.MapFS) {
			text := strings.NewReplacer("version: 0.9.2", "version: v0.9", "etcdclusters.etcd.example.com", "others.example.com", "vaults.vault.example.com", "vaults", "name: etcd.v0.9.2", "name: ''", `[{"type"`, `[{"typ"`).Replace(testCSV)
			f["manifests/csv.yaml"] = &fstest.MapFile{Data: []byte(text)}
		}},
	} {
		tree := bundleTree()
		c.change(tree)
		dir, err := ReadBundleDir(t.Context(), tree, nil)
		if err == nil {
			t.Errorf("%s: %+v", c.name, dir)
		}
		g.add(c.name, errText(err))
	}
	_, err := ReadBundleDir(t.Context(), os.DirFS(linkedBundle(t)), nil)
	g.add("links", errText(err))
	stray := bundleTree()
	for name, text := range map[string]string{
		"manifests/README.md": "# etcd\n\nNotes: {\n", "manifests/list.yaml": "- a\n", "manifests/values.yaml": "a: b\n",
		"manifests/two.yaml": "kind: Service\n---\n{\n", "metadata/NOTES": "Notes: [\n", "metadata/other.yaml": "a: b\n",
		"manifests/logo.png": "\x89PNG\r\n\x00", "manifests/latin.yaml": "kind: \xe9\n", "manifests/more/crd.yaml": "kind: Service\n", "metadata/old/a.yaml": "a: b\n",
	} {
		stray[name] = &fstest.MapFile{Data: []byte(text)}
	}
	dir, err := ReadBundleDir(t.Context(), stray, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.add("stray-files", dir.Findings.Error())
	if text := dir.Findings.Error(); dir.Bundle.Name != "etcd.v0.9.2" || dir.Findings.Err() != nil || strings.Contains(text, IgnoreFile) || strings.Contains(text, "catalog") {
		t.Errorf("stray files: %+v", dir)
	}
	g.check(t)
	if !IsBundleDir(bundleTree()) || IsBundleDir(files("manifests/a", "")) {
		t.Error("IsBundleDir")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("no more time")
	cancel(cause)
	if _, err := ReadBundleDir(ctx, bundleTree(), nil); err != cause {
		t.Errorf("after the end of the context: %v", err)
	}
}

// linkedBundle returns a bundle directory with a link that leads out of it, and one to
// a directory.
func linkedBundle(t *testing.T) string {
	dir := t.TempDir()
	if err := os.CopyFS(dir, bundleTree()); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"out.yaml": "../../x.yaml", "dir": "../metadata"} {
		if err := os.Symlink(to, filepath.Join(dir, "manifests", name)); err != nil {
			t.Skip(err)
		}
	}
	return dir
}

// FuzzBundleDir reads any CSV and metadata without a panic; what it renders can
// be written and loaded.
func FuzzBundleDir(f *testing.F) {
	tree := bundleTree()
	f.Add(testCSV, string(tree["metadata/annotations.yaml"].Data)+string(tree["metadata/properties.yaml"].Data))
	f.Add("{kind: ClusterServiceVersion, metadata: {name: a}, spec: {version: 1.0.0, customresourcedefinitions: {owned: [1, {name: x}]}}}", "annotations: {operators.operatorframework.io.bundle.package.v1: p}\ndependencies: [[], {property: {}}]\n")
	f.Fuzz(func(t *testing.T, csv, metadata string) {
		dir, err := ReadBundleDir(context.Background(), files("manifests/csv.yaml", csv, "metadata/annotations.yaml", metadata), &BundleDirOptions{Data: CSVMetadata})
		if err != nil {
			return
		}
		text := written(t, &Catalog{Bundles: []*Bundle{dir.Bundle}}, YAML)
		if _, err := LoadBytes(context.Background(), text, "f", nil); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	})
}
