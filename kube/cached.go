package kube

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/olmkit/olmkit/olm"
)

// cached reads from the informers of a manager's cache, overlaid with the
// writes that the cache has not seen.
type cached struct {
	recent    *recent
	informers map[groupKind]toolscache.SharedIndexInformer
	views     map[viewOf]*view

	converted converted
	specs     specs
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
	s := &cached{recent: r, informers: map[groupKind]toolscache.SharedIndexInformer{}, views: map[viewOf]*view{}}
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
			object, ok := o.(client.Object)
			if !ok {
				return nil, unexpected(o)
			}
			if name == byOwner { // count each change once
				touched.Add(1)
			}
			return indexValues(name, object)
		}
	}
	for _, sel := range []selection{{}, {index: byOriginal}} {
		s.views[viewOf{k.group(), sel}] = &view{
			state:    func() storeState { return storeState{touched.Load(), index.LastStoreSyncResourceVersion()} },
			selected: func() ([]any, error) { return selected(index, sel) },
			convert:  func(o client.Object) entry { return s.convert(k, o) },
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

func (s *cached) overlay(k kind) (toolscache.Indexer, map[types.NamespacedName]client.Object) {
	i := s.informers[k.group()]
	index := i.GetIndexer()
	seen := index.LastStoreSyncResourceVersion()
	if seen == "" { // the informer's feature gate for atomic updates is off
		seen = i.LastSyncResourceVersion()
	}
	return index, s.recent.merge(k.group(), seen, func(n types.NamespacedName) client.Object {
		o, _, _ := index.GetByKey(storeKey(n.Namespace, n.Name))
		object, _ := o.(client.Object)
		return object
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
	for name, o := range fresh {
		if over[name] = nil; sel.has(o) {
			e := s.convert(k, o)
			over[name] = &e
		}
	}
	return overlaid(list, over), nil
}

// has reports whether an object, or nil, is in the selection.
func (s selection) has(o client.Object) bool {
	return o != nil && (s.namespace == "" || o.GetNamespace() == s.namespace) && (s.index == "" || slices.Contains(indexed(s.index, o), s.value))
}

func (s *cached) names(ctx context.Context, k kind, sel selection) ([]types.NamespacedName, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	index, fresh := s.overlay(k)
	items, err := selected(index, sel)
	if err != nil {
		return nil, fmt.Errorf("reading %s from the cache: %w", k.plural, err)
	}
	out := make([]types.NamespacedName, 0, len(items))
	for _, x := range items {
		o, ok := x.(client.Object)
		if !ok {
			return nil, unexpected(x)
		}
		if name := client.ObjectKeyFromObject(o); !hasKey(fresh, name) {
			out = append(out, name)
		}
	}
	for name, o := range fresh {
		if sel.has(o) {
			out = append(out, name)
		}
	}
	slices.SortFunc(out, func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return out, nil
}

func hasKey[K comparable, V any](m map[K]V, k K) bool { _, ok := m[k]; return ok }

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
		object, ok := o.(client.Object)
		if !ok {
			return nil, unexpected(o)
		}
		out = append(out, s.convert(k, object))
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

func (s *cached) get(ctx context.Context, k kind, namespace, name string) (olm.Resource, error) {
	if err := ctx.Err(); err != nil {
		return nil, context.Cause(ctx)
	}
	index, fresh := s.overlay(k)
	o, ok := fresh[types.NamespacedName{Namespace: namespace, Name: name}]
	if !ok {
		cached, _, err := index.GetByKey(storeKey(namespace, name))
		if err != nil {
			return nil, err
		}
		o, _ = cached.(client.Object)
	}
	if o == nil {
		return nil, nil
	}
	e := s.convert(k, o)
	return e.value, e.err
}

func (s *cached) convert(k kind, o client.Object) entry {
	if e, ok := s.converted.get(o); ok {
		return e
	}
	e := entry{namespace: o.GetNamespace(), name: o.GetName()}
	bare := o
	if u, ok := o.(*unstructured.Unstructured); ok && len(u.GetManagedFields()) > 0 { // Strip leaves what writes must not send back
		u = shallow(u)
		u.SetManagedFields(nil)
		bare = u
	}
	e.value, e.err = decode(k, bare)
	if p, ok := o.(*packed); ok {
		if c, ok := e.value.(*olm.ClusterServiceVersion); ok {
			s.specs.share(p.parts[2], c)
		}
	}
	s.converted.put(o, e)
	return e
}

// converted has what was recently converted, so that a run converts objects once. It is keyed by object: cached
// objects are never modified, and each version is a new object. It is safe for concurrent use.
type converted struct {
	mu       sync.Mutex
	new, old map[client.Object]entry // at most mostConverted each
}

const mostConverted = 1024

func (c *converted) get(o client.Object) (entry, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.new[o]
	if ok {
		return e, true
	}
	if e, ok = c.old[o]; ok {
		c.add(o, e)
	}
	return e, ok
}

func (c *converted) put(o client.Object, e entry) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.add(o, e)
}

func (c *converted) add(o client.Object, e entry) {
	if len(c.new) >= mostConverted || c.new == nil {
		c.new, c.old = make(map[client.Object]entry), c.new
	}
	c.new[o] = e
}
