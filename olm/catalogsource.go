package olm

// A CatalogSource makes a catalog known to a namespace.
type CatalogSource = Typed[CatalogSourceSpec, CatalogSourceStatus]

// CatalogSourceSpec states where the catalog is.
type CatalogSourceSpec struct {
	SourceType string  `json:"sourceType,omitzero"`
	Priority   int     `json:"priority,omitzero"`
	Image      string  `json:"image,omitzero"`
	Address    string  `json:"address,omitzero"`
	Rest       Members `json:",unknown"`
}

// CatalogSourceStatus states whether the catalog can be read.
type CatalogSourceStatus struct {
	Message         string           `json:"message,omitzero"`
	Reason          string           `json:"reason,omitzero"`
	ConnectionState *ConnectionState `json:"connectionState,omitzero"`
	Conditions      []Condition      `json:"conditions,omitzero"`
	Rest            Members          `json:",unknown"`
}

// A ConnectionState is the state of the connection to a catalog's server.
type ConnectionState struct {
	Address           string  `json:"address,omitzero"`
	LastObservedState string  `json:"lastObservedState"`
	Rest              Members `json:",unknown"`
}

// ConnectionReady is the state of a connection that works.
const ConnectionReady = "READY"

// AnnotationImageTemplate is the annotation of a CatalogSource by which its
// image follows the version of the cluster.
const AnnotationImageTemplate = "olm.catalogImageTemplate"
