package cli_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

// An apiServer serves lists as an API server does: in pages, and without the kinds of the items. It refuses all other
// requests.
type apiServer struct {
	t *testing.T
	// lists has the items by path, such as /api/v1/namespaces.
	lists map[string][]map[string]any
	// forbidden lists the paths to which requests are refused, except for the namespaces permitted. status holds the status codes of other paths that fail.
	forbidden []string
	permitted []string
	status    map[string]int
	// pages is the maximum number of items in a page.
	pages int
	// expire makes the first request for a second page fail once, as if the list had expired.
	expire bool
	// secrets holds objects that are read one by one, as JSON, by path.
	secrets  map[string]string
	requests []string
}

// apiPaths are the paths of the kinds, by apiVersion and kind.
var apiPaths = map[string]string{
	"operators.coreos.com/v1alpha1 Subscription":              "subscriptions",
	"operators.coreos.com/v1alpha1 ClusterServiceVersion":     "clusterserviceversions",
	"operators.coreos.com/v1alpha1 InstallPlan":               "installplans",
	"operators.coreos.com/v1alpha1 CatalogSource":             "catalogsources",
	"operators.coreos.com/v1 OperatorGroup":                   "operatorgroups",
	"operators.coreos.com/v1 Operator":                        "operators",
	"operators.coreos.com/v2 OperatorCondition":               "operatorconditions",
	"olm.operatorframework.io/v1 ClusterExtension":            "clusterextensions",
	"olm.operatorframework.io/v1 ClusterCatalog":              "clustercatalogs",
	"olm.operatorframework.io/v1 ClusterObjectSet":            "clusterobjectsets",
	"config.openshift.io/v1 ClusterVersion":                   "clusterversions",
	"config.openshift.io/v1 Proxy":                            "proxies",
	"config.openshift.io/v1 ImageDigestMirrorSet":             "imagedigestmirrorsets",
	"config.openshift.io/v1 ImageTagMirrorSet":                "imagetagmirrorsets",
	"operator.openshift.io/v1alpha1 ImageContentSourcePolicy": "imagecontentsourcepolicies",
	"v1 Namespace":       "namespaces",
	"v1 Pod":             "pods",
	"v1 Service":         "services",
	"v1 ServiceAccount":  "serviceaccounts",
	"apps/v1 Deployment": "deployments",
	"apiextensions.k8s.io/v1 CustomResourceDefinition":               "customresourcedefinitions",
	"apiregistration.k8s.io/v1 APIService":                           "apiservices",
	"rbac.authorization.k8s.io/v1 Role":                              "roles",
	"rbac.authorization.k8s.io/v1 RoleBinding":                       "rolebindings",
	"rbac.authorization.k8s.io/v1 ClusterRole":                       "clusterroles",
	"rbac.authorization.k8s.io/v1 ClusterRoleBinding":                "clusterrolebindings",
	"admissionregistration.k8s.io/v1 ValidatingWebhookConfiguration": "validatingwebhookconfigurations",
	"admissionregistration.k8s.io/v1 MutatingWebhookConfiguration":   "mutatingwebhookconfigurations",
}

func apiPath(kind string) string {
	version, _, _ := strings.Cut(kind, " ")
	if !strings.Contains(version, "/") {
		return "/api/" + version + "/" + apiPaths[kind]
	}
	return "/apis/" + version + "/" + apiPaths[kind]
}

// serve starts an API server with the documents of a YAML text, and returns it with a
// kubeconfig for it.
func serve(t *testing.T, text string) (*apiServer, string) {
	t.Helper()
	s := &apiServer{t: t, lists: map[string][]map[string]any{}, status: map[string]int{}, pages: 2}
	for kind := range apiPaths {
		s.lists[apiPath(kind)] = nil
	}
	for _, doc := range strings.Split(text, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		path := apiPath(fmt.Sprint(o["apiVersion"], " ", o["kind"]))
		if _, ok := s.lists[path]; !ok {
			t.Fatalf("no path for %v", o["kind"])
		}
		delete(o, "kind")
		delete(o, "apiVersion")
		s.lists[path] = append(s.lists[path], o)
	}
	server := httptest.NewServer(s)
	t.Cleanup(server.Close)
	config := filepath.Join(t.TempDir(), "kubeconfig")
	write := fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: here
clusters: [{name: c, cluster: {server: %q}}]
contexts: [{name: here, context: {cluster: c, user: u}}]
users: [{name: u, user: {token: secret}}]
`, server.URL)
	if err := os.WriteFile(config, []byte(write), 0o600); err != nil {
		t.Fatal(err)
	}
	return s, config
}

// inNamespace matches the path of a list in a namespace.
var inNamespace = regexp.MustCompile("^(/.*/)namespaces/([^/]+)/([^/]+)$")

func (s *apiServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	q := r.URL.Query()
	s.requests = append(s.requests, r.Method+" "+r.URL.Path+" "+q.Get("continue"))
	fail := func(code int, reason string) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		fmt.Fprintf(w, `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":%q,"code":%d,"message":"no"}`, reason, code)
	}
	path, namespace := r.URL.Path, ""
	if m := inNamespace.FindStringSubmatch(path); m != nil && s.secrets[path] == "" {
		path, namespace = m[1]+m[3], m[2]
	}
	switch {
	case r.Method != http.MethodGet || q.Has("watch"):
		s.t.Errorf("%s %s is not a list", r.Method, r.URL)
		fail(405, "MethodNotAllowed")
		return
	case s.status[r.URL.Path] != 0:
		fail(s.status[r.URL.Path], "")
		return
	case slices.Contains(s.forbidden, path) && !slices.Contains(s.permitted, namespace):
		fail(403, "Forbidden")
		return
	case r.URL.Path == "/version":
		fmt.Fprint(w, `{"gitVersion":"v1.33.1"}`)
		return
	case r.URL.Path == "/apis/operators.coreos.com":
		fmt.Fprint(w, `{"kind":"APIGroup","versions":[{"groupVersion":"operators.coreos.com/v2","version":"v2"},{"groupVersion":"operators.coreos.com/v1","version":"v1"}]}`)
		return
	case r.URL.Path == "/apis/operators.coreos.com/v2":
		fmt.Fprint(w, `{"kind":"APIResourceList","resources":[]}`)
		return
	case r.URL.Path == "/apis/operators.coreos.com/v1":
		fmt.Fprint(w, `{"kind":"APIResourceList","resources":[{"name":"operatorgroups"},{"name":"operatorconditions"}]}`)
		return
	}
	if text := s.secrets[r.URL.Path]; text != "" {
		fmt.Fprint(w, text)
		return
	}
	items, ok := s.lists[path]
	if namespace != "" {
		items = slices.DeleteFunc(slices.Clone(items), func(o map[string]any) bool { return o["metadata"].(map[string]any)["namespace"] != namespace })
	}
	if !ok {
		fail(404, "NotFound")
		return
	}
	start, _ := strconv.Atoi(q.Get("continue"))
	end := len(items)
	if limit, _ := strconv.Atoi(q.Get("limit")); limit > 0 {
		end = min(start+min(limit, s.pages), len(items))
	}
	if start > 0 && s.expire {
		s.expire = false
		fail(410, "Expired")
		return
	}
	next := ""
	if end < len(items) {
		next = strconv.Itoa(end)
	}
	kind, version := "", ""
	for name := range apiPaths {
		if apiPath(name) == path {
			version, kind, _ = strings.Cut(name, " ")
		}
	}
	if err := json.NewEncoder(w).Encode(map[string]any{"apiVersion": version, "kind": kind + "List", "metadata": map[string]any{"continue": next}, "items": append([]map[string]any{}, items[start:end]...)}); err != nil {
		s.t.Error(err)
	}
}

// runOlmkit runs a command line and returns its exit code and outputs.
func runOlmkit(t *testing.T, args ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	code = cli.Run(t.Context(), args, strings.NewReader(""), &out, &errs)
	return code, out.String(), errs.String()
}

const liveState = `apiVersion: v1
kind: Namespace
metadata: {name: a}
---
apiVersion: v1
kind: Namespace
metadata: {name: b}
---
apiVersion: v1
kind: Namespace
metadata: {name: operators, managedFields: [{manager: kubectl}]}
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: global, namespace: operators}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: community, namespace: olm}
spec: {sourceType: grpc}
status: {connectionState: {lastObservedState: READY}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: example, namespace: operators}
spec: {name: example, channel: alpha, source: community, sourceNamespace: olm}`

const liveCatalog = `schema: olm.package
name: example
defaultChannel: alpha
---
schema: olm.channel
package: example
name: alpha
entries: [{name: example.v1.0.0}]
---
schema: olm.bundle
package: example
name: example.v1.0.0
image: example.com/example@sha256:0000000000000000000000000000000000000000000000000000000000000000
properties:
- type: olm.package
  value: {packageName: example, version: 1.0.0}
- type: olm.csv.metadata
  value: {displayName: Example}
`

// asFile writes text to a temporary file and returns its path.
func asFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestLive checks that a plan for a cluster equals the plan for its objects in a file, that each kind is listed once,
// and that nothing else is requested.
func TestLive(t *testing.T) {
	server, config := serve(t, liveState)
	catalog := "community=" + asFile(t, "catalog.yaml", liveCatalog)
	code, want, stderr := runOlmkit(t, "plan", "-f", asFile(t, "state.yaml", liveState), "--complete", "--kube-version", "1.33.1", "--catalog", catalog)
	if code != 0 || !strings.Contains(want, "create InstallPlan") {
		t.Fatalf("exit code %d: %s%s", code, want, stderr)
	}
	for name, set := range map[string]func(){"pages": func() {}, "an expired page": func() { server.expire = true }} {
		set()
		server.requests = nil
		code, got, stderr := runOlmkit(t, "plan", "--kubeconfig", config, "--catalog", catalog)
		if code != 0 || got != want {
			t.Errorf("%s: exit code %d, %s\n%s\nwant\n%s", name, code, stderr, got, want)
		}
		n := len(apiPaths) + 2 + 3 // for the version, a second page, and the versions of OLMConfig
		if name != "pages" {
			n++
		}
		if len(server.requests) != n {
			t.Errorf("%s: %d requests, want %d:\n%s", name, len(server.requests), n, strings.Join(server.requests, "\n"))
		}
	}
}

// TestLiveCRDs checks that CRDs are compared with those of a cluster, and that CRDs that may not be listed are not
// taken for absent.
func TestLiveCRDs(t *testing.T) {
	const crd = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  names: {kind: Widget, plural: widgets}
  scope: Namespaced
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer, maximum: 10}}}}}
`
	server, config := serve(t, liveState+"\n---"+crd)
	tighter := asFile(t, "new.yaml", strings.Replace(crd, "maximum: 10", "maximum: 5", 1))
	code, out, stderr := runOlmkit(t, "crd-safety", "--kubeconfig", config, tighter)
	if code != 1 || !strings.Contains(out, "CRD widgets.example.com: unsafe") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
	server.forbidden = []string{"/apis/apiextensions.k8s.io/v1/customresourcedefinitions"}
	code, out, stderr = runOlmkit(t, "crd-safety", "--kubeconfig", config, tighter)
	if code != 2 || !strings.Contains(stderr, "CustomResourceDefinition.apiextensions.k8s.io: may not be listed") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
}

// TestLiveUnread checks that kinds that the user may not read are reported once and treated as unknown, and that a
// plan fails if the kinds that it depends on cannot be read.
func TestLiveUnread(t *testing.T) {
	server, config := serve(t, liveState)
	catalog := "community=" + asFile(t, "catalog.yaml", liveCatalog)
	server.forbidden = []string{"/apis/rbac.authorization.k8s.io/v1/clusterroles"}
	delete(server.lists, "/apis/operators.coreos.com/v2/operatorconditions")
	_, got, stderr := runOlmkit(t, "plan", "--kubeconfig", config, "--catalog", catalog)
	for _, want := range []string{"note: ClusterRole *: may not be listed, so", "note: OperatorCondition *: served only as operators.coreos.com/v1, so", "no objects of these kinds were read: ClusterRole ("} {
		if strings.Count(strings.Join(strings.Fields(got), " "), want) != 1 {
			t.Errorf("%q is not in this once:\n%s%s", want, got, stderr)
		}
	}
	if strings.Contains(got, "create ClusterRole ") {
		t.Errorf("an unknown role is treated as absent:\n%s", got)
	}
	for path, want := range map[string]struct {
		code int
		text string
	}{
		"/apis/operators.coreos.com/v1alpha1/subscriptions": {403, "the answer needs objects that could not be read: Subscription.operators.coreos.com: may not be listed"},
		"/api/v1/namespaces": {401, "log in again"},
		"/api/v1/services":   {400, "list services: "},
	} {
		server.status = map[string]int{path: want.code}
		if code, _, stderr := runOlmkit(t, "plan", "--kubeconfig", config, "--catalog", catalog); code != 2 || !strings.Contains(stderr, want.text) {
			t.Errorf("%s: exit code %d, %q, want %q", path, code, stderr, want.text)
		}
	}
}

// TestLiveStatus checks that the status of a cluster equals the status of its objects in a file.
func TestLiveStatus(t *testing.T) {
	_, config := serve(t, liveState)
	catalog := "community=" + asFile(t, "catalog.yaml", liveCatalog)
	for _, output := range []string{"text", "wide", "json", "yaml"} {
		args := []string{"status", "--catalog", catalog, "-o", output}
		_, want, _ := runOlmkit(t, append(args, "-f", asFile(t, "state.yaml", liveState))...)
		code, got, stderr := runOlmkit(t, append(args, "--kubeconfig", config)...)
		if code != 0 || got != want || !strings.Contains(got, "example") {
			t.Errorf("exit code %d, %s\n%s\nwant\n%s", code, stderr, got, want)
		}
	}
}

// TestLiveImpact checks that the impact of upgrades on a cluster equals that on its objects in a file, that the custom
// resources of a CRD are listed once, and that the report states it if they may not be listed (K226).
func TestLiveImpact(t *testing.T) {
	a, err := txtar.ParseFile("testdata/script/impact_cluster.txtar")
	if err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, f := range a.Files {
		files[f.Name] = string(f.Data)
	}
	state, resources, _ := strings.Cut(files["state.yaml"], "---\napiVersion: example.com/v1")
	server, config := serve(t, state)
	const path = "/apis/example.com/v1/demos"
	for _, doc := range strings.Split("apiVersion: example.com/v1"+resources, "\n---\n") {
		var o map[string]any
		if err := yaml.Unmarshal([]byte(doc), &o); err != nil {
			t.Fatal(err)
		}
		server.lists[path] = append(server.lists[path], o)
	}
	args := []string{"impact", "--catalog", "community=" + asFile(t, "catalog.yaml", files["catalog.yaml"])}
	_, want, _ := runOlmkit(t, append(args, "--kube-version", "1.33.1", "-f", asFile(t, "state.yaml", files["state.yaml"]))...)
	code, got, stderr := runOlmkit(t, append(args, "--kubeconfig", config)...)
	if code != 0 || got != want || strings.Count(got, "violates version v1 of the new schema") != 4 {
		t.Errorf("exit code %d, %s\n%s\nwant\n%s", code, stderr, got, want)
	}
	if n := strings.Count(strings.Join(server.requests, "\n"), path); n != 1 {
		t.Errorf("the custom resources were listed %d times, want once", n)
	}
	server.forbidden = []string{path}
	_, got, _ = runOlmkit(t, append(args, "--kubeconfig", config)...)
	if n := strings.Count(got, "the custom resources of CRD demos.example.com were not checked: they may not be listed"); n != 2 {
		t.Errorf("%d notes about the custom resources, want 2:\n%s", n, got)
	}
}

// TestLiveErrors checks that errors about a kubeconfig or a connection state what is wrong and what to do.
func TestLiveErrors(t *testing.T) {
	_, config := serve(t, liveState)
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	good := string(text)
	_, address, _ := strings.Cut(good, "http://")
	address, _, _ = strings.Cut(address, "\"")
	secure := httptest.NewTLSServer(http.NotFoundHandler())
	secure.Config.ErrorLog = log.New(io.Discard, "", 0)
	defer secure.Close()
	page := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") }))
	defer page.Close()
	closed := httptest.NewServer(nil)
	closed.Close()
	silent := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() }))
	defer silent.Close()
	server := func(url string) string { return strings.Replace(good, "http://"+address, url, 1) }
	refusing := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		fmt.Fprint(w, `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"users \"eve\" is forbidden","reason":"Forbidden","details":{"name":"eve","kind":"users"},"code":403}`)
	}))
	defer refusing.Close()
	user := func(text string) string { return strings.Replace(server(secure.URL), "token: secret", text, 1) }
	for name, tt := range map[string]struct {
		kubeconfig string
		args       []string
		want       string
	}{
		"no file":       {"", []string{"--kubeconfig", "gone"}, "the kubeconfig gone: no such file or directory; name another file with --kubeconfig"},
		"empty":         {"kind: Config", nil, "found no kubeconfig in "},
		"broken":        {"a: [", nil, "error loading config file"},
		"no context":    {strings.Replace(good, "current-context: here", "", 1), nil, "the kubeconfig has no current context; choose one with --context: here"},
		"context":       {good, []string{"--context", "there"}, "the kubeconfig has no context \"there\"; choose one with --context: here"},
		"cluster":       {strings.Replace(good, "{cluster: c,", "{cluster: d,", 1), nil, "the kubeconfig has no cluster \"d\", which context \"here\" names"},
		"groups":        {good, []string{"--as-group", "admins"}, "--as-group needs a user; add --as"},
		"timeout":       {good, []string{"--request-timeout", "-1s"}, "write a duration with its unit"},
		"no answer":     {server(silent.URL), []string{"--request-timeout", "50ms"}, "did not answer in time; raise --request-timeout"},
		"refused":       {server(closed.URL), nil, "cannot connect to the cluster at " + closed.URL + "; check the network, VPN or proxy, and the server in the kubeconfig"},
		"untrusted":     {server(secure.URL), nil, "the certificate of the cluster at " + secure.URL + " is not trusted; check certificate-authority"},
		"no TLS":        {server("https://" + address), nil, "does not use TLS; check the server in the kubeconfig"},
		"a web page":    {server(page.URL), nil, page.URL + " does not answer as an API server; check the server in the kubeconfig"},
		"TLS only":      {server("http" + strings.TrimPrefix(secure.URL, "https")), nil, "does not answer as an API server"},
		"impersonation": {server(refusing.URL), []string{"--as", "eve"}, "you may read nothing of this cluster; \"olmkit status --print-rbac\" prints the role that reads everything, and with --namespace the role that suffices for a namespace: users \"eve\" is forbidden"},
		"no plugin":     {user("exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin, installHint: install it, interactiveMode: Never}"), nil, "executable no-such-plugin not found; It looks like"},
		"old plugin":    {user("exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x, interactiveMode: Never}"), nil, "the user in the kubeconfig: exec plugin: invalid apiVersion"},
		"old provider":  {user("auth-provider: {name: gcp}"), nil, "the user in the kubeconfig: The gcp auth plugin has been removed."},
	} {
		args := append([]string{"status"}, tt.args...)
		if tt.kubeconfig != "" {
			args = append(args, "--kubeconfig", asFile(t, "kubeconfig", tt.kubeconfig))
		}
		if code, _, stderr := runOlmkit(t, args...); code != 2 || !strings.Contains(stderr, tt.want) || strings.Contains(stderr, `\n`) {
			t.Errorf("%s: exit code %d, %q, want %q", name, code, stderr, tt.want)
		}
	}
	t.Setenv("KUBECONFIG", strings.Join([]string{filepath.Join(t.TempDir(), "gone"), asFile(t, "other", strings.NewReplacer("here", "there", "name: c", "name: d", "cluster: c,", "cluster: d,").Replace(server(closed.URL))), config}, string(filepath.ListSeparator)))
	if code, _, stderr := runOlmkit(t, "status", "--context", "here", "--sample"); code == 2 {
		t.Errorf("a context in a later file of KUBECONFIG: %s", stderr)
	}
	if _, _, stderr := runOlmkit(t, "status"); !strings.Contains(stderr, "cannot connect") {
		t.Errorf("the current context is not that of the first file: %s", stderr)
	}
}

// TestLiveNamespace checks that commands are about the namespace that the context of the kubeconfig names, as in
// kubectl, even if another is the only one with subscriptions, unless it has no operators.
func TestLiveNamespace(t *testing.T) {
	const second = `
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: example, namespace: b}
spec: {name: example, channel: alpha, source: community, sourceNamespace: olm}`
	_, config := serve(t, liveState+second)
	catalog := "community=" + asFile(t, "catalog.yaml", liveCatalog)
	code, _, stderr := runOlmkit(t, "plan", "--kubeconfig", config, "--catalog", catalog)
	if want := "several namespaces have Subscriptions: b, operators; choose one with --namespace"; code != 2 || !strings.Contains(stderr, want) {
		t.Errorf("exit code %d, %q, want %q", code, stderr, want)
	}
	text, err := os.ReadFile(config)
	if err != nil {
		t.Fatal(err)
	}
	in := func(namespace string) string {
		return asFile(t, "kubeconfig-"+namespace, strings.Replace(string(text), "user: u}}", "user: u, namespace: "+namespace+"}}", 1))
	}
	for _, command := range []string{"plan", "resolve", "explain", "simulate"} {
		_, want, _ := runOlmkit(t, command, "--kubeconfig", config, "--catalog", catalog, "--namespace", "b")
		if _, got, stderr := runOlmkit(t, command, "--kubeconfig", in("b"), "--catalog", catalog); got != want || got == "" {
			t.Errorf("%s: %s%s\nwant\n%s", command, got, stderr, want)
		}
		code, _, stderr := runOlmkit(t, command, "--kubeconfig", in("olm"), "--catalog", catalog)
		if want := "namespace olm, which the context of the kubeconfig names, has no operators; choose a namespace with --namespace: b, operators"; code != 2 || !strings.Contains(stderr, want) {
			t.Errorf("%s: exit code %d, %q, want %q", command, code, stderr, want)
		}
	}
	// The context decides even if the namespace of the subscriptions is unambiguous.
	_, config = serve(t, liveState)
	if text, err = os.ReadFile(config); err != nil {
		t.Fatal(err)
	}
	if code, _, stderr := runOlmkit(t, "plan", "--kubeconfig", config, "--catalog", catalog); code != 0 {
		t.Errorf("without a namespace in the context: exit code %d, %s", code, stderr)
	}
	if code, _, stderr := runOlmkit(t, "plan", "--kubeconfig", in("olm"), "--catalog", catalog); code != 2 || !strings.Contains(stderr, "--namespace: operators") {
		t.Errorf("a namespace without operators: exit code %d, %s", code, stderr)
	}
}

// TestLiveOneNamespace checks that permissions in one namespace suffice for the commands about
// it, that those in the namespace of its catalogs give their content, that a note states what was
// not read, and that what was not read counts as unknown.
func TestLiveOneNamespace(t *testing.T) {
	server, config, _ := newCluster(t)
	var want []string
	commands := [][]string{{"resolve"}, {"explain"}, {"plan"}, {"simulate"}, {"path", "etcd"}, {"status"}, {"status", "-o", "json"}, {"view", "-o", "-"}, {"diff", "community=other"}}
	for i, command := range commands {
		commands[i] = append(command, "-n", "apps")
		out, stderr, code := run(t, "", append(commands[i], "--kubeconfig", config), "", "")
		if want = append(want, out); code == 2 {
			t.Errorf("%v: %s", command, stderr)
		}
	}
	for path := range server.lists {
		server.forbidden = append(server.forbidden, path)
	}
	const nothing = "the answer needs objects that could not be read: Subscription.operators.coreos.com: may not be listed"
	if _, stderr, code := run(t, "", []string{"resolve", "-n", "apps", "--kubeconfig", config}, "", ""); code != 2 || !strings.Contains(stderr, nothing) {
		t.Errorf("without permissions: exit code %d, %s", code, stderr)
	}
	check(t, os.WriteFile("snapshot.json", nil, 0o600))
	for _, permitted := range [][]string{{"apps"}, {"apps", "marketplace"}} {
		server.permitted = permitted
		if _, stderr, code := run(t, "", []string{"snapshot", "-n", "apps", "--kubeconfig", config, "-o", "snapshot.json"}, "", ""); code != 0 {
			t.Fatalf("snapshot: exit code %d, %s", code, stderr)
		}
		for i, command := range commands {
			out, stderr, code := run(t, "", append(command, "--kubeconfig", config), "", "")
			both := strings.Join(strings.Fields(out+stderr), " ")
			isStatus, isPage := command[0] == "status", command[0] == "view"
			if len(permitted) == 1 && !isStatus {
				if code != 2 || !strings.Contains(both, "CatalogSource marketplace/community") && !strings.Contains(both, "no catalog of the cluster") {
					t.Errorf("%v: exit code %d, %s", command, code, both)
				}
			} else {
				if code == 2 || isStatus && code == 0 || strings.Count(both, "what depends on anything else is unknown") != 1 && !isPage || !strings.Contains(both, "could be read, and no Operator") {
					t.Errorf("%v: exit code %d, %.2000s", command, code, both)
				}
				if first, _, _ := strings.Cut(out, "note: "); len(permitted) > 1 && !slices.Contains([]string{"plan", "simulate", "view"}, command[0]) && !slices.Contains(command, "json") && !strings.Contains(want[i], first) {
					t.Errorf("%v: %s\nwant, as with all permissions:\n%s", command, out, want[i])
				}
			}
			got, gotErr, gotCode := run(t, "", append(command, "-f", "snapshot.json"), "", "")
			if got != out || gotErr != stderr || gotCode != code {
				t.Errorf("%v with the snapshot: exit code %d, want %d; %s, want %s%s", command, gotCode, code, gotErr, stderr, firstDifference(got, out))
			}
		}
		if _, stderr, code := run(t, "", []string{"resolve", "-n", "other", "-f", "snapshot.json"}, "", ""); code != 2 || !strings.Contains(stderr, "Subscription.operators.coreos.com: may be listed only in namespace apps") {
			t.Errorf("another namespace: exit code %d, %s", code, stderr)
		}
	}
}

// TestStatusOfNothing checks what status prints for a cluster without operators.
func TestStatusOfNothing(t *testing.T) {
	server, config := serve(t, "apiVersion: v1\nkind: Namespace\nmetadata: {name: a}")
	for _, tt := range []struct {
		args      []string
		forbidden string
		code      int
		want      string
	}{
		{nil, "", 0, "No operators.\n"},
		{[]string{"-n", "a"}, "", 0, "No operators in namespace a.\n"},
		{nil, "/apis/operators.coreos.com/v1alpha1/subscriptions", 3, "No operators among the objects that could be read.\nnote: Subscription *: may not be listed, "},
	} {
		server.forbidden = []string{tt.forbidden}
		if code, out, stderr := runOlmkit(t, append([]string{"status", "--kubeconfig", config}, tt.args...)...); code != tt.code || !strings.HasPrefix(out, tt.want) {
			t.Errorf("%v: exit code %d, want %d; %s%s, want %s", tt.args, code, tt.code, out, stderr, tt.want)
		}
	}
}
