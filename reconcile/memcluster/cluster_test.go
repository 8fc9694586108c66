package memcluster_test

import (
	"context"
	"errors"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/clustertest"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

func sub(name string) *olm.Subscription {
	s := &olm.Subscription{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindSubscription, Metadata: olm.Metadata{Name: name, Namespace: "ns"}}}
	s.Spec.Package = name
	return s
}

func change(t *testing.T, op reconcile.Op, r olm.Resource) reconcile.Change {
	t.Helper()
	o, err := olm.ToObject(r)
	if err != nil {
		t.Fatal(err)
	}
	return reconcile.Change{Op: op, Object: o}
}

func apply(t *testing.T, c *memcluster.Cluster, op reconcile.Op, r olm.Resource) error {
	t.Helper()
	_, err := c.Apply(context.Background(), change(t, op, r))
	return err
}

func get(t *testing.T, c *memcluster.Cluster, name string) *olm.Subscription {
	t.Helper()
	o, err := c.Get(sub(name).Key())
	if err != nil {
		t.Fatal(err)
	}
	s, err := olm.As[olm.Subscription](o)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStatusApart(t *testing.T) {
	c := new(memcluster.Cluster)
	s := sub("a")
	s.Status.State = olm.StateAtLatestKnown
	if err := apply(t, c, reconcile.Create, s); err != nil {
		t.Fatal(err)
	}
	got := get(t, c, "a")
	if got.Status.State != "" || got.Metadata.UID == "" || got.Metadata.Generation != 1 {
		t.Fatalf("created %+v", got)
	}
	got.Status.State, got.Spec.Channel = olm.StateUpgradePending, "ignored"
	if err := apply(t, c, reconcile.UpdateStatus, got); err != nil {
		t.Fatal(err)
	}
	got = get(t, c, "a")
	if got.Status.State != olm.StateUpgradePending || got.Spec.Channel != "" || got.Metadata.Generation != 1 {
		t.Fatalf("after the status %+v", got)
	}
	got.Status.State, got.Spec.Channel = "ignored", "stable"
	if err := apply(t, c, reconcile.Update, got); err != nil {
		t.Fatal(err)
	}
	got = get(t, c, "a")
	if got.Status.State != olm.StateUpgradePending || got.Spec.Channel != "stable" || got.Metadata.Generation != 2 {
		t.Fatalf("after the update %+v", got)
	}
	version := got.Metadata.ResourceVersion
	if err := apply(t, c, reconcile.Update, got); err != nil {
		t.Fatal(err)
	}
	if v := get(t, c, "a").Metadata.ResourceVersion; v != version {
		t.Errorf("an update without changes changed version %s to %s", version, v)
	}
}

func TestConflicts(t *testing.T) {
	c := new(memcluster.Cluster)
	if err := c.Put(sub("a"), sub("b")); err != nil {
		t.Fatal(err)
	}
	stale := get(t, c, "a")
	if err := c.Put(sub("a")); err != nil {
		t.Fatal(err)
	}
	stale.Spec.Channel = "late"
	gone := get(t, c, "b")
	if err := c.Remove(gone.Key()); err != nil {
		t.Fatal(err)
	}
	for name, err := range map[string]error{
		"create what exists":       apply(t, c, reconcile.Create, sub("a")),
		"update an old version":    apply(t, c, reconcile.Update, stale),
		"status of an old version": apply(t, c, reconcile.UpdateStatus, stale),
		"delete an old version":    apply(t, c, reconcile.Delete, stale),
		"update what is gone":      apply(t, c, reconcile.Update, gone),
		"delete what is gone":      apply(t, c, reconcile.Delete, gone),
		"create for an old version": func() error {
			x := change(t, reconcile.Create, sub("c"))
			x.If = []reconcile.Version{{Key: stale.Key(), ResourceVersion: stale.Metadata.ResourceVersion}}
			_, err := c.Apply(context.Background(), x)
			return err
		}(),
	} {
		if !errors.Is(err, reconcile.ErrConflict) {
			t.Errorf("%s: got %v, want ErrConflict", name, err)
		}
	}
	if err := c.Remove(gone.Key()); !errors.Is(err, memcluster.ErrNotFound) {
		t.Errorf("Remove of nothing: %v", err)
	}
}

func TestDependentsGo(t *testing.T) {
	c := new(memcluster.Cluster)
	if err := c.Put(sub("a"), sub("b")); err != nil {
		t.Fatal(err)
	}
	one, both, none := sub("one"), sub("both"), sub("none")
	one.Metadata.OwnerReferences = []olm.OwnerReference{olm.OwnedBy(get(t, c, "a"))}
	both.Metadata.OwnerReferences = []olm.OwnerReference{olm.OwnedBy(get(t, c, "a")), olm.OwnedBy(get(t, c, "b"))}
	none.Metadata.OwnerReferences = []olm.OwnerReference{{APIVersion: olm.V1Alpha1, Kind: "Subscription", Name: "gone", UID: "gone"}}
	for _, s := range []*olm.Subscription{one, both, none} {
		if err := apply(t, c, reconcile.Create, s); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Remove(sub("a").Key()); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]bool{"one": false, "both": true, "none": false, "b": true} {
		if _, err := c.Get(sub(name).Key()); (err == nil) != want {
			t.Errorf("%s is there: %v, want %v", name, err == nil, want)
		}
	}
}

func TestWatch(t *testing.T) {
	c := new(memcluster.Cluster)
	ctx, cancel := context.WithCancel(context.Background())
	events := c.Watch(ctx)
	if err := c.Put(sub("a"), sub("a"), sub("b")); err != nil {
		t.Fatal(err)
	}
	if err := c.Remove(sub("a").Key()); err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct {
		typ  string
		name string
	}{{"ADDED", "a"}, {"MODIFIED", "a"}, {"ADDED", "b"}, {"DELETED", "a"}} {
		if e := <-events; e.Type != want.typ || e.Object.Metadata.Name != want.name {
			t.Errorf("event %s %s, want %s %s", e.Type, e.Object.Metadata.Name, want.typ, want.name)
		}
	}
	cancel()
	if e, ok := <-events; ok {
		t.Errorf("event %v after the end", e)
	}
}

func TestControllers(t *testing.T) {
	c := &memcluster.Cluster{Controllers: true}
	crd := &olm.CustomResourceDefinition{Header: olm.Header{APIVersion: olm.GroupCRD + "/v1", Kind: olm.KindCRD, Metadata: olm.Metadata{Name: "as.x.io"}}}
	crd.Spec.Group, crd.Spec.Names.Plural = "x.io", "as"
	crd.Spec.Versions = []olm.CRDVersion{{Name: "v1", Served: true, Storage: true}}
	if err := apply(t, c, reconcile.Create, crd); err != nil {
		t.Fatal(err)
	}
	s, err := c.Read(context.Background(), "ns")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.CRDs) != 1 || !s.CRDs[0].Status.IsEstablished() || len(s.CRDs[0].Status.StoredVersions) != 1 {
		t.Errorf("CRDs %+v", s.CRDs)
	}
}

func TestCluster(t *testing.T) {
	clustertest.Run(t, func(*testing.T) reconcile.Cluster { return &memcluster.Cluster{Controllers: true} })
}

// A deployment has as many replicas as its spec requests, and one by default.
func TestReplicas(t *testing.T) {
	for spec, want := range map[string]int64{`{"replicas":0}`: 0, `{"replicas":3}`: 3, `{}`: 1} {
		c := &memcluster.Cluster{Controllers: true}
		d := &olm.Deployment{Header: olm.Header{APIVersion: "apps/v1", Kind: "Deployment", Metadata: olm.Metadata{Name: "d", Namespace: "ns"}}, Spec: []byte(spec)}
		if err := apply(t, c, reconcile.Create, d); err != nil {
			t.Fatal(err)
		}
		o, err := c.Get(d.Key())
		if err != nil {
			t.Fatal(err)
		}
		got, err := olm.As[olm.Deployment](o)
		if err != nil {
			t.Fatal(err)
		}
		if got.Status.Replicas != want || got.Status.UpdatedReplicas != want {
			t.Errorf("%s: %d replicas, %d of them updated; want %d", spec, got.Status.Replicas, got.Status.UpdatedReplicas, want)
		}
	}
}

// Snapshots of any namespace share the objects that have not changed, so a simulation of many
// namespaces does not decode all objects again for each.
func TestReadShares(t *testing.T) {
	c, ctx := &memcluster.Cluster{}, context.Background()
	group := func(name string) *olm.OperatorGroup {
		return &olm.OperatorGroup{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperatorGroup, Metadata: olm.Metadata{Name: name, Namespace: name}}}
	}
	if err := c.Put(group("a"), group("b")); err != nil {
		t.Fatal(err)
	}
	read := func(namespace string) []*olm.OperatorGroup {
		s, err := c.Read(ctx, namespace)
		if err != nil {
			t.Fatal(err)
		}
		return s.OperatorGroups
	}
	before := read("a")
	if now := read("b"); len(now) != 2 || now[0] != before[0] || now[1] != before[1] {
		t.Errorf("a second snapshot has other objects")
	}
	b := group("b")
	b.Spec.TargetNamespaces = []string{"b"}
	if err := c.Put(b, group("c")); err != nil {
		t.Fatal(err)
	}
	now := read("a")
	if len(now) != 3 || now[0] != before[0] || now[1] == before[1] || len(now[1].Spec.TargetNamespaces) != 1 {
		t.Errorf("after a change and an addition, the groups are %v", now)
	}
	if err := c.Remove(group("a").Key()); err != nil {
		t.Fatal(err)
	}
	if last := read("a"); len(last) != 2 || last[0] != now[1] || last[1] != now[2] {
		t.Errorf("after a deletion, the groups are %v", last)
	}
}
