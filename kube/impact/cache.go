package impact

import (
	"context"
	"crypto/sha256"
	"sync"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/kube/crdsafety"
	"github.com/olmkit/olmkit/kube/internal/recent"
	"github.com/olmkit/olmkit/kube/permissions"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// A Cache keeps results of comparisons, so that each distinct pair of CRDs and of
// permissions is compared once. It also keeps what the last few bundles install, because the
// new bundle of one upgrade is usually the old one of the next. Do not modify a bundle after
// it was compared. The zero value is empty. It is safe for concurrent use.
type Cache struct {
	mu    sync.Mutex
	crds  map[[2][32]byte]*crdsafety.Result
	rules map[[2][32]byte]*lacking

	contents   recent.Cache[contentKey, *content]
	bundleCRDs recent.Cache[*registryv1.Bundle, map[string]*crd]
	installed  recent.Cache[installation, map[objectID]*unstructured.Unstructured]
}

// An installation is what the objects that a bundle installs depend on.
type installation struct {
	bundle           *registryv1.Bundle
	classic          bool
	namespace, watch string
}

// maxRecent is the number of bundles of which results are kept. A few packages are compared at
// the same time.
const maxRecent = 8

// A contentKey identifies a CRD: by its digest, and whether a webhook of the bundle converts it.
type contentKey struct {
	digest    string
	converted bool
}

// A lacking is a result of uncovered.
type lacking struct {
	rules []permissions.Rule
	ok    bool
}

// compareCRDs returns the result of crdsafety.Compare, which must not be modified.
func (c *Cache) compareCRDs(ctx context.Context, old, created *content) (*crdsafety.Result, error) {
	k := [2][32]byte{old.sum, created.sum}
	c.mu.Lock()
	r, ok := c.crds[k]
	c.mu.Unlock()
	if ok {
		return r, nil
	}
	r, err := crdsafety.Compare(ctx, old.CustomResourceDefinition, created.CustomResourceDefinition, nil)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.crds == nil {
		c.crds = map[[2][32]byte]*crdsafety.Result{}
	}
	c.crds[k] = r
	return r, nil
}

// uncovered returns the result of the function uncovered, which must not be modified.
func (c *Cache) uncovered(have, want []permissions.Rule) ([]permissions.Rule, bool) {
	k := [2][32]byte{sum(have), sum(want)}
	if k[0] == k[1] {
		return nil, true
	}
	c.mu.Lock()
	l, ok := c.rules[k]
	c.mu.Unlock()
	if !ok {
		l = &lacking{}
		l.rules, l.ok = uncovered(have, want)
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.rules == nil {
			c.rules = map[[2][32]byte]*lacking{}
		}
		c.rules[k] = l
	}
	return l.rules, l.ok
}

func sum(rules []permissions.Rule) [32]byte {
	h := sha256.New()
	for i := range rules {
		h.Write([]byte(key(&rules[i])))
		h.Write([]byte{2})
	}
	return [32]byte(h.Sum(nil))
}
