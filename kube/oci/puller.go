package oci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/olmkit/olmkit/kube/internal/flight"
)

// An Image is the part of an image that matters. It never changes, and any number
// of goroutines may share it.
type Image struct {
	// Digest is that of the image; where the reference names an index, that of
	// the one that was chosen.
	Digest string
	Labels map[string]string
	// FS holds the files: manifests/ and metadata/ of a bundle, the configs of a
	// catalog as its root.
	FS fs.FS

	size int64 // in memory
}

// A Puller pulls images. It is safe for use by any number of goroutines.
type Puller struct {
	opts   Options
	shared flight.Group[string, *Image]

	explainer Explainer
	memory    *memory
	scope     string // of what this puller finds in the memory
}

// New returns a puller. Opts may be nil.
func New(opts *Options) *Puller {
	o := opts.withDefaults()
	return &Puller{opts: o, memory: newMemory(o.Remember, o.Memory)}
}

// An Explainer is a keychain that knows why it may lack credentials. What it says
// is added to the error of a pull that failed.
type Explainer interface{ Explain() error }

// With returns a puller with the options of this one, and with credentials that
// are tried before its own. It finds nothing in memory that others pulled, while
// Options.Remember and Options.Memory bound what all of them keep there together.
// Its directory is dir below Options.Dir, or the same if dir is empty.
func (p *Puller) With(k authn.Keychain, dir string) *Puller {
	o := p.opts
	o.Keychain = authn.NewMultiKeychain(k, o.Keychain)
	if o.Dir != "" {
		o.Dir = filepath.Join(o.Dir, dir)
	}
	out := &Puller{opts: o, memory: p.memory, scope: p.memory.newScope()}
	out.explainer, _ = k.(Explainer)
	return out
}

// Dir returns the directory for what was pulled, or nothing where there is none.
// Others may keep there what they made of an image, by its digest.
func (p *Puller) Dir() string { return p.opts.Dir }

// Catalog returns the files of a catalog image: the directory that its label
// operators.operatorframework.io.index.configs.v1 names. The same digest gives
// the same pointer as long as it is remembered. The error is an [*Error], or the
// cause of the context's end.
func (p *Puller) Catalog(ctx context.Context, ref string) (*Image, error) {
	return p.pull(ctx, ref, catalogKind(p.opts.Catalogs))
}

// pull returns the part of an image that a kind is about.
func (p *Puller) pull(ctx context.Context, ref string, k kind) (*Image, error) {
	return p.shared.Do(ctx, k.name+" "+ref, func(caller context.Context) (*Image, error) {
		ctx, cancel := context.WithTimeoutCause(caller, p.opts.Timeout, fmt.Errorf("it took longer than Options.Timeout, %v", p.opts.Timeout))
		defer cancel()
		list, err := p.candidates(ref)
		if err != nil {
			return nil, &Error{Ref: ref, Err: err}
		}
		var failed []error
		for _, c := range list {
			img, err := p.from(ctx, c, k)
			switch {
			case err == nil:
				return img, nil
			case caller.Err() != nil:
				return nil, context.Cause(caller)
			case ctx.Err() != nil:
				return nil, &Error{Ref: ref, Err: context.Cause(ctx)}
			case len(list) > 1:
				err = fmt.Errorf("%s: %w", c.Name(), err)
			}
			if failed = append(failed, err); isContent(err) {
				break // the same content is as bad elsewhere
			}
		}
		if p.explainer != nil && !isContent(errors.Join(failed...)) {
			failed = append(failed, p.explainer.Explain()) // nil counts for nothing
		}
		return nil, &Error{Ref: ref, Err: errors.Join(failed...)}
	})
}

// isContent reports whether an error is about what an image holds.
func isContent(err error) bool {
	for _, target := range []any{new(*LimitError), new(*UnsafeError), new(*LabelError), new(*ManifestError)} {
		if errors.As(err, target) {
			return true
		}
	}
	return false
}

// from pulls an image from one place, unless what is there is at hand.
func (p *Puller) from(ctx context.Context, at name.Reference, k kind) (*Image, error) {
	if d, ok := at.(name.Digest); ok {
		if img := p.known(ctx, k, d.DigestStr()); img != nil {
			return img, nil
		}
	}
	opts := []remote.Option{remote.WithContext(ctx), remote.WithAuthFromKeychain(p.opts.Keychain), remote.WithUserAgent("olmkit")}
	if p.opts.Transport != nil {
		opts = append(opts, remote.WithTransport(p.opts.Transport))
	}
	desc, err := remote.Get(at, opts...)
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
	img, err := p.unpack(ctx, source, k, desc.Digest.String())
	if err != nil {
		return nil, err
	}
	p.remember(k, desc.Digest.String(), img)
	return img, nil
}

// known returns an image that is in memory or on disk.
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
