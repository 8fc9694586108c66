package cli_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	"github.com/google/go-containerregistry/pkg/v1/remote"

	"github.com/olmkit/olmkit/internal/sample"
)

// A wire is a TLS registry whose requests a test records and can answer.
type wire struct {
	*httptest.Server
	image string // docker://…, a catalog
	inner http.Handler

	mu       sync.Mutex
	requests []string // METHOD PATH
	// before handles a request itself if it returns true.
	before func(w http.ResponseWriter, r *http.Request) bool
}

func newWire(t *testing.T) *wire {
	t.Helper()
	dir := t.TempDir()
	t.Chdir(dir)
	for _, name := range []string{"REGISTRY_AUTH_FILE", "XDG_RUNTIME_DIR", "XDG_CONFIG_HOME", "DOCKER_CONFIG"} {
		t.Setenv(name, "")
	}
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("HOME", dir)
	check(t, os.CopyFS("community", sample.Catalog()))
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	x := &wire{inner: inner}
	x.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		x.mu.Lock()
		if r.URL.Path != "/v2/" {
			x.requests = append(x.requests, r.Method+" "+r.URL.Path)
		}
		before := x.before
		x.mu.Unlock()
		if before == nil || !before(w, r) {
			inner.ServeHTTP(w, r)
		}
	}))
	x.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(x.Close)
	host := strings.TrimPrefix(x.URL, "https://")
	ref, err := name.ParseReference(host + "/team/community:v1")
	check(t, err)
	check(t, remote.Write(ref, catalogImage(t, "community"), remote.WithTransport(x.Client().Transport)))
	x.image = "docker://" + ref.String()
	check(t, os.WriteFile("ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: x.Certificate().Raw}), 0o600))
	return x
}

func (x *wire) answer(before func(w http.ResponseWriter, r *http.Request) bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.before = before
}

// seen returns the requests since the last call.
func (x *wire) seen() []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	out := x.requests
	x.requests = nil
	return out
}

// list runs "olmkit list bundles" with the certificate authority.
func (x *wire) list(t *testing.T, flags ...string) (stdout, stderr string, code int) {
	t.Helper()
	return run(t, "", append([]string{"list", "bundles", x.image, "etcd", "--ca-file", "ca.pem"}, flags...), "", "")
}

func isBlob(r *http.Request) bool {
	return r.Method == http.MethodGet && strings.Contains(r.URL.Path, "/blobs/")
}

// leftovers returns the temporary files in the cache.
func leftovers(t *testing.T) []string {
	t.Helper()
	var out []string
	check(t, filepath.WalkDir("cache", func(p string, d fs.DirEntry, err error) error {
		if err == nil && strings.HasSuffix(p, ".tmp") {
			out = append(out, p)
		}
		return err
	}))
	return out
}

// TestPullCache checks that later commands make one request, and that damaged files in the cache are replaced.
func TestPullCache(t *testing.T) {
	x := newWire(t)
	want, _, _ := run(t, "", []string{"list", "bundles", "community", "etcd"}, "", "")
	ask := func(what string, flags ...string) []string {
		t.Helper()
		x.seen()
		got, stderr, code := x.list(t, flags...)
		if got != want || code != 0 || stderr != "" {
			t.Errorf("%s: exit code %d, %s%s", what, code, stderr, firstDifference(got, want))
		}
		return x.seen()
	}
	if n := ask("first"); len(n) < 4 {
		t.Errorf("the first command made the requests %v", n)
	}
	if n := ask("second"); len(n) != 1 || !strings.HasPrefix(n[0], "HEAD ") {
		t.Errorf("the second command made the requests %v; want one HEAD", n)
	}
	index, err := filepath.Glob("cache/olmkit/images/*.index")
	check(t, err)
	archives, err := filepath.Glob("cache/olmkit/images/*.zip")
	check(t, err)
	if len(index) != 1 || len(archives) != 1 {
		t.Fatalf("the cache has %v and %v", index, archives)
	}
	text, err := os.ReadFile(index[0])
	check(t, err)
	damaged := slices.Clone(text)
	for i := len(damaged) / 2; i < len(damaged); i++ {
		damaged[i] ^= 0x55
	}
	check(t, os.WriteFile(index[0], damaged, 0o600))
	ask("with a damaged index")
	if now, err := os.ReadFile(index[0]); err != nil || string(now) != string(text) {
		t.Errorf("the index was not written again: %v", err)
	}
	check(t, os.WriteFile(index[0], text[:len(text)/3], 0o600))
	check(t, os.Truncate(archives[0], 1000))
	if n := ask("with a damaged archive"); !slices.ContainsFunc(n, func(r string) bool { return strings.Contains(r, "/blobs/") }) {
		t.Errorf("the image was not pulled again: %v", n)
	}
	// Run a command that reads the files. Only the index is intact.
	check(t, os.Remove(archives[0]))
	raw, _, _ := run(t, "", []string{"extract", "community", "--package", "etcd"}, "", "")
	if got, stderr, _ := run(t, "", []string{"extract", x.image, "--package", "etcd", "--ca-file", "ca.pem"}, "", ""); got != raw {
		t.Errorf("extract: %s%s", stderr, firstDifference(got, raw))
	}
	if n := ask("without a cache", "--no-cache"); len(n) < 4 {
		t.Errorf("--no-cache made the requests %v", n)
	}
	ask("elsewhere", "--cache-dir", "elsewhere")
	if list, _ := filepath.Glob("elsewhere/images/*"); len(list) != 2 {
		t.Errorf("--cache-dir has %v", list)
	}
}

// TestPullWithoutHome checks that a user without a home directory can pull, and that nothing is left.
func TestPullWithoutHome(t *testing.T) {
	x := newWire(t)
	want, _, _ := x.list(t)
	for _, name := range []string{"HOME", "XDG_CACHE_HOME"} {
		t.Setenv(name, "")
	}
	t.Setenv("TMPDIR", t.TempDir())
	if got, stderr, code := x.list(t); got != want || code != 0 || stderr != "" {
		t.Errorf("exit code %d, %s%s; want %s", code, got, stderr, want)
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if check(t, err); len(left) > 0 {
		t.Errorf("%v is left", left)
	}
}

// TestPullFaults checks that network errors are retried if that helps, and otherwise reported with a remedy.
func TestPullFaults(t *testing.T) {
	x := newWire(t)
	host := strings.TrimPrefix(x.URL, "https://")
	fail := func(times int, match func(*http.Request) bool, status int, header ...string) func(http.ResponseWriter, *http.Request) bool {
		var mu sync.Mutex
		return func(w http.ResponseWriter, r *http.Request) bool {
			mu.Lock()
			defer mu.Unlock()
			if times == 0 || !match(r) {
				return false
			}
			times--
			if len(header) > 0 {
				w.Header().Set(header[0], header[1])
			}
			w.WriteHeader(status)
			return true
		}
	}
	manifests := func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/manifests/") }
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.Host = host
		x.Config.Handler.ServeHTTP(w, r)
	}))
	defer other.Close()
	for _, tt := range []struct {
		name   string
		answer func(http.ResponseWriter, *http.Request) bool
		want   string // part of stderr, or "" for success
	}{
		{"two server errors", fail(2, isBlob, http.StatusServiceUnavailable), ""},
		{"busy for a moment", fail(2, manifests, http.StatusTooManyRequests, "Retry-After", "0"), ""},
		{"busy", fail(-1, manifests, http.StatusTooManyRequests, "Retry-After", "0"), "registry " + host + " received too many requests: "},
		{"401", fail(-1, manifests, http.StatusUnauthorized), `log in with "podman login ` + host + `"`},
		{"403", fail(-1, manifests, http.StatusForbidden), "registry " + host + " denies access without credentials: "},
		{"404", fail(-1, manifests, http.StatusNotFound), "registry " + host + " does not have the image: "},
		{"busy for an hour", fail(-1, manifests, http.StatusTooManyRequests, "Retry-After", "3600"), "(retry after 1h0m0s)"},
		{"no blob", fail(-1, isBlob, http.StatusNotFound), "registry " + host + " sent invalid content: "},
		{"a web page", fail(-1, manifests, http.StatusOK, "Content-Type", "text/html"), "the answer is a web page, not an image"},
		{"no media type", fail(-1, manifests, http.StatusOK), "the answer has no media type"},
		{"half a manifest", func(w http.ResponseWriter, r *http.Request) bool {
			if manifests(r) {
				w.Header().Set("Content-Type", "application/vnd.oci.image.manifest.v1+json")
				io.WriteString(w, `{"schemaVersion":2,`)
			}
			return manifests(r)
		}, "registry " + host + " sent invalid content: "},
		{"cut", func(w http.ResponseWriter, r *http.Request) bool {
			if !isBlob(r) {
				return false
			}
			whole := httptest.NewRecorder()
			x.inner.ServeHTTP(whole, r)
			w.Header().Set("Content-Length", strconv.Itoa(whole.Body.Len()))
			w.Write(whole.Body.Bytes()[:100])
			w.(http.Flusher).Flush()
			panic(http.ErrAbortHandler)
		}, "catalog " + x.image + ": registry " + host + " broke off: "},
		{"another blob", func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) {
				io.WriteString(w, "{}")
			}
			return isBlob(r)
		}, "registry " + host + " sent invalid content: "},
		{"redirect", func(w http.ResponseWriter, r *http.Request) bool {
			if isBlob(r) && r.TLS != nil {
				http.Redirect(w, r, other.URL+r.URL.Path, http.StatusTemporaryRedirect)
				return true
			}
			return false
		}, ""},
	} {
		x.answer(tt.answer)
		_, stderr, code := x.list(t, "--cache-dir", "cache/"+strings.ReplaceAll(tt.name, " ", "-"))
		if tt.want == "" && (code != 0 || stderr != "") || tt.want != "" && (code != 2 || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1) {
			t.Errorf("%s: exit code %d, %s\nwant %q", tt.name, code, stderr, tt.want)
		}
	}
	x.answer(nil)
	_, stderr, code := run(t, "", []string{"list", "packages", x.image}, "", "")
	if code != 2 || !strings.Contains(stderr, "has a certificate that is not trusted") || !strings.Contains(stderr, "--ca-file") {
		t.Errorf("without --ca-file: exit code %d, %s", code, stderr)
	}
	x.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if isBlob(r) {
			<-r.Context().Done() // slow
		}
		return isBlob(r)
	})
	if _, stderr, code := x.list(t, "--timeout", "500ms", "--cache-dir", "cache/slow"); code != 2 || !strings.Contains(stderr, "gave up after 500ms while fetching "+x.image+"; ") {
		t.Errorf("--timeout: exit code %d, %s", code, stderr)
	}
	if left := leftovers(t); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
}

// TestPullCredentials checks that credentials are found in the same places as by other tools.
func TestPullCredentials(t *testing.T) {
	x := newWire(t)
	host := strings.TrimPrefix(x.URL, "https://")
	good := "Basic " + base64.StdEncoding.EncodeToString([]byte("me:secret"))
	basic := func(w http.ResponseWriter, r *http.Request) bool {
		if r.Header.Get("Authorization") == good {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	}
	bearer := func(w http.ResponseWriter, r *http.Request) bool {
		switch {
		case r.URL.Path == "/token" && r.Header.Get("Authorization") == good:
			json.NewEncoder(w).Encode(map[string]string{"token": "issued"})
		case r.Header.Get("Authorization") == "Bearer issued":
			return false
		default:
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="%s/token",service="test"`, x.URL))
			w.WriteHeader(http.StatusUnauthorized)
		}
		return true
	}
	write := func(file, key, password string) {
		t.Helper()
		check(t, os.MkdirAll(filepath.Dir(file), 0o700))
		text, err := json.Marshal(map[string]any{"auths": map[string]any{key: map[string]string{"auth": base64.StdEncoding.EncodeToString([]byte("me:" + password))}}})
		check(t, err)
		check(t, os.WriteFile(file, text, 0o600))
	}
	ask := func(what string, want int, flags ...string) {
		t.Helper()
		denied := "denies access with the given credentials"
		if what == "none" {
			denied = "denies access without credentials"
		}
		for _, server := range []func(http.ResponseWriter, *http.Request) bool{basic, bearer} {
			x.answer(server)
			if _, stderr, code := x.list(t, append(flags, "--no-cache")...); code != want || want == 2 && !strings.Contains(stderr, denied) {
				t.Errorf("%s: exit code %d, want %d; %s", what, code, want, stderr)
			}
		}
	}
	ask("none", 2)
	write(".docker/config.json", host, "secret")
	ask("docker", 0)
	write(".config/containers/auth.json", host, "wrong")
	ask("podman before docker", 2)
	t.Setenv("XDG_RUNTIME_DIR", "run")
	write("run/containers/auth.json", host+"/team", "secret")
	ask("the runtime directory first, for part of the registry", 0)
	write("wrong.json", host, "wrong")
	t.Setenv("REGISTRY_AUTH_FILE", "wrong.json")
	ask("REGISTRY_AUTH_FILE alone", 2)
	write("right.json", host, "secret")
	ask("--authfile before all", 0, "--authfile", "right.json")
	helper := "#!/bin/sh\nread server\n[ \"$1 $server\" = \"get " + host + "\" ] || { echo credentials not found in native keychain; exit 1; }\necho '{\"ServerURL\":\"x\",\"Username\":\"me\",\"Secret\":\"'$SECRET'\"}'\n"
	check(t, os.WriteFile("docker-credential-test", []byte(helper), 0o700))
	dir, err := os.Getwd()
	check(t, err)
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	for name, text := range map[string]string{"for a registry": `{"credHelpers":{"` + host + `":"test"}}`, "for all registries": `{"credsStore":"test"}`} {
		check(t, os.WriteFile("helper.json", []byte(text), 0o600))
		t.Setenv("SECRET", "secret")
		ask("a credential helper "+name, 0, "--authfile", "helper.json")
		t.Setenv("SECRET", "wrong")
		ask("a wrong answer of a credential helper "+name, 2, "--authfile", "helper.json")
	}
	if _, stderr, code := x.list(t, "--authfile", "missing.json", "--no-cache"); code != 2 || !strings.Contains(stderr, "--authfile: open missing.json") {
		t.Errorf("--authfile without a file: exit code %d, %s", code, stderr)
	}
}
