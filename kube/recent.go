package kube

import (
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
)

// recent holds objects that were written, or read from the API server directly,
// until the cache has caught up. A read after a write sees the write. It is
// safe for concurrent use.
type recent struct {
	mu     sync.Mutex
	writes map[groupKind]map[types.NamespacedName]write
	// own holds the last version written of each object, and the namespace it was written
	// for, until the watch delivers a later version. It has at most maxOwn entries, because
	// some entries are never removed by a watch: without a Reconciler there are no watches,
	// and a watch may deliver a deletion before the write is recorded.
	own map[types.UID]ownWrite
	// order holds the keys of own in the order of their insertion. Some of them may have
	// been removed from own.
	order []types.UID
}

// A write is an object as it was after a write, or its deletion.
type write struct {
	object client.Object // nil for a deletion
	uid    types.UID     // of the deleted object
	gone   bool          // the deleted object has no finalizers, so it disappears at once
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

// wrote records the namespace for which a version was written.
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
		delete(r.own, r.order[0]) // at worst this causes a run that has nothing to do
		r.order = r.order[1:]
	}
}

// maxOwn is the maximum number of entries in own.
const maxOwn = 10_000

// isOwn reports whether a version of an object is the last one written, and for
// the given namespace. The entry is kept, because isOwn is called for each
// namespace that an event concerns. A later version by another writer removes
// it.
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

// precedes reports whether this process wrote an earlier version of an object, and no other
// writer has changed the object since.
func (r *recent) precedes(uid types.UID, version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.own[uid]
	return ok && w.version != version && isOlder(w.version, version)
}

// overtook reports whether this process wrote a later version of an object. An update of the
// earlier version would only be rejected.
func (r *recent) overtook(uid types.UID, version string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	w, ok := r.own[uid]
	if !ok {
		return false
	}
	c, err := resourceversion.CompareResourceVersion(version, w.version)
	return err == nil && c < 0
}

func (r *recent) forget(uid types.UID) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.own, uid)
}

// merge overlays a cache with the writes of a kind. The function cached returns the object
// of a name in the cache, and seen is the version that the cache has reached. merge returns
// the objects that replace those in the cache, by name, with nil for deleted objects. It
// forgets writes that the cache has seen.
func (r *recent) merge(g groupKind, seen string, cached func(types.NamespacedName) client.Object) map[types.NamespacedName]client.Object {
	r.mu.Lock()
	defer r.mu.Unlock()
	var out map[types.NamespacedName]client.Object
	for name, w := range r.writes[g] {
		have := cached(name)
		if w.isSeen(have, seen) {
			delete(r.writes[g], name)
			continue
		}
		if out == nil {
			out = map[types.NamespacedName]client.Object{}
		}
		out[name] = w.object
	}
	return out
}

// isSeen reports whether a cache has seen the write. Have is the cached object of the same
// name, or nil, and seen is the version that the cache has reached.
func (w write) isSeen(have client.Object, seen string) bool {
	switch {
	case w.object == nil:
		// A deletion has no version to compare. A deleted object with finalizers stays in the
		// cache for a while.
		return have == nil || have.GetUID() != w.uid || !w.gone && have.GetDeletionTimestamp() != nil
	case have != nil:
		return !isOlder(have.GetResourceVersion(), w.object.GetResourceVersion())
	}
	// The object is missing: not there yet, or deleted since. A cache may
	// report a version before its index contains it. Forgetting a write too
	// early only causes a conflict, after which the object is read again.
	return !isOlder(seen, w.object.GetResourceVersion())
}

// isOlder reports whether version a precedes b. If they cannot be compared, it
// returns true, so that the write takes precedence.
func isOlder(a, b string) bool {
	c, err := resourceversion.CompareResourceVersion(a, b)
	return err != nil || c < 0
}
