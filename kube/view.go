package kube

import (
	"slices"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
)

// A view is one sorted list of a cache, which all namespaces share. It is made
// anew when the cache has changed, out of the one before: of a thousand objects
// a change touches one. It is safe for use by several goroutines.
type view struct {
	state    func() storeState
	selected func() ([]any, error) // in the store
	convert  func(*unstructured.Unstructured) entry

	mu    sync.Mutex
	made  storeState // when the list was made
	list  []entry
	rows  []*row // those of list
	by    map[*unstructured.Unstructured]*row
	round int
}

// A storeState is another one whenever the objects of a store are: touched counts
// the objects that came, changed or went, which its indexes are told of one by
// one; only when all are replaced at once by none they are not, and the version
// tells. The version alone goes back when a cache repeats its objects.
type storeState struct {
	touched uint64
	version string
}

// A row is an entry of a view and the object it was made of. The objects of a
// cache are never modified: another version is another object.
type row struct {
	entry
	object *unstructured.Unstructured
	round  int // the last one that saw it
}

// entries returns the list, which the caller must not modify.
func (v *view) entries() ([]entry, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	// The state first: a list that is newer is made once more, and that is all.
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
		v.by = make(map[*unstructured.Unstructured]*row, len(items))
	}
	var fresh []*row
	for _, o := range items {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return nil, notUnstructured(o)
		}
		r := v.by[u]
		if r == nil {
			r = &row{entry: v.convert(u), object: u}
			fresh = append(fresh, r)
		}
		r.round = v.round
	}
	v.merge(fresh)
	v.made = state
	return v.list, nil
}

// merge makes the list of the rows that this round saw and new ones.
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

// overlaid returns a sorted list with other entries in the place of those of the
// same name, or without them where there is none.
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
