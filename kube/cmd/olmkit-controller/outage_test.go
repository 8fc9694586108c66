package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	operatorsv1 "github.com/operator-framework/api/pkg/operators/v1"
	operatorsv1alpha1 "github.com/operator-framework/api/pkg/operators/v1alpha1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// G3: the API server is unavailable for longer than the lease. The leader
// exits, because another replica may lead next. When the server is back, the
// standby becomes the leader and finishes the work, even if there is another
// standby.
func TestOutageOutlastsLease(t *testing.T) {
	ctx, dir := context.Background(), t.TempDir()
	config, catalog := filepath.Join(dir, "config"), filepath.Join(dir, "catalog")
	check(t, os.WriteFile(config, env.KubeConfig(), 0o600))
	check(t, os.Mkdir(catalog, 0o755))
	offer := func(versions ...string) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(dir, "next"), []byte(served(t, versions...)), 0o644))
		check(t, os.Rename(filepath.Join(dir, "next"), filepath.Join(catalog, "gadget.json")))
	}
	offer("0.2.1")
	c, err := client.New(env.Config, client.Options{Scheme: newScheme(t)})
	check(t, err)
	for _, o := range []client.Object{
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leased-olm"}},
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "leased"}},
		&operatorsv1alpha1.CatalogSource{
			ObjectMeta: metav1.ObjectMeta{Name: "leased", Namespace: "leased-olm"},
			Spec:       operatorsv1alpha1.CatalogSourceSpec{SourceType: operatorsv1alpha1.SourceTypeGrpc, Image: "example.com/catalog"},
		},
		&operatorsv1.OperatorGroup{ObjectMeta: metav1.ObjectMeta{Name: "leased", Namespace: "leased"}, Spec: operatorsv1.OperatorGroupSpec{TargetNamespaces: []string{"leased"}}},
		&operatorsv1alpha1.Subscription{
			ObjectMeta: metav1.ObjectMeta{Name: "gadget", Namespace: "leased"},
			Spec:       &operatorsv1alpha1.SubscriptionSpec{Package: "gadget", Channel: "stable", CatalogSource: "leased", CatalogSourceNamespace: "leased-olm"},
		},
	} {
		check(t, c.Create(ctx, o))
	}
	args := []string{
		"--kubeconfig", config, "--global-namespace=leased-olm", "--leader-elect", "--leader-election-namespace=leased-olm",
		"--leader-election-lease-duration=10s", "--leader-election-renew-deadline=7s", "--leader-election-retry-period=1s",
		"--catalog", "leased-olm/leased=dir:" + catalog, "--catalog-interval=300ms", "--namespace-selector=kubernetes.io/metadata.name in (leased, leased-olm)",
	}
	holder := func() string {
		var leases coordinationv1.LeaseList
		if c.List(ctx, &leases, client.InNamespace("leased-olm")) != nil || len(leases.Items) != 1 || leases.Items[0].Spec.HolderIdentity == nil {
			return ""
		}
		return *leases.Items[0].Spec.HolderIdentity
	}
	installed := func(version string) func() error {
		return func() error {
			play(t, c, "leased")
			csv := &operatorsv1alpha1.ClusterServiceVersion{}
			if err := c.Get(ctx, client.ObjectKey{Namespace: "leased", Name: "gadget.v" + version}, csv); err != nil {
				return err
			}
			if csv.Status.Phase != operatorsv1alpha1.CSVPhaseSucceeded {
				return fmt.Errorf("it is %s: %s", csv.Status.Phase, csv.Status.Message)
			}
			return nil
		}
	}
	leads := func(not string) func() error {
		return func() error {
			if h := holder(); h == "" || h == not {
				return fmt.Errorf("%q leads", h)
			}
			return nil
		}
	}
	leader := replicate(t, args...)
	eventually(t, leads(""))
	first := holder()
	replicate(t, args...)
	eventually(t, installed("0.2.1"))

	check(t, env.KillAPIServer())
	select {
	case <-leader.ended:
	case <-time.After(4 * time.Minute):
		t.Error("the leader does not exit, although it cannot renew its lease")
	}
	offer("0.2.1", "0.2.2")
	check(t, env.StartAPIServer())
	if leader.err == nil || !strings.Contains(leader.out.String(), "leader election lost") {
		t.Errorf("the leader exited with %v\n%s", leader.err, leader.out)
	}
	eventually(t, leads(first))
	eventually(t, installed("0.2.2"))
	replicate(t, args...)
	offer("0.2.1", "0.2.2", "0.2.3")
	eventually(t, installed("0.2.3"))
}
