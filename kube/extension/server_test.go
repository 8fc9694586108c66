package extension_test

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/config"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/internal/envtest"
)

// TestRealServer runs the reconciler in a manager against an API server that
// validates its writes, with the CRDs in testdata and, if they are available,
// with OLM v1's.
func TestRealServer(t *testing.T) {
	t.Run("own", func(t *testing.T) { realServer(t, ownCRDs) })
	t.Run("original", func(t *testing.T) { realServer(t, realcat.Shared(t, "crds")) })
}

func realServer(t *testing.T, crds string) {
	log.SetLogger(logr.Discard())
	admin := envtest.Run(t, crds)
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		name, _, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/catalogs/"), "/")
		io.WriteString(w, contents[name])
	}))
	t.Cleanup(ts.Close)

	m, err := ctrl.NewManager(admin, ctrl.Options{
		Scheme: scheme(t), Metrics: server.Options{BindAddress: "0"},
		Controller: config.Controller{SkipNameValidation: new(true)}, // the test runs several times
	})
	if err != nil {
		t.Fatal(err)
	}
	in := &installer{installed: map[string]api.BundleMetadata{}}
	if err := (&extension.Reconciler{Client: m.GetClient(), Catalogs: &extension.Served{}, Installer: in}).SetupWithManager(m); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- m.Start(ctx) }()
	t.Cleanup(func() {
		stop()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})

	c, err := client.New(admin, client.Options{Scheme: scheme(t)})
	if err != nil {
		t.Fatal(err)
	}
	eventually := func(want string) *api.ClusterExtension {
		t.Helper()
		e := &api.ClusterExtension{}
		for deadline := time.Now().Add(3 * time.Minute); ; time.Sleep(20 * time.Millisecond) {
			if err := c.Get(ctx, client.ObjectKey{Name: "my-etcd"}, e); err != nil {
				t.Fatal(err)
			}
			if got := progressing(e); got == want {
				return e
			} else if time.Now().After(deadline) {
				t.Fatalf("Progressing is %s\nwant %s", got, want)
			}
		}
	}
	serve := func(cat *api.ClusterCatalog) {
		t.Helper()
		if err := c.Create(ctx, cat); err != nil {
			t.Fatal(err)
		}
		at := metav1.NewTime(time.Now().Truncate(time.Second))
		cat.Status = api.ClusterCatalogStatus{
			Conditions:     []metav1.Condition{{Type: "Serving", Status: "True", Reason: "Available", LastTransitionTime: at}},
			URLs:           &api.ClusterCatalogURLs{Base: ts.URL + "/catalogs/" + cat.Name},
			LastUnpacked:   &at,
			ResolvedSource: &api.ResolvedCatalogSource{Type: "Image", Image: &api.ResolvedImageSource{Ref: "registry.example/catalog@sha256:" + strings.Repeat("a", 64)}},
		}
		if err := c.Status().Update(ctx, cat); err != nil {
			t.Fatal(err)
		}
	}

	// The API server rejects invalid extensions and fills in defaults.
	bad := clusterExtension(t, "{packageName: etcd, version: 'newest'}")
	if err := c.Create(ctx, bad); err == nil {
		t.Error("an invalid version was accepted")
	}
	ext := clusterExtension(t, "{packageName: etcd, channels: [stable], version: 1.2.0}")
	if err := c.Create(ctx, ext); err != nil {
		t.Fatal(err)
	}
	if ext.Spec.Source.Catalog.UpgradeConstraintPolicy != api.PolicyCatalogProvided {
		t.Errorf("%+v", ext.Spec.Source.Catalog)
	}
	eventually("True Retrying: no available catalog is selected (of 0 given)")

	// A catalog is added, then another one with the same priority, which is
	// then changed.
	community, certified := &clusterCatalogs(t, "community")[0], &clusterCatalogs(t, "certified")[0]
	serve(community)
	e := eventually("True Succeeded: desired state reached")
	if e.Status.Install == nil || e.Status.Install.Bundle != *bundleOf("1.2.0") {
		t.Errorf("%+v", e.Status.Install)
	}
	for _, typ := range []string{"Installed", "Progressing"} {
		if !meta.IsStatusConditionTrue(e.Status.Conditions, typ) {
			t.Errorf("%s is not true: %+v", typ, e.Status.Conditions)
		}
	}
	serve(certified)
	eventually(`True Retrying: catalogs of equal priority have package "etcd" in range "1.2.0" in channel stable: certified, community; raise the priority of one, or select by label`)
	certified.Spec.Priority = 10
	if err := c.Update(ctx, certified); err != nil {
		t.Fatal(err)
	}
	eventually("True Succeeded: desired state reached")

	// Nothing is written unless something changes.
	var raw unstructured.Unstructured
	raw.SetGroupVersionKind(api.GroupVersion.WithKind("ClusterExtension"))
	if err := c.Get(ctx, client.ObjectKey{Name: "my-etcd"}, &raw); err != nil {
		t.Fatal(err)
	}
	version := raw.GetResourceVersion()
	time.Sleep(200 * time.Millisecond)
	if err := c.Get(ctx, client.ObjectKey{Name: "my-etcd"}, &raw); err != nil {
		t.Fatal(err)
	}
	if raw.GetResourceVersion() != version {
		t.Error("the status was written although nothing changed")
	}

	// The catalogs are deleted: the installed bundle stays.
	for _, cat := range []*api.ClusterCatalog{community, certified} {
		if err := c.Delete(ctx, cat); err != nil {
			t.Fatal(err)
		}
	}
	e = eventually("True Retrying: no available catalog is selected (of 0 given)")
	if e.Status.Install == nil {
		t.Error("the status no longer reports the installed bundle")
	}
}
