package oci

import (
	"io"
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// Options configure a Puller. A nil *Options means all defaults.
type Options struct {
	// Keychain provides credentials for registries. Default: none.
	Keychain authn.Keychain
	// Transport makes the requests. Set it, for example, to trust other certificate
	// authorities. Default: that of go-containerregistry.
	Transport http.RoundTripper
	// Platform is the preferred platform in an index of images. Default:
	// linux/amd64.
	Platform v1.Platform
	// Registries configures mirrors, other locations and insecure connections. Default:
	// none.
	Registries []Registry
	// Stdin is the content of archives named "-"; see Puller.CatalogFile.
	// Default: none.
	Stdin io.Reader
	// Dir is a directory for pulled images, one file per digest. It is created
	// if necessary, and several pullers may share it. Default: images are kept
	// in memory.
	Dir string
	// Timeout limits one pull, including mirrors and layers. Default: 10
	// minutes.
	Timeout time.Duration
	// Remember is the number of pulled images to cache. Default: 64.
	Remember int
	// Memory limits the compressed bytes of cached images in memory. A larger
	// image is pulled each time. Default: 256 MiB.
	Memory int64
	// Bundles and Catalogs limit bundle and catalog images.
	Bundles, Catalogs Limits
}

// Limits caps the cost of an image. Zero fields mean the defaults, listed below for
// bundles and then for catalogs.
type Limits struct {
	// Download limits the total compressed size of the layers, in bytes.
	// Default: 256 MiB, 1 GiB.
	Download int64
	// Scan limits the total decompressed size of the layers, in bytes. Default:
	// 1 GiB, 4 GiB.
	Scan int64
	// Bytes limits the total size of unpacked files and their names. It
	// includes files that an upper layer replaces, and counts each link as its
	// target. Default: 64 MiB, 512 MiB.
	Bytes int64
	// Files limits the number of files, directories and deletions in the
	// directories of interest, over all layers. Default: 10,000, 1 million.
	Files int64
	// Layers limits the number of layers. Default: 128, 128.
	Layers int64
}

func (l Limits) or(d Limits) Limits {
	for _, f := range []struct{ v, d *int64 }{
		{&l.Download, &d.Download}, {&l.Scan, &d.Scan}, {&l.Bytes, &d.Bytes}, {&l.Files, &d.Files}, {&l.Layers, &d.Layers},
	} {
		if *f.v <= 0 {
			*f.v = *f.d
		}
	}
	return l
}

// WithDefaults returns the options with the zero fields replaced by their defaults.
func (o *Options) WithDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Keychain == nil {
		out.Keychain = authn.NewMultiKeychain()
	}
	if out.Transport == nil {
		out.Transport = remote.DefaultTransport
	}
	if out.Platform.OS == "" {
		out.Platform.OS = "linux"
	}
	if out.Platform.Architecture == "" {
		out.Platform.Architecture = "amd64"
	}
	if out.Timeout <= 0 {
		out.Timeout = 10 * time.Minute
	}
	if out.Remember <= 0 {
		out.Remember = 64
	}
	if out.Memory <= 0 {
		out.Memory = 256 << 20
	}
	out.Bundles = out.Bundles.or(Limits{Download: 256 << 20, Scan: 1 << 30, Bytes: 64 << 20, Files: 10_000, Layers: 128})
	out.Catalogs = out.Catalogs.or(Limits{Download: 1 << 30, Scan: 4 << 30, Bytes: 512 << 20, Files: 1_000_000, Layers: 128})
	return out
}
