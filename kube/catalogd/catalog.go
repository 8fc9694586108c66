package catalogd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// A Catalog is what a server answered once. It never changes, and any number of
// goroutines may share it. Its text stays in a file that is open for as long as
// something refers to the catalog.
type Catalog struct {
	Graph *graph.Catalog
	// Hash is the SHA-256 of the text in hex, Size its length in bytes.
	Hash string
	Size int64
	// Fetched is when the text came from the server, by the local clock.
	Fetched time.Time

	text *spooled

	mu      sync.Mutex
	blobs   *fbc.Catalog
	bundles map[[2]string]*fbc.Bundle // by package and name
}

// Raw returns the whole blob of a bundle of the catalog's graph, with the heavy
// properties that the graph does not hold. The first call on a catalog that was
// opened from disk loads its text, and fails if that was damaged since.
func (c *Catalog) Raw(ctx context.Context, b graph.Bundle) ([]byte, error) {
	if (b == graph.Bundle{}) || b.Package().Catalog() != c.Graph {
		return nil, errors.New("the bundle belongs to another catalog")
	}
	if raw, err := b.Raw(ctx); !errors.Is(err, fbc.ErrNoSource) {
		return raw, err
	}
	blobs, blob, err := c.blob(ctx, b.Package().Name(), b.Name())
	if err != nil {
		return nil, err
	}
	return blobs.Raw(ctx, blob)
}

// blob returns a bundle of the blobs that were left on disk.
func (c *Catalog) blob(ctx context.Context, pkg, name string) (*fbc.Catalog, *fbc.Bundle, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.blobs == nil {
		b := &body{to: io.Discard, hash: sha256.New(), text: bounded{r: io.NewSectionReader(c.text.file, 0, c.Size), left: c.Size}}
		text := &spooled{name: c.text.name, file: c.text.file, first: b}
		blobs, err := fbc.Load(ctx, text, nil)
		if err != nil {
			return nil, nil, err
		}
		switch size, sum, err := b.end(); {
		case err != nil:
			return nil, nil, err
		case sum != c.Hash || size != c.Size:
			return nil, nil, errors.New("the text of the catalog on disk was damaged; remove it and start again")
		}
		text.settle(c.Size)
		c.blobs, c.bundles = blobs, map[[2]string]*fbc.Bundle{}
		for _, b := range blobs.Bundles {
			c.bundles[[2]string{b.Package, b.Name}] = b
		}
	}
	blob, ok := c.bundles[[2]string{pkg, name}]
	if !ok {
		return nil, nil, fmt.Errorf("package %q has no bundle %q in the text of the catalog", pkg, name)
	}
	return c.blobs, blob, nil
}
