package kube

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"math/rand/v2"
	"os"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	toolscache "k8s.io/client-go/tools/cache"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// The memory for each small operator is bounded, after a controller has read all namespaces.
func TestMemory(t *testing.T) {
	const operators, most = 5, 19_000 // a constant amount is kept of what was converted last
	namespaces := testsize.Of(200, 500, 10_000)
	objects := installed(t, "copy-00000", operators)
	c, add := filled(t)
	before := heap()
	for i := range namespaces {
		for j, o := range objects {
			add(copied(t, o, "copy-00000", i, j))
		}
	}
	stored := heap()
	for i := range namespaces {
		if _, err := c.Read(context.Background(), fmt.Sprintf("copy-%05d", i)); err != nil {
			t.Fatal(err)
		}
	}
	read := heap()
	n := namespaces * operators
	t.Logf("%d operators: %d bytes for each in the cache, and %d more after reading all namespaces", n, (stored-before)/n, (read-stored)/n)
	if each := (read - before) / n; each > most {
		t.Errorf("%d bytes for each operator", each)
	}
	runtime.KeepAlive(c)
}

func heap() int {
	runtime.GC()
	runtime.GC() // for what cleanups release
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc)
}

// filled returns a cluster with a cache, and a function that adds an object to it.
func filled(t *testing.T) (*Cluster, func(*unstructured.Unstructured)) {
	now := time.Unix(1.8e9, 0)
	r := &recent{}
	s := &cached{recent: r, informers: map[groupKind]toolscache.SharedIndexInformer{}, views: map[viewOf]*view{}}
	for _, k := range kinds() {
		i := toolscache.NewSharedIndexInformer(nil, &unstructured.Unstructured{}, 0, toolscache.Indexers{toolscache.NamespaceIndex: toolscache.MetaNamespaceIndexFunc})
		if err := i.AddIndexers(s.watch(k, i.GetIndexer())); err != nil {
			t.Fatal(err)
		}
		s.informers[k.group()] = i
	}
	pack := Pack()
	c := &Cluster{source: s, recent: r, version: cachedAnswer[string]{"v1.30.0", now}}
	c.opts = ClusterOptions{GlobalNamespace: "olm", Mapper: meta.NewDefaultRESTMapper(nil), Now: func() time.Time { return now }}
	return c, func(u *unstructured.Unstructured) {
		o, err := pack(u)
		if err == nil {
			err = s.informers[groupKind{u.GroupVersionKind().Group, u.GetKind()}].GetIndexer().Add(o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// copied returns the copy of an object for namespace i. Random parts of names and hashes are different in each.
func copied(t *testing.T, o olm.Object, from string, i, object int) *unstructured.Unstructured {
	t.Helper()
	text, err := o.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	text = bytes.ReplaceAll(text, []byte(from), fmt.Appendf(nil, "copy-%05d", i))
	text = generated.ReplaceAllFunc(text, func(x []byte) []byte {
		r := rand.New(rand.NewChaCha8([32]byte(fmt.Appendf(nil, "%-32.32s", fmt.Sprint(i, string(x[len(x)-4:]))))))
		for at := bytes.LastIndexAny(x, `-"`) + 1; at < len(x); at++ {
			x[at] = "bcdfghjklmnpqrstvwxz2456789"[r.IntN(27)]
		}
		return x
	})
	u := &unstructured.Unstructured{}
	if err := u.UnmarshalJSON(text); err != nil {
		t.Fatal(err)
	}
	u.SetUID(types.UID(fmt.Sprintf("7e2f4ea7-6f3b-4d5c-%04x-%012d", object, i)))
	u.SetResourceVersion(strconv.Itoa(100_000 + 100*i + object))
	return u
}

var generated = regexp.MustCompile(`install-[a-z0-9]{10}|1\.0\.0-[0-9A-Za-z]{30,}|spec-hash":"[a-z0-9]{32}`)

// installed returns the objects of a cluster in which a namespace has n operators that run.
func installed(t *testing.T, namespace string, n int) []olm.Object {
	t.Helper()
	ctx := context.Background()
	var catalog strings.Builder
	for i := range n {
		name := fmt.Sprintf("widget%d", i)
		fmt.Fprintf(&catalog, `
---
{schema: olm.package, name: %s, defaultChannel: stable}
---
{schema: olm.channel, package: %[1]s, name: stable, entries: [{name: %[1]s.v1.0.0}]}
---
schema: olm.bundle
package: %[1]s
name: %[1]s.v1.0.0
image: example.com/%[1]s:1.0.0
properties:
- {type: olm.package, value: {packageName: %[1]s, version: 1.0.0}}
- {type: olm.gvk, value: {group: %[1]s.example.com, version: v1, kind: Widget}}
`, name)
		for _, file := range []string{"widget.csv.yaml", "widget.crd.yaml"} {
			manifest, err := os.ReadFile("testdata/" + file)
			if err != nil {
				t.Fatal(err)
			}
			manifest = []byte(strings.NewReplacer(
				"VERSION", "1.0.0", "widgets.example.com", "widgets."+name+".example.com", "group: example.com", "group: "+name+".example.com", "widgets", "widgets", "widget", name, // the first that matches
			).Replace(string(manifest)))
			fmt.Fprintf(&catalog, "- {type: olm.bundle.object, value: {data: %s}}\n", base64.StdEncoding.EncodeToString(manifest))
		}
	}
	blobs, err := fbc.LoadReader(ctx, strings.NewReader(catalog.String()), "widgets.yaml", &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		t.Fatal(err)
	}
	content := &reconcile.Catalogs{}
	if err := content.Add(ctx, resolver.CatalogID{Name: "cat", Namespace: "olm"}, blobs); err != nil {
		t.Fatal(err)
	}
	c := &memcluster.Cluster{GlobalNamespace: "olm", Controllers: true, Now: func() time.Time { return time.Unix(1.8e9, 0) }}
	put := func(text string, args ...any) {
		t.Helper()
		var o olm.Object
		if err := o.UnmarshalJSON(fmt.Appendf(nil, text, args...)); err != nil {
			t.Fatal(err)
		}
		if err := c.Put(&o); err != nil {
			t.Fatal(err)
		}
	}
	put(`{"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": %q, "labels": {"kubernetes.io/metadata.name": %[1]q}}}`, namespace)
	put(`{"apiVersion": %q, "kind": "CatalogSource", "metadata": {"name": "cat", "namespace": "olm"}, "spec": {"sourceType": "grpc", "address": "a:1"},
		"status": {"connectionState": {"lastObservedState": "READY"}}}`, olm.V1Alpha1)
	put(`{"apiVersion": %q, "kind": "OperatorGroup", "metadata": {"name": "own", "namespace": %q}, "spec": {"targetNamespaces": [%[2]q]}}`, olm.V1, namespace)
	for i := range n {
		put(`{"apiVersion": %q, "kind": "Subscription", "metadata": {"name": "widget%d", "namespace": %q}, "spec": {"name": "widget%[2]d", "source": "cat", "sourceNamespace": "olm"}}`,
			olm.V1Alpha1, i, namespace)
	}
	loop := &reconcile.Loop{Cluster: c, Content: content}
	for range 5 {
		if _, err := loop.Run(ctx, namespace); err != nil {
			t.Fatal(err)
		}
	}
	succeeded := 0
	for _, o := range c.List() {
		if o.Kind == olm.KindClusterServiceVersion {
			v, err := olm.As[olm.ClusterServiceVersion](o)
			if err != nil {
				t.Fatal(err)
			}
			if v.Status.Phase == olm.PhaseSucceeded {
				succeeded++
			}
		}
	}
	if succeeded != n {
		t.Fatalf("%d of %d operators run", succeeded, n)
	}
	return c.List()
}
