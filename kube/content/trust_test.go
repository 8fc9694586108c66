package content_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/kube/catalogd"
	"github.com/olmkit/olmkit/kube/content"
)

// TestCredentials checks that credentials are sent only to the origins that the
// administrator configured, and never for a tenant.
func TestCredentials(t *testing.T) {
	var got []string
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = append(got, r.Header.Get("Authorization"))
		io.WriteString(w, catalog("1.0.0", true))
	}))
	defer ts.Close()
	secret := &catalogd.Options{Header: http.Header{"Authorization": {"Bearer secret"}}}
	for _, test := range []struct {
		name, namespace string
		sources         content.Sources
		want            string
	}{
		{"the origin", "olm", content.Sources{Origins: map[string]*catalogd.Options{ts.URL: secret}}, "Bearer secret"},
		{"a tenant names it", "tenant", content.Sources{Private: true, Origins: map[string]*catalogd.Options{ts.URL: secret}}, ""},
		{"another origin", "olm", content.Sources{Origins: map[string]*catalogd.Options{ts.URL + "0": secret}}, ""},
		{"headers for all", "olm", content.Sources{HTTP: secret}, ""},
		{"headers for all, and a tenant", "tenant", content.Sources{Private: true, HTTP: secret}, ""},
	} {
		got = nil
		c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`)
		c.Metadata.Namespace = test.namespace
		if h := refresh(t, content.New(&content.Options{Sources: test.sources}), c); h.State != content.StateReady {
			t.Errorf("%s: %+v", test.name, h)
		}
		if len(got) != 1 || got[0] != test.want {
			t.Errorf("%s: the server got %q; want %q once", test.name, got, test.want)
		}
	}
}

// TestPublic checks that a tenant cannot reach loopback and link-local
// addresses under any name, and that the tenant's status does not reveal the
// response.
func TestPublic(t *testing.T) {
	requests := 0
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		requests++
		http.Error(w, "internal secret", http.StatusForbidden)
	}))
	defer ts.Close()
	read := func(namespace, address string, sources content.Sources) string {
		c := source(t, `{"sourceType":"grpc","address":"`+address+`"}`)
		c.Metadata.Namespace = namespace
		return refresh(t, content.New(&content.Options{Sources: sources}), c).Message
	}
	byName := strings.Replace(ts.URL, "127.0.0.1", "localhost", 1)
	for _, address := range []string{ts.URL, byName, "http://169.254.169.254/latest", "http://[fe80::1]/", "http://[::ffff:127.0.0.1]/", "http://0.0.0.0/"} {
		if got := read("tenant", address, content.Sources{}); !strings.Contains(got, "is not allowed for a catalog outside the global namespace") {
			t.Errorf("%s: %s", address, got)
		}
	}
	if requests != 0 {
		t.Errorf("%d requests", requests)
	}
	if got := read("tenant", ts.URL, content.Sources{Private: true}); strings.Contains(got, "secret") || !strings.Contains(got, "403 Forbidden") {
		t.Errorf("the tenant's status is %s", got)
	}
	if got := read("olm", ts.URL, content.Sources{}); !strings.Contains(got, "internal secret") {
		t.Errorf("the administrator's status is %s", got)
	}
	allow := func(namespace, address string) error {
		if namespace == "tenant" && address == ts.URL {
			return errors.New("ask the administrator")
		}
		return nil
	}
	if got := read("tenant", ts.URL, content.Sources{Private: true, Allow: allow}); !strings.Contains(got, "is not allowed: ask the administrator") {
		t.Errorf("Allow: %s", got)
	}
	for _, address := range []string{"10.0.0.1:80", "192.0.2.1:443", "[fd00::1]:80"} {
		if err := content.Public("tcp", address, nil); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	for _, address := range []string{"100.100.100.200:80", "[fd00:ec2::254]:80", "224.0.0.1:80", "[::1]:80", "nonsense"} {
		if err := content.Public("tcp", address, nil); err == nil {
			t.Errorf("%s is allowed", address)
		}
	}
}

// TestTenantText checks the separate limit for tenants' catalogs.
func TestTenantText(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, catalog("1.0.0", true)) }))
	defer ts.Close()
	for _, test := range []struct {
		namespace, want string
		sources         content.Sources
	}{
		{"olm", "", content.Sources{TenantText: 100}},
		{"tenant", "larger than 100 bytes", content.Sources{Private: true, TenantText: 100}},
		{"tenant", "larger than 50 bytes", content.Sources{Private: true, TenantText: 100, HTTP: &catalogd.Options{Limits: catalogd.Limits{Text: 50}}}},
		{"tenant", "", content.Sources{Private: true}},
	} {
		c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`)
		c.Metadata.Namespace = test.namespace
		h := refresh(t, content.New(&content.Options{Sources: test.sources}), c)
		if (h.Err() == nil) != (test.want == "") || !strings.Contains(h.Message, test.want) {
			t.Errorf("%s: %+v; want %q", test.namespace, h, test.want)
		}
	}
}

// TestTenantsCache checks that a tenant cannot read content that was cached for
// somebody else: its server answers every conditional request with 304.
func TestTenantsCache(t *testing.T) {
	ts := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case r.Header.Get("If-None-Match") != "":
			w.WriteHeader(http.StatusNotModified)
		case r.Header.Get("Authorization") == "":
			w.WriteHeader(http.StatusForbidden)
		default:
			w.Header().Set("ETag", `"1"`)
			io.WriteString(w, catalog("1.0.0", true))
		}
	}))
	defer ts.Close()
	dir := t.TempDir()
	sources := content.Sources{
		Private: true, HTTP: &catalogd.Options{Dir: dir},
		Origins: map[string]*catalogd.Options{ts.URL: {Dir: dir, Header: http.Header{"Authorization": {"Bearer secret"}}}},
	}
	for _, test := range []struct{ namespace, want string }{{"olm", content.StateReady}, {"tenant", content.StateFailing}} {
		c := source(t, `{"sourceType":"grpc","address":"`+ts.URL+`"}`)
		c.Metadata.Namespace = test.namespace
		if h := refresh(t, content.New(&content.Options{Sources: sources}), c); h.State != test.want {
			t.Errorf("namespace %s: %+v; want %s", test.namespace, h, test.want)
		}
	}
}
