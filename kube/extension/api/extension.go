package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A ClusterExtension requests the installation of a package.
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

// ClusterExtensionSpec is the desired state of a ClusterExtension.
type ClusterExtensionSpec struct {
	Namespace      string                  `json:"namespace"`
	ServiceAccount ServiceAccountReference `json:"serviceAccount"`
	Source         SourceConfig            `json:"source"`
	Install        *InstallConfig          `json:"install,omitempty"`
	Config         *Config                 `json:"config,omitempty"`
	// ProgressDeadlineMinutes is how long a rollout may take. Zero means no limit.
	ProgressDeadlineMinutes int32 `json:"progressDeadlineMinutes,omitempty"`
}

// A Config configures the bundle.
type Config struct {
	ConfigType string                `json:"configType"`
	Inline     *runtime.RawExtension `json:"inline,omitempty"`
}

// A ServiceAccountReference names the service account used for the
// installation.
type ServiceAccountReference struct {
	Name string `json:"name"`
}

// SourceTypeCatalog is the only type of source.
const SourceTypeCatalog = "Catalog"

// A SourceConfig is the source of a package.
type SourceConfig struct {
	SourceType string         `json:"sourceType"`
	Catalog    *CatalogFilter `json:"catalog,omitempty"`
}

// The upgrade constraint policies.
const (
	PolicyCatalogProvided = "CatalogProvided"
	PolicySelfCertified   = "SelfCertified"
)

// A CatalogFilter selects bundles from the catalogs.
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

// PreflightConfig configures the checks before the installation.
type PreflightConfig struct {
	CRDUpgradeSafety *CRDUpgradeSafety `json:"crdUpgradeSafety,omitempty"`
}

// CRDUpgradeSafety configures the check of CRD upgrades: "None" or "Strict".
type CRDUpgradeSafety struct {
	Enforcement string `json:"enforcement"`
}

// ClusterExtensionStatus is the observed state of a ClusterExtension.
type ClusterExtensionStatus struct {
	Conditions []metav1.Condition `json:"conditions,omitempty"`
	Install    *InstallStatus     `json:"install,omitempty"`
	// ActiveRevisions are the installed revision and those that are rolling out. Only
	// the experimental channel has them.
	ActiveRevisions []RevisionStatus `json:"activeRevisions,omitempty"`
}

// RevisionStatus is the state of an active revision. The installed revision has no
// conditions here.
type RevisionStatus struct {
	Name       string             `json:"name"`
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// InstallStatus is the installed bundle.
type InstallStatus struct {
	Bundle BundleMetadata `json:"bundle"`
}

// BundleMetadata identifies a bundle.
type BundleMetadata struct {
	Name    string `json:"name"`
	Version string `json:"version"`
}
