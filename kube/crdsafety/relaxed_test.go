package crdsafety

import (
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/runtime"
)

// TestRelaxed checks that what is safe accepts every value that was accepted: it asks the validator of
// the API server about the fields of the cases before and after (K60).
func TestRelaxed(t *testing.T) {
	values := []any{
		nil, true, "", "a", "ab", "b", "text too long", "2026-01-31", int64(0), int64(2), int64(3), int64(4), int64(5), int64(6), int64(12), 1.5, 6.0, int64(1) << 40, -1.0,
		[]any{}, []any{"a"}, []any{int64(1), int64(2)}, []any{"a", "a"},
		map[string]any{}, map[string]any{"a": "b"}, map[string]any{"x": "y"}, map[string]any{"a": int64(1), "b": int64(2)}, map[string]any{"c": map[string]any{"x": "y"}},
	}
	relaxed, compared := 0, 0
	for _, c := range readCases(t) {
		if c.OldVersions != nil {
			continue
		}
		old, new := c.crds(t)
		r := mustCompare(t, old, new, nil)
		if r.Verdict != Safe {
			continue
		}
		if r.Upstream == Unsafe {
			relaxed++
		}
		before, after := validator(t, old), validator(t, new)
		for _, v := range values {
			if stored, ok := before(v); ok {
				if compared++; !accepts(after, stored) {
					t.Errorf("%s: %#v was accepted, and is not", c.Name, v)
				}
			}
		}
	}
	if relaxed < 25 || compared < 500 {
		t.Errorf("only %d cases that operator-controller refuses, and %d values", relaxed, compared)
	}
}

func accepts(f func(any) (any, bool), v any) bool {
	_, ok := f(v)
	return ok
}

// validator returns a function that reports whether the field of a case accepts a value, and what is
// stored then: the value without unknown fields.
func validator(t *testing.T, crd *apiextensionsv1.CustomResourceDefinition) func(any) (any, bool) {
	t.Helper()
	field := crd.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"].Properties["f"]
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&field, &internal, nil); err != nil {
		t.Fatal(err)
	}
	v, _, err := validation.NewSchemaValidator(&internal)
	if err != nil {
		t.Fatal(err)
	}
	structural, err := structuralschema.NewStructural(&internal)
	return func(value any) (any, bool) {
		value = runtime.DeepCopyJSONValue(value)
		if err == nil { // some fields are not structural
			pruning.Prune(value, structural, false)
		}
		return value, len(validation.ValidateCustomResource(nil, value, v)) == 0
	}
}
