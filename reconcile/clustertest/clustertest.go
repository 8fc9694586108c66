// Package clustertest tests implementations of reconcile.Cluster, as testing/fstest does for
// fs.FS. To test an implementation, call [Run] from a test.
package clustertest

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// Namespace is the namespace that the tests write to. It must exist before they run.
const Namespace = "clustertest"

// Run tests the behavior that package reconcile relies on: a snapshot contains what was
// written, statuses are written separately, no fields are lost, and a change to an object
// that has changed since it was read fails with reconcile.ErrConflict. New is called for
// each test and returns a cluster without subscriptions in Namespace.
func Run(t *testing.T, new func(t *testing.T) reconcile.Cluster) {
	for name, test := range map[string]func(*tester){
		"create":           (*tester).create,
		"status apart":     (*tester).statusApart,
		"unknown fields":   (*tester).unknownFields,
		"create twice":     (*tester).createTwice,
		"old version":      (*tester).oldVersion,
		"gone":             (*tester).gone,
		"condition":        (*tester).condition,
		"ended context":    (*tester).endedContext,
		"other namespaces": (*tester).otherNamespaces,
	} {
		t.Run(name, func(t *testing.T) { test(&tester{t, new(t)}) })
	}
}

type tester struct {
	*testing.T
	cluster reconcile.Cluster
}

func subscription(name string) *olm.Subscription {
	s := &olm.Subscription{Header: olm.Header{APIVersion: olm.V1Alpha1, Kind: olm.KindSubscription, Metadata: olm.Metadata{Name: name, Namespace: Namespace}}}
	s.Spec = olm.SubscriptionSpec{Package: name, Source: "catalog", SourceNamespace: "olm"}
	return s
}

func (t *tester) apply(op reconcile.Op, r olm.Resource) error {
	t.Helper()
	o, err := olm.ToObject(r)
	if err != nil {
		t.Fatal(err)
	}
	_, err = t.cluster.Apply(context.Background(), reconcile.Change{Op: op, Object: o, For: o.Key(), Reason: "test"})
	return err
}

func (t *tester) must(op reconcile.Op, r olm.Resource) {
	t.Helper()
	if err := t.apply(op, r); err != nil {
		t.Fatalf("%s: %v", op, err)
	}
}

func (t *tester) conflict(op reconcile.Op, r olm.Resource) {
	t.Helper()
	if err := t.apply(op, r); !errors.Is(err, reconcile.ErrConflict) {
		t.Errorf("%s: got error %v, want ErrConflict", op, err)
	}
}

// state sets the status of a subscription to one that OLM's CRD accepts.
func state(s *olm.Subscription, state olm.SubscriptionState) {
	s.Status.State, s.Status.LastUpdated = state, time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
}

// read returns a subscription, or nil.
func (t *tester) read(name string) *olm.Subscription {
	t.Helper()
	s, err := t.cluster.Read(context.Background(), Namespace)
	if err != nil {
		t.Fatal(err)
	}
	if s.Namespace != Namespace {
		t.Errorf("the snapshot is of namespace %q", s.Namespace)
	}
	for _, sub := range s.Subscriptions {
		if sub.Metadata.Name == name {
			return sub
		}
	}
	return nil
}

func (t *tester) find(name string) *olm.Subscription {
	t.Helper()
	s := t.read(name)
	if s == nil {
		t.Fatalf("the snapshot has no subscription %q", name)
	}
	return s
}

func (t *tester) create() {
	s := subscription("a")
	state(s, olm.StateAtLatestKnown)
	t.must(reconcile.Create, s)
	got := t.find("a")
	if got.Metadata.ResourceVersion == "" || got.Metadata.UID == "" || got.APIVersion != olm.V1Alpha1 || got.Kind != olm.KindSubscription {
		t.Errorf("created without resourceVersion, uid, apiVersion or kind: %+v", got.Header)
	}
	if got.Spec.Package != "a" || got.Status.State != "" {
		t.Errorf("got spec %+v and status %+v, want the spec and no status", got.Spec, got.Status)
	}
}

func (t *tester) statusApart() {
	t.must(reconcile.Create, subscription("a"))
	s := t.find("a")
	state(s, olm.StateUpgradePending)
	s.Spec.Channel = "ignored"
	t.must(reconcile.UpdateStatus, s)
	s = t.find("a")
	if s.Status.State != olm.StateUpgradePending || s.Spec.Channel != "" {
		t.Errorf("after the status was written: spec %+v, status %+v", s.Spec, s.Status)
	}
	state(s, olm.StateAtLatestKnown)
	s.Spec.Channel = "stable"
	t.must(reconcile.Update, s)
	s = t.find("a")
	if s.Status.State != olm.StateUpgradePending || s.Spec.Channel != "stable" {
		t.Errorf("after the spec was written: spec %+v, status %+v", s.Spec, s.Status)
	}
}

func (t *tester) unknownFields() {
	s := subscription("a")
	s.Spec.Config = &olm.SubscriptionConfig{Rest: olm.Members{"selector": []byte(`{"matchLabels":{"a":"b"}}`)}}
	t.must(reconcile.Create, s)
	s = t.find("a")
	s.Spec.Channel = "stable"
	t.must(reconcile.Update, s)
	if s = t.find("a"); s.Spec.Config == nil || len(s.Spec.Config.Rest) == 0 {
		t.Errorf("an update lost what the type does not know: %+v", s.Spec.Config)
	}
}

func (t *tester) createTwice() {
	t.must(reconcile.Create, subscription("a"))
	t.conflict(reconcile.Create, subscription("a"))
}

func (t *tester) oldVersion() {
	t.must(reconcile.Create, subscription("a"))
	old := t.find("a")
	s := t.find("a")
	s.Spec.Channel = "stable"
	t.must(reconcile.Update, s)
	state(old, olm.StateAtLatestKnown)
	old.Spec.Channel = "other"
	t.conflict(reconcile.Update, old)
	t.conflict(reconcile.UpdateStatus, old)
	t.conflict(reconcile.Delete, old)
	if s := t.find("a"); s.Spec.Channel != "stable" || s.Status.State != "" {
		t.Errorf("a refused change was made: %+v", s)
	}
}

func (t *tester) gone() {
	t.must(reconcile.Create, subscription("a"))
	s := t.find("a")
	t.must(reconcile.Delete, s)
	if t.read("a") != nil {
		t.Fatal("still there after its deletion")
	}
	state(s, olm.StateAtLatestKnown)
	s.Spec.Channel = "stable"
	t.conflict(reconcile.Update, s)
	t.conflict(reconcile.UpdateStatus, s)
	t.conflict(reconcile.Delete, s)
}

func (t *tester) condition() {
	t.must(reconcile.Create, subscription("a"))
	old := t.find("a")
	s := t.find("a")
	s.Spec.Channel = "stable"
	t.must(reconcile.Update, s)
	create := func(name string, basis ...*olm.Subscription) error {
		o, err := olm.ToObject(subscription(name))
		if err != nil {
			t.Fatal(err)
		}
		change := reconcile.Change{Op: reconcile.Create, Object: o, For: o.Key()}
		for _, b := range basis {
			change.If = append(change.If, reconcile.Version{Key: b.Key(), ResourceVersion: b.Metadata.ResourceVersion})
		}
		_, err = t.cluster.Apply(context.Background(), change)
		return err
	}
	if err := create("b", old); !errors.Is(err, reconcile.ErrConflict) {
		t.Errorf("a creation that depends on an old version succeeded: %v", err)
	}
	if err := create("b", t.find("a"), old); !errors.Is(err, reconcile.ErrConflict) {
		t.Errorf("a creation that depends on an old version of another object succeeded: %v", err)
	}
	gone := subscription("gone") // no version: it should not exist
	if err := create("c", t.find("a"), gone); err != nil {
		t.Errorf("a creation that depends on the current version, and on a missing object: %v", err)
	}
	if err := create("d", subscription("a")); !errors.Is(err, reconcile.ErrConflict) {
		t.Errorf("a creation that requires an existing object to be absent: %v; want a conflict", err)
	}
	for _, op := range []reconcile.Op{reconcile.UpdateStatus, reconcile.Update, reconcile.Delete} {
		c := t.find("c")
		c.Spec.Channel, c.Status.State = "late", olm.StateAtLatestKnown
		o, err := olm.ToObject(c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = t.cluster.Apply(context.Background(), reconcile.Change{
			Op: op, Object: o, For: o.Key(),
			If: []reconcile.Version{{Key: old.Key(), ResourceVersion: old.Metadata.ResourceVersion}},
		})
		if !errors.Is(err, reconcile.ErrConflict) {
			t.Errorf("%s that depends on an old version: got error %v, want ErrConflict", op, err)
		}
	}
}

func (t *tester) endedContext() {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := t.cluster.Read(ctx, Namespace); err == nil {
		t.Error("Read does not obey its context")
	}
	o, err := olm.ToObject(subscription("a"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := t.cluster.Apply(ctx, reconcile.Change{Op: reconcile.Create, Object: o}); err == nil || errors.Is(err, reconcile.ErrConflict) {
		t.Errorf("Apply does not obey its context: %v", err)
	}
}

func (t *tester) otherNamespaces() {
	t.must(reconcile.Create, subscription("a"))
	s, err := t.cluster.Read(context.Background(), "default")
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Subscriptions) != 0 {
		t.Errorf("a snapshot of namespace default has %d subscriptions of others", len(s.Subscriptions))
	}
}
