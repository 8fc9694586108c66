package reconcile_test

import (
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// Whatever users do to the objects of a namespace, in any order, the loop settles, satisfies
// the invariants with every write, and has nothing to do when it runs again.
func TestRandomUsers(t *testing.T) {
	s := seed(t)
	rounds := testsize.Of(1, 1, 20)
	n := tallied(t, "deletions", "approvals", "refusals", "finalizers", "deployments away", "catalogs", "groups changed", "subscriptions changed")
	each(t, func(t *testing.T, file string, a *txtar.Archive) {
		t.Parallel()
		for round := range rounds {
			w, r := newWorld(t, a), draws(s, file, round)
			checked(t, w.Cluster, nil)
			var log []string
			for range 12 {
				what, i := w.meddle(t, r)
				n[i].Add(1)
				log = append(log, what)
				w.rests(t, log)
				if t.Failed() {
					return
				}
			}
		}
	})
}

// rests runs the loop twice and checks that the second run changes nothing.
func (w *world) rests(t *testing.T, log []string) {
	t.Helper()
	for again := range 2 {
		r, err := w.loop().Run(t.Context(), testNamespace)
		switch {
		case errors.Is(err, reconcile.ErrUnsettled), err != nil && len(r.Refused) == 0:
			t.Errorf("after %s: %v", strings.Join(log, ", "), err)
		case again == 1 && r.Changes > 0 && len(r.Refused) == 0:
			t.Errorf("after %s: %d changes more when it is run again", strings.Join(log, ", "), r.Changes)
		}
	}
}

// meddle makes a random change that a user might make. It returns a description and its
// number in the list of TestRandomUsers.
func (w *world) meddle(t *testing.T, r *rand.Rand) (what string, kind int) {
	t.Helper()
	list := slices.DeleteFunc(w.List(), func(o olm.Object) bool { return o.Kind == "Namespace" || o.Kind == olm.KindCatalogSource })
	if len(list) == 0 {
		return "nothing is left", 1
	}
	o := list[r.IntN(len(list))]
	k := o.Key()
	switch kind = r.IntN(8); kind {
	case 0:
		what = "delete " + k.String()
		if err := w.Delete(k); err != nil {
			t.Fatal(err)
		}
	case 1:
		what = "approve"
		w.approve(t)
	case 2:
		what = "refuse " + k.String()
		if clear(w.refused); r.IntN(2) == 0 {
			w.refused[k.Kind+" "+k.Name] = true
		} else {
			what = "permit all"
		}
	case 3:
		what = "hold or release " + k.String()
		if o.Metadata.Finalizers == nil {
			o.Metadata.Finalizers = []string{"example.com/held"}
		} else {
			o.Metadata.Finalizers = nil
		}
		w.put(t, &o)
	case 4:
		name := "example"
		w.unavailable[name] = !w.unavailable[name]
		what = fmt.Sprint("deployment unavailable: ", w.unavailable[name])
		if d, err := w.Get(key("Deployment", testNamespace+"/"+name)); err == nil {
			w.put(t, &d)
		}
	case 5:
		var files []string
		for _, f := range slices.Sorted(maps.Keys(w.files)) {
			if strings.HasPrefix(f, "catalog/olm/community") || strings.Contains(string(w.files["script"]), "catalog olm/community "+f) {
				files = append(files, f)
			}
		}
		if len(files) > 0 {
			file := files[r.IntN(len(files))]
			what = "catalog " + file
			w.catalog(t, "olm/community", file)
		} else {
			what = "no other catalog"
		}
	case 6:
		what = "no group"
		for _, o := range list {
			if o.Kind != olm.KindOperatorGroup || o.Metadata.Namespace != testNamespace {
				continue
			}
			g, err := olm.As[olm.OperatorGroup](o)
			if err != nil {
				t.Fatal(err)
			}
			targets := [][]string{nil, {testNamespace}, {"olm", testNamespace}, {"olm"}}
			g.Spec.TargetNamespaces, g.Spec.Selector = targets[r.IntN(len(targets))], nil
			g.Metadata.Generation++
			what = fmt.Sprintf("group %s targets %q", g.Metadata.Name, g.Spec.TargetNamespaces)
			w.put(t, g)
			break
		}
	case 7:
		what = "no subscription"
		for _, o := range list {
			if o.Kind != olm.KindSubscription {
				continue
			}
			s, err := olm.As[olm.Subscription](o)
			if err != nil {
				t.Fatal(err)
			}
			s.Spec.InstallPlanApproval = []olm.Approval{olm.Automatic, olm.Manual}[r.IntN(2)]
			what = fmt.Sprintf("subscription %s is %s", s.Metadata.Name, s.Spec.InstallPlanApproval)
			if r.IntN(3) == 0 { // deleted and created again
				if err := w.Remove(s.Key()); err != nil {
					t.Fatal(err)
				}
				s.Status, s.Metadata.UID, s.Metadata.Finalizers, s.Metadata.DeletionTimestamp = olm.SubscriptionStatus{}, "", nil, time.Time{}
				what = "subscribe again to " + s.Metadata.Name
			}
			w.put(t, s)
			break
		}
	}
	return what, kind
}
