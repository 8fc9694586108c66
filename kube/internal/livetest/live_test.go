package livetest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	ctrllog "sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/kube/internal/envtest"
)

// env is the control plane of this test binary.
var env envtest.Environment

func TestMain(m *testing.M) {
	ctrllog.SetLogger(logr.Discard())
	envtest.Main(m, &env, "../../extension/testdata/crds")
}

// pageSize is the number of objects that olmkit requests at once.
const pageSize = 500

// TestFleet checks that commands give the same answers for a cluster, for its snapshot and for
// its objects as kubectl prints them; that each kind is listed once, in pages, and nothing else
// is requested; and that kubectl runs olmkit as a plugin.
func TestFleet(t *testing.T) {
	namespaces, operators := testsize.Of(60, 500, 5000), testsize.Of(30, 300, 300)
	dir := programs(t)
	fleet(t, namespaces, operators)
	check(t, os.WriteFile(filepath.Join(dir, "catalog.yaml"), []byte(catalog(operators)), 0o600))
	server := newCounter(t, dir)

	const content = "community=catalog.yaml"
	started := time.Now()
	want, code := program(t, dir, "olmkit", "status", "--cluster", "--catalog", content)
	took := time.Since(started)
	requests, bytes := server.seen()
	t.Logf("status of %d namespaces and %d operators: %d requests, %.1f MB, %.1f s", namespaces, operators, len(requests), float64(bytes)/1e6, took.Seconds())
	if code != 1 || strings.Count(want, "\nteam-") != operators {
		t.Errorf("exit code %d: %.2000s", code, want)
	}
	count := map[string]int{}
	for line := range strings.Lines(want) {
		for _, moves := range []string{"latest", "approval", "stuck"} {
			if strings.HasPrefix(line, "team-") && strings.Contains(line, "  "+moves+"  ") { // not those of other tests
				count[moves]++
			}
		}
	}
	if diff := cmp.Diff(map[string]int{"latest": operators / 3, "approval": operators / 3, "stuck": operators / 3}, count); diff != "" {
		t.Errorf("(-want +have):\n%s%s", diff, want)
	}
	checkRequests(t, requests, map[string]int{
		"/api/v1/namespaces": namespaces, "/apis/operators.coreos.com/v1alpha1/subscriptions": operators,
		"/apis/operators.coreos.com/v1alpha1/clusterserviceversions": operators, "/apis/operators.coreos.com/v1alpha1/installplans": operators / 3,
	})

	program(t, dir, "olmkit", "snapshot", "--cluster", "-o", "snapshot.json")
	dumped, _ := program(t, dir, "kubectl", "get", "-A", "-o", "yaml",
		"subscriptions,clusterserviceversions,installplans,catalogsources,operatorgroups,namespaces,clustercatalogs,clusterextensions")
	check(t, os.WriteFile(filepath.Join(dir, "dump.yaml"), []byte(dumped), 0o600))
	whole, _ := program(t, dir, "kubectl", "get", "-A", "-o", "json", "--show-managed-fields", "clusterserviceversions")
	snapshot, err := os.ReadFile(filepath.Join(dir, "snapshot.json"))
	check(t, err)
	for line := range strings.Lines(string(snapshot)) {
		if !strings.Contains(line, `"kind":"ClusterServiceVersionList"`) {
			continue
		}
		t.Logf("the snapshot has %.1f MB; its CSVs have %.2f MB, in JSON from kubectl %.1f MB", float64(len(snapshot))/1e6, float64(len(line))/1e6, float64(len(whole))/1e6)
		if len(line) > len(whole)/4 { // icons are most of these CSVs
			t.Errorf("the CSVs have %d bytes in the snapshot, and %d in the cluster", len(line), len(whole))
		}
	}

	for _, command := range [][]string{
		{"status", "-o", "json"}, {"status", "-n", "team-0001", "-o", "wide"}, {"resolve", "-n", "team-0001"},
		{"plan", "-n", "team-0001"}, {"plan", "-n", "team-0002", "-o", "json"}, {"simulate", "-n", "team-0001"}, {"simulate", "--all-namespaces", "--writes"},
		{"path", "op-0001"}, {"snapshot", "-o", "-"},
	} {
		if command[0] != "snapshot" {
			command = append(command, "--catalog", content)
		}
		want, code := program(t, dir, "olmkit", append(command, "--cluster")...)
		if code == 2 || want == "" {
			t.Errorf("%v: exit code %d\n%s", command, code, want)
		}
		if got, gotCode := program(t, dir, "olmkit", append(command, "-f", "snapshot.json")...); got != want || gotCode != code {
			t.Errorf("%v with the snapshot: exit code %d, want %d\n%s", command, gotCode, code, firstDifference(got, want))
		}
		if got, gotCode := program(t, dir, "kubectl", slices.Concat([]string{"olmkit"}, command, []string{"--cluster"})...); got != want || gotCode != code {
			t.Errorf("kubectl olmkit %v: exit code %d, want %d\n%s", command, gotCode, code, firstDifference(got, want))
		}
	}
	for _, command := range [][]string{{"status"}, {"status", "-o", "json"}} {
		command = append(command, "--catalog", content)
		want, code := program(t, dir, "olmkit", append(command, "--cluster")...)
		if got, gotCode := program(t, dir, "olmkit", append(command, "-f", "dump.yaml")...); got != want || gotCode != code {
			t.Errorf("%v with the output of kubectl get: exit code %d, want %d\n%s", command, gotCode, code, firstDifference(got, want))
		}
	}
	if got, _ := program(t, dir, "kubectl", "__complete", "olmkit", "stat"); !strings.Contains(got, "status") {
		t.Errorf("kubectl does not complete commands: %s", got)
	}
}

// programs returns a directory with olmkit and kubectl.
func programs(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", filepath.Join(dir, "olmkit"), "github.com/olmkit/olmkit/cmd/olmkit")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for name, target := range map[string]string{"kubectl": filepath.Join(env.Bin, "kubectl"), "kubectl-olmkit": "olmkit", "kubectl_complete-olmkit": "olmkit"} {
		check(t, os.Symlink(target, filepath.Join(dir, name)))
	}
	return dir
}

// fleet creates namespaces, of which operators have one each. A third of them is at the latest
// version, waits for approval, or has a subscription to a channel that does not exist.
func fleet(t *testing.T, namespaces, operators int) {
	t.Helper()
	c, err := client.New(env.Config, client.Options{})
	check(t, err)
	check(t, create(t.Context(), c, source))
	g, ctx := errgroup.WithContext(t.Context())
	g.SetLimit(16)
	icon := strings.Repeat("aWNvbiB0", 1500)
	for i := range namespaces {
		g.Go(func() error {
			text := fmt.Sprintf("apiVersion: v1\nkind: Namespace\nmetadata: {name: team-%04d}\n", i)
			if i < operators {
				channel, installed, state, plan := "alpha", "v3", "state: AtLatestKnown", ""
				switch i % 3 {
				case 1:
					installed, plan = "v2", waiting
					state = "state: UpgradePending, installPlanRef: {name: install-NUMBER, namespace: team-NUMBER}"
				case 2:
					channel = "gone"
				}
				text += strings.NewReplacer("CHANNEL", channel, "INSTALLED", installed, "STATE", state, "ICON", icon).Replace(operator + plan)
				text = strings.ReplaceAll(text, "NUMBER", fmt.Sprintf("%04d", i))
			}
			return create(ctx, c, text)
		})
	}
	check(t, g.Wait())
}

// create creates objects, with their statuses.
func create(ctx context.Context, c client.Client, text string) error {
	for doc := range strings.SplitSeq(text, "\n---\n") {
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal([]byte(doc), &o.Object); err != nil {
			return err
		}
		status, ok := o.Object["status"]
		if err := c.Create(ctx, o); err != nil {
			return fmt.Errorf("%s %s: %w", o.GetKind(), o.GetName(), err)
		}
		if ok {
			o.Object["status"] = status
			if err := c.Status().Update(ctx, o); err != nil {
				return fmt.Errorf("the status of %s %s: %w", o.GetKind(), o.GetName(), err)
			}
		}
	}
	return nil
}

const source = `apiVersion: v1
kind: Namespace
metadata: {name: olm}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: community, namespace: olm}
spec: {sourceType: grpc, image: example.com/community:v1}
status: {connectionState: {lastObservedState: READY}}`

const operator = `---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: own, namespace: team-NUMBER}
spec: {targetNamespaces: [team-NUMBER]}
status: {lastUpdated: "2026-01-01T00:00:00Z", namespaces: [team-NUMBER]}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: op-NUMBER, namespace: team-NUMBER}
spec: {name: op-NUMBER, channel: CHANNEL, source: community, sourceNamespace: olm, installPlanApproval: Manual}
status: {lastUpdated: "2026-01-01T00:00:00Z", STATE, installedCSV: op-NUMBER.INSTALLED, currentCSV: op-NUMBER.v3}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: op-NUMBER.INSTALLED, namespace: team-NUMBER}
spec:
  displayName: Operator NUMBER
  version: 1.0.0
  icon: [{base64data: ICON, mediatype: image/png}]
  installModes: [{type: OwnNamespace, supported: true}]
  install: {strategy: deployment, spec: {deployments: []}}
status: {phase: Succeeded, reason: InstallSucceeded}`

const waiting = `
---
apiVersion: operators.coreos.com/v1alpha1
kind: InstallPlan
metadata: {name: install-NUMBER, namespace: team-NUMBER}
spec: {approval: Manual, approved: false, generation: 2, clusterServiceVersionNames: [op-NUMBER.v3]}
status: {phase: RequiresApproval, catalogSources: [], plan: []}`

// catalog returns a catalog with the versions v1 to v3 of each operator.
func catalog(operators int) string {
	var b strings.Builder
	for i := range operators {
		name := fmt.Sprintf("op-%04d", i)
		fmt.Fprintf(&b, "---\n{schema: olm.package, name: %s, defaultChannel: alpha}\n---\n", name)
		fmt.Fprintf(&b, "{schema: olm.channel, package: %s, name: alpha, entries: [{name: %[1]s.v3, replaces: %[1]s.v2}, {name: %[1]s.v2, replaces: %[1]s.v1}, {name: %[1]s.v1}]}\n", name)
		for v := 1; v <= 3; v++ {
			fmt.Fprintf(&b, "---\n{schema: olm.bundle, package: %s, name: %[1]s.v%d, image: \"example.com/%[1]s@sha256:%064d\", properties: [{type: olm.package, value: {packageName: %[1]s, version: %[2]d.0.0}}]}\n", name, v, v)
		}
	}
	return b.String()
}

// A counter is a server in front of the API server that records the requests.
type counter struct {
	mu       sync.Mutex
	requests []*http.Request
	bytes    int64
}

// newCounter starts a counter and writes the file kubeconfig for it.
func newCounter(t *testing.T, dir string) *counter {
	t.Helper()
	target, err := url.Parse(env.Config.Host)
	check(t, err)
	transport, err := rest.TransportFor(env.Config)
	check(t, err)
	c := &counter{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	proxy.Transport = transport
	proxy.ModifyResponse = func(r *http.Response) error {
		r.Body = &counted{r.Body, c}
		return nil
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		c.mu.Lock()
		c.requests = append(c.requests, r.Clone(context.Background()))
		c.mu.Unlock()
		proxy.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	check(t, os.WriteFile(filepath.Join(dir, "kubeconfig"), fmt.Appendf(nil, `apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
users: [{name: u, user: {}}]
`, server.URL), 0o600))
	return c
}

type counted struct {
	io.ReadCloser
	c *counter
}

func (r *counted) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.c.mu.Lock()
	defer r.c.mu.Unlock()
	r.c.bytes += int64(n)
	return n, err
}

// seen returns the requests and the number of bytes in the answers since the last call.
func (c *counter) seen() ([]*http.Request, int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	requests, n := c.requests, c.bytes
	c.requests, c.bytes = nil, 0
	return requests, n
}

// checkRequests checks that each list is read once, in pages, without a watch. Objects holds the
// number of objects for some paths, at least.
func checkRequests(t *testing.T, requests []*http.Request, objects map[string]int) {
	t.Helper()
	pages := map[string]int{}
	first := map[string]int{}
	for _, r := range requests {
		q := r.URL.Query()
		if r.Method != http.MethodGet || q.Has("watch") {
			t.Errorf("%s %s is not a list", r.Method, r.URL)
		}
		// The version, and groups that are not installed, are not lists.
		if q.Get("limit") != fmt.Sprint(pageSize) && r.URL.Path != "/version" && strings.Count(r.URL.Path, "/") > 2 {
			t.Errorf("%s does not ask for a page", r.URL)
		}
		if pages[r.URL.Path]++; !q.Has("continue") {
			first[r.URL.Path]++
		}
	}
	for path, n := range first {
		if n != 1 {
			t.Errorf("%s is listed %d times", path, n)
		}
	}
	for path, n := range objects {
		// A few namespaces are those of the API server.
		if got, want := pages[path], (n+pageSize-1)/pageSize; got < want || got > want+1 {
			t.Errorf("%s is read in %d pages, want %d", path, got, want)
		}
	}
}

// program runs a program in dir and returns its output and exit code.
func program(t *testing.T, dir, name string, args ...string) (stdout string, code int) {
	t.Helper()
	cmd := command(t, dir, name, args...)
	var out, errs bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errs
	err := cmd.Run()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) || cmd.ProcessState.ExitCode() == 2 {
		t.Errorf("%s %s: %v\n%s", name, strings.Join(args, " "), err, errs.String())
	}
	return out.String(), cmd.ProcessState.ExitCode()
}

// command returns a command that runs a program in dir.
func command(t *testing.T, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), filepath.Join(dir, name), args...)
	cmd.Dir = dir
	cmd.Env = []string{"PATH=" + dir + ":/bin", "HOME=" + dir, "KUBECONFIG=" + filepath.Join(dir, "kubeconfig")}
	return cmd
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return fmt.Sprintf("got  %.400s\nwant %.400s", g[i], w[i])
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(g), len(w))
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
