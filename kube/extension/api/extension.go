package api

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// A ClusterExtension asks for a package to be installed.
type ClusterExtension struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterExtensionSpec   `json:"spec,omitempty"`
	Status ClusterExtensionStatus `json:"status,omitempty"`
}

// A ClusterExtensionList is a list of extensions.
type ClusterExtensionList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterExtension `json:"items"`
}

// ClusterExtensionSpec is what is wanted.
type ClusterExtensionSpec struct {
	Namespace      string                  `json:"namespace"`
	ServiceAccount ServiceAccountReference `json:"serviceAccount"`
	Source         SourceConfig            `json:"source"`
	Install        *InstallConfig          `json:"install,omitempty"`
}

// A ServiceAccountReference names the service account that installs.
type ServiceAccountReference struct {
	Name string `json:"name"`
}

// SourceTypeCatalog is the only type of source.
const SourceTypeCatalog = "Catalog"

// A SourceConfig says where the package comes from.
type SourceConfig struct {
	SourceType string         `json:"sourceType"`
	Catalog    *CatalogFilter `json:"catalog,omitempty"`
}

// The upgrade constraint policies.
const (
	PolicyCatalogProvided = "CatalogProvided"
	PolicySelfCertified   = "SelfCertified"
)

// A CatalogFilter says which bundles of the catalogs are wanted.
type CatalogFilter struct {
	PackageName             string                `json:"packageName"`
	Version                 string                `json:"version,omitempty"`
	Channels                []string              `json:"channels,omitempty"`
	Selector                *metav1.LabelSelector `json:"selector,omitempty"`
	UpgradeConstraintPolicy string                `json:"upgradeConstraintPolicy,omitempty"`
}

// InstallConfig configures the installation.
type InstallConfig struct {
	Preflight *PreflightConfig `json:"preflight,omitempty"`
}

// PreflightConfig configures the checks before it.
type PreflightConfig struct {
	CRDUpgradeSafety *CRDUpgradeSafety `json:"crdUpgradeSafety,omitempty"`
}

// CRDUpgradeSafety says whether upgrades of CRDs are checked: "None" or "Strict".
type CRDUpgradeSafety struct {
	Enforcement string `json:"enforcement"`
}

// ClusterExtensionStatus is how it stands.
type ClusterExtensionStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Install    *InstallStatus     `json:"install,omitempty"`
}

// InstallStatus says what is installed.
type InstallStatus struct {
	Bundle BundleMetadata `json:"bundle"`
}

// BundleMetadata identifies a bundle.
type BundleMetadata struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}

// The types of conditions of a ClusterExtension.
const (
	TypeInstalled         = "Installed"
	TypeProgressing       = "Progressing" // also of a ClusterCatalog
	TypeDeprecated        = "Deprecated"
	TypePackageDeprecated = "PackageDeprecated"
	TypeChannelDeprecated = "ChannelDeprecated"
	TypeBundleDeprecated  = "BundleDeprecated"
)

// The reasons of conditions.
const (
	ReasonSucceeded          = "Succeeded"
	ReasonFailed             = "Failed"
	ReasonAbsent             = "Absent"
	ReasonRetrying           = "Retrying"
	ReasonBlocked            = "Blocked"
	ReasonDeprecated         = "Deprecated"
	ReasonNotDeprecated      = "NotDeprecated"
	ReasonDeprecationUnknown = "DeprecationStatusUnknown"
)
