package graph_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/property"
)

const indexed = `
schema: olm.package
name: etcd
defaultChannel: stable
---
schema: olm.channel
package: etcd
name: stable
entries:
- {name: etcd.v1, skipRange: "<1.0.0"}
- {name: etcd.v2, replaces: etcd.v1, skips: [etcd.v0], skipRange: "not a range"}
---
schema: olm.bundle
package: etcd
name: etcd.v1
image: quay.io/etcd:v1
properties:
- {type: olm.package, value: {packageName: etcd, version: 1.0.0}}
- {type: olm.gvk, value: {group: etcd.io, version: v1, kind: Etcd}}
- {type: olm.label, value: {label: gold}}
---
schema: olm.bundle
package: etcd
name: etcd.v2
image: quay.io/etcd:v2
properties:
- {type: olm.package, value: {packageName: etcd, version: 2.0.0-rc.1+b2}}
- {type: olm.gvk, value: {group: etcd.io, version: v1, kind: Etcd}}
- {type: olm.gvk.required, value: {group: a.io, version: v1, kind: A}}
- {type: olm.constraint, value: {failureMessage: no, any: {constraints: [{package: {packageName: etcd, versionRange: ">=1.0.0"}}]}}}
- {type: olm.deprecated, value: {}}
---
schema: olm.channel
package: nowhere
name: broken
entries:
- {name: gone}
- {name: lost}
---
schema: olm.deprecations
package: etcd
entries:
- {reference: {schema: olm.bundle, name: etcd.v1}, message: use v2}
`

func parseIndexed(t testing.TB) *graph.Catalog {
	c, err := graph.LoadReader(context.Background(), strings.NewReader(indexed), "indexed.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func write(t testing.TB, c *graph.Catalog, source string) []byte {
	var b bytes.Buffer
	if err := graph.WriteIndex(context.Background(), &b, c, source); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func read(text []byte) (*graph.Catalog, error) {
	return graph.ReadIndex(bytes.NewReader(text), int64(len(text)), nil)
}

func onDemand(text []byte) (*graph.Catalog, error) {
	return graph.ReadIndex(bytes.NewReader(text), int64(len(text)), &graph.Options{OnDemand: true})
}

// dump returns the results of all methods of a catalog as text.
func dump(c *graph.Catalog) string {
	var b strings.Builder
	fmt.Fprintln(&b, c.Digest(), c.Size().Packages, c.Size().Channels, c.Size().Entries, c.Size().Bundles)
	for _, d := range c.Findings() {
		fmt.Fprintln(&b, d.Code, d.Severity, d)
	}
	for p := range c.Packages() {
		note, _ := p.Deprecation()
		fmt.Fprintln(&b, p.Name(), p.Pos(), p.DefaultChannelName(), note)
		for ch := range p.Channels() {
			head, ok := ch.Head()
			note, _ := ch.Deprecation()
			fmt.Fprintln(&b, ch.Name(), ch.Pos(), ch.Err(), ok && head.Name() != "", note)
			for e := range ch.Entries() {
				rank, ok := e.Rank()
				fmt.Fprintln(&b, e.Name(), e.Replaces(), e.SkipRange(), rank, ok)
				for s := range e.Skips() {
					fmt.Fprintln(&b, s)
				}
				for o := range ch.Entries() {
					if x, ok := o.Bundle(); ok {
						fmt.Fprint(&b, e.Admits(x.Name(), x.Version()), " ")
					}
				}
			}
			for e := range ch.Order() {
				fmt.Fprintln(&b, e.Name())
			}
		}
		for x := range p.Bundles() {
			note, _ := x.Deprecation()
			fmt.Fprintln(&b, x.Name(), x.Pos(), x.Image(), x.Version(), x.Err(), x.IsProhibited(), note, x.HasLabel("gold"))
			for e := range x.Entries() {
				fmt.Fprintln(&b, e.Channel().Name())
			}
			for g := range x.APIs() {
				fmt.Fprintln(&b, g)
			}
			for r := range x.Requirements() {
				fmt.Fprintln(&b, r.Property, r.ID, r.Expr)
			}
			for q := range x.Properties() {
				fmt.Fprintln(&b, q.Type, string(q.Value))
			}
		}
	}
	for g := range c.APIs() {
		for x := range c.Providers(g) {
			fmt.Fprintln(&b, g, x.Name())
		}
	}
	for x := range c.Labeled("gold") {
		fmt.Fprintln(&b, "gold", x.Name())
	}
	return b.String()
}

// TestIndex checks that a catalog that was written and opened gives the same results.
func TestIndex(t *testing.T) {
	check := func(t *testing.T, c *graph.Catalog) {
		text := write(t, c, "hash")
		if again := write(t, c, "hash"); !bytes.Equal(text, again) {
			t.Error("the same catalog was written in two ways")
		}
		name := filepath.Join(t.TempDir(), "index")
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		got, err := graph.OpenIndex(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got.SourceHash() != "hash" {
			t.Errorf("SourceHash() = %q", got.SourceHash())
		}
		if got, want := dump(got), dump(c); got != want {
			t.Errorf("the opened index says\n%.2000s\nthe catalog says\n%.2000s", got, want)
		}
		if !bytes.Equal(write(t, got, "hash"), text) {
			t.Error("what was opened is written differently")
		}
		lazy, err := graph.OpenIndex(name, &graph.Options{OnDemand: true})
		if err != nil {
			t.Fatal(err)
		}
		size := lazy.MemorySize()
		var names []string
		for p := range c.Packages() {
			names = append(names, p.Name())
		}
		if got := slices.Collect(lazy.PackageNames()); !slices.Equal(got, names) || !slices.Equal(slices.Collect(c.PackageNames()), names) {
			t.Errorf("PackageNames = %q; the packages are %q", got, names)
		}
		if lazy.MemorySize() != size {
			t.Error("PackageNames reads packages")
		}
		if got, want := dump(lazy), dump(c); got != want || lazy.Err() != nil {
			t.Errorf("the index that was opened on demand says, with error %v,\n%.2000s\nthe catalog says\n%.2000s", lazy.Err(), got, want)
		}
	}
	t.Run("small", func(t *testing.T) { check(t, parseIndexed(t)) })
	t.Run("empty", func(t *testing.T) { check(t, new(graph.Catalog)) })
	for _, name := range realcat.Names {
		t.Run(name, func(t *testing.T) { check(t, realcat.Graph(t, name)) })
	}
}

// TestIndexLazy checks that concurrent calls for the same package and requirement of a new
// index return the same package and expression.
func TestIndexLazy(t *testing.T) {
	c, err := onDemand(write(t, parseIndexed(t), ""))
	if err != nil {
		t.Fatal(err)
	}
	want, _ := c.Package("etcd")
	if c, err = onDemand(write(t, parseIndexed(t), "")); err != nil {
		t.Fatal(err)
	}
	packages := make([]graph.Package, 16)
	got := make([]any, 16)
	var wait sync.WaitGroup
	for i := range got {
		wait.Go(func() {
			p, _ := c.Package("etcd")
			packages[i] = p
			b, _ := p.Bundle("etcd.v2")
			for r := range b.Requirements() {
				got[i] = r.Expr
			}
		})
	}
	wait.Wait()
	for _, p := range packages {
		if p != packages[0] || p == want || p.Name() != "etcd" || p.Catalog() != c {
			t.Fatal("a package is not the same for all")
		}
	}
	for _, x := range got {
		if x != got[0] || x == nil {
			t.Fatalf("got the expressions %v", got)
		}
	}
}

// TestIndexDamaged opens files that are truncated at every length or changed at every byte.
func TestIndexDamaged(t *testing.T) {
	text := write(t, parseIndexed(t), "")
	refused := func(t *testing.T, text []byte, causes ...error) {
		t.Helper()
		_, err := read(text)
		var bad *graph.IndexError
		if !errors.As(err, &bad) {
			t.Fatalf("got the error %v, want an IndexError", err)
		}
		for _, c := range causes {
			if errors.Is(err, c) {
				return
			}
		}
		t.Fatalf("got the error %v, want one of %v", err, causes)
	}
	for n := range text {
		refused(t, text[:n], graph.ErrNotIndex, graph.ErrIndexCorrupt)
	}
	for i := range text {
		if c, err := read(flip(text, i)); err == nil && dump(c) != dump(parseIndexed(t)) {
			t.Fatalf("byte %d was changed, and the index opens and says something else", i)
		}
		if c, err := onDemand(flip(text, i)); err == nil && dump(c) != dump(parseIndexed(t)) && !errors.Is(c.Err(), graph.ErrIndexCorrupt) {
			t.Fatalf("byte %d was changed, and the index says something else, with the error %v", i, c.Err())
		}
	}
	refused(t, append([]byte("olmkitix"), 9, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0, 0), graph.ErrIndexVersion)
	if _, err := graph.OpenIndex(filepath.Join(t.TempDir(), "none"), nil); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file that does not exist gives %v", err)
	}
}

func flip(text []byte, i int) []byte {
	text = bytes.Clone(text)
	text[i] ^= 0x55
	return text
}

// TestIndexRecords opens indexes with invalid records but valid checksums, at once and on
// demand (S5).
func TestIndexRecords(t *testing.T) {
	mixed, err := graph.LoadReader(t.Context(), strings.NewReader(testcatalog.Mixed), "mixed.yaml", nil)
	if err != nil {
		t.Fatal(err)
	}
	graph.Broken(write(t, mixed, ""), func(what string, index []byte) {
		c, err := read(index)
		if !errors.Is(err, graph.ErrIndexCorrupt) || c != nil {
			t.Errorf("%s: got the error %v, want %v", what, err, graph.ErrIndexCorrupt)
		}
		c, err = onDemand(index)
		if err == nil {
			dump(c)
			err = c.Err()
		}
		if !errors.Is(err, graph.ErrIndexCorrupt) || !errors.As(err, new(*graph.IndexError)) {
			t.Errorf("%s: on demand, got the error %v, want %v", what, err, graph.ErrIndexCorrupt)
		}
	})
}

// TestIndexOfBroken checks that the index of an invalid catalog can be opened (S5).
func TestIndexOfBroken(t *testing.T) {
	meta := func(schema, pkg, name string) fbc.Meta { return fbc.Meta{Schema: schema, Package: pkg, Name: name} }
	version := func(texts ...string) (list []property.Property) {
		for _, v := range texts {
			list = append(list, property.Property{Type: property.TypePackage, Value: []byte(`{"packageName":"p","version":"` + v + `"}`)})
		}
		return list
	}
	blobs := &fbc.Catalog{}
	for range 2 { // build everything twice
		blobs.Packages = append(blobs.Packages, &fbc.Package{Meta: meta(fbc.SchemaPackage, "p", "p"), DefaultChannel: "none"}, &fbc.Package{Meta: meta(fbc.SchemaPackage, "", "")})
		for _, entries := range [][]fbc.Entry{
			nil,
			{{Name: ""}},
			{{Name: "a", Replaces: "a"}},
			{{Name: "a", Replaces: "b"}, {Name: "b", Replaces: "a"}, {Name: "c", Skips: []string{"a", "b", "a"}}},
			{{Name: "a"}, {Name: "a", Replaces: "b"}, {Name: "b"}, {Name: "b", Skips: []string{"b"}}},
			{{Name: "c", Replaces: "b"}, {Name: "b", Replaces: "gone"}, {Name: "gone", Replaces: "a"}, {Name: "a", Replaces: "nowhere"}},
			{{Name: "c", Replaces: "b", Skips: []string{"b"}}, {Name: "b", Replaces: "a"}, {Name: "a", SkipRange: "?"}},
		} {
			blobs.Channels = append(blobs.Channels, &fbc.Channel{Meta: meta(fbc.SchemaChannel, "p", fmt.Sprint(len(entries))), Entries: entries})
		}
		for name, versions := range map[string][]string{"a": {"1.0.0"}, "b": {"2.0.0-rc.1+x.y"}, "c": {"?"}, "d": {"1.0.0", "2.0.0"}, "": nil} {
			x := &fbc.Bundle{Meta: meta(fbc.SchemaBundle, "p", name)}
			x.Properties = append(version(versions...),
				property.Property{Type: property.TypeLabel, Value: []byte(`{"label":""}`)},
				property.Property{Type: property.TypeGVK, Value: []byte(`{"group":"","version":"v1","kind":"K"}`)},
				property.Property{Type: property.TypeConstraint, Value: []byte(`7`)},
				property.Property{Type: "empty"},
			)
			blobs.Bundles = append(blobs.Bundles, x)
		}
	}
	c, err := graph.Build(t.Context(), blobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	got, err := read(write(t, c, ""))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := dump(got), dump(c); got != want {
		t.Errorf("the opened index says\n%s\nthe catalog says\n%s", got, want)
	}
}

// FuzzOpenIndex opens damaged indexes with valid checksums, and calls all methods of those
// that open.
func FuzzOpenIndex(f *testing.F) {
	text := write(f, parseIndexed(f), "hash")
	f.Add(text, 0, byte(0))
	f.Add(text, len(text)-1, byte(1))
	for i := 32; i < len(text); i += 97 {
		f.Add(text, i, byte(0xff))
	}
	f.Fuzz(func(t *testing.T, text []byte, at int, change byte) {
		text = bytes.Clone(text)
		if at >= 0 && at < len(text) {
			text[at] ^= change
		}
		testcatalog.Seal(text)
		c, err := read(text)
		if err != nil && c != nil {
			t.Fatal("an error and a catalog")
		}
		lazy, lerr := onDemand(text)
		if lerr != nil {
			if err == nil {
				t.Fatalf("on demand, the error %v", lerr)
			}
			return
		}
		got := dump(lazy)
		switch {
		case err == nil && (lazy.Err() != nil || got != dump(c)):
			t.Fatalf("on demand, the index says something else, with the error %v", lazy.Err())
		case err != nil && lazy.Err() == nil:
			t.Fatalf("on demand, no error; otherwise %v", err)
		}
	})
}

// FuzzIndexRecords changes a number in the records of a package, seals the index, and calls
// all methods.
func FuzzIndexRecords(f *testing.F) {
	mixed, err := graph.LoadReader(f.Context(), strings.NewReader(testcatalog.Mixed), "mixed.yaml", nil)
	if err != nil {
		f.Fatal(err)
	}
	text := write(f, mixed, "")
	for i := range uint16(400) {
		f.Add(i, uint32(i)%7, i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, at uint16, number uint32, add bool) {
		c, err := onDemand(graph.Changed(text, int(at), number, add))
		if err == nil {
			dump(c)
		}
	})
}

// FuzzPack packs numbers and strings, and unpacks them and other text (S5).
func FuzzPack(f *testing.F) {
	f.Add([]byte("\x00\x01\x02\x03\xff\xff\xff\xff"), "a@sha256:0123456789abcdef0123\na@sha256:0123456789abcdef0124\nb\n\nb")
	f.Fuzz(func(t *testing.T, numbers []byte, text string) {
		if what := graph.PackError(numbers, strings.Split(text, "\n")); what != "" {
			t.Fatal(what)
		}
	})
}

func BenchmarkOpenIndex(b *testing.B) {
	for _, name := range []string{"community", "openshift-v4.19"} {
		b.Run(name, func(b *testing.B) {
			text := write(b, realcat.Graph(b, name), "")
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := read(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// hollow is a file that ends in more zeros than any memory can hold.
type hollow struct {
	head []byte
	most int64 // the highest offset that was read
}

func (e *hollow) ReadAt(p []byte, at int64) (int, error) {
	clear(p)
	if at < int64(len(e.head)) {
		copy(p, e.head[at:])
	}
	e.most = max(e.most, at+int64(len(p)))
	return len(p), nil
}

// TestIndexSize checks that only the directory of a file that claims to be large is read (S4).
func TestIndexSize(t *testing.T) {
	const size = 4 << 40
	text := write(t, parseIndexed(t), "")
	end := int(binary.LittleEndian.Uint64(text[32:])) // of the table
	last := text[end-24:]                             // of the sections in the table
	directory := binary.LittleEndian.Uint64(last) + binary.LittleEndian.Uint64(last[8:]) + 7
	claim := func(size int64, change func(head []byte)) *hollow {
		head := bytes.Clone(text[:end])
		binary.LittleEndian.PutUint64(head[24:], uint64(size))
		change(head)
		binary.LittleEndian.PutUint32(head[20:], crc32.Checksum(head[24:], crc32.MakeTable(crc32.Castagnoli)))
		return &hollow{head: head}
	}
	for _, tt := range []struct {
		what string
		file *hollow
		size int64
		want error
	}{
		{"large", claim(size, func([]byte) {}), size, new(fbc.LimitError)},
		{"large and full", claim(size, func(head []byte) { binary.LittleEndian.PutUint64(head[end-24+8:], size-uint64(end)) }), size, new(fbc.LimitError)},
		{"empty behind its sections", claim(1<<30, func([]byte) {}), 1 << 30, graph.ErrIndexCorrupt},
		{"larger than it claims", claim(1<<30, func([]byte) {}), 1 << 31, graph.ErrIndexCorrupt},
	} {
		_, err := graph.ReadIndex(tt.file, tt.size, nil)
		limit := new(fbc.LimitError)
		if errors.As(tt.want, &limit) {
			if !errors.As(err, &limit) || limit.Limit != "FileSize" || limit.Size != tt.size {
				t.Errorf("%s: got the error %v", tt.what, err)
			}
		} else if !errors.Is(err, tt.want) {
			t.Errorf("%s: got the error %v, want %v", tt.what, err, tt.want)
		}
		if tt.file.most > int64(directory) {
			t.Errorf("%s: %d bytes were read; the directory ends at %d", tt.what, tt.file.most, directory)
		}
	}
	// Many equal properties take few bytes in the file, and many in memory.
	many := &fbc.Bundle{Meta: fbc.Meta{Schema: fbc.SchemaBundle, Package: "p", Name: "b"}}
	many.Properties = make([]property.Property, 1<<18)
	c, err := graph.Build(t.Context(), &fbc.Catalog{Bundles: []*fbc.Bundle{many}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	large := write(t, c, "")
	for limit, want := range map[int64]bool{1 << 20: false, 3 << 20: true} {
		_, err := graph.ReadIndex(bytes.NewReader(large), int64(len(large)), &graph.Options{Load: &fbc.LoadOptions{Limits: &fbc.Limits{Expansion: limit}}})
		bad := new(fbc.LimitError)
		if (err == nil) != want || !want && (!errors.As(err, &bad) || bad.Limit != "Expansion") {
			t.Errorf("an index of %d bytes with Expansion %d: got the error %v", len(large), limit, err)
		}
	}
	small := &graph.Options{Load: &fbc.LoadOptions{Limits: &fbc.Limits{FileSize: int64(len(text)) - 1}}}
	if _, err := graph.ReadIndex(bytes.NewReader(text), int64(len(text)), small); !errors.As(err, new(*fbc.LimitError)) {
		t.Errorf("beyond the limit of the caller: got the error %v", err)
	}
}
