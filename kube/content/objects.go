package content

import (
	"container/list"
	"context"
	"sync"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// An objects caches the most recently used manifests of bundles, up to a size.
// It is safe for concurrent use.
type objects struct {
	most int64

	mu    sync.Mutex
	by    map[objectsOf]*list.Element // elements of order
	order *list.List                  // of *foundObjects, most recent first
	size  int64
}

// An objectsOf identifies the manifests of a bundle in one version of its
// catalog.
type objectsOf struct {
	catalog               resolver.CatalogID
	from, version         string
	bundlePackage, bundle string
}

type foundObjects struct {
	of   objectsOf
	list []olm.Object
	size int64
}

func newObjects(most int64) *objects {
	return &objects{most: most, by: map[objectsOf]*list.Element{}, order: list.New()}
}

// get returns the manifests of a bundle.
func (o *objects) get(ctx context.Context, c *snapshot, b graph.Bundle, bundles *oci.Puller) ([]olm.Object, error) {
	key := objectsOf{c.id, c.from, c.Version, b.Package().Name(), b.Name()}
	o.mu.Lock()
	if e, ok := o.by[key]; ok {
		o.order.MoveToFront(e)
		o.mu.Unlock()
		return e.Value.(*foundObjects).list, nil
	}
	o.mu.Unlock()
	found, err := c.find(ctx, b, bundles)
	if err != nil {
		return nil, err
	}
	var size int64
	for i := range found {
		text, err := found[i].MarshalJSON()
		if err != nil {
			return nil, err
		}
		size += int64(len(text))
	}
	o.put(&foundObjects{key, found, size})
	return found, nil
}

// put adds manifests at the front and evicts the least recently used ones.
func (o *objects) put(f *foundObjects) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, ok := o.by[f.of]; ok || f.size > o.most {
		return
	}
	o.by[f.of] = o.order.PushFront(f)
	o.size += f.size
	for o.size > o.most {
		f := o.order.Remove(o.order.Back()).(*foundObjects)
		delete(o.by, f.of)
		o.size -= f.size
	}
}
