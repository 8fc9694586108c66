package olm

import (
	"time"

	"encoding/json"

	"github.com/olmkit/olmkit/internal/reason"
)

// A ClusterServiceVersion is an installed version of an operator, a CSV for
// short.
type ClusterServiceVersion = Typed[CSVSpec, CSVStatus]

// CSVSpec describes the operator and what it needs.
type CSVSpec struct {
	Install        InstallStrategy `json:"install,omitzero"`
	Version        string          `json:"version,omitzero"`
	CRDs           OwnedCRDs       `json:"customresourcedefinitions,omitzero"`
	APIServices    OwnedAPIs       `json:"apiservicedefinitions,omitzero"`
	Webhooks       []Webhook       `json:"webhookdefinitions,omitzero"`
	NativeAPIs     []NativeAPI     `json:"nativeAPIs,omitzero"`
	MinKubeVersion string          `json:"minKubeVersion,omitzero"`
	DisplayName    string          `json:"displayName,omitzero"`
	InstallModes   []InstallMode   `json:"installModes,omitzero"`
	Replaces       string          `json:"replaces,omitzero"`
	Skips          []string        `json:"skips,omitzero"`
	Rest           Members         `json:",unknown"`
}

// An InstallStrategy describes how the operator is run. The only strategy is
// "deployment".
type InstallStrategy struct {
	Strategy string          `json:"strategy,omitzero"`
	Spec     StrategyDetails `json:"spec,omitzero"`
	Rest     Members         `json:",unknown"`
}

// StrategyDeployment is the only install strategy.
const StrategyDeployment = "deployment"

// StrategyDetails are what the strategy "deployment" creates.
type StrategyDetails struct {
	Deployments        []StrategyDeploymentSpec `json:"deployments,omitzero"`
	Permissions        []Permissions            `json:"permissions,omitzero"`
	ClusterPermissions []Permissions            `json:"clusterPermissions,omitzero"`
	Rest               Members                  `json:",unknown"`
}

// A StrategyDeploymentSpec is a deployment to create.
type StrategyDeploymentSpec struct {
	Name  string            `json:"name"`
	Label map[string]string `json:"label,omitzero"`
	// Spec is the spec of the Deployment.
	Spec json.RawMessage `json:"spec,omitzero"`
	Rest Members         `json:",unknown"`
}

// Permissions are the rules that a service account needs.
type Permissions struct {
	ServiceAccountName string       `json:"serviceAccountName"`
	Rules              []PolicyRule `json:"rules"`
	Rest               Members      `json:",unknown"`
}

// OwnedCRDs lists the CRDs that the operator provides and those that it requires.
type OwnedCRDs struct {
	Owned    []CRDDescription `json:"owned,omitzero"`
	Required []CRDDescription `json:"required,omitzero"`
	Rest     Members          `json:",unknown"`
}

// A CRDDescription refers to a version of a CRD. Name is the name of the CRD,
// <plural>.<group>.
type CRDDescription struct {
	Name    string  `json:"name"`
	Version string  `json:"version"`
	Kind    string  `json:"kind"`
	Rest    Members `json:",unknown"`
}

// OwnedAPIs lists the aggregated APIs that the operator provides and those that it requires.
type OwnedAPIs struct {
	Owned    []APIServiceDescription `json:"owned,omitzero"`
	Required []APIServiceDescription `json:"required,omitzero"`
	Rest     Members                 `json:",unknown"`
}

// An APIServiceDescription names an aggregated API; Name is the resource's
// plural.
type APIServiceDescription struct {
	Name           string  `json:"name"`
	Group          string  `json:"group"`
	Version        string  `json:"version"`
	Kind           string  `json:"kind"`
	DeploymentName string  `json:"deploymentName,omitzero"`
	ContainerPort  int32   `json:"containerPort,omitzero"`
	Rest           Members `json:",unknown"`
}

// A NativeAPI is an API of the cluster itself that the operator needs.
type NativeAPI struct {
	Group   string  `json:"group"`
	Version string  `json:"version"`
	Kind    string  `json:"kind"`
	Rest    Members `json:",unknown"`
}

// A Webhook is a webhook that the operator serves.
type Webhook struct {
	GenerateName   string   `json:"generateName"`
	Type           string   `json:"type"`
	DeploymentName string   `json:"deploymentName,omitzero"`
	ContainerPort  int32    `json:"containerPort,omitzero"`
	ConversionCRDs []string `json:"conversionCRDs,omitzero"`
	WebhookPath    *string  `json:"webhookPath,omitzero"`
	Rest           Members  `json:",unknown"`
}

// An InstallMode states whether the operator supports a type of targets.
type InstallMode struct {
	Type      InstallModeType `json:"type"`
	Supported bool            `json:"supported"`
	Rest      Members         `json:",unknown"`
}

// An InstallModeType is a type of targets of an operator group, such as SingleNamespace.
type InstallModeType string

// The install modes.
const (
	OwnNamespace    InstallModeType = "OwnNamespace"
	SingleNamespace InstallModeType = "SingleNamespace"
	MultiNamespace  InstallModeType = "MultiNamespace"
	AllNamespaces   InstallModeType = "AllNamespaces"
)

// CSVStatus describes the progress of the installation.
type CSVStatus struct {
	Phase              Phase               `json:"phase,omitzero"`
	Message            string              `json:"message,omitzero"`
	Reason             Reason              `json:"reason,omitzero"`
	LastUpdateTime     time.Time           `json:"lastUpdateTime,omitzero"`
	LastTransitionTime time.Time           `json:"lastTransitionTime,omitzero"`
	Conditions         []CSVCondition      `json:"conditions,omitzero"`
	RequirementStatus  []RequirementStatus `json:"requirementStatus,omitzero"`
	// CertsLastUpdated is when the certificates of webhooks and aggregated APIs were last
	// replaced, and CertsRotateAt is when they will be replaced next.
	CertsLastUpdated time.Time `json:"certsLastUpdated,omitzero"`
	CertsRotateAt    time.Time `json:"certsRotateAt,omitzero"`
	Rest             Members   `json:",unknown"`
}

// A CSVCondition is a former or the current state of a CSV.
type CSVCondition struct {
	Phase              Phase     `json:"phase,omitzero"`
	Message            string    `json:"message,omitzero"`
	Reason             Reason    `json:"reason,omitzero"`
	LastUpdateTime     time.Time `json:"lastUpdateTime,omitzero"`
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`
	Rest               Members   `json:",unknown"`
}

// A RequirementStatus states whether something that the operator needs exists.
type RequirementStatus struct {
	Group      string            `json:"group"`
	Version    string            `json:"version"`
	Kind       string            `json:"kind"`
	Name       string            `json:"name"`
	Status     string            `json:"status"`
	Message    string            `json:"message"`
	UUID       string            `json:"uuid,omitzero"`
	Dependents []DependentStatus `json:"dependents,omitzero"`
	Rest       Members           `json:",unknown"`
}

// A DependentStatus is a part of a requirement: a rule of a service account.
type DependentStatus struct {
	Group   string  `json:"group"`
	Version string  `json:"version"`
	Kind    string  `json:"kind"`
	Status  string  `json:"status"`
	Message string  `json:"message,omitzero"`
	Rest    Members `json:",unknown"`
}

// A Phase is a state of a CSV.
type Phase string

// The phases of a CSV. A new one has none.
const (
	PhaseNone         Phase = ""
	PhasePending      Phase = "Pending"
	PhaseInstallReady Phase = "InstallReady"
	PhaseInstalling   Phase = "Installing"
	PhaseSucceeded    Phase = "Succeeded"
	PhaseFailed       Phase = "Failed"
	PhaseUnknown      Phase = "Unknown"
	PhaseReplacing    Phase = "Replacing"
	PhaseDeleting     Phase = "Deleting"
)

// A Reason states why a CSV is in its phase, in OLM's words, such as
// "RequirementsNotMet", "InstallSucceeded" or "TooManyOperatorGroups".
type Reason string

// LabelCopiedFrom is the label of a copied CSV, and of the roles and role bindings of that
// copy. Its value is the namespace of the original.
const LabelCopiedFrom = "olm.copiedFrom"

// AnnotationOperatorNamespace is the annotation of a member of an operator group with the
// namespace of the group. Copies of the member keep the annotation.
const AnnotationOperatorNamespace = "olm.operatorNamespace"

// IsCopied reports whether the CSV is a copy of the CSV of an operator in
// another namespace.
func IsCopied(c *ClusterServiceVersion) bool {
	if c.Status.Reason == reason.Copied {
		return true
	}
	if from, ok := c.Metadata.Annotations[AnnotationOperatorNamespace]; ok && from != c.Metadata.Namespace {
		return true
	}
	_, ok := c.Metadata.Labels[LabelCopiedFrom]
	return ok
}
