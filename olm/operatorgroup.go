package olm

import (
	"encoding/json"
	"time"
)

// The API groups and versions of OLM's resources.
const (
	Group     = "operators.coreos.com"
	V1Alpha1  = Group + "/v1alpha1"
	V1        = Group + "/v1"
	V2        = Group + "/v2"
	GroupRBAC = "rbac.authorization.k8s.io"
	RBACV1    = GroupRBAC + "/v1"
)

// The kinds of OLM's resources.
const (
	KindOperatorGroup         = "OperatorGroup"
	KindClusterServiceVersion = "ClusterServiceVersion"
	KindSubscription          = "Subscription"
	KindInstallPlan           = "InstallPlan"
	KindCatalogSource         = "CatalogSource"
	KindOperatorCondition     = "OperatorCondition"
	KindOLMConfig             = "OLMConfig"
	KindOperator              = "Operator"
)

// An OperatorGroup determines which namespaces the operators in its own namespace serve.
type OperatorGroup = Typed[OperatorGroupSpec, OperatorGroupStatus]

// OperatorGroupSpec is the desired state of the group.
type OperatorGroupSpec struct {
	Selector           *LabelSelector  `json:"selector,omitzero"`
	TargetNamespaces   []string        `json:"targetNamespaces,omitzero"`
	ServiceAccountName string          `json:"serviceAccountName,omitzero"`
	StaticProvidedAPIs bool            `json:"staticProvidedAPIs,omitzero"`
	UpgradeStrategy    UpgradeStrategy `json:"upgradeStrategy,omitzero"`
	Rest               Members         `json:",unknown"`
}

// An UpgradeStrategy states whether a failed operator may be replaced.
type UpgradeStrategy string

const (
	// UpgradeDefault allows an operator to be replaced only once it has succeeded.
	UpgradeDefault UpgradeStrategy = "Default"
	// UpgradeFailForward also allows a failed operator to be replaced.
	UpgradeFailForward UpgradeStrategy = "TechPreviewUnsafeFailForward"
)

// OperatorGroupStatus holds the targets that OLM determined from the spec.
type OperatorGroupStatus struct {
	// Namespaces are the targets. It is nil until they have been determined, and [""] for all
	// namespaces.
	Namespaces        []string         `json:"namespaces,omitzero"`
	ServiceAccountRef *ObjectReference `json:"serviceAccountRef,omitzero"`
	LastUpdated       time.Time        `json:"lastUpdated,omitzero"`
	Conditions        []Condition      `json:"conditions,omitzero"`
	Rest              Members          `json:",unknown"`
}

// A LabelSelector selects by labels; all its terms must hold.
type LabelSelector struct {
	MatchLabels      map[string]string          `json:"matchLabels,omitzero"`
	MatchExpressions []LabelSelectorRequirement `json:"matchExpressions,omitzero"`
	Rest             Members                    `json:",unknown"`
}

// A LabelSelectorRequirement is one term of a selector.
type LabelSelectorRequirement struct {
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist.
	Operator string   `json:"operator"`
	Values   []string `json:"values,omitzero"`
	Rest     Members  `json:",unknown"`
}

// A Namespace is the part of a namespace that operator groups look at.
type Namespace = Typed[json.RawMessage, json.RawMessage]
