package oci_test

import (
	"bytes"
	"fmt"
	"io"
	"log"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/olmkit/olmkit/kube/oci"
)

// TestResume checks that a blob whose connection ends early is continued where it ended, a limited
// number of times in a row, and only if the server sends the remaining range.
func TestResume(t *testing.T) {
	const part = 1000 // bytes before a connection ends
	text := make([]byte, 3<<20)
	for i, random := 0, rand.New(rand.NewPCG(1, 2)); i < len(text); i++ {
		text[i] = byte(random.Uint32()) // does not compress
	}
	img := image(t, catalogLabels, files("configs/data", string(text)))
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	var (
		mu     sync.Mutex
		ranges []string // of requests for blobs
		answer func(w http.ResponseWriter, r *http.Request, n int, body []byte)
	)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		now := answer
		mu.Unlock()
		if now == nil || r.Method != http.MethodGet || !strings.Contains(r.URL.Path, "/blobs/") && !strings.Contains(r.URL.Path, "/manifests/") {
			inner.ServeHTTP(w, r)
			return
		}
		whole := r.Clone(r.Context())
		whole.Header.Del("Range")
		rec := httptest.NewRecorder()
		inner.ServeHTTP(rec, whole)
		if rec.Body.Len() < 100_000 && strings.Contains(r.URL.Path, "/blobs/") { // the configuration
			w.Write(rec.Body.Bytes())
			return
		}
		mu.Lock()
		ranges = append(ranges, r.Header.Get("Range"))
		n := len(ranges)
		mu.Unlock()
		now(w, r, n, rec.Body.Bytes())
	}))
	defer server.Close()
	ref, err := name.ParseReference(strings.TrimPrefix(server.URL, "http://") + "/team/catalog:v1")
	if err != nil {
		t.Fatal(err)
	}
	if err := remote.Write(ref, img); err != nil {
		t.Fatal(err)
	}
	set := func(f func(w http.ResponseWriter, r *http.Request, n int, body []byte)) {
		mu.Lock()
		defer mu.Unlock()
		ranges, answer = nil, f
	}
	seen := func() []string {
		mu.Lock()
		defer mu.Unlock()
		return ranges
	}
	manifest := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }
	// serve answers with a range, and ends the connection after size bytes unless that is 0.
	serve := func(w http.ResponseWriter, r *http.Request, body []byte, size int) {
		start := 0
		if _, err := fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-", &start); err == nil {
			w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", start, len(body)-1, len(body)))
		}
		w.Header().Set("Content-Length", fmt.Sprint(len(body)-start))
		if manifest(r) {
			w.Header().Set("Content-Type", "application/vnd.docker.distribution.manifest.v2+json")
		}
		if start > 0 {
			w.WriteHeader(http.StatusPartialContent)
		}
		if size == 0 {
			w.Write(body[start:])
			return
		}
		w.Write(body[start:min(start+size, len(body))])
		w.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	for _, tt := range []struct {
		name     string
		answer   func(w http.ResponseWriter, r *http.Request, n int, body []byte)
		ok       bool
		requests int // for the layer
	}{
		{"cut once", func(w http.ResponseWriter, r *http.Request, n int, body []byte) {
			serve(w, r, body, map[int]int{1: part}[n])
		}, true, 2},
		{"cut five times in a row", func(w http.ResponseWriter, r *http.Request, n int, body []byte) {
			size := part
			if n > 5 {
				size = 0
			}
			serve(w, r, body, size)
		}, true, 6},
		{"always cut", func(w http.ResponseWriter, r *http.Request, n int, body []byte) { serve(w, r, body, part) }, false, 6},
		{"cut often, with progress", func(w http.ResponseWriter, r *http.Request, n int, body []byte) { serve(w, r, body, 300_000) }, true, 11},
		{"busy when resumed", func(w http.ResponseWriter, r *http.Request, n int, body []byte) {
			switch n {
			case 1:
				serve(w, r, body, part)
			case 2:
				w.WriteHeader(http.StatusServiceUnavailable)
			case 3:
				w.Header().Set("Retry-After", "0")
				w.WriteHeader(http.StatusTooManyRequests)
			default:
				serve(w, r, body, 0)
			}
		}, true, 4},
		{"no ranges", func(w http.ResponseWriter, r *http.Request, n int, body []byte) {
			r.Header.Del("Range")
			serve(w, r, body, map[int]int{1: part}[n])
		}, false, 2},
		{"another range", func(w http.ResponseWriter, r *http.Request, n int, body []byte) {
			if n > 1 {
				r.Header.Set("Range", "bytes=5-")
			}
			serve(w, r, body, map[int]int{1: part}[n])
		}, false, 2},
		{"another content", func(w http.ResponseWriter, r *http.Request, n int, body []byte) {
			if n > 1 {
				body = bytes.Repeat([]byte{0}, len(body))
			}
			serve(w, r, body, map[int]int{1: part}[n])
		}, false, 2},
	} {
		set(func(w http.ResponseWriter, r *http.Request, n int, body []byte) {
			if manifest(r) {
				mu.Lock()
				ranges = nil
				mu.Unlock()
				serve(w, r, body, 0)
				return
			}
			tt.answer(w, r, n, body)
		})
		got, err := oci.New(nil).Catalog(t.Context(), ref.String())
		if ranges := seen(); (err == nil) != tt.ok || len(ranges) != tt.requests {
			t.Errorf("%s: %v; the requests for the layer have ranges %q, want %d", tt.name, err, ranges, tt.requests)
		}
		if err == nil && !bytes.Equal(read(t, got, "data"), text) {
			t.Errorf("%s: the content differs", tt.name)
		}
	}
	// The manifest of a tag may have changed in between.
	set(func(w http.ResponseWriter, r *http.Request, n int, body []byte) { serve(w, r, body, 100) })
	if _, err := oci.New(nil).Catalog(t.Context(), ref.String()); err == nil || strings.Join(seen(), "") != "" {
		t.Errorf("a manifest: %v; ranges %q", err, seen())
	}
}

func read(t *testing.T, img *oci.Image, name string) []byte {
	t.Helper()
	f, err := img.FS.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	text, err := io.ReadAll(f)
	if err != nil {
		t.Fatal(err)
	}
	return text
}
