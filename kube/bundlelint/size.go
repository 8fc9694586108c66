package bundlelint

import (
	"compress/gzip"
	"io/fs"
	"path"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
)

// maxCompressed is how many bytes classic OLM can keep in the ConfigMap of an unpacked
// bundle.
const maxCompressed = 1 << 20

// size checks K221: the manifests, each compressed separately, fit into one ConfigMap.
func (l *linter) size() {
	const dir = "manifests"
	var total counter
	entries, err := fs.ReadDir(l.fsys, dir)
	for _, e := range entries {
		var text []byte
		if err == nil && l.ctx.Err() == nil {
			text, err = fs.ReadFile(l.fsys, path.Join(dir, e.Name()))
		}
		z := gzip.NewWriter(&total)
		z.Write(text) // a counter does not fail
		z.Close()
	}
	switch at := (fbc.Pos{File: dir}); {
	case err != nil:
		l.report(codes.Unreadable, at, "%w", err)
	case total > maxCompressed:
		l.report(codes.BundleSize, at, "the manifests have %d bytes when each is compressed, and classic OLM unpacks at most %d; shorten descriptions in CRDs, or move dashboards and examples out of the bundle", total, maxCompressed)
	}
}

// A counter counts the bytes that are written to it.
type counter int64

func (c *counter) Write(p []byte) (int, error) {
	*c += counter(len(p))
	return len(p), nil
}
