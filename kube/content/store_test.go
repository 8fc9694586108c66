package content_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

func named(s content.Source) content.Sources {
	return content.Sources{Named: map[resolver.CatalogID]content.Source{community: s}}
}

// impatient disables retries.
var impatient = &catalogd.Options{Retry: catalogd.Retry{Attempts: 1}}

func TestDir(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	clock := newClock()
	s := content.New(&content.Options{Sources: named(content.Dir(dir, nil)), Now: clock.now})
	if got := head(t, s.View()); got != "catalog community/olm: the catalog has not been read yet" {
		t.Errorf("before the first refresh: %s", got)
	}
	c := source(t, `{"sourceType":"grpc"}`)
	h := refresh(t, s, c)
	if h.State != content.StateReady || !h.Changed || h.Next != 5*time.Minute || h.Address != "directory "+dir {
		t.Errorf("%+v", h)
	}
	old := s.View()
	if got := head(t, old); got != "etcd.v1.0.0" {
		t.Error(got)
	}

	write(t, dir, catalog("2.0.0", true))
	if h := refresh(t, s, c); h.Changed || head(t, s.View()) != "etcd.v1.0.0" {
		t.Errorf("the catalog was refreshed although it was not due: %+v", h)
	}
	clock.advance(5 * time.Minute)
	if h := refresh(t, s, c); !h.Changed || head(t, s.View()) != "etcd.v2.0.0" {
		t.Errorf("the catalog was not refreshed although it was due: %+v", h)
	}
	if got := head(t, old); got != "etcd.v1.0.0" {
		t.Errorf("the old view now has %s", got)
	}
	clock.advance(5 * time.Minute)
	if h := refresh(t, s, c); h.Changed {
		t.Error("Refresh reports a change although nothing changed")
	}

	s.Forget(community)
	if got := head(t, s.View()); !strings.Contains(got, "not been read") {
		t.Errorf("after it was forgotten: %s", got)
	}
	if got := head(t, old); got != "etcd.v1.0.0" {
		t.Errorf("the old view now has %s", got)
	}
}

// TestGrace checks how long a catalog stays in use after it becomes unreadable (D14).
func TestGrace(t *testing.T) {
	srv := &server{}
	srv.text.Store(catalog("1.0.0", true))
	ts := httptest.NewServer(srv)
	defer ts.Close()
	clock := newClock()
	s := content.New(&content.Options{Sources: content.Sources{HTTP: impatient}, Now: clock.now, Grace: 3 * time.Minute})
	c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`)
	refresh(t, s, c)

	srv.status.Store(http.StatusBadGateway)
	clock.advance(5 * time.Minute)
	h := refresh(t, s, c)
	want := "still using the content of 2026-11-21T12:00:00Z: catalog at " + ts.URL + "/api/v1/all: the server answered 502 Bad Gateway"
	if h.State != content.StateReady || h.Message != want || h.Next != 5*time.Second || h.Err() == nil {
		t.Errorf("%+v\nwant %s", h, want)
	}
	if got := head(t, s.View()); got != "etcd.v1.0.0" {
		t.Error(got)
	}
	// The pauses double.
	for _, pause := range []time.Duration{5, 10, 20, 40} {
		clock.advance(pause * time.Second)
		before := srv.requests.Load()
		refresh(t, s, c)
		if srv.requests.Load() != before+1 {
			t.Errorf("no request was made after %ds", pause)
		}
		refresh(t, s, c)
		if srv.requests.Load() != before+1 {
			t.Errorf("a request was made although none was due")
		}
	}
	// 75 s have passed. The next attempt is due in 80 s, and the grace period ends in 105
	// s.
	if h := refresh(t, s, c); h.Next != 80*time.Second {
		t.Errorf("Next = %v", h.Next)
	}
	clock.advance(80 * time.Second)
	if h := refresh(t, s, c); h.Next != 25*time.Second {
		t.Errorf("Next = %v; want the end of the grace", h.Next)
	}
	clock.advance(25 * time.Second)
	h = refresh(t, s, c)
	if h.State != content.StateFailing || h.Reason != "RegistryServerError" || h.Changed {
		t.Errorf("after the grace: %+v", h)
	}
	if got := head(t, s.View()); !strings.HasPrefix(got, "catalog community/olm: catalog at "+ts.URL) {
		t.Errorf("after the grace: %s", got)
	}

	// The catalog recovers. Its content is the same, but its state changes.
	srv.status.Store(0)
	clock.advance(2 * time.Minute)
	h = refresh(t, s, c)
	if h.State != content.StateReady || h.Changed || h.Message != "" || head(t, s.View()) != "etcd.v1.0.0" {
		t.Errorf("back again: %+v", h)
	}
}

// TestGraceAfterRestart checks that a program that starts while the server is down uses the
// catalog on disk for the same grace period.
func TestGraceAfterRestart(t *testing.T) {
	srv := &server{}
	srv.text.Store(catalog("1.0.0", true))
	ts := httptest.NewServer(srv)
	defer ts.Close()
	clock := newClock()
	dir := t.TempDir()
	start := func(grace time.Duration) *content.Store {
		return content.New(&content.Options{Sources: content.Sources{HTTP: &catalogd.Options{Dir: dir}}, Now: clock.now, Grace: grace})
	}
	c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`)
	refresh(t, start(time.Minute), c)
	srv.status.Store(http.StatusBadGateway)

	s := start(time.Minute)
	h := refresh(t, s, c)
	if h.State != content.StateReady || !h.Changed || !strings.Contains(h.Message, "still using the content of ") || h.Err() == nil || head(t, s.View()) != "etcd.v1.0.0" {
		t.Errorf("after a restart: %+v, %s", h, head(t, s.View()))
	}
	v := s.View()
	if objects, err := manifests(t, v); err != nil || len(objects) != 1 {
		t.Errorf("its manifests: %v, %v", objects, err)
	}
	clock.advance(time.Minute)
	if h := refresh(t, s, c); h.State != content.StateFailing {
		t.Errorf("after the grace: %+v", h)
	}
	srv.status.Store(0)
	clock.advance(time.Hour)
	if h := refresh(t, s, c); h.State != content.StateReady || h.Err() != nil {
		t.Errorf("back again: %+v", h)
	}
	srv.status.Store(http.StatusBadGateway)
	if h := refresh(t, start(-1), c); h.State != content.StateFailing {
		t.Errorf("without a grace: %+v", h)
	}
}

func TestNoGrace(t *testing.T) {
	srv := &server{}
	srv.text.Store(catalog("1.0.0", true))
	ts := httptest.NewServer(srv)
	defer ts.Close()
	clock := newClock()
	s := content.New(&content.Options{Sources: content.Sources{HTTP: impatient}, Now: clock.now, Grace: -1})
	c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`","updateStrategy":{"registryPoll":{"interval":"30s"}}}`)
	if h := refresh(t, s, c); h.Next != 30*time.Second {
		t.Errorf("Next = %v; want the interval of registryPoll", h.Next)
	}
	srv.status.Store(http.StatusTooManyRequests)
	clock.advance(30 * time.Second)
	if h := refresh(t, s, c); h.State != content.StateFailing || h.Next != 10*time.Minute {
		t.Errorf("%+v; want a failing catalog, and the server's Retry-After as Next", h)
	}
}

// TestBroken checks that the errors of an invalid catalog are reported.
func TestBroken(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, strings.Repeat(`{"schema":"olm.package","name":7}`+"\n", 200))
	s := content.New(&content.Options{Sources: named(content.Dir(dir, nil))})
	h := refresh(t, s, source(t, `{"sourceType":"grpc"}`))
	if h.State != content.StateFailing || !strings.HasPrefix(h.Message, "catalog.json:1: ") || len(h.Message) > 1600 || !strings.HasSuffix(h.Message, "\n…") {
		t.Errorf("%+v", h)
	}
}

// A failing is a source whose Read returns an error.
type failing struct{ error }

func (f failing) Read(context.Context, *content.Catalog) (*content.Catalog, error) {
	return nil, f.error
}

func (failing) String() string { return "nowhere" }

// S8: invisible characters in a server's text are made visible in a status; line breaks
// stay.
func TestVisibleText(t *testing.T) {
	s := content.New(&content.Options{Sources: named(failing{errors.New("one\ntwo \u202eowt\u200b\x1b[1m")})})
	h := refresh(t, s, source(t, `{"sourceType":"grpc"}`))
	if want := "one\n" + `two \u202eowt\u200b\u001b[1m`; h.State != content.StateFailing || !strings.HasPrefix(h.Message, want) {
		t.Errorf("%+v; want %q", h, want)
	}
}

func TestSpec(t *testing.T) {
	for _, tt := range []struct{ spec, want string }{
		{`{"sourceType":"grpc"}`, "spec.image and spec.address are both empty; set one of them"},
		{`{"sourceType":"grpc","address":"registry.olm:50051"}`, `spec.address "registry.olm:50051" is the address of a gRPC registry, which is not supported; serve the catalog over HTTP with catalogd's API and give an http:// or https:// address`},
		{`{"sourceType":"grpc","address":"https://user:secret@host/"}`, `spec.address: catalog address: "https://user:xxxxx@host/" contains credentials; put them in Options.Header`},
		{`{"sourceType":"grpc","image":"quay.example/catalog:latest"}`, `spec.image "quay.example/catalog:latest": this program is not configured to pull images`},
		{`{"sourceType":"configmap","configMap":"x"}`, `spec.sourceType "configmap" is not supported; set it to grpc, and either spec.image, or spec.address to where the catalog is served over HTTP`},
	} {
		s := content.New(nil)
		c := source(t, tt.spec)
		h := refresh(t, s, c)
		if h.State != content.StateFailing || h.Reason != "SpecInvalidError" || h.Message != tt.want || h.Next != 0 {
			t.Errorf("%s: %+v\nwant %s", tt.spec, h, tt.want)
		}
		if got := head(t, s.View()); got != "catalog community/olm: "+tt.want {
			t.Errorf("%s: the view has %s", tt.spec, got)
		}
		// The reconciliation clears this reason on one with a template (E8).
		c.Metadata.Annotations = map[string]string{olm.AnnotationImageTemplate: "x:{kube_minor_version}"}
		if h := refresh(t, s, c); h.Reason != "RegistryServerError" {
			t.Errorf("%s with a template: reason %s", tt.spec, h.Reason)
		}
	}
}

func TestInterval(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	s := content.New(&content.Options{Sources: named(content.Dir(dir, nil)), Now: newClock().now})
	h := refresh(t, s, source(t, `{"sourceType":"grpc","updateStrategy":{"registryPoll":{"interval":"soon"}}}`))
	if h.State != content.StateReady || h.Reason != "InvalidIntervalError" || h.Next != 15*time.Minute ||
		h.Message != `spec.updateStrategy.registryPoll.interval "soon" is not a valid duration such as 30m; using 15m0s` {
		t.Errorf("%+v", h)
	}
}

// TestAnotherPlace checks that content is discarded when the location in the spec changes.
func TestAnotherPlace(t *testing.T) {
	one, two := &server{}, &server{}
	one.text.Store(catalog("1.0.0", true))
	two.status.Store(500)
	first, second := httptest.NewServer(one), httptest.NewServer(two)
	defer first.Close()
	defer second.Close()
	s := content.New(&content.Options{Sources: content.Sources{HTTP: impatient}})
	refresh(t, s, source(t, `{"address":"`+first.URL+`"}`))
	if h := refresh(t, s, source(t, `{"address":"`+second.URL+`"}`)); h.State != content.StateFailing {
		t.Errorf("the content of the old location is still used: %+v", h)
	}
}

func TestIndexFile(t *testing.T) {
	dir, name := t.TempDir(), filepath.Join(t.TempDir(), "catalog.index")
	index := func(version string) {
		write(t, dir, catalog(version, true))
		g, err := graph.Load(t.Context(), os.DirFS(dir), nil)
		if err != nil {
			t.Fatal(err)
		}
		f, err := os.Create(name)
		if err == nil {
			err = errors.Join(graph.WriteIndex(t.Context(), f, g, ""), f.Close())
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	index("1.0.0")
	clock := newClock()
	s := content.New(&content.Options{Sources: named(content.IndexFile(name, &graph.Options{Source: os.DirFS(dir)})), Now: clock.now})
	c := source(t, `{}`)
	refresh(t, s, c)
	v := s.View()
	if objects, err := manifests(t, v); err != nil || len(objects) != 1 {
		t.Errorf("%v, %v", objects, err)
	}
	clock.advance(time.Hour)
	if h := refresh(t, s, c); h.Changed || h.Err() != nil {
		t.Errorf("%+v", h)
	}
	index("10.0.0")
	clock.advance(time.Hour)
	if h := refresh(t, s, c); !h.Changed || head(t, s.View()) != "etcd.v10.0.0" {
		t.Errorf("%+v", h)
	}
}

func TestContextOfRefresh(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer ts.Close()
	s := content.New(nil)
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if _, err := s.Refresh(ctx, source(t, `{"address":"`+ts.URL+`"}`)); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("%v", err)
	}
	if got := head(t, s.View()); !strings.Contains(got, "not been read yet") {
		t.Errorf("an interrupted read counts: %s", got)
	}
}

func TestConcurrent(t *testing.T) {
	srv := &server{}
	srv.text.Store(catalog("1.0.0", true))
	ts := httptest.NewServer(srv)
	defer ts.Close()
	s := content.New(nil)
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if _, err := s.Refresh(t.Context(), source(t, `{"address":"`+ts.URL+`"}`)); err != nil {
				t.Error(err)
			}
			v := s.View()
			if got := head(t, v); got != "etcd.v1.0.0" {
				t.Error(got)
			}
			if _, err := manifests(t, v); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := srv.requests.Load(); n != 1 {
		t.Errorf("%d requests", n)
	}
}

func TestParse(t *testing.T) {
	dir := t.TempDir()
	sources := content.Sources{}
	for text, want := range map[string]string{
		"dir:" + dir:           "directory " + dir,
		"index:x.index":        "index x.index",
		"https://host/catalog": "https://host/catalog/api/v1/all",
		"image:x/y:z":          "error: this program is not configured to pull images",
		dir:                    `error: source "` + dir + `": want dir:path, index:file, image:reference, or an http:// or https:// address; did you mean "dir:` + dir + `"?`,
		"dir:":                 `error: source "dir:": want dir:path, index:file, image:reference, or an http:// or https:// address`,
	} {
		s, err := sources.Parse(text)
		got := ""
		if err != nil {
			got = "error: " + err.Error()
		} else {
			got = s.String()
		}
		if got != want {
			t.Errorf("Parse(%q): %s\nwant %s", text, got, want)
		}
	}
}

// TestSecretsIgnored checks that the status reports that pull secrets are ignored.
func TestSecretsIgnored(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	s := content.New(&content.Options{Sources: named(content.Dir(dir, nil))})
	h := refresh(t, s, source(t, `{"sourceType":"grpc","secrets":["pull"]}`))
	if h.State != content.StateReady || !strings.HasPrefix(h.Message, "spec.secrets is ignored") {
		t.Errorf("%+v", h)
	}
}
