package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/disk"
)

// indexFile returns where the compiled catalog with a digest is.
func (i *images) indexFile(digest string) string {
	return filepath.Join(i.dir, imagesDir, "catalog-"+strings.ReplaceAll(digest, ":", "-")+".index")
}

func (i *images) hasIndex(digest string) bool {
	_, err := os.Stat(i.indexFile(digest))
	return err == nil
}

// compiled returns the index of a fetched catalog: the one that an earlier command
// left, or a new one for later commands. A damaged one is written again. An index
// that cannot be written is not an error: later commands are slower.
func (l *loader) compiled(ctx context.Context, c fetchedCatalog, load func() (*graph.Catalog, error)) (*graph.Catalog, error) {
	// What the limits refuse, and what only a whole load finds, is not in an index.
	if c.digest == "" || l.whole || l.strict || len(l.limits.given) > 0 {
		return load()
	}
	name := l.images.indexFile(c.digest)
	opts := l.limits.graph()
	opts.Source = c.files
	g, err := graph.OpenIndex(name, opts)
	if err == nil && g.SourceHash() == c.digest {
		now := time.Now() // as recently used
		_ = os.Chtimes(name, now, now)
		return g, nil
	}
	if g, err = load(); err == nil && !l.images.temp {
		_ = disk.Replace(name, 0o600, func(w io.Writer) error { return graph.WriteIndex(ctx, w, g, c.digest) })
	}
	return g, err
}
