package registrytest

import (
	"bytes"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

func isBlob(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
}

// pushed starts a registry with one catalog, and returns the image and the bundles that it has.
func pushed(t *testing.T, auth string) (r *registry, e environment, dir, image, want string) {
	t.Helper()
	r = newRegistry(t, auth)
	e = env(t, r)
	dir = newCatalogs(t, e)
	image = r.ref("team/community", "v1")
	e.copy(t, dir, "dir:image/community", image)
	return r, e, dir, image, e.must(t, dir, olmkit, "list", "bundles", "community", "etcd")
}

// TestFaults checks the messages about credentials, certificates and names of a real registry.
// Faults that need no registry are those of TestPullFaults.
func TestFaults(t *testing.T) {
	for _, auth := range []string{"htpasswd", "token"} {
		r, e, dir, image, _ := pushed(t, auth)
		for _, tt := range []struct {
			name, image, want string
			env               environment
		}{
			{"no credentials", image, "registry " + r.host + " denies access without credentials: ", e.with("REGISTRY_AUTH_FILE", "")},
			{"wrong credentials", image, "registry " + r.host + " denies access with the given credentials: ", e.with("REGISTRY_AUTH_FILE", login(t, "wrong", r))},
			{"unknown CA", image, "registry " + r.host + " has a certificate that is not trusted: ", e.with("SSL_CERT_FILE", "")},
			{"no such tag", r.ref("team/community", "v2"), "registry " + r.host + " does not have the image: ", e},
			{"no such repository", r.ref("team/nothing", "v1"), "registry " + r.host + " does not have the image: ", e},
		} {
			stdout, stderr, code := tt.env.run(t, dir, olmkit, "list", "bundles", tt.image, "etcd")
			if code != 2 || stdout != "" || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
				t.Errorf("%s, %s: exit code %d, %s%s; want %q", auth, tt.name, code, stdout, stderr, tt.want)
			}
		}
	}
}

// TestRedirect checks that blobs may be on another host, which gets no credentials.
func TestRedirect(t *testing.T) {
	for _, auth := range []string{"htpasswd", "token"} {
		r, e, dir, image, want := pushed(t, auth)
		var mu sync.Mutex
		var got []string
		other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
			mu.Lock()
			got = append(got, req.Header.Get("Authorization"))
			mu.Unlock()
			blob, err := fs.ReadFile(os.DirFS(filepath.Join(dir, "blobs")), filepath.Base(req.URL.Path))
			if err != nil {
				http.NotFound(w, req)
				return
			}
			w.Write(blob)
		}))
		defer other.Close()
		e.copy(t, dir, image, "dir:blobs")
		r.answer(func(w http.ResponseWriter, req *http.Request) bool {
			if isBlob(req) && req.Header.Get("Authorization") != "" {
				_, digest, _ := strings.Cut(filepath.Base(req.URL.Path), ":")
				http.Redirect(w, req, other.URL+"/"+digest, http.StatusTemporaryRedirect)
				return true
			}
			return false
		})
		if stdout, stderr, code := e.run(t, dir, olmkit, "list", "bundles", image, "etcd"); code != 0 || stdout != want {
			t.Errorf("%s: exit code %d, %s\n%s", auth, code, stderr, firstDifference(stdout, want))
		}
		mu.Lock()
		if len(got) < 2 || strings.Join(got, "") != "" { // the configuration and the layer
			t.Errorf("%s: the other host got the credentials %q", auth, got)
		}
		mu.Unlock()
	}
}

// TestResume checks that a blob that is cut in the middle is continued there.
func TestResume(t *testing.T) {
	r, e, dir, image, want := pushed(t, "token")
	var mu sync.Mutex
	var ranges []string
	r.answer(func(w http.ResponseWriter, req *http.Request) bool {
		if !isBlob(req) {
			return false
		}
		mu.Lock()
		ranges = append(ranges, req.Header.Get("Range"))
		mu.Unlock()
		if req.Header.Get("Range") == "" {
			w = &cutting{w, 100}
		}
		r.app.ServeHTTP(w, req)
		return true
	})
	if stdout, stderr, code := e.run(t, dir, olmkit, "list", "bundles", image, "etcd"); code != 0 || stdout != want {
		t.Errorf("exit code %d, %s\n%s", code, stderr, firstDifference(stdout, want))
	}
	mu.Lock()
	defer mu.Unlock()
	if got := strings.Join(ranges, ","); got != ",bytes=100-,,bytes=100-" { // the configuration and the layer
		t.Errorf("the requests for blobs have the ranges %q", got)
	}
}

// A cutting writer ends the connection after some bytes.
type cutting struct {
	http.ResponseWriter
	left int
}

func (c *cutting) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p[:min(len(p), c.left)])
	if c.left -= n; err == nil && c.left == 0 {
		c.ResponseWriter.(http.Flusher).Flush()
		panic(http.ErrAbortHandler)
	}
	return n, err
}

// TestClosedOutput checks that a command whose output nobody reads leaves no temporary files.
func TestClosedOutput(t *testing.T) {
	_, e, dir, image, _ := pushed(t, "token")
	e = e.with("HOME", "").with("TMPDIR", t.TempDir())
	r, w, err := os.Pipe()
	check(t, err)
	check(t, r.Close())
	defer w.Close()
	cmd := exec.Command(olmkit, "list", "bundles", image, "etcd")
	var stderr bytes.Buffer
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, e.list(), w, &stderr
	if err := cmd.Run(); cmd.ProcessState.ExitCode() != 2 || stderr.Len() > 0 {
		t.Errorf("%v, %s", err, stderr.String())
	}
	if left := files(t, e["TMPDIR"]); len(left) > 0 {
		t.Errorf("files are left: %v", left)
	}
}

// TestEnded checks that a pull that ends midway leaves nothing half done, and that the next
// command is right.
func TestEnded(t *testing.T) {
	r, e, dir, image, want := pushed(t, "token")
	cache := filepath.Join(e["HOME"], ".cache")
	for _, tt := range []struct {
		name   string
		signal os.Signal
		flags  []string
		code   int
		want   string
	}{
		{"interrupt", os.Interrupt, nil, 130, "olmkit: interrupted\n"},
		{"--timeout", nil, []string{"--timeout", "1s"}, 2, "gave up after 1s"},
		{"kill", os.Kill, nil, -1, ""},
	} {
		check(t, os.RemoveAll(cache))
		reached := make(chan struct{}, 10)
		r.answer(func(w http.ResponseWriter, req *http.Request) bool {
			if !isBlob(req) {
				return false
			}
			w.Write([]byte("\x1f\x8b\x08\x00")) // gzip
			w.(http.Flusher).Flush()
			reached <- struct{}{}
			<-req.Context().Done()
			return true
		})
		cmd := exec.Command(olmkit, append([]string{"list", "bundles", image, "etcd"}, tt.flags...)...)
		var stdout, stderr bytes.Buffer
		cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = dir, e.list(), &stdout, &stderr
		check(t, cmd.Start())
		done := make(chan error, 1)
		go func() { done <- cmd.Wait() }() // the error is the exit code
		select {
		case <-reached:
			if tt.signal != nil {
				check(t, cmd.Process.Signal(tt.signal))
			}
			<-done
		case <-done:
			t.Errorf("%s: no blob was requested", tt.name)
		}
		if code := cmd.ProcessState.ExitCode(); code != tt.code || stdout.Len() > 0 || !strings.Contains(stderr.String(), tt.want) {
			t.Errorf("%s: exit code %d, want %d; %q, want %q; %s", tt.name, code, tt.code, stderr.String(), tt.want, stdout.String())
		}
		if tt.signal != os.Kill {
			if left := files(t, cache); len(left) > 0 && !strings.Contains(left[0], "references") || len(left) > 1 {
				t.Errorf("%s left %v", tt.name, left)
			}
		}
		r.answer(nil)
		if got := e.must(t, dir, olmkit, "list", "bundles", image, "etcd"); got != want {
			t.Errorf("after %s: %s", tt.name, firstDifference(got, want))
		}
	}
}

// files returns the files below a directory.
func files(t *testing.T, dir string) []string {
	t.Helper()
	var out []string
	check(t, filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			out = append(out, name)
		}
		return err
	}))
	return out
}
