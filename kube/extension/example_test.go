package extension_test

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
)

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

	// opener is a small type of this example; programs use extension.Served.
	d, err := extension.Decide(context.Background(), ext, installed, catalogs, opener{}, nil)
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
