package kube

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/olm"
)

// Sharing changes no CSV, and a CSV of an operator that is in many namespaces takes little memory in each of them,
// although the list of all CSVs is kept.
func TestSpecs(t *testing.T) {
	const namespaces, versions, size = 100, 2, 50_000
	index, v := newStore(selection{index: byOriginal})
	pack := Pack()
	for i := range namespaces {
		version := i % versions
		u := csvObject(fmt.Sprintf("ns-%d", i), "etcd", i, nil)
		u.SetAnnotations(map[string]string{"alm-examples": strings.Repeat("x", size), "olm.operatorNamespace": u.GetNamespace()})
		u.Object["spec"] = map[string]any{"version": fmt.Sprintf("1.0.%d", version), "description": strings.Repeat(fmt.Sprint(version), size)}
		o, err := pack(u)
		if err != nil {
			t.Fatal(err)
		}
		if err := index.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	before := heap()
	list, err := v.entries()
	if err != nil {
		t.Fatal(err)
	}
	if grown := (heap() - before) / namespaces; grown > size/5 {
		t.Errorf("the list takes %d bytes for each CSV of %d bytes", grown, 2*size)
	}
	if len(list) != namespaces {
		t.Fatalf("%d CSVs", len(list))
	}
	for _, e := range list {
		o, _, err := index.GetByKey(e.namespace + "/" + e.name)
		if err != nil {
			t.Fatal(err)
		}
		want, err := decode(kindCSV, o.(*packed))
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(want, e.value) {
			t.Fatalf("(-decoded, +shared):\n%s", cmp.Diff(want, e.value))
		}
	}
}

// CSVs that are not in use are forgotten.
func TestSpecsForgets(t *testing.T) {
	var s specs
	o, err := Pack()(csvObject("a", "etcd", 1, nil))
	if err != nil {
		t.Fatal(err)
	}
	p, c := o.(*packed), &olm.ClusterServiceVersion{}
	s.share(p.parts[2], c)
	runtime.KeepAlive(c)
	for range 1000 {
		runtime.GC()
		runtime.Gosched()
		s.mu.Lock()
		n := len(s.of)
		s.mu.Unlock()
		if n == 0 {
			return
		}
	}
	t.Error("a CSV is kept")
}
