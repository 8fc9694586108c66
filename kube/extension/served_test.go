package extension_test

import (
	"io"
	"net/http"
	"net/http/httptest"
	"sync/atomic"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
)

func TestServed(t *testing.T) {
	var requests, status atomic.Int32
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests.Add(1)
		if r.URL.Path != "/catalogs/community/api/v1/all" {
			http.NotFound(w, r)
			return
		}
		if code := status.Load(); code != 0 {
			w.WriteHeader(int(code))
			return
		}
		io.WriteString(w, contents["community"])
	}))
	defer ts.Close()
	s := &extension.Served{Options: &catalogd.Options{Retry: catalogd.Retry{Attempts: 1}}}
	c := &clusterCatalogs(t, "community")[0]
	open := func() (string, bool) {
		g, err := s.Open(t.Context(), c)
		if err != nil {
			return err.Error(), false
		}
		return "", g.Size().Bundles == 4
	}
	if text, _ := open(); text != "the catalog is not served" {
		t.Errorf("without a status: %q", text)
	}
	c.Status.Conditions = []metav1.Condition{{Type: "Serving", Status: "False", Reason: "Unavailable", Message: "still unpacking"}}
	if text, _ := open(); text != "the catalog is not served: still unpacking" {
		t.Errorf("not served: %q", text)
	}
	c.Status.Conditions[0].Status = "True"
	if text, _ := open(); text != "status.urls is missing" {
		t.Errorf("without an address: %q", text)
	}
	c.Status.URLs = &api.ClusterCatalogURLs{Base: ts.URL + "/catalogs/community"}
	for want := int32(1); want <= 2; want++ {
		if text, ok := open(); !ok || requests.Load() != want {
			t.Errorf("%q, %d requests; want one for each Open, because the status has no version", text, requests.Load())
		}
	}
	unpacked := metav1.NewTime(time.Unix(1000, 0))
	c.Status.LastUnpacked = &unpacked
	c.Status.ResolvedSource = &api.ResolvedCatalogSource{Type: "Image", Image: &api.ResolvedImageSource{Ref: "x@sha256:1"}}
	for range 3 {
		if text, ok := open(); !ok || requests.Load() != 3 {
			t.Errorf("%q, %d requests; want no more than 3", text, requests.Load())
		}
	}
	c.Status.ResolvedSource.Image.Ref = "x@sha256:2"
	status.Store(500)
	if text, ok := open(); ok || requests.Load() != 4 {
		t.Errorf("%q: a catalog that was unpacked again must be fetched", text)
	}
	status.Store(0)
	if text, ok := open(); !ok || requests.Load() != 5 {
		t.Errorf("%q, %d requests", text, requests.Load())
	}
	s.Retain(map[string]bool{"another": true})
	if text, ok := open(); !ok || requests.Load() != 6 {
		t.Errorf("%q, %d requests; want it fetched after it was forgotten", text, requests.Load())
	}
	c.Status.URLs.Base = "nowhere"
	if text, _ := open(); text != `catalog address: "nowhere" does not start with http:// or https://` {
		t.Errorf("%q", text)
	}
}
