package catalogd_test

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/olmkit/olmkit/kube/catalogd"
)

// tagged serves one catalog with an ETag and counts the responses with content.
func tagged(version *atomic.Value, full *atomic.Int32) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v := version.Load().(string)
		w.Header().Set("ETag", `"`+v+`"`)
		if r.Header.Get("If-None-Match") == `"`+v+`"` {
			w.WriteHeader(http.StatusNotModified)
			return
		}
		full.Add(1)
		io.WriteString(w, lines(v))
	}
}

func names(t *testing.T, dir, pattern string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// TestRestart checks that a new process does not fetch a catalog that is on
// disk, that it detects damaged files, and that blobs can be read in both
// cases.
func TestRestart(t *testing.T) {
	damage := func(pattern string, with func(text []byte) []byte) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			list := names(t, dir, pattern)
			if len(list) != 1 {
				t.Fatalf("%s: %v", pattern, list)
			}
			text, err := os.ReadFile(list[0])
			if err == nil {
				err = os.WriteFile(list[0], with(text), 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
	}
	flip := func(text []byte) []byte { text[len(text)/2] ^= 1; return text }
	half := func(text []byte) []byte { return text[:len(text)/2] }
	remove := func(pattern string) func(*testing.T, string) {
		return func(t *testing.T, dir string) {
			for _, name := range names(t, dir, pattern) {
				os.Remove(name)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(t *testing.T, dir string)
		full   int32 // full responses to the new process
		warns  bool
	}{
		{"as it was", func(*testing.T, string) {}, 0, false},
		{"index flipped", damage("*.index", flip), 0, false},
		{"index cut", damage("*.index", half), 0, false},
		{"index gone", remove("*.index"), 0, false},
		{"text cut", damage("*.jsonl", half), 1, true},
		{"text gone", remove("*.jsonl"), 1, false},
		{"index and text flipped", func(t *testing.T, dir string) { damage("*.index", flip)(t, dir); damage("*.jsonl", flip)(t, dir) }, 1, true},
		{"state cut", damage("*.json", half), 1, true},
		{"state of another address", damage("*.json", func([]byte) []byte { return []byte(`{}`) }), 1, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			var version atomic.Value
			version.Store("1.0.0")
			var full atomic.Int32
			var warnings []string
			opts := func() *catalogd.Options {
				return &catalogd.Options{Dir: dir, Warn: func(err error) { warnings = append(warnings, err.Error()) }}
			}
			c := served(t, tagged(&version, &full), opts())
			fetch(t, c)
			if len(warnings) > 0 {
				t.Fatal(warnings)
			}
			tt.damage(t, dir)
			full.Store(0)

			c = clientOf(t, strings.TrimSuffix(c.URL(), "/api/v1/all"), opts())
			last := c.Last(t.Context())
			if (last != nil) != (tt.full == 0) {
				t.Errorf("Last = %v", last)
			}
			cat := fetch(t, c)
			if full.Load() != tt.full || (len(warnings) > 0) != tt.warns {
				t.Errorf("%d full answers, warnings %q; want %d and %v", full.Load(), warnings, tt.full, tt.warns)
			}
			if got := head(t, cat); got != "etcd.v1.0.0" {
				t.Errorf("head %q", got)
			}
			for b := range cat.Graph.Bundles() {
				if raw, err := cat.Raw(t.Context(), b); err != nil || !strings.Contains(string(raw), "olm.bundle.object") {
					t.Errorf("Raw = %.60s, %v", raw, err)
				}
			}

			// After a change there is one set of files, and the old catalog can
			// still be read.
			version.Store("2.0.0")
			if got := head(t, fetch(t, c)); got != "etcd.v2.0.0" {
				t.Errorf("head %q", got)
			}
			if list := names(t, dir, "*"); len(list) != 3 {
				t.Errorf("the directory contains %q", list)
			}
			for b := range cat.Graph.Bundles() {
				if _, err := cat.Raw(t.Context(), b); err != nil {
					t.Errorf("the old catalog: %v", err)
				}
			}
		})
	}
}

func TestDamagedBetween(t *testing.T) {
	dir := t.TempDir()
	var version atomic.Value
	version.Store("1.0.0")
	var full atomic.Int32
	c := served(t, tagged(&version, &full), &catalogd.Options{Dir: dir})
	fetch(t, c)
	c = clientOf(t, strings.TrimSuffix(c.URL(), "/api/v1/all"), &catalogd.Options{Dir: dir})
	cat := fetch(t, c)
	name := names(t, dir, "*.jsonl")[0]
	text, err := os.ReadFile(name)
	if err == nil {
		err = os.WriteFile(name, []byte(strings.Replace(string(text), "example.com", "exomple.com", 1)), 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	for b := range cat.Graph.Bundles() {
		if _, err := cat.Raw(t.Context(), b); err == nil || !strings.Contains(err.Error(), " is damaged; remove it and restart") {
			t.Errorf("Raw of a text that was changed: %v", err)
		}
	}
}
