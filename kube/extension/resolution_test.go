package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/registryv1"
)

// A settings is the source of bundles with one ConfigMap.
type settings struct{}

func (settings) Bundle(ctx context.Context, image string) (*registryv1.Bundle, error) {
	_, version, _ := strings.Cut(image, ":")
	text := fmt.Sprintf(`{apiVersion: operators.coreos.com/v1alpha1, kind: ClusterServiceVersion, metadata: {name: etcd.v%[1]s}, spec: {version: %[1]s, installModes: [{type: AllNamespaces, supported: true}], install: {strategy: deployment, spec: {deployments: []}}}}
---
{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}}
`, version)
	return registryv1.FromObjects(ctx, "etcd", [][]byte{[]byte(text)}, nil)
}

// What an extension reports if nothing can be selected: version 1.0.0 is installed or nothing,
// and the catalogs of the cluster cannot be listed in some cases.
func TestResolutionFails(t *testing.T) { // K100, K101, K104, K105
	const (
		none      = "Installed False Failed: No bundle installed"
		installed = "Installed True Succeeded: Installed bundle registry.example/etcd:1.0.0 successfully"
		available = "Available True ProbesSucceeded: Objects are available and pass all probes."
		unknown   = "Deprecated Unknown DeprecationStatusUnknown: deprecation status unknown: catalog data unavailable"
		clean     = "Deprecated False NotDeprecated: not deprecated"
	)
	for _, test := range []struct {
		name        string
		installs    bool // version 1.0.0 first
		filter      string
		catalogs    string // then
		unlisted    bool
		install     string
		progressing string
		deprecated  string
	}{
		{"nothing installed", false, "packageName: etcd", "", false, none,
			`Progressing True Retrying: no available catalog is selected (of 0 given)`, unknown},
		{"nothing installed, a catalog without the package", false, "packageName: etcd", "other", false, none,
			`Progressing True Retrying: no catalog has package "etcd"; searched other`, unknown},
		{"nothing installed, a catalog without the version", false, "{packageName: etcd, version: 9.0.0}", "community", false, none,
			`Progressing True Retrying: no bundle of package "etcd" in range "9.0.0"; the newest available is 2.0.0`, clean},
		{"nothing installed, catalogs cannot be listed", false, "packageName: etcd", "community", true, none,
			`Progressing True Retrying: no connection`, unknown},
		{"another version", true, "{packageName: etcd, version: 1.1.0}", "", false, installed,
			`Progressing True Retrying: no available catalog is selected (of 0 given)`, unknown},
		{"a range that the installed version satisfies", true, "{packageName: etcd, version: 1.0.x}", "", false, installed,
			`Progressing True Retrying: no available catalog is selected (of 0 given)`, unknown},
		{"a catalog without the package", true, "packageName: etcd", "other", false, installed,
			`Progressing True Retrying: no catalog has package "etcd"; searched other`, unknown},
		{"a catalog that is not served", true, "packageName: etcd", "broken", false, installed,
			`Progressing True Retrying: catalog "broken": the catalog is not served`, unknown},
		{"catalogs cannot be listed", true, "packageName: etcd", "community", true, installed,
			`Progressing True Retrying: no connection`, unknown},
		{"no catalog", true, "packageName: etcd", "", false, installed,
			"Progressing True Succeeded: Revision 1.0.0 has rolled out.", unknown},
		{"no catalog that matches", true, "{packageName: etcd, selector: {matchLabels: {name: certified}}}", "community", false, installed,
			"Progressing True Succeeded: Revision 1.0.0 has rolled out.", unknown},
		{"no catalog, the installed version", true, "{packageName: etcd, version: 1.0.0}", "", false, installed,
			"Progressing True Succeeded: Revision 1.0.0 has rolled out.", unknown},
	} {
		t.Run(test.name, func(t *testing.T) {
			types := scheme(t)
			if err := clientscheme.AddToScheme(types); err != nil {
				t.Fatal(err)
			}
			unlisted, uid := false, 0
			c := fake.NewClientBuilder().WithScheme(types).WithReturnManagedFields().WithStatusSubresource(&api.ClusterExtension{}).
				WithInterceptorFuncs(interceptor.Funcs{
					Create: func(ctx context.Context, c client.WithWatch, o client.Object, opts ...client.CreateOption) error {
						uid++
						o.SetUID(uidOf(uid))
						return c.Create(ctx, o, opts...)
					},
					List: func(ctx context.Context, c client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
						if _, ok := l.(*api.ClusterCatalogList); ok && unlisted {
							return errors.New("no connection")
						}
						return c.List(ctx, l, opts...)
					},
				}).Build()
			create := func(o client.Object) {
				if err := c.Create(t.Context(), o); err != nil {
					t.Fatal(err)
				}
			}
			create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ops"}})
			r := &extension.Reconciler{
				Client: c, Catalogs: opener{}, Now: func() time.Time { return now.Time },
				Rollouts: &extension.Rollouts{Client: c, Objects: c, Namespace: systemNamespace, Bundles: settings{}},
			}
			e := clusterExtension(t, test.filter)
			want := e.Spec.Source.Catalog
			if test.installs {
				e.Spec.Source.Catalog = clusterExtension(t, "{packageName: etcd, version: 1.0.0}").Spec.Source.Catalog
				create(&clusterCatalogs(t, "community")[0])
			}
			create(e)
			if test.installs {
				if e = settled(t, r); e.Status.Install == nil {
					t.Fatalf("not installed: %+v", e.Status)
				}
				if err := c.Delete(t.Context(), &clusterCatalogs(t, "community")[0]); err != nil {
					t.Fatal(err)
				}
			}
			e = settled(t, r)
			e.Spec.Source.Catalog = want
			if err := c.Update(t.Context(), e); err != nil {
				t.Fatal(err)
			}
			for _, cat := range clusterCatalogs(t, test.catalogs) {
				create(&cat)
			}
			unlisted = test.unlisted
			e = settled(t, r)
			got := map[string]string{}
			for _, x := range e.Status.Conditions {
				got[x.Type] = fmt.Sprintf("%s %s %s: %s", x.Type, x.Status, x.Reason, x.Message)
			}
			lines := []string{test.install, test.progressing, test.deprecated}
			if test.installs {
				lines = append(lines, available)
			}
			for _, line := range lines {
				typ, _, _ := strings.Cut(line, " ")
				if !strings.HasPrefix(got[typ], line) {
					t.Errorf("got  %s\nwant %s", got[typ], line)
				}
			}
			if len(got) != len(lines)+3 { // and the deprecations of package, channel and bundle
				t.Errorf("conditions: %v", got)
			}
			// Whatever may pass by itself is tried again; a refusal stands until something changes.
			_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)})
			if passes := test.unlisted || test.catalogs == "broken"; passes != (err != nil) {
				t.Errorf("the next try: %v", err)
			}
			if test.installs != (e.Status.Install != nil) {
				t.Errorf("status.install: %+v", e.Status.Install)
			}
		})
	}
}

func uidOf(n int) types.UID { return types.UID(fmt.Sprint("uid-", n)) }

// settled reconciles an extension until nothing changes, and returns it.
func settled(t *testing.T, r *extension.Reconciler) *api.ClusterExtension {
	t.Helper()
	key := types.NamespacedName{Name: "my-etcd"}
	e := &api.ClusterExtension{}
	last := ""
	for range 100 {
		result, _ := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
		if err := r.Client.Get(t.Context(), key, e); err != nil {
			t.Fatal(err)
		}
		if e.ResourceVersion == last && result.RequeueAfter == 0 {
			return e
		}
		last = e.ResourceVersion
	}
	t.Fatalf("it does not settle: %+v", e.Status)
	return nil
}
