package kube

import (
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/labels"
)

// A Shard is the part of a cluster's namespaces that a replica manages. The
// zero value is all of them. While shards are being reconfigured, two replicas
// may manage the same namespace; this causes conflicts but is harmless.
type Shard struct {
	// Index is this shard's index among Count shards, starting at 0. Namespaces
	// are assigned by a hash of their names. A Count of 0 means 1.
	Index, Count int
	// Selector, if not nil, selects namespaces by their labels.
	Selector labels.Selector
}

// Validate returns an error if Index or Count is out of range.
func (s Shard) Validate() error {
	if s.Count < 0 || s.Index < 0 || s.Index >= max(s.Count, 1) {
		return fmt.Errorf("shard %d of %d: the index must be between 0 and %d", s.Index, s.Count, max(s.Count, 1)-1)
	}
	return nil
}

// Owns reports whether a namespace belongs to the shard. The hash is stable
// across versions of this module.
func (s Shard) Owns(namespace string, namespaceLabels map[string]string) bool {
	if s.Selector != nil && !s.Selector.Matches(labels.Set(namespaceLabels)) {
		return false
	}
	if s.Count <= 1 {
		return true
	}
	h := fnv.New32a()
	h.Write([]byte(namespace))
	return int(h.Sum32()%uint32(s.Count)) == s.Index
}

// Name returns a name for the lease with which replicas of the shard elect
// their leader.
func (s Shard) Name() string {
	name := "olmkit"
	if s.Count > 1 {
		name = fmt.Sprintf("olmkit-%d-of-%d", s.Index, s.Count)
	}
	if s.Selector != nil && !s.Selector.Empty() {
		h := fnv.New32a()
		h.Write([]byte(s.Selector.String()))
		name += fmt.Sprintf("-%08x", h.Sum32())
	}
	return name
}
