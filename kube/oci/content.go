package oci

import (
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// A content is an image whose manifest is within the limits.
type content struct {
	digest string
	labels map[string]string
	layers []layer
}

type layer interface {
	Uncompressed() (io.ReadCloser, error)
}

// contentOf returns the content of an image, whose layers have not been read.
func contentOf(source v1.Image, limits Limits) (content, error) {
	m, err := source.Manifest()
	if err != nil {
		return content{}, err
	}
	if err := checkManifest(m, limits); err != nil {
		return content{}, err
	}
	config, err := source.ConfigFile()
	if err != nil {
		return content{}, err
	}
	layers, err := source.Layers()
	if err != nil {
		return content{}, err
	}
	digest, err := source.Digest()
	if err != nil {
		return content{}, err
	}
	out := content{digest: digest.String(), labels: config.Config.Labels}
	for _, l := range layers {
		out.layers = append(out.layers, packedLayer{l})
	}
	return out, nil
}

// checkManifest checks the limits that need no layers to be fetched.
func checkManifest(m *v1.Manifest, limits Limits) error {
	switch {
	case m.Config.Size > maxConfig:
		return fmt.Errorf("the configuration has %d bytes; the limit is %d", m.Config.Size, maxConfig)
	case int64(len(m.Layers)) > limits.Layers:
		return &LimitError{Limit: "Layers", Max: limits.Layers}
	}
	var size int64
	for _, l := range m.Layers {
		if len(l.URLs) > 0 {
			return &UnsafeError{Path: l.Digest.String(), Reason: "is a layer stored outside the registry"}
		}
		if l.Size < 0 || l.Size > limits.Download-size {
			return &LimitError{Limit: "Download", Max: limits.Download}
		}
		size += l.Size
	}
	return nil
}
