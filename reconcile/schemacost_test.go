package reconcile

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/celrule"
)

// checkSpec checks an object with a spec by a schema of specs.
func checkSpec(t testing.TB, ctx context.Context, spec, object string, b *schemaBudget) []schemaFault {
	t.Helper()
	s, err := compileSchema(ctx, []byte(`{"type":"object","properties":{"spec":`+spec+`}}`))
	if err != nil {
		t.Fatal(err)
	}
	return s.validate(ctx, objectOf(t, "e", object), b.meter(ctx), celrule.NewBudget())
}

// objectOf returns an object with a spec.
func objectOf(t testing.TB, name, spec string) olm.Object {
	t.Helper()
	var o olm.Object
	if err := json.Unmarshal([]byte(`{"apiVersion":"e.io/v1","kind":"E","metadata":{"name":"`+name+`"},"spec":`+spec+`}`), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

func repeat(s string, n int) string { return strings.Repeat(s+",", n-1) + s }

// What an object and a schema cost together is found before it is paid: whatever is
// multiplied there, the object is reported as not checked (E7, S2).
func TestSchemaCost(t *testing.T) {
	var props []string
	for i := range 1000 {
		props = append(props, fmt.Sprintf(`"p%d":{"type":"string","default":"%s"}`, i, strings.Repeat("x", 100)))
	}
	objects, texts := "["+repeat("{}", 1000)+"]", "["+repeat(`"x"`, 1000)+"]"
	many := func(s string) string { return "[" + repeat(s, 2000) + "]" }
	const each = 1_000_000
	for name, x := range map[string]struct{ spec, object string }{
		"pattern":      {`{"type":"string","pattern":"^([a-z]{1,100}-?){1,10}$"}`, `"` + strings.Repeat("a", 1<<17) + `"`},
		"patterns":     {`{"type":"array","items":{"type":"string","pattern":"^([a-z]{1,100}-?){1,10}$"}}`, "[" + repeat(`"`+strings.Repeat("a", 1000)+`"`, 100) + "]"},
		"names":        {`{"type":"object","additionalProperties":{"type":"string","pattern":"(\\pL{1,50}){1,20}"}}`, `{"a":"` + strings.Repeat("é", 1<<14) + `"}`},
		"defaults":     {`{"type":"array","items":{"type":"object","properties":{` + strings.Join(props, ",") + `}}}`, objects},
		"alternatives": {`{"type":"array","items":{"anyOf":` + many(`{"required":["a"]}`) + `}}`, objects},
		"all":          {`{"type":"array","items":{"allOf":` + many(`{"type":"object"}`) + `}}`, objects},
		"enumeration":  {`{"type":"array","items":{"type":"string","enum":[` + names(2000) + `]}}`, texts},
		"not":          {`{"type":"array","items":{"not":{"oneOf":` + many(`{"maxLength":1}`) + `}}}`, texts},
		"sets":         {`{"type":"object","properties":{` + setsOf(2000) + `},"additionalProperties":{"type":"array","items":{"allOf":` + many(`{"x-kubernetes-list-type":"set"}`) + `}}}`, `{"a":[` + repeat(texts, 2) + `]}`},
	} {
		t.Run(name, func(t *testing.T) {
			b := &schemaBudget{each: each, left: 3 * each}
			got := checkSpec(t, t.Context(), x.spec, x.object, b)
			if len(got) != 1 || !got[0].unchecked || got[0].message != errObjectCost.Error() {
				t.Errorf("%.3v", got)
			}
			if spent := 3*each - b.left; spent > each {
				t.Errorf("it costs %d", spent)
			}
		})
	}
}

func names(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"n%d"`, i))
	}
	return strings.Join(list, ",")
}

func setsOf(n int) string {
	var list []string
	for i := range n {
		list = append(list, fmt.Sprintf(`"p%d":{"type":"array","x-kubernetes-list-type":"set"}`, i))
	}
	return strings.Join(list, ",")
}

// What objects usually are costs a small part of the budget (E7).
func TestSchemaCostOfUsualObjects(t *testing.T) {
	b := newSchemaBudget()
	got := checkSpec(t, t.Context(), `{"type":"array","items":{"type":"object","required":["name"],"properties":{"name":{"type":"string","pattern":"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"},"port":{"type":"integer","minimum":1,"default":80},"protocol":{"type":"string","enum":["TCP","UDP"]}}}}`,
		"["+repeat(`{"name":"example-of-a-name","protocol":"TCP"}`, 1000)+"]", b)
	if len(got) != 0 {
		t.Errorf("%.3v", got)
	}
	if spent := maxSchemaCost - b.left; spent > maxObjectCost/20 {
		t.Errorf("it costs %d", spent)
	}
}

// The budget of all objects is reported once, and the context ends counting (E7, D18).
func TestSchemaBudget(t *testing.T) {
	crd := &olm.CustomResourceDefinition{}
	if err := json.Unmarshal([]byte(`{"metadata":{"name":"es.e.io"},"spec":{"group":"e.io","versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"string","pattern":"^a*$"}}}}}]}}`), crd); err != nil {
		t.Fatal(err)
	}
	c := &crdCheck{crd: crd, storage: "v1", schemas: map[string]*schema{}, rules: celrule.NewBudget(), budget: &schemaBudget{each: 10_000, left: 25_000}}
	for i, size := range []int{1000, 100_000, 2000, 10_000, 10, 10} {
		c.resource(t.Context(), objectOf(t, fmt.Sprint("e", i), `"`+strings.Repeat("a", size)+`"`))
	}
	var got []string
	for _, v := range c.out {
		got = append(got, v.Object.Name+": "+v.Message)
	}
	if want := []string{"e1: " + errObjectCost.Error(), "e3: " + errSchemaCost.Error()}; strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got %q", got)
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	m := newSchemaBudget().meter(ctx)
	s := &schema{}
	var many []any
	for range 1000 {
		many = append(many, "x")
	}
	if err := s.pay(m, map[string]any{}, many); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// Numbers are what an API server makes of them: one that no float64 can hold is an error,
// in a schema and in an object, and one that is too small is zero (E7, S2).
func TestSchemaNumbers(t *testing.T) {
	for _, number := range []string{"1e2000000", "-1e400"} {
		// What is wrong with a schema does not name the directory of the program.
		if _, err := compileSchema(t.Context(), []byte(`{"type":1}`)); err == nil || strings.Contains(err.Error(), "file:") {
			t.Errorf("schema: %v", err)
		}
		if _, err := compileSchema(t.Context(), []byte(`{"type":"number","multipleOf":`+number+`}`)); err == nil || !strings.Contains(err.Error(), "number "+number) {
			t.Errorf("schema: %v", err)
		}
	}
	for number, want := range map[string]string{"1e2000000": "number 1e2000000 is out of range", "1e-2000000": "", "0.5": "", "3": "maximum", "18446744073709551616": "maximum"} {
		got := fmt.Sprint(checkSpec(t, t.Context(), `{"type":"number","minimum":0,"maximum":1,"multipleOf":1e-3}`, number, newSchemaBudget()))
		if want == "" && got != "[]" || !strings.Contains(got, want) {
			t.Errorf("object: %s: %s", number, got)
		}
	}
}
