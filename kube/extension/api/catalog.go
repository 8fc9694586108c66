package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A ClusterCatalog makes a catalog known to the cluster.
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

// ClusterCatalogSpec says where the catalog comes from, and how it counts.
type ClusterCatalogSpec struct {
	Source           CatalogSource `json:"source"`
	Priority         int32         `json:"priority"`
	AvailabilityMode string        `json:"availabilityMode,omitempty"`
}

// A CatalogSource is an image.
type CatalogSource struct {
	Type  string       `json:"type"`
	Image *ImageSource `json:"image,omitempty"`
}

// An ImageSource is the image that a catalog is in.
type ImageSource struct {
	Ref                 string `json:"ref"`
	PollIntervalMinutes *int   `json:"pollIntervalMinutes,omitempty"`
}

// ClusterCatalogStatus says where the catalog is served, if it is.
type ClusterCatalogStatus struct {
	Conditions     []metav1.Condition     `json:"conditions,omitempty"`
	ResolvedSource *ResolvedCatalogSource `json:"resolvedSource,omitempty"`
	URLs           *ClusterCatalogURLs    `json:"urls,omitempty"`
	LastUnpacked   *metav1.Time           `json:"lastUnpacked,omitempty"`
}

// A ResolvedCatalogSource is the source by digest.
type ResolvedCatalogSource struct {
	Type  string               `json:"type"`
	Image *ResolvedImageSource `json:"image"`
}

// A ResolvedImageSource is an image by digest.
type ResolvedImageSource struct {
	Ref string `json:"ref"`
}

// ClusterCatalogURLs are where the catalog is served.
type ClusterCatalogURLs struct {
	Base string `json:"base"`
}

// TypeServing is the condition of a catalog that is served.
const TypeServing = "Serving"
