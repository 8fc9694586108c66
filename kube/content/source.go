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
	"github.com/olmkit/olmkit/internal/disk"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/oci"
)

// A Catalog is what a source had at some time. It never changes, and any number
// of goroutines may share it.
type Catalog struct {
	Graph *graph.Catalog
	// Raw returns the whole blob of a bundle of Graph. Nil: that is in the graph
	// (graph.Bundle.Raw).
	Raw func(ctx context.Context, b graph.Bundle) ([]byte, error)
	// Version tells what a source had from what it has now. It means something to
	// the source alone.
	Version string
}

// A Source is where a catalog comes from. It must be safe for use by several
// goroutines.
type Source interface {
	// Read returns the catalog as it is now, or last, the same pointer, when that
	// is still it. last is nil at first.
	Read(ctx context.Context, last *Catalog) (*Catalog, error)
	// String tells where it is, for people. Sources that are the same place tell
	// the same.
	String() string
}

// Dir returns the file-based catalog in a directory. Opts may be nil.
func Dir(path string, opts *graph.Options) Source { return &dir{path, opts} }

type dir struct {
	path string
	opts *graph.Options
}

func (d *dir) String() string { return "directory " + d.path }

func (d *dir) Read(ctx context.Context, last *Catalog) (*Catalog, error) {
	fsys := os.DirFS(d.path)
	// Before the load: what changes in between is found the next time.
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

// IndexFile returns the catalog of a compiled index. With opts.Source, manifests
// are read from the files that it was made from. Opts may be nil.
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

// Served returns the catalog that a client fetches.
func Served(c *catalogd.Client) Source { return served{c} }

type served struct{ client *catalogd.Client }

func (s served) String() string { return s.client.URL() }

// kept returns what an earlier process read, if that is on disk, and when.
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

// Image returns the catalog of an image. Opts may be nil.
func Image(p *oci.Puller, ref string, opts *graph.Options) Source { return &image{p, ref, opts} }

type image struct {
	puller *oci.Puller
	ref    string
	opts   *graph.Options
}

func (i *image) String() string { return "image " + i.ref }

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

// load loads the catalog of an image. Where images are kept on disk, its index is
// kept beside them: a program that starts again opens that.
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
		now := time.Now() // as the puller does
		_ = os.Chtimes(name, now, now)
		return g, nil
	}
	g, err := graph.Load(ctx, img.FS, i.opts)
	if err != nil {
		return nil, err
	}
	// Without an index the next start takes longer: nothing that anybody must know.
	_ = disk.Replace(name, 0o600, func(w io.Writer) error { return graph.WriteIndex(ctx, w, g, img.Digest) })
	return g, nil
}

// raw returns the blob of a bundle.
func (c *Catalog) raw(ctx context.Context, b graph.Bundle) ([]byte, error) {
	if c.Raw != nil {
		return c.Raw(ctx, b)
	}
	return b.Raw(ctx)
}

var errNoPuller = errors.New("this program does not read images")
