package content

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/clusterstatus"
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/oci"
)

// A Catalog is one version of the content of a source. It is immutable and safe
// for concurrent use.
type Catalog struct {
	Graph *graph.Catalog
	// Raw returns the whole blob of a bundle in Graph. If nil, graph.Bundle.Raw
	// is used.
	Raw func(ctx context.Context, b graph.Bundle) ([]byte, error)
	// Version identifies the version. Only the source interprets it.
	Version string
}

// A Source reads a catalog. It must be safe for concurrent use.
type Source interface {
	// Read returns the current catalog. If it has not changed since last, Read
	// returns last itself. The first time, last is nil.
	Read(ctx context.Context, last *Catalog) (*Catalog, error)
	// String describes the location for people. Equal strings mean the same
	// location.
	String() string
}

// Dir returns a source for a file-based catalog in a directory. Opts may be
// nil.
func Dir(path string, opts *graph.Options) Source { return &dir{path, opts} }

type dir struct {
	path string
	opts *graph.Options
}

func (d *dir) String() string { return "directory " + d.path }

func (d *dir) Read(ctx context.Context, last *Catalog) (*Catalog, error) {
	fsys := os.DirFS(d.path)
	// Hash before loading: if the files change in between, the next Read detects
	// it.
	hash, err := graph.HashSource(ctx, fsys)
	if err != nil {
		return nil, err
	}
	if last != nil && last.Version == hash {
		return last, nil
	}
	g, err := graph.Load(ctx, fsys, d.opts)
	if err != nil {
		return nil, err
	}
	return &Catalog{Graph: g, Version: hash}, nil
}

// IndexFile returns a source for a compiled index. With opts.Source, manifests
// are read from the catalog files it was built from. Opts may be nil.
func IndexFile(name string, opts *graph.Options) Source { return &indexFile{name, opts} }

type indexFile struct {
	name string
	opts *graph.Options
}

func (f *indexFile) String() string { return "index " + f.name }

func (f *indexFile) Read(_ context.Context, last *Catalog) (*Catalog, error) {
	info, err := os.Stat(f.name)
	if err != nil {
		return nil, err
	}
	version := fmt.Sprint(info.Size(), " ", info.ModTime().Format(time.RFC3339Nano))
	if last != nil && last.Version == version {
		return last, nil
	}
	g, err := graph.OpenIndex(f.name, f.opts)
	if err != nil {
		return nil, err
	}
	return &Catalog{Graph: g, Version: version}, nil
}

// Served returns a source that fetches a catalog with a client.
func Served(c *catalogd.Client) Source { return served{c} }

type served struct{ client *catalogd.Client }

func (s served) String() string { return s.client.URL() }

// kept returns the catalog that an earlier process left on disk, or nil, and
// the time when it was fetched.
func (s served) kept(ctx context.Context) (*Catalog, time.Time) {
	c := s.client.Last(ctx)
	if c == nil {
		return nil, time.Time{}
	}
	return &Catalog{Graph: c.Graph, Raw: c.Raw, Version: c.Hash}, c.Fetched
}

func (s served) Read(ctx context.Context, last *Catalog) (*Catalog, error) {
	c, err := s.client.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	if last != nil && last.Graph == c.Graph {
		return last, nil
	}
	return &Catalog{Graph: c.Graph, Raw: c.Raw, Version: c.Hash}, nil
}

// Image returns a source for a catalog image. Opts may be nil.
func Image(p *oci.Puller, ref string, opts *graph.Options) Source { return &image{p, ref, opts} }

type image struct {
	puller *oci.Puller
	ref    string
	opts   *graph.Options
}

func (i *image) String() string { return clusterstatus.ImageAddress(i.ref) }

func (i *image) Read(ctx context.Context, last *Catalog) (*Catalog, error) {
	img, err := i.puller.Catalog(ctx, i.ref)
	if err != nil {
		return nil, err
	}
	if last != nil && last.Version == img.Digest {
		return last, nil
	}
	g, err := i.load(ctx, img)
	if err != nil {
		return nil, fmt.Errorf("image %s: %w", i.ref, err)
	}
	return &Catalog{Graph: g, Version: img.Digest}, nil
}

// load loads the catalog of an image. If images are kept on disk, the compiled
// index of the catalog is kept next to them, so that the catalog opens faster
// after a restart.
func (i *image) load(ctx context.Context, img *oci.Image) (*graph.Catalog, error) {
	dir := i.puller.Dir()
	if dir == "" {
		return graph.Load(ctx, img.FS, i.opts)
	}
	name := filepath.Join(dir, "catalog-"+strings.ReplaceAll(img.Digest, ":", "-")+".index")
	opts := graph.Options{}
	if i.opts != nil {
		opts = *i.opts
	}
	opts.Source = img.FS
	if g, err := graph.OpenIndex(name, &opts); err == nil && g.SourceHash() == img.Digest {
		now := time.Now() // mark the index as recently used, as the puller does with images
		_ = os.Chtimes(name, now, now)
		return g, nil
	}
	opts.Source, opts.InstallModes = nil, true
	g, err := graph.Load(ctx, img.FS, &opts)
	if err != nil {
		return nil, err
	}
	// Best effort: without an index the next start is only slower.
	_ = disk.Replace(name, 0o600, func(w io.Writer) error { return graph.WriteIndex(ctx, w, g, img.Digest) })
	return g, nil
}

func (c *Catalog) raw(ctx context.Context, b graph.Bundle) ([]byte, error) {
	if c.Raw != nil {
		return c.Raw(ctx, b)
	}
	return b.Raw(ctx)
}

var errNoPuller = errors.New("this program is not configured to pull images")
