package kube

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/olmkit/olmkit/olm"
)

// cached reads from the informers of a manager's cache, overlaid with the
// writes that the cache has not seen. Each version of an object is converted
// once.
type cached struct {
	recent    *recent
	informers map[groupKind]toolscache.SharedIndexInformer
	views     map[viewOf]*view

	mu sync.RWMutex
	// converted is keyed by object: cached objects are never modified, and each
	// version is a new object. An entry is removed once nothing else refers to the
	// object.
	converted map[weak.Pointer[unstructured.Unstructured]]entry
}

// A viewOf is the key of a view. There are views only for selections that do
// not depend on a namespace.
type viewOf struct {
	groupKind
	selection
}

// newCached returns a source that reads from a cache. It adds indexes, so it
// must be called before the cache starts.
func newCached(ctx context.Context, c cache.Cache, r *recent) (*cached, error) {
	s := &cached{recent: r, informers: map[groupKind]toolscache.SharedIndexInformer{}, views: map[viewOf]*view{}, converted: map[weak.Pointer[unstructured.Unstructured]]entry{}}
	for _, k := range kinds() {
		i, err := informer(ctx, c, k)
		if err != nil {
			return nil, err
		}
		if err := i.AddIndexers(s.watch(k, i.GetIndexer())); err != nil {
			return nil, fmt.Errorf("indexing %s: %w", k.plural, err)
		}
		s.informers[k.group()] = i
	}
	return s, nil
}

// watch creates the views of a kind. The indexes it returns notify the views of
// changes in the store.
func (s *cached) watch(k kind, index toolscache.Indexer) toolscache.Indexers {
	touched := &atomic.Uint64{}
	indexers := toolscache.Indexers{}
	for _, name := range []string{byOwner, bySubject, byOriginal, byCopy, byTarget, byOLM} {
		indexers[name] = func(o any) ([]string, error) {
			u, ok := o.(*unstructured.Unstructured)
			if !ok {
				return nil, notUnstructured(o)
			}
			if name == byOwner { // count each change once
				touched.Add(1)
			}
			return indexValues(name, u), nil
		}
	}
	for _, sel := range []selection{{}, {index: byOriginal}} {
		s.views[viewOf{k.group(), sel}] = &view{
			state:    func() storeState { return storeState{touched.Load(), index.LastStoreSyncResourceVersion()} },
			selected: func() ([]any, error) { return selected(index, sel) },
			convert:  func(u *unstructured.Unstructured) entry { return s.convert(k, u) },
		}
	}
	return indexers
}

func informer(ctx context.Context, c cache.Cache, k kind) (toolscache.SharedIndexInformer, error) {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(k.gvk)
	i, err := c.GetInformer(ctx, u, cache.BlockUntilSynced(false))
	if err != nil {
		return nil, fmt.Errorf("watching %s: %w", k.plural, err)
	}
	shared, ok := i.(toolscache.SharedIndexInformer)
	if !ok {
		return nil, fmt.Errorf("watching %s: the cache has a %T; let the cache watch all namespaces, and divide them with a Shard", k.plural, i)
	}
	return shared, nil
}

func (s *cached) overlay(k kind) (toolscache.Indexer, map[types.NamespacedName]*unstructured.Unstructured) {
	i := s.informers[k.group()]
	index := i.GetIndexer()
	seen := index.LastStoreSyncResourceVersion()
	if seen == "" { // the informer's feature gate for atomic updates is off
		seen = i.LastSyncResourceVersion()
	}
	return index, s.recent.merge(k.group(), seen, func(n types.NamespacedName) *unstructured.Unstructured {
		o, _, _ := index.GetByKey(storeKey(n.Namespace, n.Name))
		u, _ := o.(*unstructured.Unstructured)
		return u
	})
}

func storeKey(namespace, name string) string {
	if namespace == "" {
		return name
	}
	return namespace + "/" + name
}

func (s *cached) list(ctx context.Context, k kind, sel selection) ([]entry, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	// Read the writes first: if the cache receives one of them in the meantime,
	// it is in the cache's list.
	index, fresh := s.overlay(k)
	list, err := s.stored(k, sel, index)
	if err != nil {
		return nil, fmt.Errorf("reading %s from the cache: %w", k.plural, err)
	}
	if len(fresh) == 0 {
		return list, nil
	}
	over := make(map[types.NamespacedName]*entry, len(fresh))
	for name, u := range fresh {
		over[name] = nil
		if u == nil || sel.namespace != "" && name.Namespace != sel.namespace || sel.index != "" && !slices.Contains(indexValues(sel.index, u), sel.value) {
			continue
		}
		e := s.convert(k, u)
		over[name] = &e
	}
	return overlaid(list, over), nil
}

// stored returns the cached objects of a selection, sorted, without recent
// writes. Lists of the whole cluster are shared.
func (s *cached) stored(k kind, sel selection, index toolscache.Indexer) ([]entry, error) {
	if v := s.views[viewOf{k.group(), sel}]; v != nil {
		return v.entries()
	}
	items, err := selected(index, sel)
	if err != nil {
		return nil, err
	}
	out := make([]entry, 0, len(items))
	for _, o := range items {
		u, ok := o.(*unstructured.Unstructured)
		if !ok {
			return nil, notUnstructured(o)
		}
		out = append(out, s.convert(k, u))
	}
	slices.SortFunc(out, compareEntries)
	return out, nil
}

func selected(index toolscache.Indexer, sel selection) ([]any, error) {
	switch {
	case sel.index != "":
		return index.ByIndex(sel.index, sel.value)
	case sel.namespace != "":
		return index.ByIndex(toolscache.NamespaceIndex, sel.namespace)
	}
	return index.List(), nil
}

func notUnstructured(o any) error { return fmt.Errorf("the cache holds a %T", o) }

func (s *cached) get(ctx context.Context, k kind, namespace, name string) (olm.Resource, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	index, fresh := s.overlay(k)
	u, ok := fresh[types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok {
		o, _, err := index.GetByKey(storeKey(namespace, name))
		if err != nil {
			return nil, err
		}
		u, _ = o.(*unstructured.Unstructured)
	}
	if u == nil {
		return nil, nil
	}
	e := s.convert(k, u)
	return e.value, e.err
}

func (s *cached) convert(k kind, u *unstructured.Unstructured) entry {
	key := weak.Make(u)
	s.mu.RLock()
	e, ok := s.converted[key]
	s.mu.RUnlock()
	if ok {
		return e
	}
	e = entry{namespace: u.GetNamespace(), name: u.GetName()}
	bare := u
	if len(u.GetManagedFields()) > 0 { // Strip leaves what writes must not send back
		bare = shallow(u)
		bare.SetManagedFields(nil)
	}
	e.value, e.err = decode(k, bare)
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, ok := s.converted[key]; !ok {
		runtime.AddCleanup(u, s.forget, key)
	}
	s.converted[key] = e
	return e
}

// forget removes the entry of an object that is gone.
func (s *cached) forget(key weak.Pointer[unstructured.Unstructured]) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.converted, key)
}
