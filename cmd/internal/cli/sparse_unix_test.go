//go:build unix

package cli

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/sample"
)

// TestSparseFiles checks that commands refuse huge sparse files without reading more than their limits, and obey
// --timeout meanwhile (A16, S4).
func TestSparseFiles(t *testing.T) {
	dir := t.TempDir()
	catalog, err := graph.Load(t.Context(), sample.Catalog(), nil)
	if err != nil {
		t.Fatal(err)
	}
	var index bytes.Buffer
	if err := graph.WriteIndex(t.Context(), &index, catalog, ""); err != nil {
		t.Fatal(err)
	}
	const (
		huge     = 4 << 40
		tooLarge = "file exceeds limit FileSize=2147483648 (found 4398046511104)"
		tooLong  = "document exceeds limit DocumentSize=1048576"
	)
	files := []struct {
		name, head string
		size       int64
		want       string
	}{
		{"zeros", "", huge, tooLarge},
		{"small", "", 1 << 31, tooLong},
		{"catalog.yaml", "schema: olm.package\nname: a\n", 1 << 31, tooLong},
		{"recipe.yaml", "schema: olm.semver\n", 1 << 31, tooLong},
		{"several.yaml", "schema: olm.semver\n---\n", 1 << 31, "template exceeds limit DocumentSize=1048576 (found 2147483648)"},
		{"huge.yaml", "schema: olm.semver\n---\n", huge, tooLarge},
		{"index", index.String(), 1 << 31, "is a compiled index"},
	}
	for _, f := range files {
		name := filepath.Join(dir, f.name)
		file, err := os.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := file.WriteString(f.head); err != nil {
			t.Fatal(err)
		}
		if err := file.Truncate(f.size); err != nil {
			t.Skip(err)
		}
		file.Close()
		for _, command := range []string{"render", "fmt", "validate", "merge"} {
			want := f.want
			if strings.HasPrefix(want, "template") && command != "render" {
				want = tooLong
			}
			var out bytes.Buffer
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			code := Run(t.Context(), []string{command, name, "--limit", "DocumentSize=1MiB"}, strings.NewReader(""), &out, &out)
			runtime.ReadMemStats(&after)
			if code == exitOK || !strings.Contains(out.String(), want) {
				t.Errorf("%s %s: exit code %d, want %q:\n%s", command, f.name, code, want, &out)
			}
			if took := after.TotalAlloc - before.TotalAlloc; took > 32<<20 {
				t.Errorf("%s %s takes %d bytes", command, f.name, took)
			}
			out.Reset()
			if code := Run(t.Context(), []string{command, name, "--timeout", "1ns"}, strings.NewReader(""), io.Discard, &out); code != exitBadInput {
				t.Errorf("%s %s with an expired timeout: exit code %d:\n%s", command, f.name, code, &out)
			}
		}
	}
}
