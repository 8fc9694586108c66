package kube

import (
	"fmt"
	"hash/fnv"

	"k8s.io/apimachinery/pkg/labels"
)

// A Shard is the part of a cluster's namespaces that a replica looks after. The
// zero value is all of them. While shards are being changed two replicas may
// look after one namespace: they hinder each other, and do no harm.
type Shard struct {
	// Of Count shards this is the one with Index, from zero. Namespaces are shared
	// out by a hash of their names. Count 0 means one.
	Index, Count int
	// Selector, if any, selects namespaces by their labels.
	Selector labels.Selector
}

// Validate reports an index that no namespace could have.
func (s Shard) Validate() error {
	if s.Count < 0 || s.Index < 0 || s.Index >= max(s.Count, 1) {
		return fmt.Errorf("shard %d of %d: the index must be from 0 to %d", s.Index, s.Count, max(s.Count, 1)-1)
	}
	return nil
}

// Owns reports whether a namespace belongs to the shard. The same name belongs
// to the same one of Count shards in every version of this module.
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

// Name returns a name for the lease by which replicas of the shard elect their
// leader.
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
