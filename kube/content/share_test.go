package content_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

func objectOf(t *testing.T, c *olm.CatalogSource) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{}
	text, err := json.Marshal(c)
	if err == nil {
		err = u.UnmarshalJSON(text)
	}
	if err != nil {
		t.Fatal(err)
	}
	unstructured.RemoveNestedField(u.Object, "status")
	return u
}

func request(namespace, name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: namespace, Name: name}}
}

// TestSlowTenant checks that catalogs whose server never answers do not block
// other namespaces, and use only their namespace's share of the reads.
func TestSlowTenant(t *testing.T) {
	arrived := make(chan struct{}, 10)
	slow := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-r.Context().Done()
	}))
	defer slow.Close()
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	var objects []client.Object
	for _, name := range []string{"one", "two", "three"} {
		c := source(t, `{"sourceType":"grpc","address":"`+slow.URL+`"}`)
		c.Metadata.Namespace, c.Metadata.Name = "tenant", name
		objects = append(objects, objectOf(t, c))
	}
	objects = append(objects, objectOf(t, source(t, `{"sourceType":"grpc"}`)))
	sources := named(content.Dir(dir, nil))
	sources.Private = true
	store := content.New(&content.Options{Sources: sources})
	r := &content.Reconciler{Client: fake.NewClientBuilder().WithObjects(objects...).WithStatusSubresource(objects...).Build(), Store: store}

	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 2)
	for _, name := range []string{"one", "two"} {
		go func() {
			_, err := r.Reconcile(ctx, request("tenant", name))
			ended <- err
		}()
	}
	for range 2 {
		<-arrived
	}
	if result, err := r.Reconcile(ctx, request("tenant", "three")); err != nil || result.RequeueAfter != time.Second {
		t.Errorf("beyond the share: %+v, %v; want it to be requeued", result, err)
	}
	// The slow catalogs never answer: if they blocked this one, the test would
	// not end.
	if _, err := r.Reconcile(ctx, request("olm", "community")); err != nil || head(t, store.View()) != "etcd.v1.0.0" {
		t.Errorf("the good catalog: %v, %s", err, head(t, store.View()))
	}
	cancel()
	for range 2 {
		if err := <-ended; err == nil {
			t.Error("a slow catalog ended without an error")
		}
	}
	if result, err := r.Reconcile(t.Context(), request("olm", "community")); err != nil || result.RequeueAfter == 0 {
		t.Errorf("%+v, %v", result, err)
	}
}

// TestOneAttempt checks that a refresh makes one request: the store itself
// schedules retries.
func TestOneAttempt(t *testing.T) {
	srv := &server{}
	srv.status.Store(http.StatusBadGateway)
	ts := httptest.NewServer(srv)
	defer ts.Close()
	s := content.New(nil)
	refresh(t, s, source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`))
	if n := srv.requests.Load(); n != 1 {
		t.Errorf("%d requests for one refresh; want 1", n)
	}
}

// TestTwoShards checks that only one of two processes that read the same
// catalog writes its status, that it writes only changes, and that both are
// notified of new content.
func TestTwoShards(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	u := objectOf(t, source(t, `{"sourceType":"grpc"}`))
	c := fake.NewClientBuilder().WithObjects(u).WithStatusSubresource(u).Build()
	clock := newClock()
	type process struct {
		*content.Reconciler
		changed chan event.GenericEvent
	}
	start := func(owns bool) process {
		changed := make(chan event.GenericEvent, 10)
		return process{&content.Reconciler{
			Client: c, Store: content.New(&content.Options{Sources: named(content.Dir(dir, nil)), Now: clock.now}),
			Owns: func(context.Context, string) bool { return owns }, Changed: changed,
		}, changed}
	}
	run := func(p process) (version string, told int) {
		t.Helper()
		if _, err := p.Reconcile(t.Context(), request("olm", "community")); err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
			t.Fatal(err)
		}
		told = len(p.changed)
		for range told {
			<-p.changed
		}
		return u.GetResourceVersion(), told
	}
	before := u.GetResourceVersion()
	other := start(false)
	if version, told := run(other); version != before && before != "" || told != 1 || u.Object["status"] != nil {
		t.Errorf("not the owner: version %s after %s, notified %d times", version, before, told)
	}
	owner := start(true)
	written, told := run(owner)
	if u.Object["status"] == nil || told != 1 {
		t.Errorf("the owner: written %v, notified %d times", u.Object["status"], told)
	}
	for range 3 {
		clock.advance(5 * time.Minute)
		if version, told := run(other); version != written || told != 0 {
			t.Error("not the owner: the status was written, or a notification was sent although nothing changed")
		}
		if version, told := run(owner); version != written || told != 0 {
			t.Error("the owner: the status was written, or a notification was sent although nothing changed")
		}
	}
	clock.advance(time.Minute)
	owner = start(true)
	if version, told := run(owner); version != written || told != 1 {
		t.Errorf("after a restart: written %v, notified %d times; want false and 1", version != written, told)
	}
	write(t, dir, catalog("2.0.0", true))
	clock.advance(5 * time.Minute)
	if version, told := run(other); version != written || told != 1 {
		t.Errorf("new content, not the owner: written %v, notified %d times", version != written, told)
	}
	if version, told := run(owner); version == written || told != 1 {
		t.Errorf("new content, the owner: written %v, notified %d times", version != written, told)
	}
	if _, err := other.Store.View().Catalog(t.Context(), resolver.CatalogID{Name: "community", Namespace: "olm"}); err != nil {
		t.Error(err)
	}
}

// E34: a status that is not written because OLM runs is written soon after OLM has stopped,
// although no event reports that.
func TestWritesLater(t *testing.T) {
	u := objectOf(t, source(t, `{"sourceType":"grpc","address":"catalog.olm:50051"}`))
	c := fake.NewClientBuilder().WithObjects(u).WithStatusSubresource(u).Build()
	owns := false
	r := &content.Reconciler{
		Client: c, Store: content.New(nil), Owns: func(context.Context, string) bool { return owns },
	}
	for _, x := range []struct {
		owns    bool
		next    time.Duration
		written bool
	}{{false, 20 * time.Second, false}, {true, 0, true}, {false, 0, true}} {
		owns = x.owns
		result, err := r.Reconcile(t.Context(), request("olm", "community"))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(u), u); err != nil {
			t.Fatal(err)
		}
		if written := u.Object["status"] != nil; result.RequeueAfter != x.next || written != x.written {
			t.Errorf("it writes %v: the next attempt is in %v, want %v; the status is %v", x.owns, result.RequeueAfter, x.next, u.Object["status"])
		}
	}
}
