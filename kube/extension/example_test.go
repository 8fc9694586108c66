package extension_test

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
)

const sampleCatalog = `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- name: etcd.v1.1.0
- {name: etcd.v1.2.0, replaces: etcd.v1.1.0}
---
schema: olm.bundle
package: etcd
name: etcd.v1.1.0
image: registry.example/etcd:1.1.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.1.0}}
---
schema: olm.bundle
package: etcd
name: etcd.v1.2.0
image: registry.example/etcd:1.2.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.2.0}}
`

// A sampleOpener returns the same content for every catalog.
type sampleOpener struct{}

func (sampleOpener) Open(ctx context.Context, c *api.ClusterCatalog) (*graph.Catalog, error) {
	return graph.LoadReader(ctx, strings.NewReader(sampleCatalog), c.Name+".yaml", nil)
}

func Example() {
	ext := &api.ClusterExtension{
		ObjectMeta: metav1.ObjectMeta{Name: "my-etcd"},
		Spec: api.ClusterExtensionSpec{Source: api.SourceConfig{
			SourceType: api.SourceTypeCatalog,
			Catalog:    &api.CatalogFilter{PackageName: "etcd", Channels: []string{"stable"}, Version: "<1.3.0"},
		}},
	}
	catalogs := []api.ClusterCatalog{{ObjectMeta: metav1.ObjectMeta{Name: "community"}}}
	installed := &api.BundleMetadata{Name: "etcd.v1.1.0", Version: "1.1.0"}

	// A program that runs in a cluster uses extension.Served as the opener.
	d, err := desired.Decide(context.Background(), ext, installed, catalogs, sampleOpener{}, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("selected:", d.Selection.Bundle, "from", d.Selection.Catalog)

	status := extension.Status(ext, extension.Outcome{Decision: d, Installed: installed, InstallErr: extension.ErrNoInstaller}, metav1.Now())
	for _, c := range status.Conditions[:2] {
		fmt.Println(c.Type, c.Status, c.Reason+":", c.Message)
	}
	// Output:
	// selected: etcd.v1.2.0 from community
	// Installed True Succeeded: bundle etcd.v1.1.0 is installed
	// Progressing False Blocked: bundle etcd.v1.2.0 of catalog community is selected: no installer is configured
}
