package fbc

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// TestSmallFiles compares loads whose batches hold several small files with loads in which each
// file has its own batches: they return the same blobs, findings, faults and progress.
func TestSmallFiles(t *testing.T) {
	texts := append([]string{
		pkgA, channel, bundle, "", "# nothing\n", "---\nschema: x\nname: y\n",
		"{\"schema\":\"olm.semver\"}", "schema: olm.semver\n---\nschema: x\n", "schema: olm.composite\n",
		"a: &a [b, c]\nschema: x\nd: *a\ne: *a\n", "a: [\n", "{", "schema: x\nschema: y\n",
		"{\"schema\":\"olm.bundle\",\"name\":\"b\",\"package\":\"p\",\"properties\":[{\"type\":\"t\"}]}",
	}, wrongGuesses...)
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		fsys, faults := fstest.MapFS{}, map[string]fault{}
		for i := range r.IntN(20) {
			name := fmt.Sprintf("d%d/f%02d", i/8, i)
			text := texts[r.IntN(len(texts))]
			if r.IntN(3) > 0 {
				text = pkgA + "\n" + fmt.Sprintf(`{"schema":"x","name":"%d"}`, i)
			}
			fsys[name] = &fstest.MapFile{Data: []byte(text)}
			if r.IntN(20) == 0 {
				faults[name] = fault{0, errors.New("input/output error")}
			}
		}
		limits := []*Limits{nil, nil, {Documents: 8}, {Depth: 2}, {Diagnostics: 1}, {Diagnostics: 3}, {Expansion: 20}, {FileSize: 50}}[r.IntN(8)]
		load := func(concurrency, chunk int) (string, *Catalog, Progress) {
			var p Progress
			c, faults, err := loadAll(t.Context(), tree(faultyFS{fsys, faults}), &LoadOptions{Limits: limits, Concurrency: concurrency, chunk: chunk, Progress: func(x Progress) { p = x }})
			if wasStopped(faults) || limits != nil && limits.Documents > 0 {
				p = Progress{} // how far a load came that stopped depends on the batches
			}
			return fmt.Sprint(faults, err), c, p
		}
		wantErr, want, progress := load(1, 1)
		for _, concurrency := range []int{1, 3} {
			for _, chunk := range []int{100, 300, 1000, 16 << 10} {
				gotErr, got, p := load(concurrency, chunk)
				diff := cmp.Diff(want, got, sameCatalog)
				for i := range want.Findings {
					if diff == "" && want.Findings[i].Error() != got.Findings[i].Error() {
						diff = got.Findings[i].Error()
					}
				}
				if gotErr != wantErr || p != progress || diff != "" {
					t.Fatalf("seed %d, %d goroutines, buffers of %d: got\n%s\nwant\n%s\nprogress %v, want %v; catalog (-want +got):\n%s", seed, concurrency, chunk, gotErr, wantErr, p, progress, diff)
				}
			}
		}
	}
}
