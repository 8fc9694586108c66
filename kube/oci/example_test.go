package oci_test

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/olmkit/olmkit/kube/oci"
)

func Example() {
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer server.Close()
	ref := strings.TrimPrefix(server.URL, "http://") + "/example/etcd-bundle:v1.0.0"
	if err := pushBundle(ref); err != nil {
		fmt.Println(err)
		return
	}

	puller := oci.New(nil)
	b, err := puller.Bundle(context.Background(), ref)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, o := range b.Objects {
		fmt.Println(o.Kind, o.Metadata.Name)
	}
	// Output:
	// ClusterServiceVersion etcd.v1.0.0
}

// pushBundle stores a bundle image, as a build would.
func pushBundle(text string) error {
	ref, err := name.ParseReference(text)
	if err != nil {
		return err
	}
	layer, err := tarball.LayerFromFile("testdata/bundle.tar")
	if err != nil {
		return err
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err != nil {
		return err
	}
	img, err = mutate.Config(img, v1.Config{Labels: map[string]string{
		oci.LabelMediaType: oci.MediaTypeRegistry,
		oci.LabelManifests: "manifests/",
		oci.LabelMetadata:  "metadata/",
	}})
	if err != nil {
		return err
	}
	return remote.Write(ref, img)
}
