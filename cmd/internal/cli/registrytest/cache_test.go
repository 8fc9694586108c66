package registrytest

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// TestDamagedCache checks that no damage of a file in the cache changes an answer, and that the
// next command repairs it.
func TestDamagedCache(t *testing.T) {
	_, e, dir, image, want := pushed(t, "htpasswd")
	list := func(flags ...string) (string, string, int) {
		return e.run(t, dir, olmkit, append([]string{"list", "bundles", image, "etcd", "--cache-dir", "cache"}, flags...)...)
	}
	list()
	var names []string
	check(t, filepath.WalkDir(filepath.Join(dir, "cache"), func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			names = append(names, name)
		}
		return err
	}))
	if len(names) < 3 {
		t.Fatalf("the cache has %q; want an image, an index and a reference", names)
	}
	for _, name := range names {
		intact, err := os.ReadFile(name)
		check(t, err)
		flip := func(at int) []byte {
			text := bytes.Clone(intact)
			text[at] ^= 0xff
			return text
		}
		half := len(intact) / 2
		for what, text := range map[string][]byte{
			"empty": {}, "half": intact[:half], "one byte less": intact[:len(intact)-1], "one byte more": append(bytes.Clone(intact), 0),
			"first byte": flip(0), "middle byte": flip(half), "last byte": flip(len(intact) - 1), "zeros": make([]byte, len(intact)),
		} {
			check(t, os.WriteFile(name, text, 0o600))
			if got, stderr, code := list(); got != want || code != 0 {
				t.Errorf("%s, %s: exit code %d, %s%s", filepath.Base(name), what, code, got, stderr)
			}
			if got, stderr, code := list("--offline"); got != want || code != 0 {
				t.Errorf("%s, %s: not repaired: exit code %d, %s%s", filepath.Base(name), what, code, got, stderr)
			}
		}
	}
}

// TestKilled kills a command at each of its requests, and checks that the next one gives the
// right answer from the same cache.
func TestKilled(t *testing.T) {
	r, e, dir, image, want := pushed(t, "token")
	args := []string{"list", "bundles", image, "etcd", "--cache-dir", "cache"}
	for n, all := 0, false; !all; n++ {
		check(t, os.RemoveAll(filepath.Join(dir, "cache")))
		cmd := exec.Command(olmkit, args...)
		cmd.Dir, cmd.Env = dir, e.list()
		var mu sync.Mutex
		count := 0
		r.answer(func(w http.ResponseWriter, req *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			if count++; count == n+1 {
				cmd.Process.Kill()
			}
			return count > n
		})
		mu.Lock() // until the process is known
		err := cmd.Start()
		mu.Unlock()
		check(t, err)
		all = cmd.Wait() == nil
		r.answer(nil)
		if got := e.must(t, dir, olmkit, args...); got != want {
			t.Errorf("killed at request %d: %s", n+1, firstDifference(got, want))
		}
		if got := e.must(t, dir, olmkit, append(args, "--offline")...); got != want {
			t.Errorf("killed at request %d, then offline: %s", n+1, firstDifference(got, want))
		}
		if all && n < 4 || n > 100 {
			t.Fatalf("the command ended after %d requests", n)
		}
	}
}

// TestConcurrentCache runs commands at the same time on the same empty cache.
func TestConcurrentCache(t *testing.T) {
	_, e, dir, image, want := pushed(t, "htpasswd")
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if got, stderr, code := e.run(t, dir, olmkit, "list", "bundles", image, "etcd", "--cache-dir", "cache"); got != want || code != 0 {
				t.Errorf("exit code %d, %s%s", code, got, stderr)
			}
		})
	}
	wg.Wait()
	if got := e.must(t, dir, olmkit, "list", "bundles", image, "etcd", "--cache-dir", "cache", "--offline"); got != want {
		t.Error(firstDifference(got, want))
	}
}

// TestFullCache limits the size of files, which fails writes as a full disk does, and checks
// that the answer is right or an error that names the remedy.
func TestFullCache(t *testing.T) {
	_, e, dir, image, want := pushed(t, "htpasswd")
	failed := 0
	for blocks := 0; blocks < 1<<20; blocks = blocks*2 + 1 {
		check(t, os.RemoveAll(filepath.Join(dir, "cache")))
		command := fmt.Sprintf(`trap "" XFSZ; ulimit -f %d; exec "$@"`, blocks)
		got, stderr, code := e.run(t, dir, "sh", "-c", command, "sh", olmkit, "list", "bundles", image, "etcd", "--cache-dir", "cache")
		switch full := "the cache in cache/images cannot be written: file too large; free space, or name another directory with --cache-dir\n"; {
		case code == 0 && got == want:
		case code == 2 && got == "" && strings.HasSuffix(stderr, full):
			failed++
		default:
			t.Errorf("with %d blocks: exit code %d, %s%s", blocks, code, got, stderr)
		}
		if entries := files(t, filepath.Join(dir, "cache", "images")); code != 0 && len(entries) > 0 {
			t.Errorf("with %d blocks, it leaves %q", blocks, entries)
		}
		if got := e.must(t, dir, olmkit, "list", "bundles", image, "etcd", "--cache-dir", "cache"); got != want {
			t.Errorf("after %d blocks: %s", blocks, firstDifference(got, want))
		}
	}
	if failed == 0 {
		t.Error("no limit was too small")
	}
}
