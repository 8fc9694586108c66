package oci

import (
	"crypto/tls"
	"fmt"
	"net/http"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// A Registry configures where the images of a registry, or of a part of it, are pulled
// from. It corresponds to a [[registry]] table in containers-registries.conf(5).
type Registry struct {
	// Prefix selects the images: "quay.io", "quay.io/example",
	// "quay.io/example/etcd", or "*.example.com" for all subdomains. The longest
	// match applies.
	Prefix string
	// Location replaces Prefix in a reference. Default: Prefix itself.
	Location string
	// Insecure accepts any certificate from Location, and connections without TLS.
	Insecure bool
	// Blocked disables pulling from Location. Mirrors are still used.
	Blocked bool
	// Mirrors are tried before Location, in this order.
	Mirrors []Mirror
}

// A Mirror is another location of the images of a Registry.
type Mirror struct {
	// Location replaces the prefix in a reference: "mirror.example:5000/quay".
	Location string
	// Insecure accepts any certificate, and connections without TLS.
	Insecure bool
	// Use restricts the mirror. Default: Digests.
	Use MirrorUse
}

// A MirrorUse is the kind of reference that a mirror is used for.
type MirrorUse int

const (
	// Digests uses a mirror for references with a digest only, because a tag may
	// refer to another image there.
	Digests MirrorUse = iota
	// Tags uses a mirror for references with a tag only.
	Tags
	// DigestsAndTags uses a mirror for all references.
	DigestsAndTags
)

// A location is a place that an image may be pulled from.
type location struct {
	// ref is not embedded, because go-containerregistry verifies digests only if the type
	// of the reference is name.Digest.
	ref      name.Reference
	insecure bool
}

// locations returns the places of an image, in the order to try them.
func (p *Puller) locations(text string) ([]location, error) {
	ref, err := name.ParseReference(text)
	if err != nil {
		return nil, &ReferenceError{err}
	}
	repo := ref.Context().Name()
	if ref.Context().RegistryStr() == name.DefaultRegistry {
		repo = "docker.io" + strings.TrimPrefix(repo, name.DefaultRegistry)
	}
	full, use := repo+":"+ref.Identifier(), Tags
	if _, ok := ref.(name.Digest); ok {
		full, use = repo+"@"+ref.Identifier(), Digests
	}
	registry, matched := p.registry(full)
	if registry == nil {
		return []location{{ref: ref}}, nil
	}
	at := func(to string, insecure bool) (location, error) {
		to += full[matched:]
		if other, _ := p.registry(to); other != nil {
			insecure = insecure || other.Insecure
		}
		var opts []name.Option
		if insecure {
			opts = append(opts, name.Insecure)
		}
		r, err := name.ParseReference(to, opts...)
		return location{r, insecure}, err
	}
	var list []location
	for _, m := range registry.Mirrors {
		if m.Use != use && m.Use != DigestsAndTags {
			continue
		}
		l, err := at(m.Location, m.Insecure)
		if err != nil {
			return nil, fmt.Errorf("mirror %q of %q: %w", m.Location, registry.Prefix, err)
		}
		list = append(list, l)
	}
	if !registry.Blocked {
		to := registry.Location
		if to == "" {
			to = full[:matched]
		}
		l, err := at(to, registry.Insecure)
		if err != nil {
			return nil, fmt.Errorf("location %q of %q: %w", registry.Location, registry.Prefix, err)
		}
		list = append(list, l)
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("registry %q is blocked by its configuration, and none of its mirrors is used for this reference", registry.Prefix)
	}
	return list, nil
}

// registry returns the configuration of a reference and the length of the prefix
// that matches it, or nil.
func (p *Puller) registry(ref string) (best *Registry, matched int) {
	for i := range p.opts.Registries {
		r := &p.opts.Registries[i]
		n := len(r.Prefix)
		if domain, ok := strings.CutPrefix(r.Prefix, "*"); ok {
			host, rest, ok := strings.Cut(ref, domain)
			if !ok || strings.Contains(host, "/") || rest != "" && !strings.ContainsAny(rest[:1], ":/@") {
				continue
			}
			n = len(ref) - len(rest)
		} else if !covers(r.Prefix, ref) {
			continue
		}
		if best == nil || len(r.Prefix) > len(best.Prefix) {
			best, matched = r, n
		}
	}
	return best, matched
}

// covers reports whether a prefix of a reference ends where an element of the reference
// ends. A colon begins a tag, or a port if a slash follows.
func covers(prefix, ref string) bool {
	rest, ok := strings.CutPrefix(ref, prefix)
	return ok && (rest == "" || rest[0] == '/' || rest[0] == '@' || rest[0] == ':' && !strings.Contains(rest, "/"))
}

// insecure returns a copy of the transport that accepts any certificate. A transport that
// is not an *http.Transport is returned unchanged.
func insecure(t http.RoundTripper) http.RoundTripper {
	base, ok := t.(*http.Transport)
	if !ok {
		return t
	}
	base = base.Clone()
	if base.TLSClientConfig == nil {
		base.TLSClientConfig = &tls.Config{}
	}
	base.TLSClientConfig.InsecureSkipVerify = true
	return base
}
