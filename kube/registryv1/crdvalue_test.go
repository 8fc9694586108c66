package registryv1

import (
	"errors"
	"io/fs"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/testsize"
)

// sameCRD compares the conversions of a CRD with those of Kubernetes' converter (K5).
func sameCRD(t *testing.T, object map[string]any) {
	t.Helper()
	before := runtime.DeepCopyJSON(object)
	var got, want apiextensionsv1.CustomResourceDefinition
	wantErr := runtime.DefaultUnstructuredConverter.FromUnstructured(object, &want)
	err := fromCRD(object, &got)
	if !reflect.DeepEqual(object, before) {
		t.Fatalf("fromCRD changed %v", before)
	}
	if wantErr != nil || err != nil {
		if (err == nil) != (wantErr == nil) { // which error of several is random
			t.Fatalf("error %v; want %v, of %v", err, wantErr, object)
		}
		return
	}
	if !reflect.DeepEqual(got, want) {
		t.Fatalf("fromCRD of %v (-want +got):\n%s", object, cmp.Diff(want, got))
	}
	out, err := toCRD(&got)
	wantOut, wantErr := runtime.DefaultUnstructuredConverter.ToUnstructured(&want)
	if err != nil || wantErr != nil {
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("error %v; want %v, of %v", err, wantErr, object)
		}
		return
	}
	if !reflect.DeepEqual(out, wantOut) {
		t.Fatalf("toCRD of %v (-want +got):\n%s", object, cmp.Diff(wantOut, out))
	}
}

// TestCRDValues converts the CRDs of real bundles.
func TestCRDValues(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(sharedDir, "bundles"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		t.Fatal(err)
	}
	n := 0
	for _, e := range entries {
		dir := filepath.Join(sharedDir, "bundles", e.Name(), manifestsDir)
		files, _ := os.ReadDir(dir)
		for _, f := range files {
			text, err := os.ReadFile(filepath.Join(dir, f.Name()))
			if err != nil {
				continue
			}
			var o unstructured.Unstructured
			if doc, err := yaml.YAMLToJSON(text); err == nil && o.UnmarshalJSON(doc) == nil && o.GetKind() == crdKind {
				sameCRD(t, o.Object)
				n++
			}
		}
	}
	t.Logf("%d CRDs", n)
}

// TestCRDValuesRandom converts random CRDs, in which every field of a schema occurs, with values of all types.
func TestCRDValuesRandom(t *testing.T) {
	for seed := range testsize.Of[uint64](3000, 30_000, 300_000) {
		r := randomSchema{rand.New(rand.NewPCG(seed, 1)), seed%3 == 0}
		versions := []any{}
		for range 1 + r.IntN(2) {
			v := map[string]any{"name": "v1", "served": true, "schema": map[string]any{"openAPIV3Schema": r.schema(4)}}
			if r.IntN(20) == 0 {
				v["schema"] = r.any()
			}
			versions = append(versions, v)
		}
		object := map[string]any{"kind": crdKind, "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"group": "g", "versions": versions}}
		if r.IntN(40) == 0 {
			object["spec"] = map[string]any{"versions": r.any()}
		}
		sameCRD(t, object)
	}
}

type randomSchema struct {
	*rand.Rand
	wrong bool // some values have the wrong type
}

func (r *randomSchema) any() any {
	return []any{nil, true, false, "", "a<b>\u2028", int64(0), int64(1), int64(1)<<60 + 1, 1.5, 1.0, 1e30, math.Copysign(0, -1), []any{}, []any{int64(1), "x"}, map[string]any{}, map[string]any{"type": "string", "maximum": 2.0}}[r.IntN(16)]
}

// schema returns a schema. Its fields and their types are those of the Go type.
func (r *randomSchema) schema(depth int) map[string]any {
	out := map[string]any{"unknown": "dropped"}
	for f := range reflect.TypeFor[apiextensionsv1.JSONSchemaProps]().Fields() {
		if r.IntN(12) != 0 {
			continue
		}
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if out[key] = r.value(f.Type, depth); r.wrong && r.IntN(20) == 0 {
			out[key] = r.any()
		}
	}
	return out
}

func (r *randomSchema) value(t reflect.Type, depth int) any {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if depth == 0 && (t.Kind() == reflect.Struct || t.Kind() == reflect.Map || t.Kind() == reflect.Slice) {
		return map[string]any{}
	}
	switch t {
	case reflect.TypeFor[apiextensionsv1.JSON]():
		return r.any()
	case reflect.TypeFor[apiextensionsv1.JSONSchemaProps]():
		return r.schema(depth - 1)
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrBool]():
		if r.IntN(2) == 0 {
			return r.IntN(2) == 0
		}
		return r.schema(depth - 1)
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrArray]():
		if r.IntN(5) == 0 {
			return []any{r.schema(depth - 1)}
		}
		return r.schema(depth - 1)
	case reflect.TypeFor[apiextensionsv1.JSONSchemaPropsOrStringArray]():
		return []any{"a"}
	}
	switch t.Kind() {
	case reflect.String:
		return []any{"", "a", "<&>"}[r.IntN(3)]
	case reflect.Bool:
		return r.IntN(2) == 0
	case reflect.Int64:
		return []any{int64(0), int64(7), 3.0}[r.IntN(3)]
	case reflect.Float64:
		return []any{int64(0), int64(7), 3.0, 0.5, 1e15, 1e16, 1e22, int64(1)<<53 + 1, -2.0}[r.IntN(9)]
	case reflect.Slice:
		out := []any{}
		for range r.IntN(3) {
			out = append(out, r.value(t.Elem(), depth-1))
		}
		return out
	case reflect.Map:
		out := map[string]any{}
		for i := range r.IntN(3) {
			out[string(rune('a'+i))] = r.value(t.Elem(), depth-1)
		}
		return out
	case reflect.Struct:
		out := map[string]any{}
		for f := range t.Fields() {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			out[key] = r.value(f.Type, depth-1)
		}
		return out
	}
	panic(t)
}
