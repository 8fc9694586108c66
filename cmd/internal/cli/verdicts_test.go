package cli_test

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/cmd/internal/cli"
)

// A judged is a catalog whose upgrades are judged, in a directory.
type judged struct {
	*testing.T
	dir string
}

func (j *judged) write(name, text string) {
	j.Helper()
	name = filepath.Join(j.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		j.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		j.Fatal(err)
	}
}

// bundle writes a bundle below a directory. Its service account gets a permission for each verb.
func (j *judged) bundle(dir, version string, verbs ...string) {
	j.Helper()
	j.write("tree/demo/"+dir+"/metadata/annotations.yaml", "annotations: {operators.operatorframework.io.bundle.package.v1: demo}\n")
	j.write("tree/demo/"+dir+"/manifests/csv.yaml", fmt.Sprintf(`apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata: {name: demo.v%s}
spec:
  version: %[1]s
  installModes: [{type: AllNamespaces, supported: true}]
  install:
    strategy: deployment
    spec:
      clusterPermissions:
      - serviceAccountName: demo
        rules: [{apiGroups: [apps], resources: [deployments], verbs: [%s]}]
`, version, strings.Join(verbs, ", ")))
}

// row returns the row of the package in the table.
func (j *judged) row(flags ...string) string {
	j.Helper()
	var out, errs bytes.Buffer
	args := append([]string{"impact", filepath.Join(j.dir, "catalog.yaml"), "--bundles", filepath.Join(j.dir, "tree"), "--cache-dir", filepath.Join(j.dir, "cache")}, flags...)
	if code := cli.Run(j.Context(), args, nil, &out, &errs); code != 0 {
		j.Fatalf("%s: exit code %d: %s", args, code, errs.String())
	}
	lines := strings.Split(out.String(), "\n")
	i := slices.IndexFunc(lines, func(line string) bool { return strings.HasPrefix(line, "PACKAGE") })
	return strings.Join(strings.Fields(lines[i+1]), " ")
}

// stored returns the files with verdicts.
func (j *judged) stored() []string {
	j.Helper()
	list, err := filepath.Glob(filepath.Join(j.dir, "cache/verdicts/*"))
	if err != nil {
		j.Fatal(err)
	}
	return list
}

// Verdicts on the upgrades of a catalog are kept by the content of the bundles, so an
// interrupted command goes on where it ended, and nothing else changes an answer.
func TestVerdictsKept(t *testing.T) {
	j := &judged{t, t.TempDir()}
	j.write("catalog.yaml", `schema: olm.package
name: demo
defaultChannel: stable
---
schema: olm.channel
package: demo
name: stable
entries: [{name: demo.v1.0.0}, {name: demo.v2.0.0, replaces: demo.v1.0.0}]
---
schema: olm.bundle
package: demo
name: demo.v1.0.0
image: example.com/demo:1
properties: [{type: olm.package, value: {packageName: demo, version: 1.0.0}}]
---
schema: olm.bundle
package: demo
name: demo.v2.0.0
image: example.com/demo:2
properties: [{type: olm.package, value: {packageName: demo, version: 2.0.0}}]
`)
	j.bundle("1.0.0", "1.0.0", "get")
	j.bundle("2.0.0", "2.0.0", "get")
	want := func(what, row string, flags ...string) {
		t.Helper()
		if got := j.row(flags...); got != "demo 1 "+row+" 0" {
			t.Errorf("%s: row %q, want %q", what, got, row)
		}
	}
	const safe, look, breaks = "1 0 0", "0 1 0", "0 0 1"
	want("first", safe)
	files := j.stored()
	if len(files) != 1 {
		t.Fatalf("files %q", files)
	}
	text, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	falsify := func() {
		_, list, _ := bytes.Cut(bytes.Replace(text, []byte(`"safe"`), []byte(`"breaks"`), 1), []byte("\n"))
		if err := os.WriteFile(files[0], fmt.Appendf(nil, "%x\n%s", sha256.Sum256(list), list), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	falsify()
	want("a kept verdict", breaks)
	want("other options", safe, "--olm", "classic")
	want("no cache", safe, "--no-cache")
	for n := range len(text) {
		if n%7 != 0 && n < len(text)-3 {
			continue
		}
		if err := os.WriteFile(files[0], text[:n], 0o600); err != nil { // as a crash may leave it
			t.Fatal(err)
		}
		want(fmt.Sprintf("a file of %d bytes", n), safe)
	}
	damaged := bytes.Replace(text, []byte(`"safe"`), []byte(`"look"`), 1) // still valid
	if err := os.WriteFile(files[0], damaged, 0o600); err != nil || bytes.Equal(damaged, text) {
		t.Fatal(err)
	}
	want("a damaged file", safe)

	falsify()
	j.bundle("2.0.0", "2.0.0", "get", "delete")
	want("changed manifests", look)
	j.bundle("2.0.0", "2.0.0", "get")
	want("restored manifests", safe) // what is not in the catalog any more is not kept

	// What is not where the digest was taken is not kept.
	j.bundle("2.0.0", "9.0.0", "get")
	j.bundle("other", "2.0.0", "get")
	want("another directory", safe)
	j.bundle("other", "2.0.0", "get", "delete")
	want("another directory, changed", look)

	var out, errs bytes.Buffer
	if code := cli.Run(t.Context(), []string{"cache", "prune", "--older-than", "0s", "--cache-dir", filepath.Join(j.dir, "cache")}, nil, &out, &errs); code != 0 {
		t.Fatal(errs.String())
	}
	if files := j.stored(); len(files) > 0 {
		t.Errorf("files %q are left", files)
	}
}
