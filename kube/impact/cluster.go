package impact

import (
	"context"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	check "github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/olm"
)

// A Cluster is what a comparison reads about a cluster.
type Cluster struct {
	// CRDs are the CRDs on the cluster. Their status lists the stored versions. A CRD that
	// is not listed is assumed to be that of the old bundle.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Resources holds the custom resources by the name of their CRD. They are checked
	// against the new schema.
	Resources map[string][]olm.Object
}

// crd returns a CRD of the cluster, or nil.
func (c *Cluster) crd(name string) *apiextensionsv1.CustomResourceDefinition {
	if c == nil {
		return nil
	}
	for _, x := range c.CRDs {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// resources returns a change for each custom resource that violates the new schema of its
// CRD, or that could not be checked.
func (c *Cluster) resources(ctx context.Context, to *comparison, object string, created *crd) (out []Change, err error) {
	if c == nil || len(c.Resources[created.Name]) == 0 {
		return nil, nil
	}
	var typed olm.CustomResourceDefinition
	if err := json.Unmarshal(created.text, &typed); err != nil {
		return nil, err
	}
	found, err := check.Check(ctx, &typed, c.Resources[created.Name])
	for _, v := range found {
		code, what := fbc.Code(codes.ImpactResourceInvalid), "violates version "+v.Version+" of the new schema"
		if v.Unchecked {
			code, what = codes.ImpactNotCompared, "could not be checked against version "+v.Version
		}
		ch := to.coded(code, Changed, object, "", created.pos, "%s %s: %s", v.Object, what, v.Message)
		out = append(out, ch)
	}
	return out, err
}
