package apicheck

import (
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	structuralschema "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/olmkit/olmkit/internal/testsize"
)

// TestPlain checks random schemas: nothing is wrong with the structure of plain ones, and the
// needed parts of a schema have the same errors as all of it.
func TestPlain(t *testing.T) {
	plain, invalid := 0, 0
	for seed := range testsize.Of[uint64](3000, 20_000, 200_000) {
		r := randomSchema{rand.New(rand.NewPCG(seed, 0))}
		root := r.object(4)
		at := field.NewPath("schema")
		c := &check{}
		c.schema(&root, false, false, at)
		got := texts(c.errs)

		whole := &check{}
		whole.node(&root, at, schemaPlace{root: true})
		if len(whole.errs) > 0 { // all of it is checked in the same way
			continue
		}
		structural := structuralOf(t, &root)
		whole.errs = structuralschema.ValidateStructural(at, structural)
		if !whole.complex {
			if plain++; len(whole.errs) > 0 {
				t.Fatalf("seed %d: a plain schema is not structural: %v", seed, whole.errs)
			}
		}
		if len(whole.errs) == 0 && whole.defaults {
			bare := structural.DeepCopy()
			without := structuralschema.Visitor{Structural: func(s *structuralschema.Structural) bool { s.XValidations = nil; return true }}
			without.Visit(bare)
			errs, err := defaulting.ValidateDefaults(context.Background(), at, bare, true, true)
			if whole.errs = append(whole.errs, errs...); err != nil {
				t.Fatal(err)
			}
		}
		if len(whole.errs) == 0 {
			whole.celRules(structural, at)
		}
		if want := texts(whole.errs); !slices.Equal(got, want) {
			t.Fatalf("seed %d: errors\n%q\nwant\n%q", seed, got, want)
		}
		if len(got) > 0 && !whole.complex {
			invalid++
		}
	}
	t.Logf("%d plain schemas, of which %d have an invalid default or rule", plain, invalid)
	if plain < 300 || invalid < 50 {
		t.Error("the schemas show little")
	}
}

func texts(errs field.ErrorList) (out []string) {
	for _, e := range errs {
		out = append(out, e.Error())
	}
	slices.Sort(out)
	return out
}

func structuralOf(t *testing.T, s *apiextensionsv1.JSONSchemaProps) *structuralschema.Structural {
	t.Helper()
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(s, &internal, nil); err != nil {
		t.Fatal(err)
	}
	out, err := structuralschema.NewStructural(&internal)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

type randomSchema struct{ *rand.Rand }

func (r *randomSchema) rarely() bool { return r.IntN(80) == 0 }

// object returns a schema of an object, in which little is wrong.
func (r *randomSchema) object(depth int) apiextensionsv1.JSONSchemaProps {
	s := apiextensionsv1.JSONSchemaProps{Type: "object", Properties: map[string]apiextensionsv1.JSONSchemaProps{}}
	for _, name := range []string{"kind", "apiVersion", "metadata", "a", "b", "c"} {
		switch {
		case r.IntN(3) > 0:
		case name == "metadata" && !r.rarely():
			s.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "object"}
		case (name == "kind" || name == "apiVersion") && !r.rarely():
			s.Properties[name] = apiextensionsv1.JSONSchemaProps{Type: "string"}
		default:
			s.Properties[name] = r.part(depth - 1)
		}
	}
	if r.rarely() {
		s.Type = []string{"", "array", "string"}[r.IntN(3)]
	}
	r.odd(&s, depth)
	return s
}

func (r *randomSchema) part(depth int) apiextensionsv1.JSONSchemaProps {
	if depth > 0 && r.IntN(2) == 0 {
		return r.object(depth)
	}
	var s apiextensionsv1.JSONSchemaProps
	switch r.IntN(6) {
	case 0:
		s.Type, s.MaxItems = "array", new(int64(3))
		part := r.part(depth - 1)
		s.Items = &apiextensionsv1.JSONSchemaPropsOrArray{Schema: &part}
	case 1:
		s.Type = "object"
		part := r.part(depth - 1)
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: true, Schema: &part}
	case 2:
		s.XIntOrString = true
		if r.IntN(2) == 0 {
			s.AnyOf = []apiextensionsv1.JSONSchemaProps{{Type: "integer"}, {Type: "string"}}
		}
	case 3:
		s.XPreserveUnknownFields = new(true)
	case 4:
		s.Type = "integer"
		s.Minimum = new(2.0)
	default:
		s.Type, s.MaxLength, s.Pattern = "string", new(int64(5)), "^[a-c]*$"
	}
	r.odd(&s, depth)
	return s
}

// odd adds to a schema what few have.
func (r *randomSchema) odd(s *apiextensionsv1.JSONSchemaProps, depth int) {
	if r.IntN(10) == 0 {
		s.Default = &apiextensionsv1.JSON{Raw: []byte([]string{"1", "5", `"a"`, `"x"`, "{}", `{"a": {}}`, "[]", "null", "true"}[r.IntN(9)])}
	}
	if r.IntN(12) == 0 {
		rule := []string{"true", "self == oldSelf", "size(self) > 0", "has(self.a)", "self.a == 1", "1"}[r.IntN(6)]
		s.XValidations = apiextensionsv1.ValidationRules{{Rule: rule}}
	}
	if r.rarely() {
		s.XEmbeddedResource = true
	}
	if r.rarely() {
		s.XPreserveUnknownFields = new(true)
	}
	if r.rarely() {
		s.XIntOrString = true
	}
	if r.rarely() {
		s.Type = ""
	}
	if r.rarely() {
		s.AdditionalProperties = &apiextensionsv1.JSONSchemaPropsOrBool{Allows: r.IntN(2) == 0}
	}
	if r.rarely() && depth > 0 {
		list := []apiextensionsv1.JSONSchemaProps{{Required: []string{"a"}}, r.part(depth - 1)}
		switch r.IntN(4) {
		case 0:
			s.AllOf = list
		case 1:
			s.AnyOf = list
		case 2:
			s.OneOf = list
		default:
			s.Not = &list[r.IntN(2)]
		}
	}
}
