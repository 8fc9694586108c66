package takeover_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"k8s.io/client-go/rest"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// dryRun returns the writes that "olmkit simulate --all-namespaces" lists for the API server,
// sorted, each once.
func dryRun(t *testing.T, args ...string) (writes []string) {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "olmkit"), "github.com/olmkit/olmkit/cmd/olmkit")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	target, err := url.Parse(env.Config.Host)
	must(t, err)
	transport, err := rest.TransportFor(env.Config)
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			t.Errorf("a dry run sends %s %s", r.Method, r.URL)
		}
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	must(t, os.WriteFile(filepath.Join(dir, "kubeconfig"), fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
`, server.URL), 0o600))
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, "olmkit"), "simulate", "--cluster", "--all-namespaces", "--global-namespace", "olm", "-o", "json")
	cmd.Args = append(cmd.Args, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	cmd.Env = []string{"HOME=" + dir, "KUBECONFIG=" + filepath.Join(dir, "kubeconfig")}
	if err, exit := cmd.Run(), (*exec.ExitError)(nil); err != nil && !(errors.As(err, &exit) && exit.ExitCode() == 1) {
		t.Fatalf("%v\n%s", err, errs.String())
	}
	for line := range bytes.Lines(out.Bytes()) {
		var step struct {
			Op     reconcile.Op
			Object olm.Key
		}
		if err := json.Unmarshal(line, &step); err != nil {
			t.Fatalf("%v\n%s", err, line)
		}
		if step.Op != "" {
			writes = append(writes, written(step.Op, step.Object))
		}
	}
	slices.Sort(writes)
	return slices.Compact(writes)
}

// file writes a temporary file and returns its path.
func file(t *testing.T, name string, text []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must(t, os.WriteFile(path, text, 0o600))
	return path
}
