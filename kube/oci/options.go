package oci

import (
	"net/http"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Options adjust a Puller. A nil *Options means all defaults.
type Options struct {
	// Keychain gives the credentials for a registry. Default: none.
	Keychain authn.Keychain
	// Transport makes the requests, with certificate authorities and whatever
	// else registries want. Default: that of go-containerregistry.
	Transport http.RoundTripper
	// Platform is preferred where there are several images. Default: linux/amd64.
	Platform v1.Platform
	// Mirrors are tried before the registry that a reference names.
	Mirrors []Mirror
	// Insecure are registries, host with port, that are spoken to without TLS.
	Insecure []string
	// Dir is a directory for what was pulled, a file per digest; it is made when
	// it does not exist. Several pullers may share it. Default: memory.
	Dir string
	// Timeout bounds one pull, mirrors and layers included. Default: 10 minutes.
	Timeout time.Duration
	// Remember is how many images stay at hand after a pull. Default: 64.
	Remember int
	// Memory bounds the bytes of those that are in memory, compressed as they are.
	// A larger one is pulled each time. Default: 256 MiB.
	Memory int64
	// Bundles and Catalogs bound what an image may cost.
	Bundles, Catalogs Limits
}

// Limits bound what an image may cost. Zero fields mean the defaults, the first
// for bundles and the second for catalogs.
type Limits struct {
	// Download bounds the sum of the layers as they are sent.
	// Default: 256 MiB, 1 GiB.
	Download int64
	// Scan bounds the sum of the layers after decompression.
	// Default: 1 GiB, 4 GiB.
	Scan int64
	// Bytes bounds the files that are unpacked with their names. Those that an
	// upper layer then replaces count, and each link counts as the file that it
	// leads to. Default: 64 MiB, 512 MiB.
	Bytes int64
	// Files bounds the number of files, directories and removals in the layers,
	// as far as the wanted directories go. Default: 10,000, 1 million.
	Files int64
	// Layers bounds the number of layers. Default: 128, 128.
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

func (o *Options) withDefaults() Options {
	var out Options
	if o != nil {
		out = *o
	}
	if out.Keychain == nil {
		out.Keychain = authn.NewMultiKeychain()
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
