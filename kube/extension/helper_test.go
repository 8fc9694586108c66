package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/extension/api"
)

// channelText returns a channel of etcd whose entries replace each other.
func channelText(name string, versions ...string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"schema":"olm.channel","package":"etcd","name":%q,"entries":[`, name)
	for i, v := range versions {
		if i > 0 {
			fmt.Fprintf(&b, `,{"name":"etcd.v%s","replaces":"etcd.v%s"}`, v, versions[i-1])
			continue
		}
		fmt.Fprintf(&b, `{"name":"etcd.v%s"}`, v)
	}
	return b.String() + "]}\n"
}

func bundleText(version string, properties ...string) string {
	text := fmt.Sprintf(`{"schema":"olm.bundle","package":"etcd","name":"etcd.v%[1]s","image":"registry.example/etcd:%[1]s","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"%[1]s"}}`, version)
	for _, p := range properties {
		text += "," + p
	}
	return text + "]}\n"
}

const packageText = `{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}` + "\n"

// contents holds the catalogs of the tests, by name.
var contents = map[string]string{
	"community": packageText + channelText("stable", "1.0.0", "1.1.0", "1.2.0") + channelText("beta", "2.0.0") +
		bundleText("1.0.0") + bundleText("1.1.0") + bundleText("1.2.0") + bundleText("2.0.0"),
	"certified": packageText + channelText("stable", "1.2.0") + bundleText("1.2.0"),
	"deprecated": packageText + channelText("stable", "1.0.0", "1.1.0") + bundleText("1.0.0") + bundleText("1.1.0") +
		`{"schema":"olm.deprecations","package":"etcd","entries":[{"reference":{"schema":"olm.package"},"message":"etcd is at its end"},{"reference":{"schema":"olm.channel","name":"stable"},"message":"use beta"},{"reference":{"schema":"olm.bundle","name":"etcd.v1.0.0"},"message":"it loses data"}]}`,
	"needy": packageText + channelText("stable", "1.0.0") +
		bundleText("1.0.0", `{"type":"olm.package.required","value":{"packageName":"vault","versionRange":">=1.0.0"}}`),
	"other": `{"schema":"olm.package","name":"vault","defaultChannel":"s"}
{"schema":"olm.channel","package":"vault","name":"s","entries":[{"name":"vault.v1.0.0"}]}
{"schema":"olm.bundle","package":"vault","name":"vault.v1.0.0","image":"x/y:z","properties":[{"type":"olm.package","value":{"packageName":"vault","version":"1.0.0"}}]}`,
}

// An opener opens contents; "broken" cannot be read.
type opener struct{}

func (opener) Open(ctx context.Context, c *api.ClusterCatalog) (*graph.Catalog, error) {
	text, ok := contents[c.Name]
	if !ok {
		return nil, errors.New("the catalog is not served")
	}
	return graph.LoadReader(ctx, strings.NewReader(text), c.Name, nil)
}

// clusterCatalogs parses a list of catalogs separated by spaces.
// "name/priority" has a priority, and "name!" is unavailable. Each catalog has
// a label with its name.
func clusterCatalogs(t testing.TB, text string) []api.ClusterCatalog {
	t.Helper()
	var out []api.ClusterCatalog
	for _, f := range strings.Fields(text) {
		c := api.ClusterCatalog{Spec: api.ClusterCatalogSpec{Source: api.CatalogSource{Type: "Image", Image: &api.ImageSource{Ref: "registry.example/catalog:latest"}}}}
		name, priority, ok := strings.Cut(f, "/")
		if ok {
			if _, err := fmt.Sscan(priority, &c.Spec.Priority); err != nil {
				t.Fatal(err)
			}
		}
		if name, ok = strings.CutSuffix(name, "!"); ok {
			c.Spec.AvailabilityMode = api.ModeUnavailable
		}
		c.Name, c.Labels = name, map[string]string{"name": name}
		out = append(out, c)
	}
	return out
}

// clusterExtension returns an extension with a filter in YAML.
func clusterExtension(t testing.TB, filter string) *api.ClusterExtension {
	t.Helper()
	e := &api.ClusterExtension{
		ObjectMeta: metav1.ObjectMeta{Name: "my-etcd", Generation: 3},
		Spec: api.ClusterExtensionSpec{
			Namespace: "ops", ServiceAccount: api.ServiceAccountReference{Name: "installer"},
			Source: api.SourceConfig{SourceType: api.SourceTypeCatalog, Catalog: &api.CatalogFilter{}},
		},
	}
	if err := yaml.UnmarshalStrict([]byte(filter), e.Spec.Source.Catalog); err != nil {
		t.Fatal(err)
	}
	return e
}

func bundleOf(version string) *api.BundleMetadata {
	if version == "" {
		return nil
	}
	return &api.BundleMetadata{Name: "etcd.v" + version, Version: version}
}
