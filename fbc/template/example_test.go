package template_test

import (
	"context"
	"fmt"
	"os"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/fbc/template"
)

// Generate channels and edges from the versions of bundles. The caller decides where the
// contents of an image come from.
func ExampleSemver_Expand() {
	ctx := context.Background()
	semver, err := template.ParseSemver(ctx, []byte(`
schema: olm.semver
generateMajorChannels: true
generateMinorChannels: false
stable:
  bundles:
  - image: quay.io/example/etcd:v0.9.0
  - image: quay.io/example/etcd:v0.9.2
`), "semver.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	published, err := fbc.Load(ctx, os.DirFS("testdata/etcd"), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	c, err := semver.Expand(ctx, func(_ context.Context, image string) (*bundle.Dir, error) {
		for _, b := range published.Bundles {
			if b.Image == image {
				return &bundle.Dir{Bundle: b}, nil
			}
		}
		return nil, fmt.Errorf("image %s is not available", image)
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, ch := range c.Channels {
		for _, e := range ch.Entries {
			fmt.Println(ch.Name, e.Name, e.Replaces, e.Skips)
		}
	}
	// Output:
	// stable-v0 etcd.v0.9.0  []
	// stable-v0 etcd.v0.9.2  [etcd.v0.9.0]
}
