package extension

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/rollout"
)

// Recorded returns the revision that a Secret records, or nil if it is another Secret.
func Recorded(s *corev1.Secret) (*rollout.Revision, error) {
	if s.Type != recordType {
		return nil, nil
	}
	return revisionOf(s)
}

// FromObjectSet returns the revision that a ClusterObjectSet is. References to Secrets without a
// namespace are to those in the given one.
func FromObjectSet(set *api.ClusterObjectSet, namespace string) *rollout.Revision {
	return fromObjectSet(set, namespace)
}
