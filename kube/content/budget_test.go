package content_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// TestBudget checks that the memory of tenants' catalogs is limited, in total
// and for each namespace, and that removing a catalog makes room for another.
func TestBudget(t *testing.T) {
	remembered := 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("If-None-Match") != "" {
			remembered++
		}
		w.Header().Set("ETag", `"1"`)
		io.WriteString(w, catalog("1.0.0", false))
	}))
	defer ts.Close()
	clock := newClock()
	probe := content.New(&content.Options{Sources: content.Sources{Private: true}})
	c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`)
	refresh(t, probe, c)
	g, err := probe.View().Catalog(t.Context(), community)
	if err != nil {
		t.Fatal(err)
	}
	one := g.MemorySize()
	if one <= 0 {
		t.Fatalf("a catalog takes %d bytes", one)
	}
	// Two for each namespace, eight in all.
	s := content.New(&content.Options{Sources: content.Sources{Private: true}, Budget: 8*one + one/2, Now: clock.now})
	read := func(namespace, name string) content.Health {
		t.Helper()
		c.Metadata.Namespace, c.Metadata.Name = namespace, name
		return refresh(t, s, c)
	}
	want := func(namespace, name, text string) {
		t.Helper()
		h := read(namespace, name)
		var budget *content.BudgetError
		if text == "" && h.State != content.StateReady || text != "" && (h.State != content.StateFailing || !errors.As(h.Err(), &budget) || !strings.Contains(h.Message, text)) {
			t.Errorf("%s/%s: %+v; want %q", namespace, name, h, text)
		}
	}
	for i := range 4 {
		want(fmt.Sprint("team-", i), "a", "")
		want(fmt.Sprint("team-", i), "b", "")
		want(fmt.Sprint("team-", i), "c", fmt.Sprintf(`the catalogs of namespace "team-%d" may use only`, i))
	}
	want("team-4", "a", "the catalogs of all namespaces other than the global one may use only")
	for i := range 5 {
		want("olm", fmt.Sprint("global-", i), "")
	}
	clock.advance(time.Hour)
	if want("team-0", "c", `the catalogs of namespace "team-0" may use only`); remembered > 0 {
		t.Error("the client still holds a catalog that exceeds the budget")
	}
	s.Forget(resolver.CatalogID{Name: "b", Namespace: "team-0"})
	clock.advance(time.Hour)
	want("team-0", "c", "")
	s.Forget(resolver.CatalogID{Name: "a", Namespace: "team-1"})
	clock.advance(time.Hour)
	want("team-4", "a", "")
	clock.advance(time.Hour)
	want("team-4", "a", "") // a refresh does not count its size twice
}

// TestPatience checks that resolution waits only for a limited time for the
// first read of a catalog, whether it has started or not, and that the result
// of a late read is used.
func TestPatience(t *testing.T) {
	arrived, answer := make(chan struct{}), make(chan struct{})
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		close(arrived)
		<-answer
		io.WriteString(w, catalog("1.0.0", false))
	}))
	defer ts.Close()
	clock := newClock()
	s := content.New(&content.Options{Now: clock.now})
	ended := make(chan error, 1)
	c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`)
	go func() {
		_, err := s.Refresh(t.Context(), c)
		ended <- err
	}()
	<-arrived
	waiting := resolver.CatalogID{Name: "waiting", Namespace: "team"}
	s.Wait(waiting)
	for _, id := range []resolver.CatalogID{community, waiting} {
		if _, err := s.View().Catalog(t.Context(), id); !errors.Is(err, reconcile.ErrPending) {
			t.Errorf("%s at first: %v", id, err)
		}
	}
	clock.advance(29 * time.Second)
	s.Wait(waiting) // does not restart the wait
	if _, err := s.View().Catalog(t.Context(), waiting); !errors.Is(err, reconcile.ErrPending) {
		t.Errorf("after 29 seconds: %v", err)
	}
	clock.advance(time.Second)
	for _, id := range []resolver.CatalogID{community, waiting} {
		if _, err := s.View().Catalog(t.Context(), id); err == nil || errors.Is(err, reconcile.ErrPending) || !strings.Contains(err.Error(), "not read within 30s") {
			t.Errorf("%s after 30 seconds: %v", id, err)
		}
	}
	close(answer)
	if err := <-ended; err != nil {
		t.Fatal(err)
	}
	if got := head(t, s.View()); got != "etcd.v1.0.0" {
		t.Errorf("after it was read: %s", got)
	}
	s.Forget(waiting)
	if _, err := s.View().Catalog(t.Context(), waiting); !errors.Is(err, reconcile.ErrPending) {
		t.Errorf("forgotten: %v", err)
	}
}

// TestManifestsBound checks that the cache of manifests is limited by size.
func TestManifestsBound(t *testing.T) {
	for _, test := range []struct {
		most int64
		want bool
	}{{0, true}, {10, false}, {-1, false}} {
		dir := t.TempDir()
		write(t, dir, catalog("1.0.0", true))
		s := content.New(&content.Options{Sources: named(content.Dir(dir, nil)), Manifests: test.most})
		refresh(t, s, source(t, `{}`))
		v := s.View()
		one, err := manifests(t, v)
		if err != nil {
			t.Fatal(err)
		}
		two, err := manifests(t, v)
		if err != nil {
			t.Fatal(err)
		}
		if same := &one[0] == &two[0]; same != test.want {
			t.Errorf("with %d bytes: kept %v; want %v", test.most, same, test.want)
		}
	}
}
