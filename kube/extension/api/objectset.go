package api

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// A ClusterObjectSet is a revision: the objects of one version of a
// ClusterExtension, in phases. Only the experimental channel of OLM v1 has it.
type ClusterObjectSet struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   ClusterObjectSetSpec   `json:"spec,omitempty"`
	Status ClusterObjectSetStatus `json:"status,omitempty"`
}

// A ClusterObjectSetList is a list of object sets.
type ClusterObjectSetList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []ClusterObjectSet `json:"items"`
}

// The lifecycle states of an object set.
const (
	LifecycleActive   = "Active"
	LifecycleArchived = "Archived"
)

// ClusterObjectSetSpec is the desired state of a ClusterObjectSet.
type ClusterObjectSetSpec struct {
	LifecycleState          string             `json:"lifecycleState"`
	Revision                int64              `json:"revision"`
	CollisionProtection     string             `json:"collisionProtection"`
	Phases                  []ObjectSetPhase   `json:"phases,omitempty"`
	ProgressionProbes       []ProgressionProbe `json:"progressionProbes,omitempty"`
	ProgressDeadlineMinutes int32              `json:"progressDeadlineMinutes,omitempty"`
}

// An ObjectSetPhase is a group of objects that are applied together.
type ObjectSetPhase struct {
	Name                string            `json:"name"`
	CollisionProtection string            `json:"collisionProtection,omitempty"`
	Objects             []ObjectSetObject `json:"objects"`
}

// An ObjectSetObject is an object, or the place of one in a Secret. Exactly one
// of Object and Ref is set.
type ObjectSetObject struct {
	Object              *runtime.RawExtension `json:"object,omitempty"`
	Ref                 *ObjectSetRef         `json:"ref,omitempty"`
	CollisionProtection string                `json:"collisionProtection,omitempty"`
}

// An ObjectSetRef is the place of an object in a Secret. Without a namespace, the
// Secret is in the namespace of OLM.
type ObjectSetRef struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace,omitempty"`
	Key       string `json:"key"`
}

// A ProgressionProbe states when the selected objects are ready.
type ProgressionProbe struct {
	Selector   ProbeSelector    `json:"selector"`
	Assertions []ProbeAssertion `json:"assertions"`
}

// The types of selectors and assertions.
const (
	SelectGroupKind = "GroupKind"
	SelectLabel     = "Label"

	AssertCondition   = "ConditionEqual"
	AssertFieldsEqual = "FieldsEqual"
	AssertFieldValue  = "FieldValue"
)

// A ProbeSelector selects objects by kind or by labels.
type ProbeSelector struct {
	Type      string                `json:"type"`
	GroupKind *metav1.GroupKind     `json:"groupKind,omitempty"`
	Label     *metav1.LabelSelector `json:"label,omitempty"`
}

// A ProbeAssertion is a check of an object.
type ProbeAssertion struct {
	Type           string          `json:"type"`
	ConditionEqual *ConditionEqual `json:"conditionEqual,omitempty"`
	FieldsEqual    *FieldsEqual    `json:"fieldsEqual,omitempty"`
	FieldValue     *FieldValue     `json:"fieldValue,omitempty"`
}

// ConditionEqual requires the status of a condition.
type ConditionEqual struct {
	Type   string `json:"type"`
	Status string `json:"status"`
}

// FieldsEqual requires two fields to be equal.
type FieldsEqual struct {
	FieldA string `json:"fieldA"`
	FieldB string `json:"fieldB"`
}

// FieldValue requires the value of a field.
type FieldValue struct {
	FieldPath string `json:"fieldPath"`
	Value     string `json:"value"`
}

// ClusterObjectSetStatus is the observed state of a ClusterObjectSet.
type ClusterObjectSetStatus struct {
	Conditions     []metav1.Condition `json:"conditions,omitempty"`
	ObservedPhases []ObservedPhase    `json:"observedPhases,omitempty"`
}

// An ObservedPhase identifies the content of a phase when it was first read.
type ObservedPhase struct {
	Name   string `json:"name"`
	Digest string `json:"digest"`
}
