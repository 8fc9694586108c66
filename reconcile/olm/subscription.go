package olm

import (
	"time"

	"github.com/go-json-experiment/json/jsontext"
)

// A Subscription asks for a package and keeps it current (E1).
type Subscription struct {
	Header
	Spec   SubscriptionSpec   `json:"spec,omitzero"`
	Status SubscriptionStatus `json:"status,omitzero"`
	Rest   jsontext.Value     `json:",unknown"`
}

// SubscriptionSpec is what the subscriber asks for.
type SubscriptionSpec struct {
	Source          string `json:"source,omitzero"`
	SourceNamespace string `json:"sourceNamespace,omitzero"`
	Package         string `json:"name"`
	// Channel restricts to a channel. Default: the default channel of the
	// package, then the others by name (H15).
	Channel             string              `json:"channel,omitzero"`
	StartingCSV         string              `json:"startingCSV,omitzero"`
	InstallPlanApproval Approval            `json:"installPlanApproval,omitzero"`
	Config              *SubscriptionConfig `json:"config,omitzero"`
	Rest                jsontext.Value      `json:",unknown"`
}

// SubscriptionConfig adjusts the operator's deployments. All of it goes into
// their pod templates.
type SubscriptionConfig struct {
	Env          []jsontext.Value  `json:"env,omitzero"`
	EnvFrom      []jsontext.Value  `json:"envFrom,omitzero"`
	Volumes      []jsontext.Value  `json:"volumes,omitzero"`
	VolumeMounts []jsontext.Value  `json:"volumeMounts,omitzero"`
	Tolerations  []jsontext.Value  `json:"tolerations,omitzero"`
	NodeSelector map[string]string `json:"nodeSelector,omitzero"`
	Resources    jsontext.Value    `json:"resources,omitzero"`
	Affinity     jsontext.Value    `json:"affinity,omitzero"`
	Annotations  map[string]string `json:"annotations,omitzero"`
	Rest         jsontext.Value    `json:",unknown"`
}

// An Approval says who approves an install plan.
type Approval string

const (
	Automatic Approval = "Automatic"
	Manual    Approval = "Manual"
)

// SubscriptionStatus is what became of the subscription.
type SubscriptionStatus struct {
	// CurrentCSV is the newest version that a resolution chose, InstalledCSV
	// the one that the cluster has.
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
	Rest                  jsontext.Value        `json:",unknown"`
}

// A SubscriptionState says where the subscription is.
type SubscriptionState string

const (
	StateUpgradeAvailable SubscriptionState = "UpgradeAvailable"
	StateUpgradePending   SubscriptionState = "UpgradePending"
	StateAtLatestKnown    SubscriptionState = "AtLatestKnown"
	StateUpgradeFailed    SubscriptionState = "UpgradeFailed"
)

// The types of a subscription's conditions.
const (
	CatalogSourcesUnhealthy = "CatalogSourcesUnhealthy"
	InstallPlanMissing      = "InstallPlanMissing"
	InstallPlanPending      = "InstallPlanPending"
	InstallPlanFailed       = "InstallPlanFailed"
	ResolutionFailed        = "ResolutionFailed"
	BundleUnpackFailed      = "BundleUnpackFailed"
	Deprecated              = "Deprecated"
	PackageDeprecated       = "PackageDeprecated"
	ChannelDeprecated       = "ChannelDeprecated"
	BundleDeprecated        = "BundleDeprecated"
)

// An InstallPlanReference is the older form of a reference to a plan.
type InstallPlanReference struct {
	APIVersion string         `json:"apiVersion"`
	Kind       string         `json:"kind"`
	Name       string         `json:"name"`
	UID        string         `json:"uuid"`
	Rest       jsontext.Value `json:",unknown"`
}

// CatalogHealth says whether a catalog that the subscription sees can be read.
type CatalogHealth struct {
	CatalogSourceRef ObjectReference `json:"catalogSourceRef"`
	Healthy          bool            `json:"healthy"`
	LastUpdated      time.Time       `json:"lastUpdated,omitzero"`
	Rest             jsontext.Value  `json:",unknown"`
}

// MarshalJSON writes the subscription with its keys in a fixed order.
func (s Subscription) MarshalJSON() ([]byte, error) {
	type plain Subscription
	return marshal((*plain)(&s))
}

// UnmarshalJSON reads a subscription.
func (s *Subscription) UnmarshalJSON(text []byte) error {
	type plain Subscription
	return unmarshal((*plain)(s), text)
}
