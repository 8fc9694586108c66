package view

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

func newPage(t testing.TB) *Page {
	t.Helper()
	p, err := New(t.Context(), &Input{Catalogs: []Catalog{{Name: "sample", Graph: loadSample(t)}}})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func TestHandler(t *testing.T) {
	h := Handler(newPage(t), "catalogs.example.com")
	for _, tt := range []struct {
		method, host, path string
		want               int
	}{
		{"GET", "127.0.0.1:8080", "/", 200},
		{"HEAD", "127.0.0.1:8080", "/", 200},
		{"GET", "[::1]:8080", "/", 200},
		{"GET", "[::1]", "/", 200},
		{"GET", "192.168.1.7", "/", 200},
		{"GET", "LocalHost:1", "/", 200},
		{"GET", "catalogs.example.com", "/", 200},
		{"GET", "evil.example.com", "/", 421},
		{"GET", "evil.example.com:8080", "/", 421},
		{"GET", "localhost.evil.example.com", "/", 421},
		{"GET", "127.0.0.1.evil.example.com", "/", 421},
		{"GET", "", "/", 421},
		{"POST", "localhost", "/", 405},
		{"DELETE", "localhost", "/", 405},
		{"GET", "localhost", "/favicon.ico", 404},
		{"GET", "localhost", "/../../etc/passwd", 404},
	} {
		r := httptest.NewRequest(tt.method, "/", nil)
		r.Host, r.URL.Path = tt.host, tt.path
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		if w.Code != tt.want {
			t.Errorf("%s %s of %q: %d, want %d", tt.method, tt.path, tt.host, w.Code, tt.want)
		}
		head := w.Result().Header
		for name, want := range map[string]string{
			"X-Content-Type-Options":       "nosniff",
			"X-Frame-Options":              "DENY",
			"Referrer-Policy":              "no-referrer",
			"Cross-Origin-Opener-Policy":   "same-origin",
			"Cross-Origin-Resource-Policy": "same-origin",
			"Cache-Control":                "no-store",
		} {
			if head.Get(name) != want {
				t.Errorf("%s %s: %s is %q, want %q", tt.method, tt.path, name, head.Get(name), want)
			}
		}
		csp := head.Get("Content-Security-Policy")
		if !strings.HasPrefix(csp, "default-src 'none'; script-src 'sha256-") || !strings.HasSuffix(csp, "frame-ancestors 'none'") {
			t.Errorf("%s %s: the policy is %q", tt.method, tt.path, csp)
		}
		if body := w.Body.Len() > 1000; body != (tt.want == 200 && tt.method == "GET") {
			t.Errorf("%s %s of %q: %d bytes", tt.method, tt.path, tt.host, w.Body.Len())
		}
	}
}

// TestServeStops checks that the end of the context stops the server without an error.
func TestServeStops(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	page := newPage(t)
	go func() { done <- Serve(ctx, l, page) }()
	res, err := http.Get("http://" + l.Addr().String() + "/")
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(res.Body)
	res.Body.Close()
	if err != nil || len(text) != len(page.text) || res.Header.Get("Content-Type") != "text/html; charset=utf-8" {
		t.Errorf("got %d bytes of %d, %s, %v", len(text), len(page.text), res.Header.Get("Content-Type"), err)
	}
	cancel()
	if err := <-done; err != nil {
		t.Errorf("Serve = %v", err)
	}
	if _, err := net.Dial("tcp", l.Addr().String()); err == nil {
		t.Error("the port still answers")
	}
}
