package olm

import "encoding/json"

// GroupCRD is the API group of CustomResourceDefinitions, KindCRD their kind.
const (
	GroupCRD = "apiextensions.k8s.io"
	KindCRD  = "CustomResourceDefinition"
)

// A CustomResourceDefinition defines an API, in the form v1 or v1beta1.
type CustomResourceDefinition = Typed[CRDSpec, CRDStatus]

// CRDSpec is the definition of the API.
type CRDSpec struct {
	Group string   `json:"group,omitzero"`
	Names CRDNames `json:"names,omitzero"`
	// Scope is Namespaced or Cluster.
	Scope    string       `json:"scope,omitzero"`
	Versions []CRDVersion `json:"versions,omitzero"`
	// Version and Validation are fields of v1beta1 only.
	Version    string         `json:"version,omitzero"`
	Validation *CRDSchema     `json:"validation,omitzero"`
	Conversion *CRDConversion `json:"conversion,omitzero"`
	Rest       Members        `json:",unknown"`
}

// The scopes of an API: its objects are in namespaces, or have none.
const (
	ScopeNamespaced = "Namespaced"
	ScopeCluster    = "Cluster"
)

// CRDNames are the names of the API.
type CRDNames struct {
	Kind   string  `json:"kind,omitzero"`
	Plural string  `json:"plural,omitzero"`
	Rest   Members `json:",unknown"`
}

// A CRDVersion is a version of the API.
type CRDVersion struct {
	Name    string     `json:"name"`
	Served  bool       `json:"served"`
	Storage bool       `json:"storage"`
	Schema  *CRDSchema `json:"schema,omitzero"`
	Rest    Members    `json:",unknown"`
}

// A CRDSchema is the schema of the objects of a version.
type CRDSchema struct {
	OpenAPIV3Schema json.RawMessage `json:"openAPIV3Schema,omitzero"`
	Rest            Members         `json:",unknown"`
}

// A CRDConversion describes how objects are converted between versions.
type CRDConversion struct {
	Strategy string  `json:"strategy,omitzero"`
	Rest     Members `json:",unknown"`
}

// CRDStatus states whether the API is served.
type CRDStatus struct {
	Conditions     []Condition `json:"conditions,omitzero"`
	StoredVersions []string    `json:"storedVersions,omitzero"`
	Rest           Members     `json:",unknown"`
}

// AllVersions returns the versions of the API in order, each with its schema. A v1beta1
// definition without a list of versions has one version.
func (s *CRDSpec) AllVersions() []CRDVersion {
	if len(s.Versions) == 0 && s.Version != "" {
		return []CRDVersion{{Name: s.Version, Served: true, Storage: true, Schema: s.Validation}}
	}
	list := make([]CRDVersion, len(s.Versions))
	for i, v := range s.Versions {
		if v.Schema == nil {
			v.Schema = s.Validation
		}
		list[i] = v
	}
	return list
}

// IsEstablished reports whether the API server serves the API.
func (s *CRDStatus) IsEstablished() bool {
	is := func(typ string) bool {
		cond, ok := FindCondition(s.Conditions, typ)
		return ok && cond.Status == ConditionTrue
	}
	return is("Established") && is("NamesAccepted")
}
