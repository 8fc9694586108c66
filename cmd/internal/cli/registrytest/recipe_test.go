package registrytest

import (
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// standIn is a podman that does with skopeo what the page does with podman.
const standIn = `#!/bin/sh
case $1 in
login) exec skopeo login --username ` + user + ` --password ` + password + ` "$2" >&2 ;;
save)
	skopeo --insecure-policy copy -q "docker://$2" docker-archive:saved.tar
	cat saved.tar
	rm saved.tar ;;
esac
`

// TestYourData runs the commands of the page "Your data" that need no cluster, one block after
// another, in the environment of a user who never used olmkit. Those about clusters run in
// kube/internal/livetest.
func TestYourData(t *testing.T) {
	quay, redhat := newRegistry(t, "htpasswd"), newRegistry(t, "token")
	e := env(t, quay, redhat)
	dir := newCatalogs(t, e)
	writeImage(t, filepath.Join(dir, "image/mirrored"), catalogLabels, filepath.Join(dir, "other"), "configs/mirrored/")
	for ref, from := range map[string]string{
		quay.ref("operatorhubio/catalog", "latest"):            "community",
		redhat.ref("redhat/redhat-operator-index", "v4.18"):    "other",
		redhat.ref("redhat/redhat-operator-index", "v4.19"):    "community",
		redhat.ref("redhat/certified-operator-index", "v4.19"): "other",
		quay.ref("mirror/redhat-operator-index", "v4.19"):      "mirrored",
	} {
		e.copy(t, dir, "dir:image/"+from, ref)
	}
	digest := strings.TrimSpace(e.must(t, dir, "skopeo", "inspect", "--format", "{{.Digest}}", quay.ref("mirror/redhat-operator-index", "v4.19")))

	check(t, os.Mkdir(filepath.Join(dir, "bin"), 0o777))
	check(t, os.WriteFile(filepath.Join(dir, "bin/podman"), []byte(standIn), 0o777))
	check(t, os.Symlink(olmkit, filepath.Join(dir, "bin/olmkit")))
	check(t, os.Rename(filepath.Join(dir, "community"), filepath.Join(dir, "catalog")))
	check(t, os.WriteFile(filepath.Join(dir, "idms-oc-mirror.yaml"), fmt.Appendf(nil, `apiVersion: config.openshift.io/v1
kind: ImageDigestMirrorSet
metadata: {name: idms-operator-0}
spec: {imageDigestMirrors: [{source: registry.redhat.io/redhat, mirrors: [%s/mirror]}]}
`, quay.host), 0o666))
	all := e.must(t, dir, olmkit, "fmt", "catalog", "-o", "jsonl")
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/catalogs/operatorhubio/api/v1/all" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, all)
	}))
	defer server.Close()
	check(t, os.WriteFile(filepath.Join(dir, "ca.crt"), pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: server.Certificate().Raw}), 0o666))

	e = e.with("REGISTRY_AUTH_FILE", "").with("PATH", filepath.Join(dir, "bin")+":"+e["PATH"])
	for _, host := range []string{quay.host, redhat.host} {
		e.must(t, dir, filepath.Join(dir, "bin/podman"), "login", host)
	}
	page, err := os.ReadFile("../../../../docs/recipes/your-data.md")
	check(t, err)
	text, _, ok := strings.Cut(string(page), "\n## Your cluster\n")
	if !ok {
		t.Fatal("the page has no section about clusters")
	}
	blocks := regexp.MustCompile("(?s)```text\n(.*?)```").FindAllStringSubmatch(text, -1)
	names := strings.NewReplacer(
		"quay.io/operatorhubio/catalog", quay.host+"/operatorhubio/catalog",
		"registry.redhat.io/redhat/redhat-operator-index@sha256:…", "registry.redhat.io/redhat/redhat-operator-index@"+digest, // from the mirror
		"registry.redhat.io", redhat.host,
		"skopeo copy", "skopeo --insecure-policy copy -q",
		"grafana-operator", "grafana", "nginx-ingress-operator", "etcd",
		"https://localhost:8443", server.URL,
	)
	// What each block prints, in order, among other things.
	prints := []string{
		"install  grafana ", "etcdoperator.v0.9.4 ", "grafana-operator.v5.6.0", "operatorhubio/catalog:latest ", "etcdoperator.v0.9.4 ",
		"grafana-operator.v5.6.0", "grafana-operator.v5.6.0", "  ours     subscription etcd",
	}
	if len(blocks) != len(prints) {
		t.Fatalf("the page has %d blocks, want %d", len(blocks), len(prints))
	}
	for i, b := range blocks {
		stdout, stderr, code := e.run(t, dir, "sh", "-eu", "-c", names.Replace(b[1]))
		if code != 0 || !strings.Contains(stdout, prints[i]) {
			t.Errorf("exit code %d, want %q in the output of\n%s%s%s", code, prints[i], b[1], stdout, stderr)
		}
	}
}
