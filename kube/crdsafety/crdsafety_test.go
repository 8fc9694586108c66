package crdsafety

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/internal/testctx"
)

// A tableCase is an entry of testdata/cases.yaml.
type tableCase struct {
	Name                     string
	Old, New                 map[string]any
	OldVersions, NewVersions map[string]map[string]any
}

func readCases(t testing.TB) []tableCase {
	t.Helper()
	text, err := os.ReadFile("testdata/cases.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var cases []tableCase
	if err := yaml.UnmarshalStrict(text, &cases); err != nil {
		t.Fatal(err)
	}
	return cases
}

// crds returns the old and the new CRD of a case.
func (c *tableCase) crds(t testing.TB) (old, new *apiextensionsv1.CustomResourceDefinition) {
	if c.OldVersions == nil {
		return crd(t, map[string]map[string]any{"v1": c.Old}), crd(t, map[string]map[string]any{"v1": c.New})
	}
	return crd(t, c.OldVersions), crd(t, c.NewVersions)
}

// crd returns a CRD with served versions. Each has the given fields, or no
// schema.
func crd(t testing.TB, fields map[string]map[string]any) *apiextensionsv1.CustomResourceDefinition {
	object := func(name string, field map[string]any) map[string]any {
		return map[string]any{"type": "object", "properties": map[string]any{name: field}}
	}
	var versions []any
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		v := map[string]any{"name": name, "served": true, "storage": name == "v1"}
		if fields[name] != nil {
			v["schema"] = map[string]any{"openAPIV3Schema": object("spec", object("f", fields[name]))}
		}
		versions = append(versions, v)
	}
	return decode(t, map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": "widgets.example.com"},
		"spec":     map[string]any{"scope": "Namespaced", "versions": versions},
	})
}

func mustCompare(t testing.TB, old, new *apiextensionsv1.CustomResourceDefinition, opts *Options) *Result {
	t.Helper()
	r, err := Compare(t.Context(), old, new, opts)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestCases compares the table of testdata/cases.yaml with its golden file: every
// validation, nested schemas, served versions and versions without a schema
// (K56, K57, K58, K59, K60, K61, K62).
func TestCases(t *testing.T) {
	results := &golden.Archive{File: "cases.golden"}
	for _, c := range readCases(t) {
		old, new := c.crds(t)
		var b strings.Builder
		for _, asUpstream := range []bool{false, true} {
			r := mustCompare(t, old, new, &Options{AsUpstream: asUpstream})
			by := "default"
			if asUpstream {
				by = "operator-controller"
			}
			fmt.Fprintf(&b, "%s: %s\n", by, r.Verdict)
			for _, f := range r.Findings {
				fmt.Fprintf(&b, "  %s %s: %s\n", f.Scope, f.Validation, f)
			}
		}
		results.Add(c.Name, b.String())
	}
	results.Check(t)
}

// TestWholeCRD covers scope, stored versions, conversion and enforcement (K54,
// K55, K56).
func TestWholeCRD(t *testing.T) {
	two := map[string]map[string]any{"v1": {"type": "string"}, "v2": {"type": "integer"}}
	one := map[string]map[string]any{"v2": {"type": "integer"}}
	tests := []struct {
		name   string
		change func(old, new *apiextensionsv1.CustomResourceDefinition)
		opts   Options
		want   []string
		verd   Verdict
	}{
		{name: "stored version by default", want: []string{`stored versions removed: ["v1"]`}, verd: Unsafe},
		{name: "stored version of the status", verd: Safe, change: func(old, _ *apiextensionsv1.CustomResourceDefinition) {
			old.Status.StoredVersions = []string{"v2"}
		}},
		{name: "scope", verd: Unsafe, want: []string{`scope changed from "Namespaced" to "Cluster"`}, change: func(old, new *apiextensionsv1.CustomResourceDefinition) {
			old.Status.StoredVersions = []string{"v2"}
			new.Spec.Scope = apiextensionsv1.ClusterScoped
		}},
		{name: "fields that are not compared", verd: Safe, change: func(old, new *apiextensionsv1.CustomResourceDefinition) {
			old.Status.StoredVersions = []string{"v2"}
			new.Spec.Names.Plural = "others"
			new.Spec.Versions[0].Served = false
		}},
		{name: "disagreeing versions with a webhook", verd: Safe, change: func(old, new *apiextensionsv1.CustomResourceDefinition) {
			*new = *old.DeepCopy()
			old.Spec.Versions = old.Spec.Versions[:1]
			new.Spec.Conversion = &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}
		}},
		{name: "enforcement None", opts: Options{Enforcement: None}, verd: Skipped},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for _, test.opts.AsUpstream = range []bool{false, true} {
				old, new := crd(t, two), crd(t, one)
				if test.change != nil {
					test.change(old, new)
				}
				r := mustCompare(t, old, new, &test.opts)
				var got []string
				for _, f := range r.Findings {
					got = append(got, f.String())
				}
				if diff := cmp.Diff(test.want, got); diff != "" || r.Verdict != test.verd {
					t.Errorf("as upstream %t: verdict %s (-want +got):\n%s", test.opts.AsUpstream, r.Verdict, diff)
				}
			}
		})
	}
	if _, err := Compare(t.Context(), crd(t, two), crd(t, one), &Options{Enforcement: "strict"}); err == nil {
		t.Error("an unknown enforcement was accepted")
	}
}

// TestCompareAll checks that CRDs are compared by name, and that a CRD without
// an old one is safe (K54).
func TestCompareAll(t *testing.T) {
	named := func(name, typ string) *apiextensionsv1.CustomResourceDefinition {
		c := crd(t, map[string]map[string]any{"v1": {"type": typ}})
		c.Name = name
		return c
	}
	type crds = []*apiextensionsv1.CustomResourceDefinition
	got, err := CompareAll(t.Context(), crds{named("a", "string"), named("b", "string")}, crds{named("c", "string"), named("b", "string"), named("a", "integer")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []string
	for _, r := range got {
		verdicts = append(verdicts, r.Name+" "+string(r.Verdict))
	}
	if want := []string{"a unsafe", "b safe", "c safe"}; !slices.Equal(verdicts, want) {
		t.Errorf("got %q, want %q", verdicts, want)
	}
	for _, bad := range []map[string]any{nil, {"kind": "CustomResourceDefinition", "apiVersion": "apiextensions.k8s.io/v1beta1"}} {
		if _, err := Decode(bad); err == nil {
			t.Errorf("Decode accepted %v", bad)
		}
	}
}

// FuzzCompare checks properties of all CRDs: the same upgrade has the same
// result, a CRD can be upgraded to itself, the order of versions, required
// fields and enum values does not matter, and neither mode panics (K60, K62).
func FuzzCompare(f *testing.F) {
	for _, c := range readCases(f) {
		old, new := c.crds(f)
		a, err := json.Marshal(old.Spec)
		if err != nil {
			f.Fatal(err)
		}
		b, err := json.Marshal(new.Spec)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(string(a), string(b))
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		old, new := decodeSpec(a), decodeSpec(b)
		if old == nil || new == nil {
			t.Skip()
		}
		for _, asUpstream := range []bool{false, true} {
			opts := &Options{AsUpstream: asUpstream}
			r, err := Compare(t.Context(), old, new, opts)
			if err != nil {
				continue
			}
			if diff := cmp.Diff(r, mustCompare(t, shuffled(old), shuffled(new), opts)); diff != "" && unique(old) && unique(new) {
				t.Errorf("another order has another result:\n%s", diff)
			}
			if self := mustCompare(t, new, new.DeepCopy(), opts); self.Verdict == Unsafe && !stray(new) {
				t.Errorf("a CRD cannot be upgraded to itself: %v", self.Findings)
			}
		}
	})
}

// decodeSpec returns a CRD with a spec in JSON, or nil if the spec is invalid.
func decodeSpec(text string) *apiextensionsv1.CustomResourceDefinition {
	var spec map[string]any
	if json.Unmarshal([]byte(text), &spec) != nil {
		return nil
	}
	crd, err := Decode(map[string]any{"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition", "spec": spec})
	if err != nil {
		return nil
	}
	return crd
}

// stray reports whether a CRD may have a stored version that is not one of its
// versions, or has several versions, so that operator-controller's findings may
// be random.
func stray(crd *apiextensionsv1.CustomResourceDefinition) bool {
	return len(crd.Status.StoredVersions) > 0 || len(crd.Spec.Versions) > 1
}

// unique reports whether the versions have different names.
func unique(crd *apiextensionsv1.CustomResourceDefinition) bool {
	seen := map[string]bool{}
	for _, v := range crd.Spec.Versions {
		if seen[v.Name] {
			return false
		}
		seen[v.Name] = true
	}
	return true
}

// shuffled returns the CRD with all lists reversed whose order does not matter.
func shuffled(crd *apiextensionsv1.CustomResourceDefinition) *apiextensionsv1.CustomResourceDefinition {
	crd = crd.DeepCopy()
	slices.Reverse(crd.Spec.Versions)
	for _, v := range crd.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			reverse(v.Schema.OpenAPIV3Schema)
		}
	}
	return crd
}

func reverse(s *schema) {
	slices.Reverse(s.Required)
	slices.Reverse(s.Enum)
	for name, p := range s.Properties {
		reverse(&p)
		s.Properties[name] = p
	}
}

// TestHostile checks that comparing large or deep schemas takes bounded memory
// and time, and stops when the context ends (K60).
func TestHostile(t *testing.T) {
	wide := map[string]any{}
	for i := range 10_000 {
		wide[fmt.Sprintf("p%d", i)] = map[string]any{"type": "string", "maxLength": i}
	}
	nested := func(depth, width int, leaf map[string]any) map[string]any {
		for range depth {
			var list []any
			for range width {
				list = append(list, leaf)
			}
			leaf = map[string]any{"anyOf": list}
		}
		return leaf
	}
	chain := func(depth int, leaf map[string]any) map[string]any {
		for range depth {
			leaf = map[string]any{"additionalProperties": leaf}
		}
		return leaf
	}
	a, b := map[string]any{"title": "a"}, map[string]any{"format": "b"}
	for name, pair := range map[string][2]map[string]any{
		"10,000 properties":      {{"properties": wide}, {"properties": map[string]any{}}},
		"10,000 values of a map": {{"additionalProperties": map[string]any{"properties": wide}}, {"additionalProperties": a}},
		"ten levels of anyOf":    {nested(10, 2, a), nested(10, 2, b)},
		"300 nested maps":        {chain(300, a), chain(300, b)},
		"300 maps become 200":    {chain(300, b), chain(200, a)},
	} {
		t.Run(name, func(t *testing.T) {
			old := crd(t, map[string]map[string]any{"v1": pair[0], "v2": pair[1]})
			new := crd(t, map[string]map[string]any{"v1": pair[1], "v2": pair[0]})
			for _, asUpstream := range []bool{false, true} {
				r := mustCompare(t, old, new, &Options{AsUpstream: asUpstream})
				for _, f := range r.Findings {
					if len(f.String()) > 100_000 {
						t.Fatalf("a message has %d bytes", len(f.String()))
					}
				}
				stopped := errors.New("stopped")
				for _, looks := range []int{1, 100} {
					if _, err := Compare(testctx.EndsAfter(looks, stopped), old, new, &Options{AsUpstream: asUpstream}); !errors.Is(err, stopped) {
						t.Errorf("after %d checks of the context: %v", looks, err)
					}
				}
			}
		})
	}
	deep := crd(t, map[string]map[string]any{"v1": chain(4000, a)})
	if _, err := Compare(t.Context(), deep, deep, nil); !errors.Is(err, ErrTooLarge) {
		t.Errorf("a schema with 4,000 levels: %v", err)
	}
}
