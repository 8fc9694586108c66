package extension_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/realcat"
)

const ownCRDs = "testdata/crds"

func definitions(t *testing.T, dir string) map[string]*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no CRDs in %s: %v", dir, err)
	}
	out := map[string]*apiextensionsv1.CustomResourceDefinition{}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		crd := &apiextensionsv1.CustomResourceDefinition{}
		if err := yaml.UnmarshalStrict(text, crd); err != nil {
			t.Fatalf("%s: %v", f, err)
		}
		out[crd.Name] = crd
	}
	return out
}

// The CRDs in testdata are a subset of OLM v1's: they have the same names and
// versions, and each of their fields has the same type, limits and default. The
// package does not use other fields. CEL rules are not compared, because they
// are written differently.
func TestOwnCRDs(t *testing.T) {
	own, original := definitions(t, ownCRDs), definitions(t, realcat.Shared(t, "crds"))
	for name, o := range own {
		r := original[name]
		if r == nil {
			t.Errorf("there is no CRD %s", name)
			continue
		}
		same(t, name, o.Spec.Group, r.Spec.Group)
		same(t, name, o.Spec.Names, r.Spec.Names)
		same(t, name, o.Spec.Scope, r.Spec.Scope)
		for _, v := range o.Spec.Versions {
			at := slices.IndexFunc(r.Spec.Versions, func(x apiextensionsv1.CustomResourceDefinitionVersion) bool { return x.Name == v.Name })
			if at < 0 {
				t.Errorf("%s has no version %s", name, v.Name)
				continue
			}
			w := r.Spec.Versions[at]
			same(t, name, v.Served, w.Served)
			same(t, name, v.Subresources, w.Subresources)
			compareSchemas(t, name, v.Schema.OpenAPIV3Schema, w.Schema.OpenAPIV3Schema)
		}
	}
}

func same(t *testing.T, path string, own, original any) {
	t.Helper()
	a, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	b, err := json.Marshal(original)
	if err != nil {
		t.Fatal(err)
	}
	if string(a) != string(b) {
		t.Errorf("%s: has %s, the original %s", path, a, b)
	}
}

func compareSchemas(t *testing.T, path string, own, original *apiextensionsv1.JSONSchemaProps) {
	t.Helper()
	slices.Sort(own.Required)
	slices.Sort(original.Required)
	same(t, path, own.Required, original.Required)
	same(t, path, own.Type, original.Type)
	same(t, path, own.Enum, original.Enum)
	same(t, path, own.Default, original.Default)
	same(t, path, own.MaxLength, original.MaxLength)
	same(t, path, own.MinLength, original.MinLength)
	same(t, path, own.MaxItems, original.MaxItems)
	if own.XListType != nil { // else as a whole, which is the default
		same(t, path, own.XListType, original.XListType)
	}
	same(t, path, own.XListMapKeys, original.XListMapKeys)
	for name, p := range own.Properties {
		r, ok := original.Properties[name]
		if !ok {
			t.Errorf("%s has no field %q", path, name)
			continue
		}
		compareSchemas(t, path+"."+name, &p, &r)
	}
	if own.Items != nil {
		if original.Items == nil {
			t.Errorf("%s is not a list", path)
			return
		}
		compareSchemas(t, fmt.Sprint(path, "[]"), own.Items.Schema, original.Items.Schema)
	}
}
