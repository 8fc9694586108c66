package olm

import (
	"time"

	"encoding/json"
)

// A Subscription requests a package and keeps it current.
type Subscription = Typed[SubscriptionSpec, SubscriptionStatus]

// SubscriptionSpec is what the subscriber requests.
type SubscriptionSpec struct {
	Source          string `json:"source,omitzero"`
	SourceNamespace string `json:"sourceNamespace,omitzero"`
	Package         string `json:"name"`
	// Channel is the only channel to use. If it is empty, the default channel of the package
	// is preferred, and then the others in order of name.
	Channel             string              `json:"channel,omitzero"`
	StartingCSV         string              `json:"startingCSV,omitzero"`
	InstallPlanApproval Approval            `json:"installPlanApproval,omitzero"`
	Config              *SubscriptionConfig `json:"config,omitzero"`
	Rest                Members             `json:",unknown"`
}

// SubscriptionConfig adjusts the pod templates of the operator's deployments. Its annotations
// are also added to the deployments themselves.
type SubscriptionConfig struct {
	Env          []json.RawMessage `json:"env,omitzero"`
	EnvFrom      []json.RawMessage `json:"envFrom,omitzero"`
	Volumes      []json.RawMessage `json:"volumes,omitzero"`
	VolumeMounts []json.RawMessage `json:"volumeMounts,omitzero"`
	Tolerations  []json.RawMessage `json:"tolerations,omitzero"`
	NodeSelector map[string]string `json:"nodeSelector,omitzero"`
	Resources    json.RawMessage   `json:"resources,omitzero"`
	Affinity     json.RawMessage   `json:"affinity,omitzero"`
	Annotations  map[string]string `json:"annotations,omitzero"`
	Rest         Members           `json:",unknown"`
}

// An Approval states who approves an install plan.
type Approval string

const (
	Automatic Approval = "Automatic"
	Manual    Approval = "Manual"
)

// SubscriptionStatus is the observed state of a subscription.
type SubscriptionStatus struct {
	// CurrentCSV is the CSV that the last resolution chose, and InstalledCSV the one that is
	// installed.
	CurrentCSV            string                `json:"currentCSV,omitzero"`
	InstalledCSV          string                `json:"installedCSV,omitzero"`
	InstallPlan           *InstallPlanReference `json:"installplan,omitzero"`
	State                 SubscriptionState     `json:"state,omitzero"`
	Reason                string                `json:"reason,omitzero"`
	InstallPlanGeneration int                   `json:"installPlanGeneration,omitzero"`
	InstallPlanRef        *ObjectReference      `json:"installPlanRef,omitzero"`
	CatalogHealth         []CatalogHealth       `json:"catalogHealth,omitzero"`
	Conditions            []Condition           `json:"conditions,omitzero"`
	LastUpdated           time.Time             `json:"lastUpdated,omitzero"`
	Rest                  Members               `json:",unknown"`
}

// A SubscriptionState is the state of a subscription as OLM reports it.
type SubscriptionState string

const (
	StateUpgradeAvailable SubscriptionState = "UpgradeAvailable"
	StateUpgradePending   SubscriptionState = "UpgradePending"
	StateAtLatestKnown    SubscriptionState = "AtLatestKnown"
	StateUpgradeFailed    SubscriptionState = "UpgradeFailed"
)

// An InstallPlanReference is the older form of a reference to a plan.
type InstallPlanReference struct {
	APIVersion string  `json:"apiVersion"`
	Kind       string  `json:"kind"`
	Name       string  `json:"name"`
	UID        string  `json:"uuid"`
	Rest       Members `json:",unknown"`
}

// CatalogHealth states whether a catalog that the subscription sees can be read.
type CatalogHealth struct {
	CatalogSourceRef ObjectReference `json:"catalogSourceRef"`
	Healthy          bool            `json:"healthy"`
	LastUpdated      time.Time       `json:"lastUpdated,omitzero"`
	Rest             Members         `json:",unknown"`
}
