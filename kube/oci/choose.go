package oci

import (
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// maxConfig limits the size of an image's configuration, which is read into
// memory.
const maxConfig = 8 << 20

// choose returns the image that a descriptor refers to, or the best image of the
// index.
func (p *Puller) choose(desc *remote.Descriptor) (v1.Image, error) {
	switch {
	case desc.MediaType.IsImage():
		return desc.Image()
	case !desc.MediaType.IsIndex():
		return nil, &FormatError{MediaType: string(desc.MediaType)}
	}
	index, err := desc.ImageIndex()
	if err != nil {
		return nil, err
	}
	m, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	best, err := p.best(m)
	if err != nil {
		return nil, err
	}
	return index.Image(best.Digest)
}

// best returns the image in an index for the preferred platform, else for
// linux/amd64, else the first.
func (p *Puller) best(m *v1.IndexManifest) (*v1.Descriptor, error) {
	var best *v1.Descriptor
	score := 0
	for i := range m.Manifests {
		d := &m.Manifests[i]
		if s := p.score(d); s > score {
			best, score = d, s
		}
	}
	if best == nil {
		return nil, &IndexError{Entries: len(m.Manifests)}
	}
	return best, nil
}

// score returns how well an image of an index matches the preferred platform, or
// 0 if the image must not be used.
func (p *Puller) score(d *v1.Descriptor) int {
	switch {
	case !d.MediaType.IsImage():
		return 0
	case d.Platform == nil:
		return 1
	case d.Platform.OS == "unknown":
		return 0 // an attestation, not an image
	case d.Platform.Satisfies(p.opts.Platform):
		return 3
	case d.Platform.OS == "linux" && d.Platform.Architecture == "amd64":
		return 2
	}
	return 1
}
