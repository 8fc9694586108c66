package kube

import (
	"slices"
	"sync"

	"github.com/olmkit/olmkit/olm"
)

// interests records which objects outside each namespace were read for its last
// snapshot. The namespace is reconciled when one of them changes. It is safe
// for concurrent use.
type interests struct {
	mu   sync.Mutex
	of   map[string][]olm.Key
	by   map[olm.Key]map[string]bool
	also map[string][]olm.Key // by namespace, the objects that found recorded
}

// set replaces the interests of a namespace.
func (i *interests) set(namespace string, keys []olm.Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if slices.Equal(i.of[namespace], keys) {
		return
	}
	if i.of == nil {
		i.of, i.by = map[string][]olm.Key{}, map[olm.Key]map[string]bool{}
	}
	for _, k := range i.of[namespace] {
		delete(i.by[k], namespace)
		if len(i.by[k]) == 0 {
			delete(i.by, k)
		}
	}
	if i.of[namespace] = slices.Clone(keys); len(keys) == 0 { // without the capacity for more
		delete(i.of, namespace)
	}
	for _, k := range keys {
		if i.by[k] == nil {
			i.by[k] = map[string]bool{}
		}
		i.by[k][namespace] = true
	}
}

// in returns the namespaces that are interested in an object, in no particular
// order.
func (i *interests) in(k olm.Key) []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	out := make([]string, 0, len(i.by[k]))
	for ns := range i.by[k] {
		out = append(out, ns)
	}
	return out
}

// found records an object whose creation failed because it exists, although the
// namespace's snapshot did not contain it.
func (i *interests) found(namespace string, k olm.Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.also == nil {
		i.also = map[string][]olm.Key{}
	}
	if !slices.Contains(i.also[namespace], k) {
		i.also[namespace] = append(i.also[namespace], k)
	}
}

// more returns the objects that found recorded for a namespace.
func (i *interests) more(namespace string) []olm.Key {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.also[namespace])
}

// lost removes an object that found recorded.
func (i *interests) lost(namespace string, k olm.Key) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.also[namespace] = slices.DeleteFunc(i.also[namespace], func(x olm.Key) bool { return x == k }); len(i.also[namespace]) == 0 {
		delete(i.also, namespace)
	}
}
