package oci

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
)

// A Mirror says where else the images of a registry, or of a part of it, are.
type Mirror struct {
	// Source is a registry or a prefix of repositories: "quay.io",
	// "quay.io/example", "quay.io/example/etcd". The longest that fits counts.
	Source string
	// Mirrors take its place, in this order: "mirror.example:5000/quay".
	Mirrors []string
	// Tags also asks mirrors for tags. By default, they are only asked for
	// digests, as nothing tells that a tag means the same there.
	Tags bool
	// Never asks the source itself never.
	Never bool
}

// candidates returns where to look for an image, in order.
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
		return nil, fmt.Errorf("the mirrors of %q are an empty list, and the source itself is not to be asked", m.Source)
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
