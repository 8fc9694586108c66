package fbc

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/golden"
)

// TestLimits checks that reaching each limit exactly is allowed, and that exceeding it by
// one is an error that names the limit (A16).
func TestLimits(t *testing.T) {
	g := golden.Archive{File: "limits.txtar"}
	deep := func(n int) string {
		return `{"schema":"x","v":` + strings.Repeat("[", n-1) + strings.Repeat("]", n-1) + "}"
	}
	deepYAML := "schema: x\nv: " + strings.Repeat("[", 9) + strings.Repeat("]", 9) + "\n"
	size := func(n int) string { return fmt.Sprintf(`{"schema":"x","v":"%s"}`, strings.Repeat("v", n-21)) }
	for _, c := range []struct {
		name string
		tree fs.FS
		fits Limits
		less func(*Limits)
	}{
		{"file-size", files("a.json", size(100)), Limits{FileSize: 100}, func(l *Limits) { l.FileSize-- }},
		{"file-size-unknown", lying{files("a.json", size(100))}, Limits{FileSize: 100}, func(l *Limits) { l.FileSize-- }},
		{"document-size", files("a.json", " "+size(100)+" "), Limits{DocumentSize: 100}, func(l *Limits) { l.DocumentSize-- }},
		{"documents", files("a.json", pkgA+channel, "b.json", bundle), Limits{Documents: 3}, func(l *Limits) { l.Documents-- }},
		{"files", files("a/a.json", pkgA, "b.json", bundle), Limits{Files: 3}, func(l *Limits) { l.Files-- }},
		{"ignore-size", files(".indexignore", "*.md\n", "a.json", pkgA), Limits{IgnoreSize: 5}, func(l *Limits) { l.IgnoreSize-- }},
		{"depth", files("a.json", deep(10)), Limits{Depth: 10}, func(l *Limits) { l.Depth-- }},
		{"depth-yaml", files("a.yaml", deepYAML), Limits{Depth: 10}, func(l *Limits) { l.Depth-- }},
		{"expansion", files("a.yaml", "schema: x\na: &a text\nb: [*a, *a]\n"), Limits{Expansion: 16}, func(l *Limits) { l.Expansion-- }},
		{"expansion-of-all", files("a.yaml", "schema: x\na: &a text\nb: *a\n", "b.yaml", "schema: x\n---\nschema: w\na: &a text\nb: *a\n---\nschema: z\n"), Limits{Expansion: 16}, func(l *Limits) { l.Expansion-- }},
		{"property-size", files("a.json", `{"schema":"olm.bundle","package":"a","name":"b","properties":[{"type":"x","value":"123"}]}`), Limits{PropertySize: 5}, func(l *Limits) { l.PropertySize-- }},
	} {
		if _, err := Load(t.Context(), c.tree, &LoadOptions{Limits: &c.fits}); err != nil {
			t.Errorf("%s: at the limit: %v", c.name, err)
		}
		tight := c.fits
		c.less(&tight)
		_, err := Load(t.Context(), c.tree, &LoadOptions{Limits: &tight, chunk: 16})
		var limit *LimitError
		var ds Diagnostics
		if !errors.As(err, &limit) || !errors.As(err, &ds) || ds[0].Code != codes.Limit {
			t.Errorf("%s: beyond the limit: %v", c.name, err)
		}
		g.Add(c.name, describe(nil, err))
	}

	hostile := []struct {
		name string
		tree fs.FS
	}{
		{"beyond-any-depth", files("a.json", deep(200_000))},
		{"beyond-any-depth-yaml", files("a.yaml", "v:\n"+strings.Repeat("- ", 50_000)+"x\nschema: x\n")},
	}
	for _, c := range hostile {
		_, err := Load(t.Context(), c.tree, nil)
		g.Add(c.name, describe(nil, err))
	}
	many := files("a.json", strings.Repeat("{}", 12))
	_, err := Load(t.Context(), many, &LoadOptions{Limits: &Limits{Diagnostics: 3}})
	g.Add("diagnostics", describe(nil, err))
	g.Check(t)
}

// TestExpansionOfLoad checks that one limit applies to the expansion of all documents of a
// load, and that the document that exceeds it does not depend on buffers or goroutines (S1,
// D15).
func TestExpansionOfLoad(t *testing.T) {
	text := "schema: x\na: &a text\nb: *a\n---\n" // adds 8 bytes
	tree := files("a.yaml", strings.Repeat(text, 50), "b.yaml", strings.Repeat("schema: z\n---\n"+text, 50))
	var want string
	for _, o := range []LoadOptions{{}, {Concurrency: 1}, {Concurrency: 4, chunk: 16}, {Concurrency: 2, chunk: 100, KeepAll: true}} {
		o.Limits = &Limits{Expansion: 8 * 75}
		_, err := Load(t.Context(), tree, &o)
		got := describe(nil, err)
		if want == "" {
			want = got
		}
		if got != want || !strings.Contains(got, "b.yaml:153: expansion") {
			t.Errorf("with %d goroutines and buffers of %d: %s, want %s", o.Concurrency, o.chunk, got, want)
		}
	}
	if _, err := Load(t.Context(), tree, &LoadOptions{Limits: &Limits{Expansion: 8 * 100}}); err != nil {
		t.Errorf("at the limit: %v", err)
	}
}

// broken is an endless stream of invalid documents.
type broken struct{ read int }

func (b *broken) Read(p []byte) (int, error) {
	n := copy(p, strings.Repeat("{\n---\n", 2+len(p)/6)[b.read%6:])
	b.read += n
	return n, nil
}

// TestStops checks that a load with too many errors stops soon, at a document that does not
// depend on buffers or goroutines (A16, D18).
func TestStops(t *testing.T) {
	r := &broken{}
	_, err := LoadReader(t.Context(), r, "f", nil)
	var ds Diagnostics
	if !errors.As(err, &ds) || len(ds) != 1001 || !wasStopped(ds) || ds[1000].Pos.Line != 2002 {
		t.Errorf("%.300v", err)
	}
	if r.read > 16<<20 {
		t.Errorf("read %d bytes to find 1,001 faults at the beginning", r.read)
	}

	var text strings.Builder
	for i := range 100 {
		fmt.Fprintf(&text, "{\"schema\":\"x\",\"name\":\"n%d\",\"name\":\"m\"}\n", i) // a finding
		if i%3 == 0 {
			text.WriteString("{\"schema\":\"olm.channel\"}\n") // two faults
		}
	}
	tree := files("a.json", text.String(), "b.json", text.String(), "c/.indexignore", "//\n", "d", "{}")
	for _, limit := range []int64{1, 2, 3, 10, 67, 68, 69, 70, 136, 137, 138} {
		var want *Catalog
		var wantFound Diagnostics
		for _, opts := range []LoadOptions{{Concurrency: 1}, {Concurrency: 4}, {Concurrency: 1, chunk: 1}, {Concurrency: 3, chunk: 1000}, {Concurrency: 2, chunk: 100}} {
			opts.Limits = &Limits{Diagnostics: limit}
			c, found, err := Check(t.Context(), tree, &opts, nil)
			if err != nil {
				t.Fatal(err)
			}
			if want == nil {
				want, wantFound = c, found
			}
			if diff := cmp.Diff(want, c, sameCatalog); diff != "" {
				t.Errorf("limit %d, %+v: another catalog (-want +got):\n%s", limit, opts, diff)
			}
			if found.Error() != wantFound.Error() {
				t.Errorf("limit %d, %+v:\n%v\nwant\n%v", limit, opts, found, wantFound)
			}
		}
	}
}

// A lying file system reports that all files are empty.
type lying struct{ fs.FS }

func (l lying) ReadDir(name string) ([]fs.DirEntry, error) {
	list, err := fs.ReadDir(l.FS, name)
	for i, e := range list {
		list[i] = lyingEntry{e}
	}
	return list, err
}

type lyingEntry struct{ fs.DirEntry }

func (l lyingEntry) Info() (fs.FileInfo, error) {
	info, err := l.DirEntry.Info()
	return lyingInfo{info}, err
}

type lyingInfo struct{ fs.FileInfo }

func (lyingInfo) Size() int64 { return 0 }

// TestLimitDefaults checks that the defaults match the documentation.
func TestLimitDefaults(t *testing.T) {
	got := (*Limits)(nil).WithDefaults()
	want := Limits{FileSize: 2 << 30, DocumentSize: 64 << 20, Documents: 20_000_000, Files: 1_000_000, IgnoreSize: 1 << 20, Depth: 1000, Expansion: 64 << 20, PropertySize: 4 << 20, Diagnostics: 1000}
	if got != want {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if l := (&Limits{Depth: 1 << 40}).WithDefaults(); l.Depth != 10_000 {
		t.Errorf("Depth %d, want at most 10,000", l.Depth)
	}
}
