package kube

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// A view is a sorted list of a cache's objects, shared by all namespaces. When
// the cache changes, the list is updated from the previous one, since usually
// only a few objects change. It is safe for concurrent use.
type view struct {
	state    func() storeState
	selected func() ([]any, error) // returns the selected objects of the store
	convert  func(client.Object) entry

	mu    sync.Mutex
	made  storeState // the state for which the list was built
	list  []entry
	rows  []*row // the rows of list
	by    map[client.Object]*row
	round int
}

// A storeState changes whenever the objects of a store do. touched counts the added,
// changed and deleted objects that the store notifies its indexes about. The store
// does not notify its indexes if it replaces all objects with none, but then version
// changes. The version alone is not enough, because it may become older when a cache
// lists its objects again.
type storeState struct {
	touched uint64
	version string
}

// A row is an entry of a view and the object it was converted from. Cached
// objects are never modified: each version is a new object.
type row struct {
	entry
	object client.Object
	round  int // the last round in which the object was seen
}

// entries returns the list. The caller must not modify it.
func (v *view) entries() ([]entry, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	// Read the state first: if the store changes meanwhile, the list is only
	// rebuilt once more.
	state := v.state()
	if v.by != nil && state == v.made {
		return v.list, nil
	}
	items, err := v.selected()
	if err != nil {
		return nil, err
	}
	v.round++
	if v.by == nil {
		v.by = make(map[client.Object]*row, len(items))
	}
	var fresh []*row
	for _, o := range items {
		o, ok := o.(client.Object)
		if !ok {
			return nil, unexpected(o)
		}
		r := v.by[o]
		if r == nil {
			r = &row{entry: v.convert(o), object: o}
			fresh = append(fresh, r)
		}
		r.round = v.round
	}
	v.merge(fresh)
	v.made = state
	return v.list, nil
}

// merge rebuilds the list from the rows seen in this round and new ones.
func (v *view) merge(fresh []*row) {
	gone := 0
	for _, r := range v.rows {
		if r.round != v.round {
			delete(v.by, r.object)
			gone++
		}
	}
	if gone == 0 && len(fresh) == 0 {
		return
	}
	slices.SortFunc(fresh, func(a, b *row) int { return compareEntries(a.entry, b.entry) })
	rows := make([]*row, 0, len(v.rows)-gone+len(fresh))
	for _, r := range v.rows {
		if r.round != v.round {
			continue
		}
		for len(fresh) > 0 && compareEntries(fresh[0].entry, r.entry) < 0 {
			rows, fresh = append(rows, fresh[0]), fresh[1:]
		}
		rows = append(rows, r)
	}
	v.rows = append(rows, fresh...)
	v.list = make([]entry, len(v.rows))
	for i, r := range v.rows {
		v.list[i] = r.entry
		v.by[r.object] = r
	}
}

// overlaid returns a sorted list in which the entries of over replace those
// with the same name. A nil entry removes one.
func overlaid(list []entry, over map[types.NamespacedName]*entry) []entry {
	if len(over) == 0 {
		return list
	}
	out := make([]entry, 0, len(list)+len(over))
	names := make([]types.NamespacedName, 0, len(over))
	for n := range over {
		names = append(names, n)
	}
	slices.SortFunc(names, func(a, b types.NamespacedName) int {
		return compareEntries(entry{namespace: a.Namespace, name: a.Name}, entry{namespace: b.Namespace, name: b.Name})
	})
	for _, n := range names {
		at, found := slices.BinarySearchFunc(list, entry{namespace: n.Namespace, name: n.Name}, compareEntries)
		out = append(out, list[:at]...)
		if list = list[at:]; found {
			list = list[1:]
		}
		if e := over[n]; e != nil {
			out = append(out, *e)
		}
	}
	return append(out, list...)
}
