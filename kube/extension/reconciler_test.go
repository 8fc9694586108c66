package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

func scheme(t testing.TB) *runtime.Scheme {
	t.Helper()
	s := runtime.NewScheme()
	if err := api.AddToScheme(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// An installer records what it installed, by extension.
type installer struct {
	installed map[string]api.BundleMetadata
	calls     int
	err       error
	lookErr   error
}

func (i *installer) Installed(_ context.Context, e *api.ClusterExtension) (*api.BundleMetadata, error) {
	if b, ok := i.installed[e.Name]; ok {
		return &b, i.lookErr
	}
	return nil, i.lookErr
}

func (i *installer) Install(_ context.Context, e *api.ClusterExtension, s *olmv1.Selection) error {
	i.calls++
	if i.err == nil {
		i.installed[e.Name] = api.BundleMetadata{Name: s.Bundle, Version: s.Version}
	}
	return i.err
}

// cluster returns a client of a fake cluster with objects, and a counter of its
// writes.
func cluster(t *testing.T, objects ...client.Object) (client.Client, *int) {
	t.Helper()
	writes := new(int)
	c := fake.NewClientBuilder().WithScheme(scheme(t)).WithObjects(objects...).
		WithStatusSubresource(&api.ClusterExtension{}, &api.ClusterCatalog{}).
		WithInterceptorFuncs(interceptor.Funcs{
			SubResourcePatch: func(ctx context.Context, c client.Client, sub string, o client.Object, p client.Patch, opts ...client.SubResourcePatchOption) error {
				*writes++
				return c.SubResource(sub).Patch(ctx, o, p, opts...)
			},
		}).Build()
	return c, writes
}

func reconciled(t *testing.T, r *extension.Reconciler) (*api.ClusterExtension, error) {
	t.Helper()
	key := types.NamespacedName{Name: "my-etcd"}
	_, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key})
	e := &api.ClusterExtension{}
	if err := r.Client.Get(t.Context(), key, e); err != nil {
		t.Fatal(err)
	}
	return e, err
}

func progressing(e *api.ClusterExtension) string {
	c := meta.FindStatusCondition(e.Status.Conditions, "Progressing")
	if c == nil {
		return "none"
	}
	return fmt.Sprintf("%s %s: %s", c.Status, c.Reason, c.Message)
}

func TestReconcile(t *testing.T) {
	community := &clusterCatalogs(t, "community")[0]
	c, writes := cluster(t, clusterExtension(t, "{packageName: etcd, channels: [stable], version: '1.0.0'}"), community)
	in := &installer{installed: map[string]api.BundleMetadata{}}
	r := &extension.Reconciler{Client: c, Catalogs: opener{}, Installer: in}

	e, err := reconciled(t, r)
	if err != nil || e.Status.Install == nil || e.Status.Install.Bundle.Name != "etcd.v1.0.0" || progressing(e) != "True Succeeded: desired state reached" {
		t.Fatalf("%v, %+v", err, e.Status)
	}
	// If nothing changed, it calls the installer but writes nothing.
	if _, err := reconciled(t, r); err != nil || *writes != 1 || in.calls != 2 {
		t.Errorf("%v, %d writes, %d installations", err, *writes, in.calls)
	}
	// Each reconciliation upgrades by one step.
	e.Spec.Source.Catalog.Version = ""
	if err := c.Update(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"etcd.v1.1.0", "etcd.v1.2.0", "etcd.v1.2.0"} {
		if e, err = reconciled(t, r); err != nil || e.Status.Install.Bundle.Name != want {
			t.Errorf("%v, %+v; want %s", err, e.Status.Install, want)
		}
	}
	// After a failure, the installed bundle stays and the installation is
	// retried.
	in.err = errors.New("no permission")
	e, err = reconciled(t, r)
	if err == nil || e.Status.Install.Bundle.Name != "etcd.v1.2.0" || progressing(e) != "True Retrying: bundle etcd.v1.2.0 of catalog community is selected: no permission" {
		t.Errorf("%v, %s", err, progressing(e))
	}
	in.err = reconcile.TerminalError(errors.New("it would lose data"))
	if e, err = reconciled(t, r); err != nil || !strings.HasPrefix(progressing(e), "False Blocked: ") {
		t.Errorf("%v, %s", err, progressing(e))
	}
	// If the installed bundle is unknown, nothing is installed.
	in.err, in.lookErr = nil, errors.New("secrets is forbidden")
	before := in.calls
	e, err = reconciled(t, r)
	if err == nil || in.calls != before || e.Status.Install == nil || meta.FindStatusCondition(e.Status.Conditions, "Installed").Status != "Unknown" {
		t.Errorf("%v, %+v", err, e.Status)
	}
}

func TestReconcileRefused(t *testing.T) {
	c, _ := cluster(t, clusterExtension(t, "packageName: nothing"), &clusterCatalogs(t, "community")[0])
	r := &extension.Reconciler{Client: c, Catalogs: opener{}, Installer: &installer{}}
	if e, err := reconciled(t, r); err != nil || progressing(e) != `True Retrying: no catalog has package "nothing"; searched community` {
		t.Errorf("%v, %s", err, progressing(e))
	}
	if err := c.Create(t.Context(), &clusterCatalogs(t, "broken")[0]); err != nil {
		t.Fatal(err)
	}
	var catalog *desired.CatalogError
	if e, err := reconciled(t, r); !errors.As(err, &catalog) || progressing(e) != `True Retrying: catalog "broken": the catalog is not served` {
		t.Errorf("%v, %s", err, progressing(e))
	}
}

// TestDecideOnly checks that without an installer the status never reports an
// installed bundle.
func TestDecideOnly(t *testing.T) {
	e := clusterExtension(t, "packageName: etcd")
	c, writes := cluster(t, e, &clusterCatalogs(t, "community")[0])
	r := &extension.Reconciler{Client: c, Catalogs: opener{}}
	for range 2 {
		e, err := reconciled(t, r)
		if err != nil || e.Status.Install != nil || progressing(e) != "False Blocked: bundle etcd.v2.0.0 of catalog community is selected: no installer is configured" {
			t.Errorf("%v, %+v", err, e.Status)
		}
	}
	if *writes != 1 {
		t.Errorf("%d writes", *writes)
	}
	// Missing extensions, and those being deleted, are ignored.
	if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: "other"}}); err != nil {
		t.Error(err)
	}
	e = clusterExtension(t, "packageName: etcd")
	e.Finalizers = []string{"example.com/wait"}
	c, writes = cluster(t, e)
	if err := c.Delete(t.Context(), e); err != nil {
		t.Fatal(err)
	}
	r.Client = c
	if _, err := reconciled(t, r); err != nil || *writes != 0 {
		t.Errorf("%v, %d writes for one that is being deleted", err, *writes)
	}
}

// TestAnotherWriter checks that the status does not overwrite another writer's
// concurrent change.
func TestAnotherWriter(t *testing.T) {
	c, _ := cluster(t, clusterExtension(t, "packageName: etcd"))
	meddle := interceptor.NewClient(c.(client.WithWatch), interceptor.Funcs{
		List: func(ctx context.Context, inner client.WithWatch, l client.ObjectList, opts ...client.ListOption) error {
			var e api.ClusterExtension
			if err := inner.Get(ctx, types.NamespacedName{Name: "my-etcd"}, &e); err != nil {
				return err
			}
			e.Status.Conditions = append(e.Status.Conditions, metav1.Condition{Type: "Mine", Status: "True", Reason: "X", LastTransitionTime: now})
			if err := inner.Status().Update(ctx, &e); err != nil {
				return err
			}
			return inner.List(ctx, l, opts...)
		},
	})
	r := &extension.Reconciler{Client: meddle, Catalogs: opener{}}
	e, err := reconciled(t, r)
	if err == nil || meta.FindStatusCondition(e.Status.Conditions, "Mine") == nil {
		t.Errorf("%v, %+v; want a conflict", err, e.Status)
	}
	r.Client = c
	e, err = reconciled(t, r)
	if err != nil || meta.FindStatusCondition(e.Status.Conditions, "Mine") == nil || progressing(e) == "none" {
		t.Errorf("%v, %+v", err, e.Status)
	}
}

func TestDeepCopy(t *testing.T) {
	e := clusterExtension(t, "{packageName: etcd, channels: [stable], selector: {matchLabels: {a: b}}}")
	e.Spec.Install = &api.InstallConfig{Preflight: &api.PreflightConfig{CRDUpgradeSafety: &api.CRDUpgradeSafety{Enforcement: "None"}}}
	e.Status = api.ClusterExtensionStatus{Conditions: []metav1.Condition{{Type: "X"}}, Install: &api.InstallStatus{Bundle: *bundleOf("1.0.0")}}
	minutes := 5
	cat := clusterCatalogs(t, "community/3")[0]
	cat.Spec.Source.Image.PollIntervalMinutes = &minutes
	cat.Status = api.ClusterCatalogStatus{
		Conditions: []metav1.Condition{{Type: "X"}}, URLs: &api.ClusterCatalogURLs{Base: "x"}, LastUnpacked: &metav1.Time{Time: time.Unix(7, 0)},
		ResolvedSource: &api.ResolvedCatalogSource{Type: "Image", Image: &api.ResolvedImageSource{Ref: "y"}},
	}
	list := &api.ClusterExtensionList{Items: []api.ClusterExtension{*e}}
	cats := &api.ClusterCatalogList{Items: []api.ClusterCatalog{cat}}
	l, cs := list.DeepCopyObject().(*api.ClusterExtensionList), cats.DeepCopyObject().(*api.ClusterCatalogList)
	if diff := cmp.Diff(list, l) + cmp.Diff(cats, cs); diff != "" {
		t.Fatal(diff)
	}
	x := &l.Items[0]
	x.Labels = map[string]string{"a": "b"}
	x.Spec.Source.Catalog.Channels[0], x.Spec.Source.Catalog.Selector.MatchLabels["a"] = "z", "z"
	x.Spec.Install.Preflight.CRDUpgradeSafety.Enforcement = "Strict"
	x.Status.Conditions[0].Type, x.Status.Install.Bundle.Name = "z", "z"
	y := &cs.Items[0]
	*y.Spec.Source.Image.PollIntervalMinutes, y.Status.Conditions[0].Type, y.Status.URLs.Base = 9, "z", "z"
	y.Status.ResolvedSource.Image.Ref, y.Status.LastUnpacked.Time = "z", time.Unix(9, 0)
	if e.Labels != nil || e.Spec.Source.Catalog.Channels[0] != "stable" || e.Spec.Source.Catalog.Selector.MatchLabels["a"] != "b" ||
		e.Spec.Install.Preflight.CRDUpgradeSafety.Enforcement != "None" || e.Status.Conditions[0].Type != "X" || e.Status.Install.Bundle.Name != "etcd.v1.0.0" {
		t.Errorf("the copy shares memory with %+v", e)
	}
	if minutes != 5 || cat.Status.Conditions[0].Type != "X" || cat.Status.URLs.Base != "x" || cat.Status.ResolvedSource.Image.Ref != "y" || cat.Status.LastUnpacked.Unix() != 7 {
		t.Errorf("the copy shares memory with %+v", cat)
	}
}
