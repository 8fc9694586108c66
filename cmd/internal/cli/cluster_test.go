package cli_test

import (
	"encoding/base64"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/remote"
)

// operatedState has a subscription in namespace apps, whose operator is installed, and a
// catalog in the global namespace of OLM's arguments. The registry pod serves IMAGE.
const operatedState = `apiVersion: apps/v1
kind: Deployment
metadata: {name: catalog-operator, namespace: olm}
spec:
  replicas: 1
  template: {spec: {containers: [{name: catalog-operator, command: [/bin/catalog], args: [--namespace, marketplace]}]}}
---
apiVersion: operators.coreos.com/v1alpha1
kind: CatalogSource
metadata: {name: community, namespace: marketplace}
spec: {sourceType: grpc, image: example.com/community:latest, priority: 5}
status: {connectionState: {lastObservedState: READY}}
---
apiVersion: v1
kind: Pod
metadata: {name: community-x, namespace: marketplace, labels: {olm.catalogSource: community}}
status:
  phase: Running
  initContainerStatuses: [{name: extract-content, imageID: "IMAGE"}]
  containerStatuses: [{name: registry-server, imageID: "example.com/opm@sha256:2222222222222222222222222222222222222222222222222222222222222222"}]
---
apiVersion: operators.coreos.com/v1
kind: OperatorGroup
metadata: {name: all, namespace: apps}
---
apiVersion: operators.coreos.com/v1alpha1
kind: Subscription
metadata: {name: etcd, namespace: apps}
spec: {name: etcd, channel: stable, source: community, sourceNamespace: marketplace}
status: {state: AtLatestKnown, installedCSV: etcdoperator.v0.9.0, currentCSV: etcdoperator.v0.9.0}
---
apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: etcdoperator.v0.9.0, namespace: apps}
spec: {version: 0.9.0}
status: {phase: Succeeded}
---
apiVersion: config.openshift.io/v1
kind: ClusterVersion
metadata: {name: version}
status: {desired: {version: 4.16.3}}
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: operatorhub, labels: {team: a}}
status: {resolvedSource: {type: Image, image: {ref: "IMAGE"}}}
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterExtension
metadata: {name: prometheus}
spec: {source: {sourceType: Catalog, catalog: {packageName: prometheus, version: "<0.60", selector: {matchLabels: {olm.operatorframework.io/metadata.name: operatorhub}}}}}
status: {install: {bundle: {name: prometheusoperator.v0.47.0, version: 0.47.0}}}`

// newCluster returns a cluster in operatedState, whose catalog is an image that equals the
// directory community, and its objects.
func newCluster(t *testing.T) (server *apiServer, config, state string) {
	t.Helper()
	p := newPlaces(t)
	ref := p.ref(t, "community")
	d, err := remote.Head(ref)
	check(t, err)
	state = strings.ReplaceAll(operatedState, "IMAGE", ref.Context().Digest(d.Digest.String()).String())
	server, config = serve(t, state)
	check(t, os.WriteFile("state.yaml", []byte(state), 0o600))
	return server, config, state
}

// TestClusterCatalogs checks that commands use the catalogs that the cluster serves: an answer
// is the same as with the cluster's objects in a file and the catalog in a directory.
func TestClusterCatalogs(t *testing.T) {
	_, config, _ := newCluster(t)
	check(t, os.CopyFS("marketplace/community", os.DirFS("community")))
	check(t, os.WriteFile("platform.json", []byte(`{"from": "4.16", "to": "4.17",
		"catalogs": [{"platform": "4.16", "name": "community", "dir": "community"}, {"platform": "4.17", "name": "community", "dir": "other"}],
		"installed": [
			{"name": "etcdoperator.v0.9.0", "version": "0.9.0", "package": "etcd", "channel": "stable"},
			{"name": "prometheusoperator.v0.47.0", "version": "0.47.0", "package": "prometheus", "versions": "<0.60", "reading": "v1"}]}`), 0o600))
	for _, tt := range []struct{ live, files []string }{
		{[]string{"resolve"}, []string{"resolve", "--catalog", "community=community,namespace=marketplace,priority=5", "--global-namespace", "marketplace", "-n", "apps", "--installed", "etcd=0.9.0:stable"}},
		{[]string{"resolve", "-n", "apps"}, []string{"resolve", "-f", "state.yaml", "--catalog", "community=community"}},
		{[]string{"resolve", "--package", "grafana", "-o", "json"}, []string{"resolve", "-f", "state.yaml", "--catalog", "community=community", "--package", "grafana", "-o", "json"}},
		{[]string{"explain"}, []string{"explain", "-f", "state.yaml", "--catalog", "community=community"}},
		{[]string{"path", "etcd"}, []string{"path", "community", "etcd", "0.9.0", "-c", "stable"}},
		{[]string{"path", "etcd", "--catalog", "other"}, []string{"path", "other", "etcd", "0.9.0", "-c", "stable"}},
		{[]string{"platform", "--to", "4.17", "--catalog", "4.17=community:other"}, []string{"platform", "--problem", "platform.json"}},
		{[]string{"path", "prometheus"}, []string{"path", "community", "prometheus", "0.47.0", "--reading", "v1"}},
		{[]string{"select", "--package", "prometheus"}, []string{"select", "--catalog", "operatorhub=community", "--package", "prometheus", "--installed", "prometheus=0.47.0", "--version", "<0.60"}},
		{[]string{"select", "--package", "prometheus", "--catalog", "operatorhub=other", "--version", ">0.0.0"}, []string{"select", "--catalog", "operatorhub=other", "--package", "prometheus", "--installed", "prometheus=0.47.0", "--version", ">0.0.0"}},
		{[]string{"diff", "community=other"}, []string{"diff", "-f", "state.yaml", "other"}},
		{[]string{"plan", "--kube-version", "1.33"}, []string{"plan", "-f", "state.yaml", "--catalog", "community=community", "--complete", "--kube-version", "1.33"}},
	} {
		want, stderr, code := run(t, "", tt.files, "", "")
		if code != 0 || strings.Contains(want+stderr, "assumed to be") {
			t.Errorf("%v: exit code %d, %s%s", tt.files, code, want, stderr)
		}
		if got, stderr, code := run(t, "", append(tt.live, "--kubeconfig", config), "", ""); got != want || code != 0 || got == "" {
			t.Errorf("%v: exit code %d, %s%s", tt.live, code, stderr, firstDifference(got, want))
		}
		if got, stderr, code := run(t, "", append(tt.live, "-f", "state.yaml"), "", ""); got != want && tt.live[0] != "plan" || code != 0 {
			t.Errorf("%v -f: exit code %d, %s%s", tt.live, code, stderr, firstDifference(got, want))
		}
	}
}

// TestClusterDiff checks that the difference between a catalog and that of a cluster is
// limited to the installed operators, and that the page of olmkit view contains it.
func TestClusterDiff(t *testing.T) {
	_, config, _ := newCluster(t)
	check(t, os.CopyFS("next", os.DirFS("community")))
	check(t, os.RemoveAll("next/grafana"))
	if out, stderr, code := run(t, "", []string{"diff", "--kubeconfig", config, "next"}, "", ""); code != 0 || strings.Contains(out, "grafana") {
		t.Errorf("grafana is not installed: exit code %d, %s%s", code, out, stderr)
	}
	etcd, err := os.ReadFile("next/etcd/catalog.yaml")
	check(t, err)
	cut := strings.Replace(string(etcd), "- name: etcdoperator.v0.9.2\n    replaces: etcdoperator.v0.9.0\n", "- name: etcdoperator.v0.9.2\n", 1)
	check(t, os.WriteFile("next/etcd/catalog.yaml", []byte(cut), 0o600))
	const command = `kubectl patch subscription.operators.coreos.com etcd -n apps --type merge --patch '{"spec":{"channel":"alpha"}}'`
	if out, stderr, code := run(t, "", []string{"diff", "--kubeconfig", config, "next"}, "", ""); code != 1 || !strings.HasPrefix(out, "What to do") || !strings.Contains(out, command) {
		t.Errorf("etcd is stranded: exit code %d, %s%s", code, out, stderr)
	}
	check(t, os.RemoveAll("next/etcd"))
	out, stderr, code := run(t, "", []string{"diff", "--kubeconfig", config, "next", "-o", "json"}, "", "")
	if code != 1 || !strings.Contains(out, `"packagesRemoved":["etcd"]`) || !strings.Contains(out, `"lost":[{"name":"etcdoperator.v0.9.0","version":"0.9.0"}]`) || !strings.HasSuffix(out, `"lost":1}`+"\n") {
		t.Errorf("etcd is installed: exit code %d, %s%s", code, out, stderr)
	}
	if _, stderr, code := run(t, "", []string{"diff", "--kubeconfig", config, "next", "other"}, "", ""); code != 2 || !strings.Contains(stderr, "got 2") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	page := func(args ...string) string {
		t.Helper()
		out, stderr, code := run(t, "", append([]string{"view", "-o", "-"}, args...), "", "")
		if code != 0 || stderr != "" {
			t.Errorf("view %v: exit code %d, %s", args, code, stderr)
		}
		return out
	}
	if live, files := page("--kubeconfig", config), page("-f", "state.yaml"); live != files || !strings.Contains(live, "Namespace apps") || strings.Contains(live, `"diff":{`) {
		t.Error("a page over a cluster is not that over its objects")
	}
	if compared := page("--kubeconfig", config, "--catalog", "community=other"); !strings.Contains(compared, `"diff":{"old":"community (cluster)","new":"community","packagesRemoved":["demo","grafana"]`) {
		_, diff, _ := strings.Cut(compared, `"diff":`)
		t.Errorf("the page compares nothing: %.300s", diff)
	}
}

// TestClusterCatalogUnknown checks that the report of an unreadable catalog includes a remedy,
// that a kind that cannot be read is not taken for one without objects, and that a catalog that
// only the cluster can read counts neither as unhealthy nor as empty where it is needed.
func TestClusterCatalogUnknown(t *testing.T) {
	server, config, state := newCluster(t)
	gone := strings.ReplaceAll(state, "/team/community@", "/team/gone@")
	check(t, os.WriteFile("gone.yaml", []byte(gone), 0o600))
	_, stderr, code := run(t, "", []string{"resolve", "-f", "gone.yaml"}, "", "")
	if code != 2 || !strings.Contains(stderr, "olmkit: Subscription apps/etcd cannot be resolved: CatalogSource marketplace/community: cannot be read from here: ") || !strings.Contains(stderr, "give it with --catalog community=PATH\n") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	server.forbidden = []string{"/api/v1/pods"}
	_, stderr, code = run(t, "", []string{"resolve", "--kubeconfig", config}, "", "")
	if code != 2 || strings.Count(stderr, "serves an unknown image (Pod: may not be listed)") != 1 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if out, stderr, code := run(t, "", []string{"resolve", "--kubeconfig", config, "--catalog", "community=community"}, "", ""); code != 0 || !strings.Contains(out, "etcdoperator") {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
}

// TestClusterOtherCatalogUnknown checks that a catalog that no subscription uses does not prevent
// an answer if its content is unknown, but does if the cluster reports that it is unhealthy.
func TestClusterOtherCatalogUnknown(t *testing.T) {
	_, _, state := newCluster(t)
	const other = "\n---\napiVersion: operators.coreos.com/v1alpha1\nkind: CatalogSource\nmetadata: {name: other, namespace: marketplace}\nspec: {sourceType: grpc, image: quay.invalid/other:v1}\nstatus: {connectionState: {lastObservedState: READY}}"
	for state, want := range map[string]struct {
		code int
		text string
	}{
		state + other: {0, "note: CatalogSource marketplace/other: has no registry pod that runs, so its content is unknown; give it with --catalog other=PATH\n"},
		state + strings.Replace(other, "READY", "TRANSIENT_FAILURE", 1): {1, "Not resolved: CatalogSource marketplace/other is not ready (its connection is TRANSIENT_FAILURE)"},
	} {
		_, config := serve(t, state)
		if out, stderr, code := run(t, "", []string{"resolve", "--kubeconfig", config}, "", ""); code != want.code || !strings.Contains(out+stderr, want.text) {
			t.Errorf("exit code %d, want %d; %s%s, want %q", code, want.code, out, stderr, want.text)
		}
	}
}

// TestClusterMirrors checks that the catalogs of a cluster come from its mirrors.
func TestClusterMirrors(t *testing.T) {
	for _, set := range []string{
		"apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: x}\nspec: {imageDigestMirrors: [{source: quay.invalid/a, mirrors: [HOST/team], mirrorSourcePolicy: NeverContactSource}]}",
		"apiVersion: operator.openshift.io/v1alpha1\nkind: ImageContentSourcePolicy\nmetadata: {name: x}\nspec: {repositoryDigestMirrors: [{source: quay.invalid/a, mirrors: [HOST/team]}]}",
	} {
		_, config, state := newCluster(t)
		want, _, _ := run(t, "", []string{"resolve", "--kubeconfig", config}, "", "")
		_, image, _ := strings.Cut(state, "imageID: \"")
		host, _, _ := strings.Cut(image, "/")
		mirrored := strings.ReplaceAll(state, host+"/team", "quay.invalid/a") + "\n---\n" + strings.ReplaceAll(set, "HOST", host)
		_, config = serve(t, mirrored)
		if got, stderr, code := run(t, "", []string{"resolve", "--kubeconfig", config, "--no-cache"}, "", ""); got != want || code != 0 {
			t.Errorf("exit code %d, %s%s", code, got, stderr)
		}
	}
}

// TestClusterPullSecrets checks that catalogs are pulled with the secrets of a cluster only
// on request, and that secrets that cannot be used are reported without their content.
func TestClusterPullSecrets(t *testing.T) {
	x := newWire(t)
	x.answer(func(w http.ResponseWriter, r *http.Request) bool {
		if user, password, _ := r.BasicAuth(); user == "me" && password == "secret" {
			return false
		}
		w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
		w.WriteHeader(http.StatusUnauthorized)
		return true
	})
	host := strings.TrimPrefix(x.URL, "https://")
	image := host + "/team/community@" + digestOf(t, catalogImage(t, "community"))
	state := strings.ReplaceAll(operatedState, "IMAGE", image)
	state = strings.Replace(state, "priority: 5", "priority: 5, secrets: [gone, own]", 1)
	auth := fmt.Sprintf(`{"auths":{%q:{"auth":%q}}}`, host, base64.StdEncoding.EncodeToString([]byte("me:secret")))
	secret := fmt.Sprintf(`{"kind":"Secret","apiVersion":"v1","data":{".dockerconfigjson":%q}}`, base64.StdEncoding.EncodeToString([]byte(auth)))
	own, global := "/api/v1/namespaces/marketplace/secrets/own", "/api/v1/namespaces/openshift-config/secrets/pull-secret"
	for name, tt := range map[string]struct {
		state     string
		secrets   map[string]string
		forbidden []string
		flags     []string
		code      int
		note      string
	}{
		"not on request":    {state, map[string]string{own: secret}, nil, nil, 2, "denies access without credentials"},
		"of the source":     {state, map[string]string{own: secret}, nil, []string{"--use-cluster-pull-secrets"}, 0, "note: Secret marketplace/gone: does not exist, so"},
		"of OpenShift":      {state + "\n---\napiVersion: config.openshift.io/v1\nkind: ClusterVersion\nmetadata: {name: version}", map[string]string{global: secret}, nil, []string{"--use-cluster-pull-secrets"}, 0, ""},
		"forbidden":         {state, nil, []string{own}, []string{"--use-cluster-pull-secrets"}, 2, "note: Secret marketplace/own: may not be read, so"},
		"without a content": {state, map[string]string{own: "{}"}, nil, []string{"--use-cluster-pull-secrets"}, 2, "note: Secret marketplace/own: has no .dockerconfigjson, so"},
	} {
		server, config := serve(t, tt.state)
		server.secrets, server.forbidden = tt.secrets, tt.forbidden
		out, stderr, code := run(t, "", append([]string{"resolve", "--kubeconfig", config, "--ca-file", "ca.pem", "--no-cache"}, tt.flags...), "", "")
		if code != tt.code || !strings.Contains(stderr, tt.note) || strings.Contains(out+stderr, "secret\"") {
			t.Errorf("%s: exit code %d, want %d; %s%s", name, code, tt.code, out, stderr)
		}
	}
	if _, stderr, code := run(t, "", []string{"resolve", "-f", "x", "--use-cluster-pull-secrets"}, "", ""); code != 2 || !strings.Contains(stderr, "needs a live cluster") {
		t.Errorf("files: exit code %d, %s", code, stderr)
	}
}

func digestOf(t *testing.T, img v1.Image) string {
	t.Helper()
	d, err := img.Digest()
	check(t, err)
	return d.String()
}

// TestClusterStatus checks that the status of a cluster uses the content of the catalogs that it
// serves, for both OLMs, and that it is the same from files, directories and a snapshot.
func TestClusterStatus(t *testing.T) {
	_, _, state := newCluster(t)
	const conditions = `conditions: [{type: Installed, status: "True", reason: Succeeded}, {type: Progressing, status: "True", reason: Succeeded}], install:`
	state = strings.Replace(state, "status: {install:", "status: {"+conditions, 1)
	state = strings.Replace(state, "status: {resolvedSource:", `status: {conditions: [{type: Serving, status: "True"}], resolvedSource:`, 1)
	_, config := serve(t, state)
	check(t, os.WriteFile("state.yaml", []byte(state), 0o600))
	want, stderr, code := run(t, "", []string{"status", "--kubeconfig", config}, "", "")
	const rows = `NAMESPACE  OPERATOR    VERSION  CHANNEL  HEAD                        MOVES  WHY
-          prometheus  0.47.0   -        prometheusoperator.v0.56.3  now    will move to prometheusoperator.v0.56.3
apps       etcd        0.9.0    stable   etcdoperator.v0.9.4         now    will move to etcdoperator.v0.9.2. To get to 0.10.0, switch to channel alpha
to upgrade etcd: kubectl patch subscription.operators.coreos.com etcd -n apps --type merge --patch '{"spec":{"channel":"alpha"}}'
`
	if want != rows || code != 0 {
		t.Errorf("exit code %d, %s%s", code, want, stderr)
	}
	if _, stderr, code := run(t, "", []string{"snapshot", "--kubeconfig", config, "--with-catalogs", "-o", "snapshot.json"}, "", ""); code != 0 {
		t.Fatal(stderr)
	}
	for _, args := range [][]string{
		{"-f", "state.yaml"},
		{"--kubeconfig", config, "--offline"},
		{"-f", "state.yaml", "--offline", "--no-cache", "--catalog", "community=community", "--catalog", "operatorhub=community"},
		{"-f", "snapshot.json", "--offline", "--no-cache"},
	} {
		got, stderr, code := run(t, "", append([]string{"status"}, args...), "", "")
		if rest, _, _ := strings.Cut(got, "\nnote: "); strings.TrimSuffix(rest, "\n")+"\n" != want || code != 0 {
			t.Errorf("%v: exit code %d, %s%s", args, code, got, stderr)
		}
	}
	for name, tt := range map[string]struct {
		replace []string
		args    string
		code    int
		want    string
	}{
		"a range":                {[]string{`"<0.60"`, `"<0.48"`}, "prometheus", 0, `prometheusoperator.v0.47.0  latest  the version range "<0.48" leaves out newer versions: without it, prometheusoperator.v0.56.3 is selected`},
		"no package":             {[]string{"packageName: prometheus,", "packageName: prom,"}, "prom", 1, `stuck  no catalog has package "prom"; searched operatorhub`},
		"no channel":             {[]string{"channel: stable", "channel: gone"}, "etcd", 1, `0.9.0    gone     -     stuck  subscription etcd cannot be satisfied: catalog community/marketplace does not have channel gone of package etcd`},
		"an unread catalog":      {[]string{"/team/community@", "/team/gone@"}, "--no-cache", 0, "0.47.0   -        -                    latest  according to OLM; the content of its catalog is unknown\n"},
		"and its CatalogSource":  {[]string{"/team/community@", "/team/gone@"}, "--no-cache", 0, "note: CatalogSource marketplace/community: cannot be read from here: "},
		"and its ClusterCatalog": {[]string{"/team/community@", "/team/gone@"}, "--no-cache", 0, "note: ClusterCatalog operatorhub: cannot be read from here: "},
	} {
		check(t, os.WriteFile("changed.yaml", []byte(strings.ReplaceAll(state, tt.replace[0], tt.replace[1])), 0o600))
		got, stderr, code := run(t, "", append([]string{"status", "-f", "changed.yaml"}, strings.Fields(tt.args)...), "", "")
		if code != tt.code || !strings.Contains(got, tt.want) {
			t.Errorf("%s: exit code %d, want %d and %q:\n%s%s", name, code, tt.code, tt.want, got, stderr)
		}
	}
}

// TestStatusReadsNoOtherCatalog checks that filters limit which catalogs are pulled.
func TestStatusReadsNoOtherCatalog(t *testing.T) {
	_, _, state := newCluster(t)
	check(t, os.WriteFile("state.yaml", []byte(strings.ReplaceAll(state, "/team/community@", "/team/gone@")), 0o600))
	for filter, want := range map[string]string{"etcd": "CatalogSource", "prometheus": "ClusterCatalog"} {
		got, _, _ := run(t, "", []string{"status", "-f", "state.yaml", filter}, "", "")
		if strings.Count(got, "cannot be read") != 1 || !strings.Contains(got, "note: "+want) {
			t.Errorf("%s:\n%s", filter, got)
		}
	}
}

// TestSelectWithoutCatalog checks that select answers from the ClusterCatalogs that can be read,
// and reports the others.
func TestSelectWithoutCatalog(t *testing.T) {
	_, _, state := newCluster(t)
	const gone = `
---
apiVersion: olm.operatorframework.io/v1
kind: ClusterCatalog
metadata: {name: gone}
status: {resolvedSource: {type: Image, image: {ref: "localhost:1/gone@sha256:1111111111111111111111111111111111111111111111111111111111111111"}}}`
	check(t, os.WriteFile("state.yaml", []byte(state+gone), 0o600))
	const note = "note: ClusterCatalog gone: cannot be read from here: "
	out, stderr, code := run(t, "", []string{"select", "-f", "state.yaml", "-p", "prometheus"}, "", "")
	if code != 0 || !strings.Contains(out, "prometheusoperator.v0.56.3") || strings.Count(stderr, note) != 1 {
		t.Errorf("exit code %d, %s%s", code, out, stderr)
	}
	check(t, os.WriteFile("state.yaml", []byte(gone[5:]), 0o600))
	_, stderr, code = run(t, "", []string{"select", "-f", "state.yaml", "-p", "prometheus"}, "", "")
	if code != 2 || !strings.Contains(stderr, note) || !strings.Contains(stderr, "no catalog could be read") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
