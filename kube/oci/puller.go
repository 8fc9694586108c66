package oci

import (
	"archive/zip"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/olmkit/olmkit/kube/internal/flight"
)

// An Image is the part of a container image that olmkit uses. It is immutable and
// safe for concurrent use.
type Image struct {
	// Digest is the image's digest. If the reference names an index, it is the
	// digest of the chosen image.
	Digest string
	// Requested is the digest of what the reference names, which may be an index.
	Requested string
	Labels    map[string]string
	// FS holds the files: manifests/ and metadata/ of a bundle, or the configs
	// of a catalog at the root.
	FS fs.FS

	size    int64 // in memory
	archive *zip.Reader
}

// A Puller pulls images. It is safe for concurrent use.
type Puller struct {
	opts   Options
	shared flight.Group[string, *Image]

	explainer Explainer
	memory    *memory
	scope     string // prefix of this puller's keys in memory
	insecure  http.RoundTripper
}

// New returns a puller. Opts may be nil.
func New(opts *Options) *Puller {
	o := opts.WithDefaults()
	return &Puller{opts: o, memory: newMemory(o.Remember, o.Memory), insecure: insecure(o.Transport)}
}

// An Explainer is a keychain that can explain missing credentials. The error that
// Explain returns is added to the error of a failed pull.
type Explainer interface{ Explain() error }

// With returns a puller with the same options and additional credentials, which
// are tried first. It does not share cached images with others, but
// Options.Remember and Options.Memory limit all of them together. Its directory
// is dir below Options.Dir, or Options.Dir itself if dir is empty.
func (p *Puller) With(k authn.Keychain, dir string) *Puller {
	o := p.opts
	o.Keychain = authn.NewMultiKeychain(k, o.Keychain)
	if o.Dir != "" {
		o.Dir = filepath.Join(o.Dir, dir)
	}
	out := &Puller{opts: o, memory: p.memory, scope: p.memory.newScope(), insecure: p.insecure}
	out.explainer, _ = k.(Explainer)
	return out
}

// Dir returns the directory for pulled images, or "" if there is none. Callers
// may store files there that are derived from an image, named by its digest.
func (p *Puller) Dir() string { return p.opts.Dir }

// Catalog returns the files of a catalog image: the directory named by its
// label operators.operatorframework.io.index.configs.v1. While an image is
// cached, the same digest returns the same pointer. The error is an [*Error],
// or the cause of the context's end.
func (p *Puller) Catalog(ctx context.Context, ref string) (*Image, error) {
	return p.pull(ctx, ref, catalogKind(p.opts.Catalogs))
}

// pull returns the directories of interest of an image.
func (p *Puller) pull(ctx context.Context, ref string, k kind) (*Image, error) {
	return p.shared.Do(ctx, k.name+" "+ref, func(caller context.Context) (*Image, error) {
		ctx, cancel := context.WithTimeoutCause(caller, p.opts.Timeout, fmt.Errorf("the pull took longer than Options.Timeout, %v", p.opts.Timeout))
		defer cancel()
		list, err := p.locations(ref)
		if err != nil {
			return nil, &Error{Ref: ref, Err: err}
		}
		var failed []error
		for _, c := range list {
			waited := p.transport(c)
			img, err := p.from(ctx, c, k, waited)
			switch {
			case err == nil:
				return img, nil
			case caller.Err() != nil:
				return nil, context.Cause(caller)
			case ctx.Err() != nil:
				return nil, &Error{Ref: ref, Err: context.Cause(ctx)}
			}
			err = p.registryError(c, waited, err)
			if len(list) > 1 {
				err = fmt.Errorf("%s: %w", c.ref.Name(), err)
			}
			if failed = append(failed, err); isContent(err) {
				break // other mirrors have the same content
			}
		}
		if p.explainer != nil && !isContent(errors.Join(failed...)) {
			failed = append(failed, p.explainer.Explain()) // errors.Join ignores nil
		}
		return nil, &Error{Ref: ref, Err: errors.Join(failed...)}
	})
}

// isContent reports whether an error concerns the content of an image.
func isContent(err error) bool {
	for _, target := range []any{new(*LimitError), new(*UnsafeError), new(*LabelError), new(*ManifestError), new(*FormatError), new(*IndexError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}

// from returns an image from one registry, unless it is cached.
func (p *Puller) from(ctx context.Context, at location, k kind, waited *patience) (*Image, error) {
	if d, ok := at.ref.(name.Digest); ok {
		if img := p.known(ctx, k, d.DigestStr()); img != nil {
			return img, nil
		}
	}
	desc, err := remote.Get(at.ref, p.remote(ctx, waited)...)
	if err != nil {
		return nil, err
	}
	if img := p.known(ctx, k, desc.Digest.String()); img != nil {
		return img, nil
	}
	source, err := p.choose(desc)
	if err != nil {
		return nil, err
	}
	found, err := contentOf(source, k.limits)
	if err != nil {
		return nil, err
	}
	img, err := p.unpack(ctx, found, k, desc.Digest.String())
	if err != nil {
		return nil, err
	}
	p.remember(k, desc.Digest.String(), img)
	return img, nil
}

// transport returns what makes the requests to a location.
func (p *Puller) transport(at location) *patience {
	if at.insecure {
		return &patience{next: p.insecure}
	}
	return &patience{next: p.opts.Transport}
}

// remote returns the options of requests.
func (p *Puller) remote(ctx context.Context, waited *patience) []remote.Option {
	return []remote.Option{
		remote.WithContext(ctx), remote.WithAuthFromKeychain(p.opts.Keychain), remote.WithUserAgent("olmkit"),
		remote.WithTransport(resuming{waited}),
	}
}

// Resolve returns the digest of the image or index that ref refers to. If ref
// contains a digest, Resolve makes no request. Otherwise it sends a HEAD request
// to each location until one succeeds. The error is an [*Error], or the cause of
// the context's end.
func (p *Puller) Resolve(ctx context.Context, ref string) (string, error) {
	list, err := p.locations(ref)
	if err != nil {
		return "", &Error{Ref: ref, Err: err}
	}
	var failed []error
	for _, c := range list {
		if d, ok := c.ref.(name.Digest); ok {
			return d.DigestStr(), nil
		}
		waited := p.transport(c)
		desc, err := remote.Head(c.ref, p.remote(ctx, waited)...)
		switch {
		case err == nil:
			return desc.Digest.String(), nil
		case ctx.Err() != nil:
			return "", context.Cause(ctx)
		}
		failed = append(failed, p.registryError(c, waited, err))
	}
	return "", &Error{Ref: ref, Err: errors.Join(failed...)}
}

// known returns a cached image from memory or disk, or nil.
func (p *Puller) known(ctx context.Context, k kind, digest string) *Image {
	img := p.memory.get(p.key(k, digest))
	if img == nil {
		if img = p.open(ctx, k, digest); img != nil {
			p.remember(k, digest, img)
		}
	}
	return img
}

func (p *Puller) remember(k kind, digest string, img *Image) { p.memory.put(p.key(k, digest), img) }

func (p *Puller) key(k kind, digest string) string { return p.scope + " " + k.name + " " + digest }
