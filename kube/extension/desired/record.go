package desired

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

const (
	prefix = "olm.operatorframework.io/"
	// OwnerName is the label with the name of the extension that an object belongs to.
	OwnerName = prefix + "owner-name"
	// Teardown is the finalizer of revisions, and of extensions that are installed.
	Teardown = prefix + "teardown"
	// fromHelm is the label of a revision that continues a Helm release.
	fromHelm = prefix + "migrated-from-helm"
	// recordType is the type of Secrets that are revisions, and recordKey the key of their
	// content.
	recordType = prefix + "revision"
	recordKey  = "revision"
)

// A record is the content of a Secret that is a revision. Its fields are named like those
// of a ClusterObjectSet.
type record struct {
	Revision            int64              `json:"revision"`
	Archived            bool               `json:"archived,omitempty"`
	CollisionProtection rollout.Collision  `json:"collisionProtection"`
	DeadlineMinutes     int64              `json:"progressDeadlineMinutes,omitempty"`
	Bundle              rollout.Bundle     `json:"bundle"`
	Phases              []recordPhase      `json:"phases"`
	Conditions          []metav1.Condition `json:"conditions,omitempty"`
	Observed            []rollout.Digest   `json:"observedPhases,omitempty"`
}

type recordPhase struct {
	Name    string           `json:"name"`
	Objects []registryv1.Ref `json:"objects"`
}

// recordOf returns the record of a revision.
func recordOf(r *rollout.Revision) record {
	out := record{
		Revision: r.Number, Archived: r.Archived, CollisionProtection: r.Collision, DeadlineMinutes: int64(r.Deadline / time.Minute),
		Bundle: r.Bundle, Conditions: r.Conditions, Observed: r.Observed,
	}
	for i, p := range r.Phases {
		out.Phases = append(out.Phases, recordPhase{p.Name, r.Refs[i]})
	}
	return out
}

// NewSecret returns the Secret that is a revision of an extension.
func NewSecret(r *rollout.Revision, e *api.ClusterExtension, namespace string) (*corev1.Secret, error) {
	text, err := json.Marshal(recordOf(r))
	if err != nil {
		return nil, err
	}
	secret := &corev1.Secret{ObjectMeta: metadata(r, e), Type: recordType, Data: map[string][]byte{recordKey: text}}
	secret.Namespace = namespace
	return secret, nil
}

// metadata returns the metadata of a revision of an extension.
func metadata(r *rollout.Revision, e *api.ClusterExtension) metav1.ObjectMeta {
	labels := map[string]string{prefix + "owner-kind": "ClusterExtension", OwnerName: e.Name}
	if r.Migrated {
		labels[fromHelm] = "true"
	}
	yes := true
	return metav1.ObjectMeta{
		Name:   r.Name,
		Labels: labels,
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: api.GroupVersion.String(), Kind: "ClusterExtension", Name: e.Name, UID: e.UID, Controller: &yes, BlockOwnerDeletion: &yes,
		}},
	}
}

// FromSecret returns the revision that a Secret records, or nil if it is another Secret.
func FromSecret(s *corev1.Secret) (*rollout.Revision, error) {
	if s.Type != recordType {
		return nil, nil
	}
	var c record
	if err := json.Unmarshal(s.Data[recordKey], &c); err != nil {
		return nil, fmt.Errorf("secret %s/%s is not a revision: %w; delete it to install again", s.Namespace, s.Name, err)
	}
	r := &rollout.Revision{
		Name: s.Name, UID: s.UID, ResourceVersion: s.ResourceVersion, Created: s.CreationTimestamp.Time,
		Deleting: s.DeletionTimestamp != nil, Finalizer: slices.Contains(s.Finalizers, Teardown),
		Owner: s.Labels[OwnerName], Number: c.Revision, Bundle: c.Bundle, Archived: c.Archived, Collision: c.CollisionProtection,
		Probes: rollout.DefaultProbes(), Deadline: time.Duration(c.DeadlineMinutes) * time.Minute, Conditions: c.Conditions, Observed: c.Observed,
		Migrated: s.Labels[fromHelm] == "true",
	}
	for _, p := range c.Phases {
		r.Phases = append(r.Phases, registryv1.Phase{Name: p.Name, Objects: make([]*unstructured.Unstructured, len(p.Objects))})
		r.Refs = append(r.Refs, p.Objects)
	}
	return r, nil
}

// ChangeSecret makes a write of a rollout to the Secret that records a revision.
func ChangeSecret(s *corev1.Secret, w rollout.Write) error {
	r, err := FromSecret(s)
	if err != nil || r == nil {
		return err
	}
	switch w.Op {
	case rollout.Archive:
		r.Archived = true
	case rollout.SetStatus:
		r.Conditions, r.Observed = w.Conditions, w.Observed
	case rollout.UpdateRevision:
		r.Bundle, r.Deadline = w.New.Bundle, w.New.Deadline
	}
	s.Data[recordKey], err = json.Marshal(recordOf(r))
	return err
}
