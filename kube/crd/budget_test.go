package crd

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
)

// TestBudget checks that exceeding the budget for all objects is reported once
// (E7, S2).
func TestBudget(t *testing.T) {
	spec := `{"type": "string", "maxLength": 100000, "pattern": "^a*$", "x-kubernetes-validations": [{"rule": "self.size() < 100000"}]}`
	d := &olm.CustomResourceDefinition{}
	d.Spec.Versions = []olm.CRDVersion{{Name: "v1", Served: true, Storage: true, Schema: &olm.CRDSchema{OpenAPIV3Schema: json.RawMessage(`{"type": "object", "properties": {"spec": ` + spec + `}}`)}}}
	for _, x := range []struct {
		name   string
		budget budget
		want   []string
	}{
		{"none", *newBudget(), nil},
		{"of an object", budget{each: 20_000, left: maxObjects, rules: maxRules}, []string{"t1: " + errObjectCost.Error(), "t3: " + errObjectCost.Error()}},
		{"of all objects", budget{each: maxObject, left: 20_000, rules: maxRules}, []string{"t1: " + errObjectsCost.Error()}},
		{"of all rules", budget{each: maxObject, left: maxObjects, rules: 10}, []string{"t3: " + errRulesCost.Error()}},
	} {
		c := newChecker(d)
		c.budget = &x.budget
		for i, size := range []int{10, 10_000, 20, 10_000, 10, 10} {
			o := olm.Object{}
			o.APIVersion, o.Kind, o.Metadata.Name = "x.io/v1", "Thing", fmt.Sprint("t", i)
			o, err := o.Set("spec", strings.Repeat("a", size))
			if err != nil {
				t.Fatal(err)
			}
			c.resource(t.Context(), o)
		}
		var got []string
		for _, v := range c.out {
			got = append(got, v.Object.Name+": "+v.Message)
			if !v.Unchecked {
				t.Errorf("%s: %s", x.name, v)
			}
		}
		if strings.Join(got, "\n") != strings.Join(x.want, "\n") {
			t.Errorf("%s: got %q, want %q", x.name, got, x.want)
		}
	}
}

// Ordinary objects cost a small part of the budget (E7).
func TestUsualObjects(t *testing.T) {
	d := &olm.CustomResourceDefinition{}
	d.Spec.Versions = []olm.CRDVersion{{Name: "v1", Served: true, Storage: true, Schema: &olm.CRDSchema{OpenAPIV3Schema: json.RawMessage(`{"type": "object", "properties": {"spec": {"type": "array", "items": {"type": "object", "required": ["name"], "properties": {"name": {"type": "string", "pattern": "^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"}, "port": {"type": "integer", "minimum": 1, "default": 80}, "protocol": {"type": "string", "enum": ["TCP", "UDP"]}}}}}}`)}}}
	o := olm.Object{}
	o.APIVersion, o.Kind, o.Metadata.Name = "x.io/v1", "Thing", "t"
	o, err := o.Set("spec", json.RawMessage("["+strings.Repeat(`{"name": "example-of-a-name", "protocol": "TCP"},`, 999)+`{"name": "last"}]`))
	if err != nil {
		t.Fatal(err)
	}
	c := newChecker(d)
	c.resource(t.Context(), o)
	if spent := maxObjects - c.budget.left; len(c.out) > 0 || spent > maxObject/10 {
		t.Errorf("it costs %d: %v", spent, c.out)
	}
}
