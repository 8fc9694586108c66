package registryv1

import (
	"crypto/sha256"
	"encoding/hex"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/olmkit/olmkit/kube/internal/apicheck"

	"github.com/olmkit/olmkit/kube/internal/recent"
)

// maxCached is the number of bytes of the manifests that a Cache keeps. Their decoded form
// takes several times as much.
const maxCached = 4 << 20

// A Cache keeps the CRDs that were read last, because most versions of an operator have the
// same ones: an equal manifest in another bundle is not decoded and checked again. Bundles that
// were read with a Cache share these CRDs, so do not modify them. The zero value is empty. It is
// safe for concurrent use.
type Cache struct {
	crds recent.Cache[[sha256.Size]byte, *sharedCRD]
}

// A sharedCRD is a CRD of several bundles.
type sharedCRD struct {
	digest string
	crd    *apiextensionsv1.CustomResourceDefinition
	errors func() field.ErrorList // see apicheck.CRD
}

// find returns the CRD that is the only object of a document, or nil if it is not known.
func (c *Cache) find(sum [sha256.Size]byte) *sharedCRD {
	if c == nil {
		return nil
	}
	x, _ := c.crds.Find(sum)
	return x
}

// keep shares the CRD of a document.
func (c *Cache) keep(sum [sha256.Size]byte, size int, crd *apiextensionsv1.CustomResourceDefinition) *sharedCRD {
	x := &sharedCRD{hex.EncodeToString(sum[:]), crd, sync.OnceValue(func() field.ErrorList { return apicheck.CRD(crd) })}
	c.crds.Put(sum, x, size, maxCached)
	return x
}

// Digest identifies the text of a CRD that was read with a Cache. It is empty for all other
// manifests, whose objects may be modified.
func (m *Manifest[T]) Digest() string {
	if m.shared == nil {
		return ""
	}
	return m.shared.digest
}
