package main

import (
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// TestSweep checks that the cache stays within its size: the least recently
// used files are deleted first, in any directory, and so are abandoned
// temporary files.
func TestSweep(t *testing.T) {
	dir, now := t.TempDir(), time.Now()
	put := func(name string, size int, age time.Duration) {
		t.Helper()
		path := filepath.Join(dir, name)
		check(t, os.MkdirAll(filepath.Dir(path), 0o700))
		check(t, os.WriteFile(path, make([]byte, size), 0o600))
		check(t, os.Chtimes(path, now.Add(-age), now.Add(-age)))
	}
	put("images/a.zip", 100, 3*time.Hour)
	put("images/b.zip", 100, time.Minute)
	put("tenants/namespaces/x/c.zip", 100, 2*time.Hour)
	put("catalogs/d.index", 100, time.Hour)
	put("images/new.tmp", 50, time.Minute)
	put("images/left.tmp", 50, 2*time.Hour)
	for _, test := range []struct {
		most int64
		want string
	}{
		{1000, "a.zip b.zip c.zip d.index new.tmp"},
		{449, "b.zip c.zip d.index new.tmp"},
		{250, "b.zip d.index new.tmp"},
		{10, "new.tmp"},
	} {
		check(t, sweep(dir, test.most, now))
		var have []string
		check(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() {
				have = append(have, filepath.Base(name))
			}
			return err
		}))
		slices.Sort(have)
		if got := strings.Join(have, " "); got != test.want {
			t.Errorf("with %d bytes: %s; want %s", test.most, got, test.want)
		}
	}
	if err := sweep(filepath.Join(dir, "nothing"), 1, now); err != nil {
		t.Errorf("without a directory: %v", err)
	}
}
