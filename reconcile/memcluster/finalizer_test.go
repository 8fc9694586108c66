package memcluster_test

import (
	"errors"
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// An object with finalizers is marked and stays, with its dependents, until the last
// finalizer is removed. Remove ignores finalizers.
func TestFinalizers(t *testing.T) {
	for _, way := range []string{"user", "change", "removed"} {
		c := &memcluster.Cluster{}
		owner := &olm.OperatorGroup{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperatorGroup, Metadata: olm.Metadata{
			Name: "g", Namespace: "ops", Finalizers: []string{"a", "b"},
		}}}
		if err := c.Put(owner); err != nil {
			t.Fatal(err)
		}
		o, err := c.Get(owner.Key())
		if err != nil {
			t.Fatal(err)
		}
		child := &olm.OperatorGroup{Header: olm.Header{APIVersion: olm.V1, Kind: olm.KindOperatorGroup, Metadata: olm.Metadata{
			Name: "child", Namespace: "ops", OwnerReferences: []olm.OwnerReference{olm.OwnedBy(&o)},
		}}}
		if err := c.Put(child); err != nil {
			t.Fatal(err)
		}
		switch way {
		case "user":
			err = c.Delete(o.Key())
		case "change":
			_, err = c.Apply(t.Context(), reconcile.Change{Op: reconcile.Delete, Object: o})
		case "removed":
			err = c.Remove(o.Key())
		}
		if err != nil {
			t.Fatal(err)
		}
		gone := func() bool {
			_, err1 := c.Get(owner.Key())
			_, err2 := c.Get(child.Key())
			if errors.Is(err1, memcluster.ErrNotFound) != errors.Is(err2, memcluster.ErrNotFound) {
				t.Errorf("%s: of owner and child one is gone: %v, %v", way, err1, err2)
			}
			return err1 != nil
		}
		if way == "removed" {
			if !gone() {
				t.Errorf("%s: still there", way)
			}
			continue
		}
		for _, left := range [][]string{{"b"}, nil} {
			if gone() {
				t.Fatalf("%s: gone before its finalizers", way)
			}
			if o, err = c.Get(owner.Key()); err != nil || !o.Metadata.IsDeleted() {
				t.Fatalf("%s: not marked: %v", way, err)
			}
			at := o.Metadata.DeletionTimestamp
			if err := c.Delete(o.Key()); err != nil {
				t.Fatal(err)
			}
			if o, _ = c.Get(owner.Key()); !o.Metadata.DeletionTimestamp.Equal(at) {
				t.Errorf("%s: a second deletion changes the time of the first", way)
			}
			o.Metadata.Finalizers = left
			o.Metadata.DeletionTimestamp = at.AddDate(1, 0, 0) // which no client can change
			if _, err := c.Apply(t.Context(), reconcile.Change{Op: reconcile.Update, Object: o}); err != nil {
				t.Fatal(err)
			}
		}
		if !gone() {
			t.Errorf("%s: still there without finalizers", way)
		}
	}
	c := &memcluster.Cluster{}
	if err := c.Delete(olm.Key{Kind: "Namespace", Name: "x"}); !errors.Is(err, memcluster.ErrNotFound) {
		t.Errorf("deleting what is not there: %v", err)
	}
}
