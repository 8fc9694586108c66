// Package ownerlabel has the labels by which OLM finds the objects that it generates for a
// resource.
package ownerlabel

import "github.com/olmkit/olmkit/olm"

// The labels of generated objects.
const (
	Name      = "olm.owner"
	Namespace = "olm.owner.namespace"
	Kind      = "olm.owner.kind"
	Managed   = "olm.managed"
)

// Of returns the labels of the objects that are generated for a resource.
func Of(owner olm.Resource) map[string]string {
	h := owner.Head()
	return map[string]string{Name: h.Metadata.Name, Namespace: h.Metadata.Namespace, Kind: h.Kind, Managed: "true"}
}
