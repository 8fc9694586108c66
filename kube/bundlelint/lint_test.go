package bundlelint

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/version"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
)

// TestExplanations checks that the bad example on the page of each code has a finding of
// that code, and that the fixed example has none at all (K214, K215, K216, K217, K218, K219,
// K220, G10).
func TestExplanations(t *testing.T) {
	for _, e := range fbc.Explanations() {
		if !strings.HasPrefix(string(e.Code), "bundle-") || e.Bad == "" {
			continue
		}
		t.Run(string(e.Code), func(t *testing.T) {
			found := lint(t, example(t, e.Bad))
			if !slices.ContainsFunc(found, func(d *fbc.Diagnostic) bool { return d.Code == e.Code && d.Severity == e.Severity }) {
				t.Errorf("the example has only\n%v", found)
			}
			for _, d := range found {
				t.Log(d)
				if d.Pos.File == "" || d.Pos.Line == 0 && d.Code != "bundle-package-name" {
					t.Errorf("%v has no line", d)
				}
			}
			if found := lint(t, example(t, e.Good)); len(found) > 0 {
				t.Errorf("the fixed example has\n%v", found)
			}
		})
	}
}

func lint(t *testing.T, files fs.FS) fbc.Diagnostics {
	t.Helper()
	r, err := Lint(t.Context(), files, nil)
	if err != nil {
		t.Fatal(err)
	}
	return r.Findings
}

// base returns the files of a bundle without findings.
func base(t *testing.T) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	for _, name := range []string{"manifests/crd.yaml", "manifests/csv.yaml", "metadata/annotations.yaml"} {
		text, err := os.ReadFile("testdata/base/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files[name] = &fstest.MapFile{Data: text}
	}
	return files
}

// example returns the base bundle, changed by the documents of an example. The first
// document of a kind that the base has is a merge patch for it. Later ones are copies with
// the patch.
func example(t *testing.T, text string) fstest.MapFS {
	t.Helper()
	files := base(t)
	used := map[string]bool{}
	for i, doc := range strings.Split(text, "---\n") {
		var o struct {
			Kind        string            `json:"kind"`
			Annotations map[string]string `json:"annotations"`
		}
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		name := map[string]string{"ClusterServiceVersion": "manifests/csv.yaml", "CustomResourceDefinition": "manifests/crd.yaml"}[o.Kind]
		if o.Annotations != nil {
			name = "metadata/annotations.yaml"
		}
		data := []byte(doc)
		if name != "" {
			data = merge(t, base(t)[name].Data, data)
		}
		if name == "" || used[name] {
			name = fmt.Sprintf("manifests/example-%d.yaml", i)
		}
		used[name] = true
		files[name] = &fstest.MapFile{Data: data}
	}
	return files
}

func merge(t *testing.T, doc, patch []byte) []byte {
	t.Helper()
	a, err := yaml.YAMLToJSON(doc)
	if err != nil {
		t.Fatal(err)
	}
	b, err := yaml.YAMLToJSON(patch)
	if err != nil {
		t.Fatal(err)
	}
	merged, err := jsonpatch.MergePatch(a, b)
	if err != nil {
		t.Fatal(err)
	}
	out, err := yaml.JSONToYAML(merged)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBase checks that the base bundle has no findings, so that all findings of an example
// come from the example itself.
func TestBase(t *testing.T) {
	if found := lint(t, base(t)); len(found) > 0 {
		t.Error(found)
	}
}

// TestAllTogether checks that independent findings are reported together, in order of
// position and with the line of their value.
func TestAllTogether(t *testing.T) {
	files := base(t)
	csv := string(files["manifests/csv.yaml"].Data)
	csv = strings.ReplaceAll(csv, "minKubeVersion: 1.28.0", "minKubeVersion: new")
	csv = strings.ReplaceAll(csv, "- {type: AllNamespaces, supported: true}", "- {type: AllNamespaces, supported: true}\n  - {type: Global, supported: true}\n  - {type: AllNamespaces, supported: true}")
	csv = strings.Replace(csv, "      - name: demo\n", "      - name: Demo\n", 1)
	files["manifests/csv.yaml"] = &fstest.MapFile{Data: []byte(csv)}
	files["manifests/pdb.yaml"] = &fstest.MapFile{Data: []byte("# old\nkind: PodDisruptionBudget\napiVersion: policy/v1beta1\nmetadata: {name: demo}\n")}
	files["metadata/dependencies.yaml"] = &fstest.MapFile{Data: []byte("dependencies:\n- value: {packageName: other, version: 1.0.0}\n")}
	var got []string
	for _, d := range lint(t, files) {
		got = append(got, fmt.Sprintf("%s %s", d.Pos, d.Code))
	}
	want := []string{
		"manifests/csv.yaml:7 bundle-min-kube-version",
		"manifests/csv.yaml:10 bundle-install-modes",
		"manifests/csv.yaml:11 bundle-install-modes",
		"manifests/csv.yaml:25 bundle-deployment-name",
		"manifests/pdb.yaml:3 bundle-api-removed",
	}
	if diff := cmp.Diff(want, got[:min(len(want), len(got))]); diff != "" {
		t.Errorf("findings (-want +got):\n%s", diff)
	}
	if len(got) != len(want)+1 || !strings.HasPrefix(got[len(got)-1], "metadata/dependencies.yaml") {
		t.Errorf("findings of metadata are missing: %v", got)
	}
}

// TestAPIVersions checks how the version of Kubernetes affects deprecated APIs (K215).
func TestAPIVersions(t *testing.T) {
	files := base(t)
	files["manifests/pdb.yaml"] = &fstest.MapFile{Data: []byte("apiVersion: policy/v1beta1\nkind: PodDisruptionBudget\nmetadata: {name: demo}\n")}
	for v, want := range map[string]string{"1.20": "", "1.21": "bundle-api-deprecated", "1.24": "bundle-api-deprecated", "1.25": "bundle-api-removed", "1.36": "bundle-api-removed"} {
		r, err := Lint(t.Context(), files, &Options{Kubernetes: version.MustParseGeneric(v)})
		if err != nil {
			t.Fatal(err)
		}
		got := ""
		for _, d := range r.Findings {
			got += string(d.Code)
		}
		if got != want {
			t.Errorf("Kubernetes %s: findings %q, want %q", v, got, want)
		}
	}
}

// TestNewest checks that Newest is the version of k8s.io/api that this module requires.
func TestNewest(t *testing.T) {
	text, err := os.ReadFile("../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("\tk8s.io/api v0.%d.", Newest().Minor()); !strings.Contains(string(text), want) {
		t.Errorf("Newest is %s, but go.mod does not contain %q", Newest(), want)
	}
}

// TestSize checks the limit on compressed manifests, which are random here and therefore
// do not shrink (K221).
func TestSize(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	data := map[string][]byte{"data": make([]byte, maxCompressed)} // in base64, compressed by a quarter
	for i := range data["data"] {
		data["data"][i] = byte(random.Uint32())
	}
	text, err := json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]string{"name": "big"}, "binaryData": data})
	if err != nil {
		t.Fatal(err)
	}
	files := base(t)
	files["manifests/big.json"] = &fstest.MapFile{Data: text}
	if found := lint(t, files); len(found) != 1 || found[0].Code != "bundle-size" {
		t.Errorf("findings %v, want bundle-size", found)
	}
	data["data"] = data["data"][:maxCompressed/2]
	if text, err = json.Marshal(map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]string{"name": "big"}, "binaryData": data}); err != nil {
		t.Fatal(err)
	}
	files["manifests/big.json"] = &fstest.MapFile{Data: text}
	if found := lint(t, files); len(found) != 0 {
		t.Errorf("findings %v of half the size", found)
	}
}

// FuzzLint checks that no manifests make Lint panic, and that it returns equal findings
// for equal files, sorted (D18).
func FuzzLint(f *testing.F) {
	f.Add([]byte("kind: ClusterServiceVersion\napiVersion: v1\nspec: {install: {spec: {deployments: [{spec: {template: {spec: {containers: [{image: 'A', env: [{name: RELATED_IMAGE_X, value: b}]}]}}}}]}}}"))
	f.Add([]byte("kind: ServiceAccount\n---\nkind: ClusterServiceVersion\nmetadata: {annotations: {operatorframework.io/suggested-namespace-template: '{'}}\nspec: {nativeAPIs: [{version: v1, kind: Endpoints}]}"))
	f.Add([]byte("kind: List\nitems: [{kind: ClusterServiceVersion, spec: {installModes: [{type: a}, {type: AllNamespaces}, {type: AllNamespaces}]}}]"))
	f.Fuzz(func(t *testing.T, manifest []byte) {
		files := fstest.MapFS{
			"metadata/annotations.yaml": {Data: []byte("annotations: {operators.operatorframework.io.bundle.package.v1: demo}")},
			"manifests/a.yaml":          {Data: manifest},
		}
		one, two := lint(t, files), lint(t, files)
		if one.Error() != two.Error() {
			t.Fatalf("two results:\n%v\n%v", one, two)
		}
		if !slices.IsSortedFunc(one, (*fbc.Diagnostic).Compare) {
			t.Fatalf("not sorted: %v", one)
		}
	})
}

// K215: the table has the types of Kubernetes and the CRD itself.
func TestRemoved(t *testing.T) {
	for _, tt := range []struct {
		gvk            schema.GroupVersionKind
		since, instead string
	}{
		{schema.GroupVersionKind{Group: "batch", Version: "v1beta1", Kind: "CronJob"}, "1.25", "batch/v1"},
		{schema.GroupVersionKind{Group: "extensions", Version: "v1beta1", Kind: "Ingress"}, "1.22", "networking.k8s.io/v1"},
		{schema.GroupVersionKind{Group: "apiextensions.k8s.io", Version: "v1beta1", Kind: "CustomResourceDefinition"}, "1.22", "apiextensions.k8s.io/v1"},
		{schema.GroupVersionKind{Group: "batch", Version: "v1", Kind: "CronJob"}, "", ""},
		{schema.GroupVersionKind{Group: "example.com", Version: "v1beta1", Kind: "CronJob"}, "", ""},
	} {
		since, instead := Removed(tt.gvk)
		got := ""
		if since != nil {
			got = since.String()
		}
		if got != tt.since || instead != tt.instead {
			t.Errorf("Removed(%s) = %s, %q; want %s, %q", tt.gvk, got, instead, tt.since, tt.instead)
		}
	}
}
