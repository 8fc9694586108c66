package cli

import (
	"context"
	"errors"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/oci"
)

// The images are the catalogs that references lead to, each fetched once.
type images struct {
	limits oci.Limits
	puller *oci.Puller
	dir    string
	temp   bool
	files  map[string]fetched
	noted  map[string]bool
}

type fetched struct {
	files fs.FS
	err   error
}

// errUncached ends completion where it would need the network.
var errUncached = errors.New("completion does not fetch catalogs")

// fetch returns the files of the catalog that a reference names.
func (l *loader) fetch(ctx context.Context, ref reference) (fs.FS, error) {
	if l.silent {
		return nil, errUncached
	}
	if got, ok := l.images.files[ref.text]; ok {
		return got.files, got.err
	}
	files, err := l.fetchNow(ctx, ref)
	if err != nil && ctx.Err() != nil {
		return nil, err // the next question may have more time
	}
	if l.images.files == nil {
		l.images.files = map[string]fetched{}
	}
	l.images.files[ref.text] = fetched{files, err}
	return files, err
}

func (l *loader) fetchNow(ctx context.Context, ref reference) (fs.FS, error) {
	if ref.bare {
		visible.Fprintf(l.stderr, "note: %s is not a path; reading image %s\n", strings.TrimPrefix(ref.text, registryScheme), ref.text)
	}
	dir, err := l.cacheDir()
	if err != nil {
		return nil, err
	}
	if isServer(ref.text) {
		return fetchServer(ctx, ref.text, filepath.Join(dir, "servers"), l)
	}
	puller := l.images.puller
	if puller == nil {
		puller = oci.New(&oci.Options{
			Keychain: authn.DefaultKeychain,
			Stdin:    l.stdin,
			Dir:      filepath.Join(dir, "images"),
			Timeout:  math.MaxInt64, // --timeout ends the context
			Catalogs: l.images.limits,
		})
		l.images.puller = puller
	}
	var img *oci.Image
	if image, ok := strings.CutPrefix(ref.text, registryScheme); ok {
		img, err = puller.Catalog(ctx, image)
	} else {
		img, err = puller.CatalogFile(ctx, ref.text)
	}
	if err != nil {
		return nil, err
	}
	return img.FS, nil
}

// fetchServer returns the catalog that a server offers as catalogd does.
func fetchServer(ctx context.Context, url, dir string, l *loader) (fs.FS, error) {
	client, err := catalogd.New(strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/api/v1/all"), &catalogd.Options{Dir: dir, Graph: l.limits.graph()})
	if err != nil {
		return nil, err
	}
	c, err := client.Fetch(ctx)
	if err != nil {
		return nil, err
	}
	return c.Files(), nil
}

// cacheDir returns the directory for what was fetched. Without one for the user,
// it is temporary.
func (l *loader) cacheDir() (string, error) {
	if l.images.dir != "" {
		return l.images.dir, nil
	}
	if dir, err := os.UserCacheDir(); err == nil {
		dir = filepath.Join(dir, "olmkit")
		if os.MkdirAll(dir, 0o700) == nil {
			l.images.dir = dir
			return dir, nil
		}
	}
	dir, err := os.MkdirTemp("", "olmkit-")
	l.images.dir, l.images.temp = dir, err == nil
	return dir, err
}

// close removes temporary files.
func (i *images) close() {
	if i.temp {
		os.RemoveAll(i.dir)
	}
}

// noteReference notes that a path was taken for what could be a reference.
func (l *loader) noteReference(path string) {
	ref, ok := looksLikeReference(path)
	if !ok || l.silent || l.images.noted[path] {
		return
	}
	if l.images.noted == nil {
		l.images.noted = map[string]bool{}
	}
	l.images.noted[path] = true
	how := ""
	if ref.bare {
		how = "; write " + ref.text + " for the image"
	}
	visible.Fprintf(l.stderr, "note: %s exists; reading that path%s\n", path, how)
}
