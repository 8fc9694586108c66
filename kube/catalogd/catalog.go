package catalogd

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"sync"
	"time"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// A Catalog is one version of a server's catalog. It is immutable and safe for
// concurrent use. Its text stays in a file that is open for as long as the
// catalog is referenced.
type Catalog struct {
	Graph *graph.Catalog
	// Hash is the SHA-256 of the text in hexadecimal, and Size is the length of
	// the text in bytes.
	Hash string
	Size int64
	// Fetched is when the text was received, by the local clock.
	Fetched time.Time

	text *spooled

	mu      sync.Mutex
	blobs   *fbc.Catalog
	bundles map[[2]string]*fbc.Bundle // by package and name
}

// Raw returns the whole blob of a bundle in Graph, including the large
// properties that Graph leaves out. For a catalog opened from disk, the first
// call loads the text, and fails if the text has been damaged.
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

// blob returns a bundle, and the catalog loaded from the text on disk.
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
			if c.text.path == "" {
				return nil, nil, errors.New("the temporary file with the catalog's text is damaged; restart to fetch the catalog again")
			}
			return nil, nil, fmt.Errorf("%s is damaged; remove it and restart", c.text.path)
		}
		text.settle(c.Size)
		c.blobs, c.bundles = blobs, map[[2]string]*fbc.Bundle{}
		for _, b := range blobs.Bundles {
			c.bundles[[2]string{b.Package, b.Name}] = b
		}
	}
	blob, ok := c.bundles[[2]string{pkg, name}]
	if !ok {
		return nil, nil, fmt.Errorf("package %q has no bundle %q in the catalog's text", pkg, name)
	}
	return c.blobs, blob, nil
}

// Files returns the text as a file system with one file.
func (c *Catalog) Files() fs.FS { return c.text }
