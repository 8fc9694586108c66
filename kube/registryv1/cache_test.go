package registryv1

import (
	"fmt"
	"strings"
	"testing"
	"testing/fstest"

	gocmp "github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

const cachedCSV = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: demo.v1}
spec:
  version: 1.0.0
  installModes: [{type: AllNamespaces, supported: true}]
  install: {strategy: deployment}
`

// cachedCRD returns a CRD with a field.
func cachedCRD(field string) string {
	return fmt.Sprintf(`apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: things, kind: Thing, singular: thing, listKind: ThingList}
  versions:
  - name: v1
    served: true
    storage: true
    schema: {openAPIV3Schema: {type: object, properties: {%s}}}
`, field)
}

// bundleWith returns the files of a bundle with a CSV and other manifests.
func bundleWith(manifests ...string) fstest.MapFS {
	out := fstest.MapFS{
		annotationsFile:      {Data: []byte("annotations: {" + packageAnnotation + ": demo}")},
		"manifests/csv.yaml": {Data: []byte(cachedCSV)},
	}
	for i, text := range manifests {
		out[fmt.Sprintf("manifests/m%d.yaml", i)] = &fstest.MapFile{Data: []byte(text)}
	}
	return out
}

// answer returns what a bundle installs, or why not.
func answer(t *testing.T, files fstest.MapFS, opts *ReadOptions) (out string) {
	t.Helper()
	b, err := Read(t.Context(), files, opts)
	if err != nil {
		return "read: " + err.Error()
	}
	for i := range b.CRDs {
		out += fmt.Sprintln(b.CRDs[i].Pos, b.CRDs[i].At("spec", "scope"))
	}
	m, err := b.Render(t.Context(), RenderOptions{Namespace: "demo"})
	if err != nil {
		return out + "render: " + err.Error()
	}
	for _, o := range m.Objects() {
		text, err := o.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		out += string(text)
		unstructured.RemoveNestedField(o.Object, "spec") // callers may modify objects
	}
	return out
}

// A cache changes no answer about a bundle (K2 to K5, K232).
func TestCache(t *testing.T) {
	limits := &Limits{Objects: 2}
	good, bad := cachedCRD("size: {type: integer}"), cachedCRD("size: {type: array}")
	other := strings.ReplaceAll(good, "thing", "other")
	aliases := cachedCRD("a: &a {type: integer}, b: *a")
	shared := &Cache{}
	for round := range 2 {
		for name, files := range map[string]fstest.MapFS{
			"one":              bundleWith(good),
			"another place":    bundleWith("# a comment\n---\n" + good),
			"refused":          bundleWith(bad),
			"twice":            bundleWith(good, good),
			"too many":         bundleWith(good, other),
			"aliases":          bundleWith(aliases),
			"in a list":        bundleWith(`{apiVersion: v1, kind: List, items: [{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: a}}]}`),
			"without metadata": bundleWith("apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinition\n"),
			"wrong type":       bundleWith(strings.Replace(good, "served: true", "served: 3", 1)),
			"v1beta1":          bundleWith(strings.Replace(good, "k8s.io/v1", "k8s.io/v1beta1", 1)),
		} {
			want := answer(t, files, &ReadOptions{Limits: limits})
			if diff := gocmp.Diff(want, answer(t, files, &ReadOptions{Limits: limits, Cache: shared})); diff != "" {
				t.Errorf("round %d, %s: the answer differs: %s", round, name, diff)
			}
		}
	}

	read := func(text string, c *Cache) *Bundle {
		t.Helper()
		b, err := Read(t.Context(), bundleWith(text), &ReadOptions{Cache: c})
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	a, b := read(good, shared), read(good, shared)
	if id := a.CRDs[0].Digest(); id == "" || id != b.CRDs[0].Digest() || &a.CRDs[0].Object.Spec.Versions[0] != &b.CRDs[0].Object.Spec.Versions[0] {
		t.Error("an equal CRD is not shared")
	}
	if read(other, shared).CRDs[0].Digest() == a.CRDs[0].Digest() {
		t.Error("different CRDs have the same digest")
	}
	if read(good, nil).CRDs[0].Digest() != "" || read(aliases, shared).CRDs[0].Digest() != "" {
		t.Error("a CRD that is not shared has a digest")
	}
}
