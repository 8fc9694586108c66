package cli

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/spf13/pflag"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/oci"
)

// An images fetches the catalogs that references name, each of them once.
type images struct {
	authFile, caFile, cacheDir string
	noCache, offline           bool
	mirrors                    []string
	// clusterMirrors are the mirrors that the cluster configures, and clusterKeys are its
	// credentials for registries.
	clusterMirrors []oci.Registry
	clusterKeys    []authn.Keychain

	puller *oci.Puller
	roots  *x509.CertPool // nil for the certificate authorities of the system
	dir    string
	temp   bool
	files  map[string]fetched
	noted  map[string]bool
}

type fetched struct {
	place fetchedCatalog
	err   error
}

// A fetchedCatalog is the content of a reference.
type fetchedCatalog struct {
	files fs.FS
	// digest identifies the files. It is "" if the source does not have a digest.
	digest string
}

func (i *images) addFlags(f *pflag.FlagSet) {
	f.StringVar(&i.authFile, "authfile", "", "the `FILE` with credentials for registries (default: those of podman and docker)")
	f.StringVar(&i.caFile, "ca-file", "", "a PEM `FILE` with certificate authorities for registries and servers, in addition to the system's")
	addList(f, &i.mirrors, "mirrors", "", "a `FILE` with ImageDigestMirrorSets, ImageTagMirrorSets or ImageContentSourcePolicies (repeatable; default: registries.conf, as for podman)")
	f.StringVar(&i.cacheDir, "cache-dir", "", "the `DIRECTORY` for fetched catalogs (default: olmkit in the user's cache directory)")
	f.BoolVar(&i.noCache, "no-cache", false, "fetch catalogs again, and keep nothing")
	f.BoolVar(&i.offline, "offline", false, "use only fetched catalogs that are in the cache")
}

// The directories of the cache.
const (
	imagesDir     = "images"
	serversDir    = "servers"
	referencesDir = "references" // a file for each remembered reference
)

// errUncached ends a completion that would need the network.
var errUncached = errors.New("completion does not fetch catalogs")

// fetch returns the catalog that a reference names.
func (l *loader) fetch(ctx context.Context, ref reference) (fetchedCatalog, error) {
	if l.silent {
		return fetchedCatalog{}, errUncached
	}
	if got, ok := l.images.files[ref.text]; ok {
		return got.place, got.err
	}
	place, err := l.fetchNow(ctx, ref)
	if err != nil && ctx.Err() != nil {
		// Do not cache the error: the next call may have more time.
		if late := (*timeoutError)(nil); errors.As(context.Cause(ctx), &late) {
			err = &timeoutError{late.after, " while fetching " + display(ref.text)}
		}
		return fetchedCatalog{}, err
	}
	if l.images.files == nil {
		l.images.files = map[string]fetched{}
	}
	l.images.files[ref.text] = fetched{place, err}
	return place, err
}

func (l *loader) fetchNow(ctx context.Context, ref reference) (fetchedCatalog, error) {
	if ref.bare {
		visible.Fprintf(l.stderr, "note: %s is not a path; reading image %s\n", strings.TrimPrefix(ref.text, registryScheme), ref.text)
	}
	if err := l.images.open(l.env); err != nil {
		return fetchedCatalog{}, err
	}
	if isServer(ref.text) {
		return l.fetchServer(ctx, ref.text)
	}
	puller := l.images.puller
	image, ok := strings.CutPrefix(ref.text, registryScheme)
	if !ok {
		img, err := puller.CatalogFile(ctx, ref.text)
		if err != nil {
			return fetchedCatalog{}, err
		}
		return fetchedCatalog{img.FS, img.Digest}, nil
	}
	// Ignore an error of digest: the pull below fails too, with an error that includes the
	// registry's answer.
	digest, err := l.digest(ctx, image)
	if err != nil && (ctx.Err() != nil || l.images.offline) {
		return fetchedCatalog{}, err
	}
	if at, bad := pinned(image, digest); err == nil && bad == nil && (l.images.offline || l.images.hasIndex(digest)) {
		// Fetch the files only when they are needed: an index often suffices.
		return fetchedCatalog{laterFS(sync.OnceValues(func() (fs.FS, error) {
			img, err := puller.Catalog(ctx, at)
			if err != nil {
				return nil, err
			}
			return img.FS, nil
		})), digest}, nil
	}
	img, err := puller.Catalog(ctx, image)
	if err != nil {
		return fetchedCatalog{}, err
	}
	return fetchedCatalog{img.FS, img.Requested}, nil
}

// fetchBundle returns the files in a bundle image.
func (l *loader) fetchBundle(ctx context.Context, ref reference) (fs.FS, error) {
	if isServer(ref.text) {
		return nil, errors.New("is not an image; name a bundle's image or directory")
	}
	if err := l.images.open(l.env); err != nil {
		return nil, err
	}
	pull := l.images.puller.BundleFile
	image, ok := strings.CutPrefix(ref.text, registryScheme)
	if !ok {
		image = ref.text
	} else {
		pull = l.images.puller.Bundle
		digest, err := l.digest(ctx, image)
		if l.images.offline && err == nil {
			image, err = pinned(image, digest)
		}
		if err != nil && (ctx.Err() != nil || l.images.offline) {
			return nil, err
		}
	}
	b, err := pull(ctx, image)
	if err != nil {
		return nil, err
	}
	return b.FS, nil
}

// fetchServer fetches a catalog from a server with catalogd's API.
func (l *loader) fetchServer(ctx context.Context, url string) (fetchedCatalog, error) {
	opts := &catalogd.Options{Dir: filepath.Join(l.images.dir, serversDir), Graph: l.limits.graph()}
	if l.images.roots != nil {
		opts.TLS = &tls.Config{RootCAs: l.images.roots}
	}
	client, err := catalogd.New(strings.TrimSuffix(strings.TrimSuffix(url, "/"), "/api/v1/all"), opts)
	if err != nil {
		return fetchedCatalog{}, err
	}
	if l.images.offline {
		c := client.Last(ctx)
		if c == nil {
			return fetchedCatalog{}, errOffline
		}
		visible.Fprintf(l.stderr, "note: offline; %s is as of %s\n", url, c.Fetched.Format(time.RFC3339))
		return fetchedCatalog{files: c.Files()}, nil
	}
	c, err := client.Fetch(ctx)
	if err != nil {
		return fetchedCatalog{}, err
	}
	return fetchedCatalog{files: c.Files()}, nil
}

// open creates the puller and the cache directory.
func (i *images) open(e *env) error {
	if i.puller != nil {
		return nil
	}
	transport := remote.DefaultTransport
	if i.caFile != "" {
		text, err := os.ReadFile(i.caFile)
		if err != nil {
			return fmt.Errorf("--ca-file: %v", err) // not wrapped, or a missing file would be reported as a missing catalog
		}
		if i.roots, err = x509.SystemCertPool(); err != nil {
			i.roots = x509.NewCertPool()
		}
		if !i.roots.AppendCertsFromPEM(text) {
			return fmt.Errorf("--ca-file %s has no certificate in PEM format", i.caFile)
		}
		t := remote.DefaultTransport.(*http.Transport).Clone()
		t.TLSClientConfig = &tls.Config{RootCAs: i.roots}
		transport = t
	}
	if i.offline {
		transport = refusing{}
	}
	keys, err := i.keychain()
	if err != nil {
		return err
	}
	registries, err := registries(i.mirrors, i.clusterMirrors)
	if err != nil {
		return err
	}
	if err := i.openDir(); err != nil {
		return err
	}
	i.puller = oci.New(&oci.Options{
		Keychain: authn.NewMultiKeychain(append([]authn.Keychain{keys}, i.clusterKeys...)...), Transport: transport, Registries: registries, Stdin: e.stdin,
		Dir:      filepath.Join(i.dir, imagesDir),
		Timeout:  math.MaxInt64, // --timeout ends the context
		Catalogs: e.limits.image,
	})
	return nil
}

// openDir creates the cache directory. It is temporary if the user has none.
func (i *images) openDir() (err error) {
	if i.dir != "" {
		return nil
	}
	switch dir, missing := os.UserCacheDir(); {
	case i.noCache && i.offline:
		return usagef("--offline needs the cache, which --no-cache disables; remove one")
	case i.noCache:
	case i.cacheDir != "":
		i.dir = i.cacheDir
		if err := os.MkdirAll(i.dir, 0o700); err != nil {
			return fmt.Errorf("--cache-dir: %v", err)
		}
		return nil
	case missing == nil:
		if i.dir = filepath.Join(dir, "olmkit"); os.MkdirAll(i.dir, 0o700) == nil {
			return nil
		}
	}
	i.dir, err = os.MkdirTemp("", "olmkit-")
	i.temp = err == nil
	return err
}

// close removes temporary files.
func (i *images) close() {
	if i.temp {
		os.RemoveAll(i.dir)
	}
}

// A laterFS is a file system that is opened when it is first used.
type laterFS func() (fs.FS, error)

func (l laterFS) Open(name string) (fs.File, error) {
	files, err := l()
	if err != nil {
		return nil, err
	}
	return files.Open(name)
}

// noteReference prints a note if an argument is read as a path but could also be a
// reference.
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
