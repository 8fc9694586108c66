package kube

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"
)

// namesOf returns the names and versions of the objects in a list.
func namesOf(list []entry) []string {
	var out []string
	for _, e := range list {
		out = append(out, fmt.Sprint(e.namespace, "/", e.name, "@", e.value.Head().Metadata.ResourceVersion))
	}
	return out
}

// newStore returns a store with the indexes of a cache, and a view of it.
func newStore(sel selection) (toolscache.Indexer, *view) {
	s := &cached{views: map[viewOf]*view{}}
	index := toolscache.NewIndexer(toolscache.MetaNamespaceKeyFunc, toolscache.Indexers{})
	indexers := s.watch(kindCSV, index)
	if err := index.AddIndexers(indexers); err != nil {
		panic(err)
	}
	return index, s.views[viewOf{kindCSV.group(), sel}]
}

func csvObject(ns, name string, version int, labels map[string]string) *unstructured.Unstructured {
	u := &unstructured.Unstructured{}
	u.SetGroupVersionKind(kindCSV.gvk)
	u.SetNamespace(ns)
	u.SetName(name)
	u.SetLabels(labels)
	u.SetResourceVersion(strconv.Itoa(version))
	return u
}

// After any sequence of changes, a view equals the sorted list of the objects,
// and lists that it returned earlier are unchanged.
func TestView(t *testing.T) {
	for _, sel := range []selection{{}, {index: byOriginal}} {
		for seed := range uint64(20) {
			r := rand.New(rand.NewPCG(seed, 1))
			index, v := newStore(sel)
			var before []entry
			var names []string
			for step := range 300 {
				ns, name := strconv.Itoa(r.IntN(5)), strconv.Itoa(r.IntN(5))
				var labels map[string]string
				if r.IntN(3) == 0 {
					labels = map[string]string{"olm.copiedFrom": "elsewhere"}
				}
				u := csvObject(ns, name, step+1, labels)
				var err error
				switch r.IntN(12) {
				case 0, 1, 2:
					err = index.Delete(u)
				case 3:
					err = index.Replace([]any{u}, strconv.Itoa(step+1))
				case 4:
					err = index.Replace(nil, strconv.Itoa(step+1))
				case 5: // the cache is resynchronized
					if list := index.List(); len(list) > 0 {
						err = index.Update(list[0])
					}
				default:
					err = index.Update(u)
				}
				if err != nil {
					t.Fatal(err)
				}
				if r.IntN(3) == 0 {
					continue
				}
				items, err := selected(index, sel)
				if err != nil {
					t.Fatal(err)
				}
				var want []entry
				for _, o := range items {
					want = append(want, v.convert(o.(*unstructured.Unstructured)))
				}
				slices.SortFunc(want, compareEntries)
				got, err := v.entries()
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(namesOf(want), namesOf(got)); diff != "" {
					t.Fatalf("seed %d, step %d (-want +got):\n%s", seed, step, diff)
				}
				if diff := cmp.Diff(names, namesOf(before)); diff != "" {
					t.Fatalf("seed %d, step %d: an old list has changed:\n%s", seed, step, diff)
				}
				before, names = got, namesOf(got)
				if len(v.by) != len(v.rows) {
					t.Fatalf("seed %d, step %d: %d objects are kept for %d rows", seed, step, len(v.by), len(v.rows))
				}
			}
		}
	}
}

// Writes that the cache has not seen replace their objects in a list, in order.
func TestOverlaid(t *testing.T) {
	at := func(ns, name string) entry { return entry{namespace: ns, name: name} }
	list := []entry{at("a", "1"), at("a", "3"), at("b", "1")}
	newer := at("a", "3")
	newer.err = fmt.Errorf("newer")
	second, last := at("a", "2"), at("c", "1")
	got := overlaid(list, map[types.NamespacedName]*entry{
		{Namespace: "a", Name: "1"}: nil, {Namespace: "a", Name: "2"}: &second, {Namespace: "a", Name: "3"}: &newer,
		{Namespace: "b", Name: "0"}: nil, {Namespace: "c", Name: "1"}: &last,
	})
	var text []string
	for _, e := range got {
		text = append(text, fmt.Sprint(e.namespace, e.name, e.err != nil))
	}
	if diff := cmp.Diff([]string{"a2false", "a3true", "b1false", "c1false"}, text); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if len(list) != 3 || list[1].err != nil {
		t.Error("the list itself has changed")
	}
}
