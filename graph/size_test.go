package graph_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
)

// heap returns the bytes of reachable objects. It collects garbage until a
// collection frees nothing, because objects with finalizers take several.
func heap() int64 {
	var m runtime.MemStats
	for before := uint64(0); ; before = m.HeapAlloc {
		runtime.GC()
		runtime.GC()
		if runtime.ReadMemStats(&m); before > 0 && m.HeapAlloc >= before {
			return int64(m.HeapAlloc)
		}
	}
}

// TestMemorySize checks that MemorySize is close to the real size for any kind
// of content, including catalogs designed to take much memory for little text.
func TestMemorySize(t *testing.T) {
	const n = 20_000
	many := func(blob func(i int) string) string {
		var b strings.Builder
		for i := range n {
			b.WriteString(blob(i))
		}
		return b.String()
	}
	for name, text := range map[string]string{
		"bundles": many(func(i int) string {
			return fmt.Sprintf(`{"schema":"olm.bundle","package":"p","name":"b%d","image":"x","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.%d"}}]}`+"\n", i, i)
		}),
		"packages": many(func(i int) string { return fmt.Sprintf(`{"schema":"olm.package","name":"q%d"}`+"\n", i) }),
		"others":   strings.Repeat(`{"schema":"x","name":"q"}`+"\n", 2*n),
		"entries":  `{"schema":"olm.channel","package":"p","name":"c","entries":[{"name":"e"}` + many(func(i int) string { return fmt.Sprintf(`,{"name":"%d"}`, i) }) + "]}\n",
		"properties": `{"schema":"olm.bundle","package":"p","name":"b","image":"x","properties":[{"type":"olm.package","value":{"packageName":"p","version":"1.0.0"}}` +
			strings.Repeat(`,{"type":"x","value":1}`, 4*n) + "]}\n",
	} {
		t.Run(name, func(t *testing.T) {
			fsys := fstest.MapFS{"c.json": &fstest.MapFile{Data: []byte(`{"schema":"olm.package","name":"p","defaultChannel":"c"}` + "\n" + text)}}
			var c *graph.Catalog
			took := int64(-1)
			for try := 0; took < 0 && try < 10; try++ { // what was loaded before may be freed only now
				c = nil
				before := heap()
				var err error
				if c, err = graph.Load(t.Context(), fsys, nil); err != nil {
					t.Fatal(err)
				}
				took = heap() - before
			}
			if got := c.MemorySize(); got < took/2-4096 || got > 3*took+4096 {
				t.Errorf("MemorySize = %d; it takes %d", got, took)
			}
			runtime.KeepAlive(c)

			var b bytes.Buffer
			if err := graph.WriteIndex(t.Context(), &b, c, ""); err != nil {
				t.Fatal(err)
			}
			file := filepath.Join(t.TempDir(), "index")
			if err := os.WriteFile(file, b.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			for _, demand := range []bool{false, true} {
				before := heap()
				opened, err := graph.OpenIndex(file, &graph.Options{OnDemand: demand})
				if err != nil {
					t.Fatal(err)
				}
				took := heap() - before
				if got := opened.MemorySize(); got < took/2-8192 || got > 3*took+8192 {
					t.Errorf("opened, on demand %v: MemorySize = %d; it takes %d", demand, got, took)
				}
				runtime.KeepAlive(opened)
			}
		})
	}
}
