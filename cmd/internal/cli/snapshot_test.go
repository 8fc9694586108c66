package cli_test

import (
	"bytes"
	"compress/gzip"
	"os"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// clusterCommands are a command line for each command that reads a cluster.
var clusterCommands = [][]string{
	{"status"},
	{"status", "-o", "json"},
	{"resolve", "-o", "json"},
	{"resolve", "-A"},
	{"explain"},
	{"explain", "-A", "-o", "json"},
	{"plan", "-n", "apps"},
	{"plan", "-n", "apps", "-o", "json"},
	{"simulate", "-n", "apps"},
	{"path", "etcd"},
	{"select", "--package", "prometheus", "-o", "json"},
	{"platform", "--to", "4.17", "--catalog", "4.17=community:other"},
	{"diff", "community=other"},
	{"view", "-n", "apps", "-o", "-"},
	{"view", "-A", "-o", "-"},
}

// TestSnapshot checks that each command gives the same answer for a cluster and for its
// snapshot, even if the user may not read some kinds. If the snapshot contains the catalogs,
// no registry is needed.
func TestSnapshot(t *testing.T) {
	server, config, _ := newCluster(t)
	for _, forbidden := range [][]string{nil, {"/apis/rbac.authorization.k8s.io/v1/clusterroles", "/api/v1/services"}} {
		server.forbidden = forbidden
		for name, flags := range map[string][]string{"digests.json": nil, "whole.json": {"--with-catalogs"}} {
			if _, stderr, code := run(t, "", append([]string{"snapshot", "--kubeconfig", config, "-o", name}, flags...), "", ""); code != 0 || strings.Count(stderr, "may not be listed") != len(forbidden) {
				t.Fatalf("exit code %d, %s", code, stderr)
			}
		}
		for _, command := range clusterCommands {
			want, wantErr, wantCode := run(t, "", append(command, "--kubeconfig", config), "", "")
			if wantCode == 2 {
				t.Errorf("%v: %s", command, wantErr)
			}
			for _, from := range [][]string{{"-f", "digests.json"}, {"-f", "whole.json", "--offline", "--cache-dir", "empty"}} {
				got, stderr, code := run(t, "", slices.Concat(command, from), "", "")
				if got != want || stderr != wantErr || code != wantCode {
					t.Errorf("%v %v: exit code %d, want %d; %s; want %s%.600s", command, from, code, wantCode, stderr, wantErr, firstDifference(got, want))
				}
			}
		}
	}
	// A snapshot of a snapshot is the same.
	if _, stderr, code := run(t, "", []string{"snapshot", "-f", "digests.json", "-o", "again.json"}, "", ""); code != 0 {
		t.Fatalf("exit code %d, %s", code, stderr)
	}
	first, err := os.ReadFile("digests.json")
	check(t, err)
	again, err := os.ReadFile("again.json")
	check(t, err)
	if string(first) != string(again) {
		t.Errorf("a snapshot of a snapshot differs:\n%s", firstDifference(string(again), string(first)))
	}
}

// TestSnapshotContent checks that a snapshot has neither Secrets nor what no answer depends on, and
// that a document of another version is an error.
func TestSnapshotContent(t *testing.T) {
	_, _, state := newCluster(t)
	state = strings.Replace(state, "name: catalog-operator, namespace: olm}", "name: catalog-operator, namespace: olm, managedFields: [{manager: kubectl}]}", 1)
	const last = "kubectl.kubernetes.io/last-applied-configuration"
	state += "\n---\napiVersion: operators.coreos.com/v1alpha1\nkind: ClusterServiceVersion\nmetadata: {name: shown.v1, namespace: apps, annotations: {" + last + ": '{}', kept: 'yes'}}\nspec: {icon: [{base64data: aWNvbg==, mediatype: image/png}], displayName: Shown, description: text}"
	state += "\n---\napiVersion: v1\nkind: Secret\nmetadata: {name: s, namespace: apps}\ndata: {password: aHVudGVyMg==}"
	check(t, os.WriteFile("state.yaml", []byte(state), 0o600))
	out, stderr, code := run(t, "", []string{"snapshot", "-f", "state.yaml", "-o", "-"}, "", "")
	if code != 0 {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	for _, gone := range []string{"Secret", "aHVudGVyMg", "managedFields", last, "icon", "aWNvbg"} {
		if strings.Contains(out, gone) {
			t.Errorf("the snapshot has %q: %s", gone, out)
		}
	}
	for _, kept := range []string{`"kind":"SubscriptionList"`, `"annotations":{"kept":"yes"}`, `"spec":{"description":"text","displayName":"Shown"}`} {
		if !strings.Contains(out, kept) {
			t.Errorf("the snapshot lacks %s: %s", kept, out)
		}
	}
	for text, want := range map[string]string{
		`{"apiVersion":"snapshot.olmkit/v2","kind":"Snapshot","metadata":{"name":"cluster"}}`:                                  "snapshot.olmkit/v2 Snapshot is not supported",
		`{"apiVersion":"snapshot.olmkit/v1","kind":"Content","metadata":{"name":"x"},"image":"docker://a/b:c","files":"AAAA"}`: "the content of docker://a/b:c: zip",
	} {
		check(t, os.WriteFile("bad.json", []byte(text), 0o600))
		if _, stderr, code := run(t, "", []string{"status", "-f", "bad.json"}, "", ""); code != 2 || !strings.Contains(stderr, "bad.json: document 1: ") || !strings.Contains(stderr, want) {
			t.Errorf("exit code %d, %s", code, stderr)
		}
	}
}

// TestMustGather checks that a must-gather, as a directory and as an archive, gives the same
// answers as a file of its objects. Files that commands do not read are ignored.
func TestMustGather(t *testing.T) {
	_, _, state := newCluster(t)
	for i, doc := range strings.Split(state, "\n---\n") {
		var o struct {
			APIVersion, Kind string
			Metadata         struct{ Name, Namespace string }
		}
		check(t, yaml.Unmarshal([]byte(doc), &o))
		group, _, ok := strings.Cut(o.APIVersion, "/")
		if !ok {
			group = "core"
		}
		resource := apiPaths[o.APIVersion+" "+o.Kind]
		dir := "gather/quay-io/cluster-scoped-resources/" + group + "/" + resource
		if o.Metadata.Namespace != "" {
			dir = "gather/quay-io/namespaces/" + o.Metadata.Namespace + "/" + group + "/" + resource
		}
		name := dir + "/" + o.Metadata.Name + ".yaml"
		switch {
		case o.Kind == "Pod":
			dir = "gather/quay-io/namespaces/" + o.Metadata.Namespace + "/pods/" + o.Metadata.Name
			name = dir + "/" + o.Metadata.Name + ".yaml"
		case i%2 == 1 && o.Metadata.Namespace != "": // a list
			dir, name = strings.TrimSuffix(dir, "/"+resource), dir+".yaml"
			doc = "apiVersion: v1\nkind: List\nitems:\n- " + strings.ReplaceAll(doc, "\n", "\n  ")
		}
		check(t, os.MkdirAll(dir, 0o777))
		check(t, os.WriteFile(name, []byte(doc), 0o666))
	}
	check(t, os.MkdirAll("gather/quay-io/namespaces/apps/core", 0o777))
	check(t, os.WriteFile("gather/quay-io/namespaces/apps/core/events.yaml", []byte("not: [an object"), 0o666))
	check(t, os.WriteFile("gather/quay-io/namespaces/apps/core/services.yaml", []byte("apiVersion: v1\nkind: ServiceList\nitems: []"), 0o666))
	tarOf(t, "gather", "gather.tar")
	text, err := os.ReadFile("gather.tar")
	check(t, err)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err = z.Write(text)
	check(t, err)
	check(t, z.Close())
	check(t, os.WriteFile("gather.tar.gz", zipped.Bytes(), 0o666))
	for _, command := range clusterCommands {
		if slices.Contains(command, "plan") || slices.Contains(command, "simulate") {
			command = append(command, "--complete")
		}
		want, _, wantCode := run(t, "", append(command, "-f", "state.yaml"), "", "")
		for _, from := range []string{"gather", "gather.tar", "gather.tar.gz"} {
			if slices.Contains(command, "plan") && slices.Contains(command, "json") {
				continue // without UIDs, the order of the objects differs
			}
			if got, stderr, code := run(t, "", append(command, "-f", from), "", ""); got != want || code != wantCode {
				t.Errorf("%v -f %s: exit code %d, want %d; %s%.600s", command, from, code, wantCode, stderr, firstDifference(got, want))
			}
		}
	}
	check(t, os.MkdirAll("empty", 0o777))
	if _, stderr, code := run(t, "", []string{"status", "-f", "empty"}, "", ""); code != 2 || !strings.Contains(stderr, "so it is not a must-gather") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
	if _, stderr, code := run(t, "", []string{"status", "-f", "gather.tar.gz", "--limit", "FileSize=10"}, "", ""); code != 2 || !strings.Contains(stderr, "--limit FileSize=NUMBER") {
		t.Errorf("exit code %d, %s", code, stderr)
	}
}
