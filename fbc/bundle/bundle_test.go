package bundle

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/golden"
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

// TestLoad renders a bundle directory with all kinds of content (A14).
func TestLoad(t *testing.T) {
	g := golden.Archive{File: "bundle.txtar"}
	for name, data := range map[string]Data{"plain": NoData} {
		dir, err := Load(t.Context(), bundleTree(), &Options{Image: "quay.io/example/etcd-bundle:v0.9.2", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		g.Add(name, string(written(t, &fbc.Catalog{Bundles: []*fbc.Bundle{dir.Bundle}}, fbc.YAML)))
		g.Add(name+"-rest", fmt.Sprintf("entry %+v\nchannels %q default %q\ndescription %q\nicon %+v\n", dir.Entry, dir.Channels, dir.DefaultChannel, dir.Description, *dir.Icon))
	}
	for _, data := range []Data{CSVMetadata, Objects} {
		dir, err := Load(t.Context(), bundleTree(), &Options{Image: "i", Data: data})
		if err != nil {
			t.Fatal(err)
		}
		var heavy []property.Property
		for _, p := range dir.Bundle.Properties {
			if property.IsHeavy(p.Type) {
				heavy = append(heavy, p)
			}
		}
		b := &fbc.Bundle{Meta: fbc.Meta{Schema: fbc.SchemaBundle, Name: "heavy", Properties: heavy}}
		g.Add(fmt.Sprintf("data-%d", data), string(written(t, &fbc.Catalog{Bundles: []*fbc.Bundle{b}}, fbc.JSONLines)))
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
		dir, err := Load(t.Context(), tree, nil)
		if err == nil {
			t.Errorf("%s: %+v", c.name, dir)
		}
		g.Add(c.name, errText(err))
	}
	_, err := Load(t.Context(), os.DirFS(linkedBundle(t)), nil)
	g.Add("links", errText(err))
	stray := bundleTree()
	for name, text := range map[string]string{
		"manifests/README.md": "# etcd\n\nNotes: {\n", "manifests/list.yaml": "- a\n", "manifests/values.yaml": "a: b\n",
		"manifests/two.yaml": "kind: Service\n---\n{\n", "metadata/NOTES": "Notes: [\n", "metadata/other.yaml": "a: b\n",
		"manifests/logo.png": "\x89PNG\r\n\x00", "manifests/latin.yaml": "kind: \xe9\n", "manifests/more/crd.yaml": "kind: Service\n", "metadata/old/a.yaml": "a: b\n",
	} {
		stray[name] = &fstest.MapFile{Data: []byte(text)}
	}
	dir, err := Load(t.Context(), stray, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Add("stray-files", dir.Findings.Error())
	if text := dir.Findings.Error(); dir.Bundle.Name != "etcd.v0.9.2" || dir.Findings.Err() != nil || strings.Contains(text, ".indexignore") || strings.Contains(text, "catalog") {
		t.Errorf("stray files: %+v", dir)
	}
	g.Check(t)
	if !IsDir(files("manifests/a", "apiVersion: v1\nkind: ClusterServiceVersion\n")) || !IsDir(files("manifests/a", `{"kind": "ClusterServiceVersion"}`)) || IsDir(files("manifests/a", "kind: ClusterServiceVersionList\n")) {
		t.Error("a bundle without metadata is not recognized")
	}
	if !IsDir(bundleTree()) || IsDir(files("manifests/a", "")) {
		t.Error("IsDir")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("no more time")
	cancel(cause)
	if _, err := Load(ctx, bundleTree(), nil); err != cause {
		t.Errorf("after the end of the context: %v", err)
	}
}

// linkedBundle returns a bundle directory with a link to a file outside it, and one to a
// directory.
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

// FuzzLoad checks that loading any CSV and metadata does not panic, and that the result can
// be written and loaded.
func FuzzLoad(f *testing.F) {
	tree := bundleTree()
	f.Add(testCSV, string(tree["metadata/annotations.yaml"].Data)+string(tree["metadata/properties.yaml"].Data))
	f.Add("{kind: ClusterServiceVersion, metadata: {name: a}, spec: {version: 1.0.0, customresourcedefinitions: {owned: [1, {name: x}]}}}", "annotations: {operators.operatorframework.io.bundle.package.v1: p}\ndependencies: [[], {property: {}}]\n")
	f.Fuzz(func(t *testing.T, csv, metadata string) {
		dir, err := Load(context.Background(), files("manifests/csv.yaml", csv, "metadata/annotations.yaml", metadata), &Options{Data: CSVMetadata})
		if err != nil {
			return
		}
		text := written(t, &fbc.Catalog{Bundles: []*fbc.Bundle{dir.Bundle}}, fbc.YAML)
		if _, err := fbc.LoadReader(context.Background(), bytes.NewReader(text), "f", nil); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
	})
}

func written(t testing.TB, c *fbc.Catalog, s fbc.Syntax) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := fbc.Write(context.Background(), &out, c, &fbc.WriteOptions{Syntax: s}); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func files(nameText ...string) fstest.MapFS {
	tree := fstest.MapFS{}
	for i := 0; i < len(nameText); i += 2 {
		tree[nameText[i]] = &fstest.MapFile{Data: []byte(nameText[i+1])}
	}
	return tree
}

func errText(err error) string {
	if err == nil {
		return "no error"
	}
	return err.Error()
}
