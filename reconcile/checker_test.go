package reconcile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// checkSizes is a CheckResources for the schemas of these tests. It checks the limits of
// spec.size, and reports that it does not check rules. The implementation for users is in
// module kube, which tests it (E7).
func checkSizes(ctx context.Context, crd *olm.CustomResourceDefinition, resources []olm.Object) ([]reconcile.CRDViolation, error) {
	var out []reconcile.CRDViolation
	for _, v := range crd.Spec.AllVersions() {
		if v.Schema == nil {
			continue
		}
		if text := string(v.Schema.OpenAPIV3Schema); strings.Contains(text, "x-kubernetes-validations") {
			out = append(out, reconcile.CRDViolation{Version: v.Name, Message: "its rules are not known", Unchecked: true})
		}
		var schema struct {
			Properties struct {
				Spec struct {
					Properties struct {
						Size struct{ Maximum *float64 }
					}
				}
			}
		}
		if err := json.Unmarshal(v.Schema.OpenAPIV3Schema, &schema); err != nil {
			return nil, err
		}
		limit := schema.Properties.Spec.Properties.Size.Maximum
		for _, o := range resources {
			var spec struct{ Size float64 }
			if text, ok := o.Get("spec"); ok && json.Unmarshal(text, &spec) == nil && limit != nil && spec.Size >= *limit {
				out = append(out, reconcile.CRDViolation{Version: v.Name, Object: o.Key(), Path: "spec.size",
					Message: fmt.Sprintf("Invalid value: %v: spec.size in body should be less than %v", spec.Size, *limit)})
			}
		}
	}
	return out, ctx.Err()
}
