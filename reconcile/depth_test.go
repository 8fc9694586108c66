package reconcile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// E7: what is too deep in a schema to be read is reported, not ignored.
func TestDeepSchema(t *testing.T) {
	for _, c := range []struct {
		depth int
		want  string
	}{{200, ""}, {300, "deeper than 256 levels"}} {
		schema := strings.Repeat(`{type: object, properties: {a: `, c.depth) + `{type: string}` + strings.Repeat(`}}`, c.depth)
		crd := crdOf(t, fmt.Sprintf(`[{name: v1, served: true, storage: true, schema: {openAPIV3Schema: %s}}]`, schema), "[v1]")
		got, err := reconcile.CheckCRD(t.Context(), crd, crd, reconcile.CRDUse{Resources: []olm.Object{
			*fromYAML[olm.Object](t, `{apiVersion: example.com/v1, kind: Example, metadata: {name: e, namespace: ops}}`),
		}})
		if err != nil {
			t.Fatal(err)
		}
		told := false
		for _, v := range got {
			if !v.Unchecked {
				t.Errorf("depth %d: %s", c.depth, v)
			}
			told = told || c.want != "" && strings.Contains(v.Message, c.want)
		}
		if told != (c.want != "") {
			t.Errorf("depth %d: %v, want one that says %q", c.depth, got, c.want)
		}
	}
}
