package desired

import (
	"context"
	"slices"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// Preflight compares the CRDs of a revision with those on the cluster, as far as the extension
// does not disable that. It returns those that cannot be replaced. Live returns the object on the
// cluster with the name of another, or nil.
func Preflight(ctx context.Context, e *api.ClusterExtension, phases []registryv1.Phase, asUpstream bool, live func(*unstructured.Unstructured) (*unstructured.Unstructured, error)) ([]*crdsafety.Result, error) { // K54
	opts := crdsafety.Options{AsUpstream: asUpstream}
	if i := e.Spec.Install; i != nil && i.Preflight != nil && i.Preflight.CRDUpgradeSafety != nil {
		opts.Enforcement = crdsafety.Enforcement(i.Preflight.CRDUpgradeSafety.Enforcement)
	}
	var before, after []*apiextensionsv1.CustomResourceDefinition
	for _, p := range phases {
		for _, o := range p.Objects {
			crd, err := crdsafety.Decode(o.Object)
			if err != nil {
				continue // another kind
			}
			have, err := live(o)
			if err != nil {
				return nil, err
			}
			if have == nil {
				continue
			}
			old, err := crdsafety.Decode(have.Object)
			if err != nil {
				return nil, err
			}
			before, after = append(before, old), append(after, crd)
		}
	}
	results, err := crdsafety.CompareAll(ctx, before, after, &opts)
	return slices.DeleteFunc(results, func(r *crdsafety.Result) bool { return r.Verdict != crdsafety.Unsafe }), err
}
