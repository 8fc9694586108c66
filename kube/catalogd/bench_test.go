package catalogd_test

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/kube/catalogd"
)

// BenchmarkCommunity measures, on a real catalog, a first fetch, a fetch of an
// unchanged catalog, and opening the catalog from disk.
func BenchmarkCommunity(b *testing.B) {
	cat, err := fbc.Load(b.Context(), realcat.FS(b, "community"), &fbc.LoadOptions{KeepAll: true})
	if err != nil {
		b.Fatal(err)
	}
	var text bytes.Buffer
	if err := fbc.Write(b.Context(), &text, cat, &fbc.WriteOptions{Syntax: fbc.JSON}); err != nil {
		b.Fatal(err)
	}
	sent := zipped(text.String())
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"1"`)
		if r.Header.Get("If-None-Match") == `"1"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		w.Write(sent)
	}))
	defer s.Close()
	dir := b.TempDir()
	run := func(c *catalogd.Client) {
		got, err := c.Fetch(b.Context())
		if err != nil || got.Graph.Size().Bundles != len(cat.Bundles) {
			b.Fatal(got, err)
		}
	}
	fresh := func(dir string) *catalogd.Client {
		c, err := catalogd.New(s.URL, &catalogd.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		return c
	}
	b.Run("first", func(b *testing.B) {
		b.SetBytes(int64(text.Len()))
		b.ReportAllocs()
		for b.Loop() {
			run(fresh(""))
		}
	})
	c := fresh(dir)
	run(c)
	b.Run("unchanged", func(b *testing.B) {
		for b.Loop() {
			run(c)
		}
	})
	b.Run("restart", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			run(fresh(dir))
		}
	})
}
