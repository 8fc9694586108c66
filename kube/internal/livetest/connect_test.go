package livetest

import (
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestConnect checks the ways to reach a cluster that kubectl has: contexts, lists of kubeconfig
// files, credential plugins and impersonation; what the printed role permits; and that errors of
// the API server state what to do.
func TestConnect(t *testing.T) {
	dir := programs(t)
	file := writer(t, dir)
	file("admin", string(env.KubeConfig()))
	role, _ := program(t, dir, "olmkit", "status", "--print-rbac")
	file("rbac.yaml", role+`---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: olmkit-read}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: olmkit-read}
subjects:
- {kind: ServiceAccount, name: reader, namespace: default}
- {apiGroup: rbac.authorization.k8s.io, kind: User, name: alice}
- {apiGroup: rbac.authorization.k8s.io, kind: Group, name: readers}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: reader, namespace: default}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: nobody, namespace: default}
---
apiVersion: v1
kind: ServiceAccount
metadata: {name: crds, namespace: default}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: crds}
rules:
- {apiGroups: [apiextensions.k8s.io], resources: [customresourcedefinitions], verbs: [list]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: crds}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: crds}
subjects:
- {kind: ServiceAccount, name: crds, namespace: default}`)
	program(t, dir, "kubectl", "--kubeconfig", "admin", "apply", "-f", "rbac.yaml")
	defer program(t, dir, "kubectl", "--kubeconfig", "admin", "delete", "-f", "rbac.yaml") // other tests create the role, too
	kubeconfig := func(name, user string) {
		file(name, fmt.Sprintf(`apiVersion: v1
kind: Config
current-context: %s
clusters: [{name: here, cluster: {server: %q, certificate-authority-data: %s}}]
contexts: [{name: %[1]s, context: {cluster: here, user: %[1]s}}]
users: [{name: %[1]s, user: %[4]s}]
`, name, env.Config.Host, base64.StdEncoding.EncodeToString(env.Config.CAData), user))
	}
	for _, name := range []string{"reader", "nobody", "crds"} {
		token, _ := program(t, dir, "kubectl", "--kubeconfig", "admin", "-n", "default", "create", "token", name)
		kubeconfig(name, fmt.Sprintf("{token: %q}", strings.TrimSpace(token)))
		file(name+"-plugin", `#!/bin/sh
echo '{"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": {"token": "`+strings.TrimSpace(token)+`"}}'
`)
	}
	kubeconfig("wrong", "{token: wrong}")
	plugin := func(command string) string {
		return fmt.Sprintf("{exec: {apiVersion: client.authentication.k8s.io/v1, command: %q, interactiveMode: Never}}", command)
	}
	kubeconfig("plugin", plugin("./reader-plugin"))
	file("fails", "#!/bin/sh\necho log in first >&2\nexit 1\n")
	kubeconfig("failing", plugin("./fails"))

	const unread = "\"olmkit status --print-rbac\" prints the role that reads everything, and with --namespace the role that suffices for a namespace: "
	for _, tt := range []struct {
		kubeconfig string // the variable KUBECONFIG
		args       string
		want       string // part of the output, or "" if everything is read
	}{
		{"admin", "", ""},
		{"reader", "", ""},
		{"nobody", "", unread},
		{"plugin", "", ""},
		{"gone:nobody:reader", "", unread},
		{"gone:nobody:reader", "--context reader", ""},
		{"nobody", "--kubeconfig reader", ""},
		{"admin", "--as alice", ""},
		{"admin", "--as bob", unread},
		{"admin", "--as bob --as-group readers", ""},
		{"nobody", "--as alice", "cannot impersonate"},
		{"wrong", "", "the cluster does not accept the credentials of the kubeconfig; log in again"},
		{"failing", "", "log in first"},
		{"failing", "", "executable " + filepath.Join(dir, "fails") + " failed with exit code 1"},
		{"gone", "", "found no kubeconfig in gone (from KUBECONFIG)"},
	} {
		out := combined(t, dir, tt.kubeconfig, "olmkit", append([]string{"status", "--sample", "--cluster"}, strings.Fields(tt.args)...)...)
		if !strings.Contains(out, tt.want) || tt.want == "" && (strings.Contains(out, "may not be") || !strings.HasPrefix(out, "NAMESPACE") && !strings.HasPrefix(out, "No operators.\n")) {
			t.Errorf("KUBECONFIG=%s %s: %.2000s\nwant %q", tt.kubeconfig, tt.args, out, tt.want)
		}
	}
	for _, command := range []string{
		"resolve --sample -n default", "explain --sample -n default", "plan --sample -n default", "simulate --sample -n default",
		"platform --catalog 1=catalog", "select --sample -p etcd", "view --sample -n default -o view.html", "path etcd", "diff catalog",
		"impact etcd", "crd-safety crd.yaml", "snapshot -o -",
	} {
		args := append(strings.Fields(command), "--cluster")
		if out := combined(t, dir, "nobody", "olmkit", args...); !strings.Contains(out, unread) {
			t.Errorf("%s: %.2000s\nwant %q", command, out, unread)
		}
		if strings.HasPrefix(command, "crd-safety") {
			continue // it needs nothing else
		}
		if out := combined(t, dir, "crds", "olmkit", args...); !strings.Contains(out, "note: Subscription") && !strings.Contains(out, "the answer needs objects that could not be read: ") {
			t.Errorf("%s, with permission for CRDs: %.2000s", command, out)
		}
	}
}

// writer returns a function that writes files, which may be programs, in a directory.
func writer(t *testing.T, dir string) func(name, text string) {
	return func(name, text string) {
		t.Helper()
		check(t, os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700))
	}
}

// TestOneNamespace checks that the printed Role of a namespace suffices for commands about it, with
// the content of catalogs from the command line, and that another namespace stays unknown.
func TestOneNamespace(t *testing.T) {
	dir := programs(t)
	file := writer(t, dir)
	file("admin", string(env.KubeConfig()))
	role, _ := program(t, dir, "olmkit", "status", "--print-rbac", "-n", "one")
	namespace := func(name string) string {
		return strings.NewReplacer("NAMESPACE", name, "PACKAGE", "etcd", "BUNDLE", "etcdoperator.v0.9.2", "VERSION", "0.9.2").Replace(installed)
	}
	file("one.yaml", namespace("one")+"\n---\n"+namespace("other")+"\n---\n"+role+`---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: olmkit-read, namespace: one}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: Role, name: olmkit-read}
subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: carol}]`)
	program(t, dir, "kubectl", "--kubeconfig", "admin", "apply", "-f", "one.yaml")
	defer program(t, dir, "kubectl", "--kubeconfig", "admin", "delete", "namespace", "one", "other", "--wait=false")
	const catalog, alone = " --catalog redhat-operators=catalog.yaml,namespace=openshift-marketplace", "note: Namespace one: only namespace one could be read, and no "
	file("catalog.yaml", "{schema: olm.package, name: etcd, defaultChannel: stable}\n---\n{schema: olm.channel, package: etcd, name: stable, entries: [{name: etcdoperator.v0.9.4, replaces: etcdoperator.v0.9.2}, {name: etcdoperator.v0.9.2}]}"+
		bundle("0.9.2")+bundle("0.9.4"))
	for command, want := range map[string]string{
		"resolve -n one" + catalog:   "etcdoperator.v0.9.4",
		"explain -n one" + catalog:   "etcdoperator.v0.9.4",
		"plan -n one" + catalog:      "etcdoperator.v0.9.4",
		"simulate -n one" + catalog:  "etcdoperator.v0.9.4",
		"status -n one" + catalog:    "etcdoperator.v0.9.4",
		"snapshot -n one -o -":       "etcdoperator.v0.9.2",
		"resolve -n one":             "Subscription one/etcd cannot be resolved: CatalogSource openshift-marketplace/redhat-operators: was not read",
		"resolve -n other" + catalog: "you may read nothing of this cluster, not even in namespace other; ",
		"resolve" + catalog:          "you may read nothing of this cluster; ",
	} {
		out := strings.Join(strings.Fields(combined(t, dir, "admin", "olmkit", append(strings.Fields(command), "--as", "carol")...)), " ")
		if !strings.Contains(out, want) || strings.Contains(command, "-n one") && !strings.HasPrefix(command, "snapshot") && !strings.Contains(out, alone) {
			t.Errorf("%s: %.2000s\nwant %q", command, out, want)
		}
	}
}

// bundle returns a bundle of the package etcd for a catalog.
func bundle(version string) string {
	return fmt.Sprintf("\n---\n{schema: olm.bundle, package: etcd, name: etcdoperator.v%s, image: \"example.com/etcd:%[1]s\", properties: [{type: olm.package, value: {packageName: etcd, version: %[1]s}}]}", version)
}

// combined runs a program in dir and returns what it prints.
func combined(t *testing.T, dir, kubeconfig, name string, args ...string) string {
	t.Helper()
	cmd := command(t, dir, name, args...)
	cmd.Env = append(cmd.Env, "KUBECONFIG="+kubeconfig)
	out, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(out)
}
