package oci

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// A Mirror configures the mirrors of a registry or a part of it.
type Mirror struct {
	// Source is a registry or a prefix of repositories: "quay.io",
	// "quay.io/example", "quay.io/example/etcd". The longest match applies.
	Source string
	// Mirrors replace Source in a reference, in this order:
	// "mirror.example:5000/quay".
	Mirrors []string
	// Tags uses the mirrors for tags too. By default they are used only for
	// digests, because a tag may mean another image there.
	Tags bool
	// Never disables pulling from Source itself.
	Never bool
}

// candidates returns the references to try for an image, in order.
func (p *Puller) candidates(text string) ([]name.Reference, error) {
	ref, err := p.parse(text)
	if err != nil {
		return nil, err
	}
	repo := ref.Context().Name()
	if ref.Context().RegistryStr() == name.DefaultRegistry {
		repo = "docker.io" + strings.TrimPrefix(repo, name.DefaultRegistry)
	}
	_, byDigest := ref.(name.Digest)
	best := -1
	for i, m := range p.opts.Mirrors {
		if within(repo, m.Source) && (best < 0 || len(m.Source) > len(p.opts.Mirrors[best].Source)) {
			best = i
		}
	}
	if best < 0 || !byDigest && !p.opts.Mirrors[best].Tags {
		return []name.Reference{ref}, nil
	}
	var out []name.Reference
	m := p.opts.Mirrors[best]
	separator := ":"
	if byDigest {
		separator = "@"
	}
	for _, to := range m.Mirrors {
		r, err := p.parse(to + strings.TrimPrefix(repo, m.Source) + separator + ref.Identifier())
		if err != nil {
			return nil, fmt.Errorf("mirror %q of %q: %w", to, m.Source, err)
		}
		out = append(out, r)
	}
	if !m.Never {
		out = append(out, ref)
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("the mirror entry for %q has no mirrors, and Never excludes the source itself", m.Source)
	}
	return out, nil
}

func within(repo, prefix string) bool {
	rest, ok := strings.CutPrefix(repo, prefix)
	return ok && (rest == "" || rest[0] == '/')
}

func (p *Puller) parse(text string) (name.Reference, error) {
	ref, err := name.ParseReference(text)
	if err != nil {
		return nil, err
	}
	if slices.Contains(p.opts.Insecure, ref.Context().RegistryStr()) {
		return name.ParseReference(text, name.Insecure)
	}
	return ref, nil
}
