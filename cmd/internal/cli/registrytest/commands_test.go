package registrytest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/sample"
)

const references = "../testdata/references"

// newCatalogs writes the files of the command lines, and the catalogs "community" and "other" as
// directories and as images that skopeo reads.
func newCatalogs(t *testing.T, e environment) (dir string) {
	t.Helper()
	dir = t.TempDir()
	check(t, os.CopyFS(dir, os.DirFS(references)))
	demo := e.must(t, dir, olmkit, "render", "template.yaml", "--from", "example.com/demo:1=bundle", "--data", "objects", "-o", "jsonl")
	for _, name := range []string{"community", "other"} {
		at := filepath.Join(dir, name)
		check(t, os.CopyFS(at, sample.Catalog()))
		if name == "community" {
			check(t, os.WriteFile(filepath.Join(at, "demo.json"), []byte(demo), 0o666))
		} else {
			check(t, os.RemoveAll(filepath.Join(at, "grafana")))
		}
		writeImage(t, filepath.Join(dir, "image", name), catalogLabels, at, "configs/")
	}
	return dir
}

// TestCommands checks that each command prints the same for an image that skopeo copied to a
// registry as for the directory, whatever the compression, format and credentials.
func TestCommands(t *testing.T) {
	commands, err := os.ReadFile(references + "/commands.txt")
	check(t, err)
	for _, tt := range []struct {
		auth  string
		flags []string
	}{
		{"htpasswd", []string{"--format", "v2s2"}}, // gzip
		{"token", []string{"--format", "oci", "--dest-compress-format", "zstd"}},
	} {
		r := newRegistry(t, tt.auth)
		e := env(t, r)
		dir := newCatalogs(t, e)
		refs := map[string]string{}
		for _, name := range []string{"community", "other"} {
			refs[name] = r.ref("team/"+name, "v1")
			e.copy(t, dir, "dir:image/"+name, refs[name], tt.flags...)
		}
		n := 0
		for line := range strings.Lines(string(commands)) {
			if strings.HasPrefix(line, "#") {
				continue
			}
			n++
			on := func(catalog, other string) (string, string, int) {
				args := strings.NewReplacer("CATALOG", catalog, "OTHER", other).Replace(line)
				return e.run(t, dir, olmkit, strings.Fields(args)...)
			}
			want, wantErr, wantCode := on("community", "other")
			got, stderr, code := on(refs["community"], refs["other"])
			for name, ref := range refs {
				for _, shown := range []string{ref, strings.TrimPrefix(ref, "docker://")} {
					got, stderr = strings.ReplaceAll(got, shown, name), strings.ReplaceAll(stderr, shown, name)
				}
			}
			if got != want || stderr != wantErr || code != wantCode {
				t.Errorf("%s: %s: exit code %d, want %d; stderr %q, want %q\n%s", tt.auth, line, code, wantCode, stderr, wantErr, firstDifference(got, want))
			}
		}
		if n == 0 {
			t.Error("no commands")
		}
	}
}

// TestFormats checks that olmkit reads the archives and directories that skopeo writes, and that
// a registry gives the same catalog with an empty environment.
func TestFormats(t *testing.T) {
	r := newRegistry(t, "token")
	e := env(t, r)
	dir := newCatalogs(t, e)
	image := r.ref("team/community", "v1")
	e.copy(t, dir, "dir:image/community", image)
	list := func(e environment, args ...string) string {
		t.Helper()
		return e.must(t, dir, olmkit, append([]string{"fmt", "-o", "jsonl"}, args...)...)
	}
	want := list(e, "community")
	for _, to := range []string{"oci:layout:v1", "oci-archive:oci.tar:v1", "docker-archive:docker.tar:example.com/community:v1", "dir:saved"} {
		e.copy(t, dir, image, to)
		from := strings.TrimSuffix(to, ":example.com/community:v1")
		if got := list(e, from); got != want {
			t.Errorf("%s: %s", from, firstDifference(got, want))
		}
	}
	if got := list(environment{}, image, "--ca-file", e["SSL_CERT_FILE"], "--authfile", e["REGISTRY_AUTH_FILE"]); got != want {
		t.Errorf("an empty environment: %s", firstDifference(got, want))
	}
}
