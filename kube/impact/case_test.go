package impact

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"golang.org/x/tools/txtar"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/olm"
)

// caseOptions are the options of a case.
type caseOptions struct {
	Classic bool `json:"classic"`
	// Unenforced is true if OLM v1 does not check CRDs.
	Unenforced bool         `json:"unenforced"`
	Watch      []string     `json:"watch"`
	Resources  []olm.Object `json:"resources"`
	Stored     []string     `json:"stored"` // the stored versions of demos.example.com
	// Instances are the numbers of custom resources by CRD, and Unread why they are not known.
	Instances map[string]int    `json:"instances"`
	Unread    map[string]string `json:"unread"`
	// Namespace is the install namespace.
	Namespace string `json:"namespace"`
	// KubeVersion is the version of the cluster.
	KubeVersion string `json:"kubeVersion"`
}

// TestCases compares the pairs of bundles in testdata/case with their reports (K223, K224, K225,
// K226, K227, K228, K229, K230). Both bundles are testdata/base.yaml, changed by merge patches.
// Together the cases have every code.
func TestCases(t *testing.T) {
	files, err := filepath.Glob("testdata/case/*.txtar")
	if err != nil || len(files) < 40 {
		t.Fatal(len(files), err)
	}
	seen := map[fbc.Code]bool{}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			a, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			r := run(t, a, nil, nil)
			for _, d := range r.Findings() {
				seen[d.Code] = true
				if d.Pos.File == "" && d.Code != "impact-not-compared" {
					t.Errorf("%s has no position", d.Code)
				}
			}
			got := show(r)
			if golden.Update() {
				a.Files[len(a.Files)-1].Data = []byte(got)
				if err := os.WriteFile(file, txtar.Format(a), 0o666); err != nil {
					t.Fatal(err)
				}
			}
			if want := string(a.Files[len(a.Files)-1].Data); got != want {
				t.Errorf("got:\n%s\nwant:\n%s", got, want)
			}
		})
	}
	for _, e := range fbc.Explanations() {
		if strings.HasPrefix(string(e.Code), "impact-") && !seen[e.Code] {
			t.Errorf("no case has %s", e.Code)
		}
	}
}

// run returns the report of a case. The caches may be nil.
func run(t *testing.T, a *txtar.Archive, shared *registryv1.Cache, cache *Cache) *Report {
	t.Helper()
	var from, to string
	var o caseOptions
	for _, f := range a.Files {
		switch f.Name {
		case "options.yaml":
			if err := yaml.UnmarshalStrict(f.Data, &o); err != nil {
				t.Fatal(err)
			}
		case "old.yaml":
			from = string(f.Data)
		case "new.yaml":
			to = string(f.Data)
		}
	}
	old, created := patched(t, from, shared), patched(t, to, shared)
	opts := &Options{Classic: o.Classic, Unenforced: o.Unenforced, Namespace: o.Namespace, Watch: o.Watch, Cache: cache}
	if o.Stored != nil || o.Resources != nil || o.Instances != nil || o.Unread != nil || o.KubeVersion != "" {
		opts.Cluster = &Cluster{KubeVersion: o.KubeVersion, Resources: map[string][]olm.Object{"demos.example.com": o.Resources}, Unread: o.Unread}
		for name, n := range o.Instances {
			opts.Cluster.Resources[name] = make([]olm.Object, n)
		}
		crd := old.CRDs[0].Object.DeepCopy()
		crd.Status = apiextensionsv1.CustomResourceDefinitionStatus{StoredVersions: o.Stored}
		opts.Cluster.CRDs = []*apiextensionsv1.CustomResourceDefinition{crd}
	}
	r, err := Compare(t.Context(), Bundle{Bundle: old}, Bundle{Bundle: created}, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// show returns a report as text.
func show(r *Report) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", r.Verdict)
	for _, c := range r.Classes {
		if len(c.Changes) == 0 {
			continue
		}
		fmt.Fprintf(&b, "%s: %s\n", c.Class, c.Verdict)
		for _, x := range c.Changes {
			fmt.Fprintf(&b, "  %s %s", x.Op, x.Message)
			if x.Code != "" {
				fmt.Fprintf(&b, " [%s %s]", x.Verdict, x.Code)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// patched returns the base bundle, changed by documents. A document is a merge patch for the
// first document of its kind and, if it has one, of its name. With "delete: true" it deletes
// that document, and without such a document it is a new object.
func patched(t *testing.T, patches string, shared *registryv1.Cache) *registryv1.Bundle {
	t.Helper()
	base, err := os.ReadFile("testdata/base.yaml")
	if err != nil {
		t.Fatal(err)
	}
	type head struct {
		Kind     string `json:"kind"`
		Metadata struct {
			Name string `json:"name"`
		} `json:"metadata"`
		Delete bool `json:"delete"`
	}
	headOf := func(doc []byte) (h head) {
		if err := yaml.Unmarshal(doc, &h); err != nil {
			t.Fatalf("%v:\n%s", err, doc)
		}
		return h
	}
	docs := bytes.Split(base, []byte("---\n"))
	for i := range docs {
		if docs[i], err = yaml.YAMLToJSON(docs[i]); err != nil {
			t.Fatal(err)
		}
	}
	for patch := range strings.SplitSeq(patches, "---\n") {
		if strings.TrimSpace(patch) == "" {
			continue
		}
		text, err := yaml.YAMLToJSON([]byte(patch))
		if err != nil {
			t.Fatal(err)
		}
		p := headOf(text)
		i := slices.IndexFunc(docs, func(doc []byte) bool {
			h := headOf(doc)
			return h.Kind == p.Kind && (p.Metadata.Name == "" || p.Kind == "ClusterServiceVersion" || h.Metadata.Name == p.Metadata.Name)
		})
		switch {
		case i < 0:
			docs = append(docs, text)
		case p.Delete:
			docs = slices.Delete(docs, i, i+1)
		default:
			if docs[i], err = jsonpatch.MergePatch(docs[i], text); err != nil {
				t.Fatal(err)
			}
		}
	}
	b, err := registryv1.FromObjects(t.Context(), "demo", docs, &registryv1.ReadOptions{Cache: shared})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestAfter checks that a cluster has the CRDs of the bundle after an upgrade, with all versions in
// which resources may be stored (K226).
func TestAfter(t *testing.T) {
	b := Bundle{Bundle: patched(t, "", nil)}
	other, demo := b.CRDs[0].Object.DeepCopy(), b.CRDs[0].Object.DeepCopy()
	other.Name, demo.Status.StoredVersions = "others.example.com", []string{"v1beta1"}
	before := &Cluster{CRDs: []*apiextensionsv1.CustomResourceDefinition{other, demo}, Unread: map[string]string{"x": "y"}}
	after, err := before.After(b)
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, x := range after.CRDs {
		got[x.Name] = x.Status.StoredVersions
	}
	want := map[string][]string{"others.example.com": nil, "demos.example.com": {"v1beta1", "v1"}, "extras.example.com": {"v1"}}
	if !maps.EqualFunc(got, want, slices.Equal) || after.Unread["x"] != "y" || len(demo.Status.StoredVersions) != 1 {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestMigrations checks which stored versions a path of upgrades loses: not those that the report on the last
// upgrade has (K226).
func TestMigrations(t *testing.T) {
	bundle := func(versions ...string) Bundle { // the last one is the storage version
		b := Bundle{Bundle: patched(t, "", nil)}
		x := &b.CRDs[0].Object
		x.Spec.Versions = nil
		for i, v := range versions {
			x.Spec.Versions = append(x.Spec.Versions, apiextensionsv1.CustomResourceDefinitionVersion{Name: v, Served: true, Storage: i == len(versions)-1})
		}
		return b
	}
	name := bundle("v1").CRDs[0].Object.Name
	for _, x := range []struct {
		path []Bundle
		want []Migration
	}{
		{[]Bundle{bundle("v2", "v1"), bundle("v1", "v2"), bundle("v2")}, []Migration{{name, []string{"v1"}, []string{"v2"}}}},
		{[]Bundle{bundle("v1", "v2"), bundle("v2")}, nil},
		{[]Bundle{bundle("v1"), bundle("v2")}, nil}, // in the report
		{[]Bundle{bundle("v2", "v1"), bundle("v1", "v2"), bundle("v2"), bundle("v2")}, nil},
		{[]Bundle{bundle("v1"), bundle("v1", "v2"), bundle("v1", "v2", "v3"), bundle("v3")}, []Migration{{name, []string{"v1", "v2"}, []string{"v3"}}}},
		{[]Bundle{bundle("v1"), bundle("v1", "v2"), bundle("v2", "v1"), bundle("v1")}, []Migration{{name, []string{"v2"}, []string{"v1"}}}},
	} {
		if got := Migrations(x.path); !reflect.DeepEqual(got, x.want) {
			t.Errorf("got %v, want %v", got, x.want)
		}
	}
}

// TestInstalledCRD checks that what the API server and OLM add to a CRD on the cluster is not a
// change (K226).
func TestInstalledCRD(t *testing.T) {
	old := Bundle{Bundle: patched(t, "", nil)}
	created := Bundle{Bundle: patched(t, `kind: CustomResourceDefinition
metadata: {name: demos.example.com}
spec: {names: {shortNames: [dm]}}
`, nil)}
	want, err := Compare(t.Context(), old, created, nil)
	if err != nil {
		t.Fatal(err)
	}
	installed := old.CRDs[0].Object.DeepCopy()
	installed.UID, installed.Generation = "u", 3
	installed.Spec.Names.Singular, installed.Spec.Names.ListKind = "demo", "DemoList"
	installed.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{
		Strategy: apiextensionsv1.NoneConverter, Webhook: &apiextensionsv1.WebhookConversion{ConversionReviewVersions: []string{"v1"}},
	}
	installed.Status = apiextensionsv1.CustomResourceDefinitionStatus{
		AcceptedNames: installed.Spec.Names, StoredVersions: []string{"v1"},
		Conditions: []apiextensionsv1.CustomResourceDefinitionCondition{{Type: apiextensionsv1.Established, Status: "True"}},
	}
	got, err := Compare(t.Context(), old, created, &Options{Cluster: &Cluster{CRDs: []*apiextensionsv1.CustomResourceDefinition{installed}}})
	if err != nil {
		t.Fatal(err)
	}
	if a, b := show(got), show(want); a != b || !strings.Contains(a, "shortNames") {
		t.Errorf("on a cluster:\n%s\nwithout one:\n%s", a, b)
	}
}

// TestDeterministic checks that a report has the same bytes each time, and with manifests in
// another order. Caches that all cases share change nothing.
func TestDeterministic(t *testing.T) {
	files, err := filepath.Glob("testdata/case/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	shared, cache := &registryv1.Cache{}, &Cache{}
	for _, file := range files {
		a, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		first, err := json.Marshal(run(t, a, nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		again, err := json.Marshal(run(t, a, shared, cache))
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(first, again) {
			t.Fatalf("%s: reports differ:\n%s\n%s", file, first, again)
		}
	}
}
