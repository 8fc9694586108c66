package kube

import (
	"sync"

	"github.com/olmkit/olmkit/reconcile/olm"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
)

// recent holds what was written, or seen at the API server itself, until the
// cache has it, too: who reads after a write sees it. It is safe for use by
// several goroutines.
type recent struct {
	mu     sync.Mutex
	writes map[groupKind]map[types.NamespacedName]write
	// own has the last version that was written of each object, and for which
	// namespace, until the watch has told of a later one. It holds maxOwn at most:
	// nobody watches for a Cluster that is used without a Reconciler, and a watch
	// may tell of a deletion before the write is remembered.
	own map[types.UID]ownWrite
	// order has the objects of own in the order in which they came in, and some
	// that are no longer there.
	order []types.UID
}

// A write is an object as it was after a write, or its deletion.
type write struct {
	object *unstructured.Unstructured // nil: it was deleted
	uid    types.UID                  // of what was deleted
}

type ownWrite struct{ version, namespace string }

func nameOf(k olm.Key) types.NamespacedName {
	return types.NamespacedName{Namespace: k.Namespace, Name: k.Name}
}

func (r *recent) put(k olm.Key, w write) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.writes == nil {
		r.writes = map[groupKind]map[types.NamespacedName]write{}
	}
	g := groupKind{k.Group, k.Kind}
	if r.writes[g] == nil {
		r.writes[g] = map[types.NamespacedName]write{}
	}
	r.writes[g][nameOf(k)] = w
}

// wrote remembers whose write made a version.
func (r *recent) wrote(uid types.UID, version, namespace string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.own == nil {
		r.own = map[types.UID]ownWrite{}
	}
	if _, ok := r.own[uid]; !ok {
		r.order = append(r.order, uid)
	}
	r.own[uid] = ownWrite{version, namespace}
	for len(r.own) > maxOwn || len(r.order) > 2*maxOwn {
		delete(r.own, r.order[0]) // to forget costs a run that finds nothing to do
		r.order = r.order[1:]
	}
}

// maxOwn is of how many objects the last write is remembered.
const maxOwn = 10_000

// isOwn reports whether a version of an object is the one that was written last,
// and for a namespace. It stays so, as an event is looked at for each namespace
// that it concerns; a later version of another writer makes it forgotten.
func (r *recent) isOwn(uid types.UID, version, namespace string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.own[uid]
	if !ok {
		return false
	}
	if isOlder(w.version, version) {
		delete(r.own, uid)
	}
	return w == ownWrite{version, namespace}
}

func (r *recent) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.own, uid)
}

// merge lays the writes of a kind over what a cache has of it: cached returns an
// object of the cache by name, seen is the version that the cache has reached.
// It returns the objects that take the place of those of the same name, nil for
// one that is gone, and forgets writes that the cache has seen.
func (r *recent) merge(g groupKind, seen string, cached func(types.NamespacedName) *unstructured.Unstructured) map[types.NamespacedName]*unstructured.Unstructured {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out map[types.NamespacedName]*unstructured.Unstructured
	for name, w := range r.writes[g] {
		have := cached(name)
		if w.isSeen(have, seen) {
			delete(r.writes[g], name)
			continue
		}
		if out == nil {
			out = map[types.NamespacedName]*unstructured.Unstructured{}
		}
		out[name] = w.object
	}
	return out
}

// isSeen reports whether a cache that has reached a version, and has an object
// under the name of a write or not, knows of the write.
func (w write) isSeen(have *unstructured.Unstructured, seen string) bool {
	switch {
	case w.object == nil:
		// A deletion has no version. An object with finalizers stays for a while.
		return have == nil || have.GetUID() != w.uid || have.GetDeletionTimestamp() != nil
	case have != nil:
		return !isOlder(have.GetResourceVersion(), w.object.GetResourceVersion())
	}
	// Not there: not yet, or no longer. The cache may tell of a version before
	// its index has it. To forget too early costs a conflict, which looks again.
	return !isOlder(seen, w.object.GetResourceVersion())
}

// isOlder reports whether a version comes before another. Versions that cannot
// be compared are taken for older: the write counts.
func isOlder(a, b string) bool {
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || c < 0
}
