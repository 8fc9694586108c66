package fbc

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
)

// shared is the directory of the real catalogs and conformance cases, which may
// be missing.
const shared = "../../shared"

var trees sync.Map // name -> fs.FS

// realTree returns a real catalog, unpacked in memory, or skips the test.
func realTree(t testing.TB, name string) fs.FS {
	t.Helper()
	if tree, ok := trees.Load(name); ok {
		return tree.(fs.FS)
	}
	f, err := os.Open(filepath.Join(shared, "catalogs", name+".tar.gz"))
	if err != nil {
		t.Skipf("no real catalogs here: %v", err)
	}
	defer f.Close()
	unzip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	tree := fstest.MapFS{}
	for r := tar.NewReader(unzip); ; {
		h, err := r.Next()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		_, file, _ := strings.Cut(h.Name, "/")
		tree[file] = &fstest.MapFile{Data: text}
	}
	trees.Store(name, tree)
	return tree
}

var realNames = []string{"community", "community-full", "community-invalid", "openshift-v4.16", "openshift-v4.19"}

// TestRealCounts loads every real catalog and compares with its README (A1-A11).
func TestRealCounts(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(shared, "catalogs", "README.md"))
	if err != nil {
		t.Skipf("no real catalogs here: %v", err)
	}
	num := `([\d,]+) `
	line := regexp.MustCompile("(?m)^- `([^`]+).tar.gz`: .*? " + num + "packages, " + num + `channels \(` + num + `entries: ` +
		num + `with replaces, ` + num + `with skips, ` + num + `with skipRange\), ` + num + `bundles, ` + num + `properties \((.*?)\); ` + num + `files`)
	all := line.FindAllStringSubmatch(string(readme), -1)
	if len(all) != len(realNames) {
		t.Fatalf("README describes %d catalogs, want %d", len(all), len(realNames))
	}
	for _, m := range all {
		t.Run(m[1], func(t *testing.T) {
			want := map[string]int{}
			for i, key := range []string{"packages", "channels", "entries", "replaces", "skips", "skipRange", "bundles", "properties"} {
				want[key] = atoi(t, m[i+2])
			}
			for _, kv := range regexp.MustCompile(`(\S+) ([\d,]+)`).FindAllStringSubmatch(m[10], -1) {
				want[kv[1]] = atoi(t, strings.TrimSuffix(kv[2], ","))
			}
			for _, keep := range []bool{false, true} {
				var last Progress
				c, err := Load(context.Background(), realTree(t, m[1]), &LoadOptions{KeepAll: keep, Progress: func(p Progress) { last = p }})
				if err != nil {
					t.Fatal(err)
				}
				got := count(c)
				for key, n := range want {
					if got[key] != n {
						t.Errorf("keepAll %t: %d %s, want %d", keep, got[key], key, n)
					}
				}
				if len(c.Findings) > 0 {
					t.Errorf("keepAll %t: findings:\n%v", keep, c.Findings)
				}
				if n := atoi(t, m[11]); last.Files != n || last.FilesTotal != n || last.Bytes != last.BytesTotal {
					t.Errorf("keepAll %t: last progress %+v, want all of %d files", keep, last, n)
				}
			}
		})
	}
}

func atoi(t *testing.T, s string) int {
	t.Helper()
	n, err := strconv.Atoi(strings.ReplaceAll(s, ",", ""))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// count returns the numbers that the README of the real catalogs lists.
func count(c *Catalog) map[string]int {
	n := map[string]int{"packages": len(c.Packages), "channels": len(c.Channels), "bundles": len(c.Bundles)}
	for _, ch := range c.Channels {
		n["entries"] += len(ch.Entries)
		for _, e := range ch.Entries {
			if e.Replaces != "" {
				n["replaces"]++
			}
			if len(e.Skips) > 0 {
				n["skips"]++
			}
			if e.SkipRange != "" {
				n["skipRange"]++
			}
		}
	}
	for _, b := range c.Bundles {
		n["properties"] += len(b.Properties)
		for _, p := range b.Properties {
			n[p.Type]++
		}
	}
	return n
}
