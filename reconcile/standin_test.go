package reconcile_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// A generated CSV has a display name, which the CRD requires: that in its
// metadata, or else its package.
func TestStandInDisplayName(t *testing.T) {
	const text = `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries: [{name: etcd.v1.0.0}, {name: etcd.v2.0.0, replaces: etcd.v1.0.0}, {name: etcd.v3.0.0, replaces: etcd.v2.0.0}]
---
schema: olm.bundle
package: etcd
name: etcd.v1.0.0
image: example.com/etcd:1.0.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}
---
schema: olm.bundle
package: etcd
name: etcd.v2.0.0
image: example.com/etcd:2.0.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 2.0.0}}
- {type: olm.csv.metadata, value: {displayName: The etcd operator}}
---
schema: olm.bundle
package: etcd
name: etcd.v3.0.0
image: example.com/etcd:3.0.0
properties:
- {type: olm.package, value: {packageName: etcd, version: 3.0.0}}
- {type: olm.csv.metadata, value: {minKubeVersion: 1.30.0}}
`
	blobs, err := fbc.LoadReader(t.Context(), strings.NewReader(text), "catalog.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	g, err := graph.Build(t.Context(), blobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	id := resolver.CatalogID{Name: "community", Namespace: "olm"}
	catalogs := &reconcile.Catalogs{StandIns: true}
	catalogs.AddGraph(id, g)
	pkg, _ := g.Package("etcd")
	for name, want := range map[string]string{"etcd.v1.0.0": "etcd", "etcd.v2.0.0": "The etcd operator", "etcd.v3.0.0": "etcd"} {
		b, _ := pkg.Bundle(name)
		list, err := catalogs.Manifests(t.Context(), id, b)
		if err != nil {
			t.Fatal(err)
		}
		csv, err := olm.As[olm.ClusterServiceVersion](list[0])
		if err != nil {
			t.Fatal(err)
		}
		if csv.Spec.DisplayName != want {
			t.Errorf("%s is displayed as %q, want %q", name, csv.Spec.DisplayName, want)
		}
	}
}
