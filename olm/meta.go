package olm

import (
	"cmp"
	"maps"
	"strings"
	"time"

	"github.com/olmkit/olmkit/internal/visible"
)

// A Header holds the fields that every resource begins with.
type Header struct {
	APIVersion string   `json:"apiVersion,omitzero"`
	Kind       string   `json:"kind,omitzero"`
	Metadata   Metadata `json:"metadata,omitzero"`
}

// Head returns the header, for code that handles any [Resource].
func (h *Header) Head() *Header { return h }

// Key returns the key of the resource.
func (h *Header) Key() Key {
	group, _ := splitAPIVersion(h.APIVersion)
	return Key{Group: group, Kind: h.Kind, Namespace: h.Metadata.Namespace, Name: h.Metadata.Name}
}

func splitAPIVersion(s string) (group, version string) {
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		return s[:i], s[i+1:]
	}
	return "", s
}

// A Resource is a resource of this package: a pointer to a struct that embeds
// a [Header].
type Resource interface{ Head() *Header }

// A Key names a resource in a cluster. It is comparable. Resources without a
// namespace have an empty Namespace.
type Key struct {
	Group     string `json:"group"`
	Kind      string `json:"kind"`
	Namespace string `json:"namespace,omitempty"`
	Name      string `json:"name"`
}

// Compare orders keys by group, kind, namespace and name.
func (k Key) Compare(o Key) int {
	return cmp.Or(
		cmp.Compare(k.Group, o.Group), cmp.Compare(k.Kind, o.Kind),
		cmp.Compare(k.Namespace, o.Namespace), cmp.Compare(k.Name, o.Name),
	)
}

// String returns the key in readable form, on one line: "Subscription operators/etcd".
func (k Key) String() string {
	if k.Namespace == "" {
		return visible.Line(k.Kind + " " + k.Name)
	}
	return visible.Line(k.Kind + " " + k.Namespace + "/" + k.Name)
}

// Metadata is a resource's metadata.
type Metadata struct {
	Name         string `json:"name,omitzero"`
	GenerateName string `json:"generateName,omitzero"`
	Namespace    string `json:"namespace,omitzero"`
	UID          string `json:"uid,omitzero"`
	// ResourceVersion changes with every write; an update that carries an old
	// one is refused.
	ResourceVersion string `json:"resourceVersion,omitzero"`
	// Generation changes with every write to the spec.
	Generation        int64             `json:"generation,omitzero"`
	CreationTimestamp time.Time         `json:"creationTimestamp,omitzero"`
	DeletionTimestamp time.Time         `json:"deletionTimestamp,omitzero"`
	Labels            map[string]string `json:"labels,omitzero"`
	Annotations       map[string]string `json:"annotations,omitzero"`
	OwnerReferences   []OwnerReference  `json:"ownerReferences,omitzero"`
	Finalizers        []string          `json:"finalizers,omitzero"`
	Rest              Members           `json:",unknown"`
}

// SetLabel sets a label on a copy of the map, which may be shared.
func (m *Metadata) SetLabel(key, value string) { m.Labels = with(m.Labels, key, value) }

// SetAnnotation sets an annotation on a copy of the map, which may be shared.
func (m *Metadata) SetAnnotation(key, value string) { m.Annotations = with(m.Annotations, key, value) }

func with(m map[string]string, key, value string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	m[key] = value
	return m
}

// IsDeleted reports whether the deletion of the resource was requested.
func (m *Metadata) IsDeleted() bool { return !m.DeletionTimestamp.IsZero() }

// An OwnerReference names an owner of a resource. The resource is deleted when all its owners
// are gone.
type OwnerReference struct {
	APIVersion         string  `json:"apiVersion"`
	Kind               string  `json:"kind"`
	Name               string  `json:"name"`
	UID                string  `json:"uid"`
	Controller         *bool   `json:"controller,omitzero"`
	BlockOwnerDeletion *bool   `json:"blockOwnerDeletion,omitzero"`
	Rest               Members `json:",unknown"`
}

// OwnedBy returns a reference to owner that neither makes it the controller nor
// blocks its deletion, as OLM sets them.
func OwnedBy(owner Resource) OwnerReference {
	h, no := owner.Head(), false
	controller, block := no, no
	return OwnerReference{
		APIVersion: h.APIVersion, Kind: h.Kind, Name: h.Metadata.Name, UID: h.Metadata.UID,
		Controller: &controller, BlockOwnerDeletion: &block,
	}
}

// A Condition is an element of status.conditions. Some kinds have a
// lastUpdateTime in it, others an observedGeneration.
type Condition struct {
	Type               string    `json:"type"`
	Status             string    `json:"status"`
	ObservedGeneration int64     `json:"observedGeneration,omitzero"`
	LastUpdateTime     time.Time `json:"lastUpdateTime,omitzero"`
	LastTransitionTime time.Time `json:"lastTransitionTime,omitzero"`
	Reason             string    `json:"reason,omitzero"`
	Message            string    `json:"message,omitzero"`
	Rest               Members   `json:",unknown"`
}

// The values of Condition.Status.
const (
	ConditionTrue  = "True"
	ConditionFalse = "False"
)

// FindCondition returns the condition of a type and whether there is one.
func FindCondition(list []Condition, typ string) (Condition, bool) {
	for _, c := range list {
		if c.Type == typ {
			return c, true
		}
	}
	return Condition{}, false
}

// SetCondition sets a condition in a copy of a list, replacing the one with the same type, and
// reports whether it changed. The transition time becomes now if the status changes, and
// otherwise stays.
func SetCondition(list *[]Condition, c Condition, now time.Time) bool {
	out := append([]Condition(nil), *list...)
	for i, old := range out {
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message && old.ObservedGeneration == c.ObservedGeneration {
			return false
		}
		c.LastTransitionTime, c.Rest = old.LastTransitionTime, old.Rest
		if old.Status != c.Status {
			c.LastTransitionTime = now
		}
		out[i], *list = c, out
		return true
	}
	c.LastTransitionTime = now
	*list = append(out, c)
	return true
}

// An ObjectReference names a resource from within another.
type ObjectReference struct {
	APIVersion string  `json:"apiVersion,omitzero"`
	Kind       string  `json:"kind,omitzero"`
	Namespace  string  `json:"namespace,omitzero"`
	Name       string  `json:"name,omitzero"`
	UID        string  `json:"uid,omitzero"`
	Rest       Members `json:",unknown"`
}
