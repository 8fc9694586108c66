package olm

import (
	"errors"
	"time"

	"github.com/go-json-experiment/json"
)

// An InstallPlan is a list of resources to create, with the progress of creating them.
type InstallPlan = Typed[InstallPlanSpec, InstallPlanStatus]

// InstallPlanSpec states what is to be installed and whether it may be.
type InstallPlanSpec struct {
	ClusterServiceVersionNames []string `json:"clusterServiceVersionNames"`
	Approval                   Approval `json:"approval"`
	Approved                   bool     `json:"approved"`
	Generation                 int      `json:"generation,omitzero"`
	Rest                       Members  `json:",unknown"`
}

// InstallPlanStatus holds the steps of the plan and its progress.
type InstallPlanStatus struct {
	Phase          PlanPhase      `json:"phase,omitzero"`
	Conditions     []Condition    `json:"conditions,omitzero"`
	CatalogSources []string       `json:"catalogSources,omitzero"`
	Plan           []Step         `json:"plan,omitzero"`
	BundleLookups  []BundleLookup `json:"bundleLookups,omitzero"`
	StartTime      time.Time      `json:"startTime,omitzero"`
	Message        string         `json:"message,omitzero"`
	// AttenuatedServiceAccountRef is the service account with whose permissions the plan
	// is executed, if its operator group names one.
	AttenuatedServiceAccountRef *ObjectReference `json:"attenuatedServiceAccountRef,omitzero"`
	Rest                        Members          `json:",unknown"`
}

// A PlanPhase is the state of an install plan.
type PlanPhase string

const (
	PlanRequiresApproval PlanPhase = "RequiresApproval"
	PlanInstalling       PlanPhase = "Installing"
	PlanComplete         PlanPhase = "Complete"
	PlanFailed           PlanPhase = "Failed"
)

// A Step is a resource to create, on behalf of the CSV that it names.
type Step struct {
	Resolving string       `json:"resolving"`
	Resource  StepResource `json:"resource"`
	Optional  bool         `json:"optional,omitzero"`
	Status    StepStatus   `json:"status"`
	Rest      Members      `json:",unknown"`
}

// A StepResource is the resource of a step: the manifest is its JSON.
type StepResource struct {
	SourceName      string  `json:"sourceName"`
	SourceNamespace string  `json:"sourceNamespace"`
	Group           string  `json:"group"`
	Version         string  `json:"version"`
	Kind            string  `json:"kind"`
	Name            string  `json:"name"`
	Manifest        string  `json:"manifest,omitzero"`
	Rest            Members `json:",unknown"`
}

// A StepStatus is the status of a step.
type StepStatus string

const (
	StepUnknown       StepStatus = "Unknown"
	StepNotPresent    StepStatus = "NotPresent"
	StepPresent       StepStatus = "Present"
	StepCreated       StepStatus = "Created"
	StepWaitingForAPI StepStatus = "WaitingForApi"
)

// A BundleLookup is a bundle whose image must be unpacked before the plan gets the steps that
// install it.
type BundleLookup struct {
	// Path is the bundle's image, Identifier its name.
	Path             string           `json:"path"`
	Identifier       string           `json:"identifier"`
	Replaces         string           `json:"replaces"`
	CatalogSourceRef *ObjectReference `json:"catalogSourceRef"`
	Conditions       []Condition      `json:"conditions,omitzero"`
	// Properties is the JSON of the bundle's properties.
	Properties string  `json:"properties,omitzero"`
	Rest       Members `json:",unknown"`
}

// A BundleReference takes the place of an object in the manifest of a step. It refers to the
// ConfigMap into which the bundle with the object was unpacked.
type BundleReference struct {
	Kind                   string `json:"kind"`
	Name                   string `json:"name"`
	Namespace              string `json:"namespace"`
	CatalogSourceName      string `json:"catalogSourceName"`
	CatalogSourceNamespace string `json:"catalogSourceNamespace"`
	Replaces               string `json:"replaces"`
	Properties             string `json:"properties"`
}

// Reference returns the reference that the step has in place of a manifest, and whether it has
// one. As in OLM, an incomplete reference counts as a manifest.
func (s *StepResource) Reference() (BundleReference, bool) {
	var r BundleReference
	if json.Unmarshal([]byte(s.Manifest), &r) != nil {
		return BundleReference{}, false
	}
	ok := r.Kind == "ConfigMap" && r.Name != "" && r.Namespace != "" && r.CatalogSourceName != "" && r.CatalogSourceNamespace != ""
	if !ok {
		return BundleReference{}, false
	}
	return r, true
}

// Object returns the object in the manifest. OLM leaves kind and apiVersion out of the
// manifests that it generates, such as those of service accounts and roles; Object then
// takes them from s. The error states why the manifest is not an object.
func (s *StepResource) Object() (Object, error) {
	var o Object
	if err := Unmarshal([]byte(s.Manifest), &o); err != nil {
		return Object{}, err
	}
	if o.Kind == "" {
		o.Kind = s.Kind
		if o.Kind == kindBundleSecret {
			o.Kind = "Secret"
		}
	}
	if o.APIVersion == "" {
		if o.APIVersion = s.Version; s.Group != "" {
			o.APIVersion = s.Group + "/" + s.Version
		}
	}
	switch {
	case o.Kind == "" || o.APIVersion == "":
		return Object{}, errors.New("neither the manifest nor the step has a kind and a version")
	case o.Metadata.Name == "" && o.Metadata.GenerateName == "":
		return Object{}, errors.New("the manifest has no name")
	}
	return o, nil
}

// kindBundleSecret is the kind that OLM gives to steps for the Secrets of a bundle. Steps of
// kind Secret are copies of image pull secrets.
const kindBundleSecret = "BundleSecret"
