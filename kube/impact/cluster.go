package impact

import (
	"context"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/json"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	check "github.com/olmkit/olmkit/kube/crd"
	"github.com/olmkit/olmkit/olm"
)

// A Cluster is what a comparison reads about a cluster.
type Cluster struct {
	// KubeVersion is the version of Kubernetes, such as v1.34.1, or "" if it is not known.
	KubeVersion string
	// CRDs are the CRDs on the cluster. Their status lists the stored versions. A CRD that
	// is not listed is assumed to be that of the old bundle.
	CRDs []*apiextensionsv1.CustomResourceDefinition
	// Resources holds the custom resources by the name of their CRD. They are checked
	// against the new schema.
	Resources map[string][]olm.Object
	// Unread holds, by the name of a CRD, the reason why its custom resources, or the CRD
	// itself, are not known.
	Unread map[string]string
}

// After returns the cluster as it is after an upgrade to a bundle: with its CRDs, which also
// keep the versions that resources were stored in before.
func (c *Cluster) After(b Bundle) (*Cluster, error) {
	created, err := (&Cache{}).crdsOf(b)
	if err != nil {
		return nil, err
	}
	out := &Cluster{KubeVersion: c.KubeVersion, Resources: c.Resources, Unread: c.Unread}
	for _, x := range c.CRDs {
		if created[x.Name] == nil || created[x.Name].legacy {
			out.CRDs = append(out.CRDs, x)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(created)) {
		x := created[name]
		if x.legacy {
			continue
		}
		installed := x.DeepCopy()
		if had := c.crd(name); had != nil {
			installed.Status.StoredVersions = slices.Clone(had.Status.StoredVersions)
		}
		if v := storage(installed); !slices.Contains(installed.Status.StoredVersions, v) {
			installed.Status.StoredVersions = append(installed.Status.StoredVersions, v)
		}
		out.CRDs = append(out.CRDs, installed)
	}
	return out, nil
}

// count returns the number of custom resources of a CRD, if it is known.
func (c *Cluster) count(name string) (int, bool) {
	if c == nil || c.Unread[name] != "" {
		return 0, false
	}
	return len(c.Resources[name]), true
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
	if c == nil {
		return nil, nil
	}
	if why := c.Unread[created.Name]; why != "" {
		return []Change{to.coded(codes.ImpactNotCompared, Changed, object, "", created.at, "the custom resources of CRD %s were not checked: %s", created.Name, why)}, nil
	}
	if len(c.Resources[created.Name]) == 0 {
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
		message := v.Message
		if !strings.Contains(message, v.Path) {
			message = v.Path + ": " + message
		}
		if v.Object != (olm.Key{}) { // otherwise it is about the schema
			message = v.Object.String() + " " + what + ": " + message
		}
		ch := to.coded(code, Changed, object, "", created.at, "%s", message)
		out = append(out, ch)
	}
	return out, err
}
