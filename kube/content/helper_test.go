package content_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

const csv = `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"ClusterServiceVersion","metadata":{"name":"etcd.v%s"},"spec":{"version":"%[1]s"}}`

// catalog returns a catalog of one bundle, with or without its manifests.
func catalog(version string, manifests bool) string {
	text := fmt.Sprintf(`{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v%[1]s"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v%[1]s","image":"registry.example/etcd:%[1]s","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"%[1]s"}}`, version)
	if manifests {
		text += fmt.Sprintf(`,{"type":"olm.bundle.object","value":{"data":"%s"}}`, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, csv, version)))
	}
	return text + "]}\n"
}

func write(t *testing.T, dir, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, "catalog.json"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// source returns a CatalogSource olm/community with a spec.
func source(t *testing.T, spec string) *olm.CatalogSource {
	t.Helper()
	var c olm.CatalogSource
	if err := json.Unmarshal([]byte(`{"apiVersion":"operators.coreos.com/v1alpha1","kind":"CatalogSource","metadata":{"name":"community","namespace":"olm"},"spec":`+spec+`}`), &c); err != nil {
		t.Fatal(err)
	}
	return &c
}

var community = resolver.CatalogID{Name: "community", Namespace: "olm"}

func refresh(t *testing.T, s *content.Store, c *olm.CatalogSource) content.Health {
	t.Helper()
	h, err := s.Refresh(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

// head returns the name of the only bundle in the view's catalog, or the text
// of the error.
func head(t *testing.T, v *content.View) string {
	t.Helper()
	g, err := v.Catalog(t.Context(), community)
	if err != nil {
		return err.Error()
	}
	for b := range g.Bundles() {
		return b.Name()
	}
	return "an empty catalog"
}

// A clock has a time that tests set.
type clock struct{ at atomic.Int64 }

func newClock() *clock {
	c := &clock{}
	c.at.Store(time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *clock) now() time.Time          { return time.Unix(0, c.at.Load()).UTC() }
func (c *clock) advance(d time.Duration) { c.at.Add(int64(d)) }

// A server serves a catalog, or an error.
type server struct {
	text     atomic.Value
	status   atomic.Int32
	requests atomic.Int32
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.requests.Add(1)
	if code := s.status.Load(); code != 0 {
		if code == http.StatusTooManyRequests {
			w.Header().Set("Retry-After", "600")
		}
		w.WriteHeader(int(code))
		return
	}
	io.WriteString(w, s.text.Load().(string))
}
