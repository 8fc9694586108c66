package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A ClusterCatalog makes a catalog available to the cluster.
type ClusterCatalog struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata"`

	Spec   ClusterCatalogSpec   `json:"spec"`
	Status ClusterCatalogStatus `json:"status,omitempty"`
}

// A ClusterCatalogList is a list of catalogs.
type ClusterCatalogList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata"`

	Items []ClusterCatalog `json:"items"`
}

// The availability modes.
const (
	ModeAvailable   = "Available" // the default
	ModeUnavailable = "Unavailable"
)

// ClusterCatalogSpec configures the catalog's source and priority.
type ClusterCatalogSpec struct {
	Source           CatalogSource `json:"source"`
	Priority         int32         `json:"priority"`
	AvailabilityMode string        `json:"availabilityMode,omitempty"`
}

// A CatalogSource is the source of a catalog. The only type is an image.
type CatalogSource struct {
	Type  string       `json:"type"`
	Image *ImageSource `json:"image,omitempty"`
}

// An ImageSource is an image that contains a catalog.
type ImageSource struct {
	Ref                 string `json:"ref"`
	PollIntervalMinutes *int   `json:"pollIntervalMinutes,omitempty"`
}

// ClusterCatalogStatus is the observed state of a ClusterCatalog.
type ClusterCatalogStatus struct {
	Conditions     []metav1.Condition     `json:"conditions,omitempty"`
	ResolvedSource *ResolvedCatalogSource `json:"resolvedSource,omitempty"`
	URLs           *ClusterCatalogURLs    `json:"urls,omitempty"`
	LastUnpacked   *metav1.Time           `json:"lastUnpacked,omitempty"`
}

// A ResolvedCatalogSource is the source with its image resolved to a digest.
type ResolvedCatalogSource struct {
	Type  string               `json:"type"`
	Image *ResolvedImageSource `json:"image"`
}

// A ResolvedImageSource is an image resolved to a digest.
type ResolvedImageSource struct {
	Ref string `json:"ref"`
}

// ClusterCatalogURLs holds the addresses at which the catalog is served.
type ClusterCatalogURLs struct {
	Base string `json:"base"`
}
