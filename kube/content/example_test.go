package content_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// The bundle of this catalog has its ClusterServiceVersion inline, in base64.
const sampleCatalog = `{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.0.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}},{"type":"olm.bundle.object","value":{"data":"eyJhcGlWZXJzaW9uIjoib3BlcmF0b3JzLmNvcmVvcy5jb20vdjFhbHBoYTEiLCJraW5kIjoiQ2x1c3RlclNlcnZpY2VWZXJzaW9uIiwibWV0YWRhdGEiOnsibmFtZSI6ImV0Y2QudjEuMC4wIn19"}}]}
`

func Example() {
	dir, err := os.MkdirTemp("", "catalog")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer os.RemoveAll(dir)
	if err := os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(sampleCatalog), 0o600); err != nil {
		fmt.Println(err)
		return
	}

	// This program overrides where one catalog is read from.
	id := resolver.CatalogID{Name: "community", Namespace: "olm"}
	store := content.New(&content.Options{Sources: content.Sources{
		Named: map[resolver.CatalogID]content.Source{id: content.Dir(dir, nil)},
	}})
	var source olm.CatalogSource
	source.Metadata.Name, source.Metadata.Namespace = id.Name, id.Namespace

	ctx := context.Background()
	health, err := store.Refresh(ctx, &source)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(health.State, health.Changed, health.Next)

	view := store.View()
	cat, err := view.Catalog(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	for b := range cat.Bundles() {
		objects, err := view.Manifests(ctx, id, b)
		fmt.Println(b.Name(), len(objects), err)
	}
	// Output:
	// READY true 5m0s
	// etcd.v1.0.0 1 <nil>
}
