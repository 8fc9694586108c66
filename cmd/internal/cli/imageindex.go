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

// indexFile returns the name of the compiled index of a catalog with a digest.
func (i *images) indexFile(digest string) string {
	return filepath.Join(i.dir, imagesDir, "catalog-"+strings.ReplaceAll(digest, ":", "-")+".index")
}

func (i *images) hasIndex(digest string) bool {
	_, err := os.Stat(i.indexFile(digest))
	return err == nil
}

// compiled returns the index of a fetched catalog. It uses the index file that an earlier
// command wrote, or else calls load and writes the index for later commands. A damaged file is
// replaced. If the index cannot be written, later commands are slower, but this is not an
// error.
func (l *loader) compiled(ctx context.Context, c fetchedCatalog, load func() (*graph.Catalog, error)) (*graph.Catalog, error) {
	// An index file does not contain the errors that a full load reports, such as exceeded limits.
	if c.digest == "" || l.whole || l.strict || len(l.limits.given) > 0 {
		return load()
	}
	name := l.images.indexFile(c.digest)
	opts := l.limits.graph()
	opts.Source = c.files
	g, err := graph.OpenIndex(name, opts)
	if err == nil && g.SourceHash() == c.digest {
		now := time.Now() // mark the file as recently used
		_ = os.Chtimes(name, now, now)
		return g, nil
	}
	if g, err = load(); err == nil && !l.images.temp {
		_ = disk.Replace(name, 0o600, func(w io.Writer) error { return graph.WriteIndex(ctx, w, g, c.digest) })
	}
	return g, err
}
