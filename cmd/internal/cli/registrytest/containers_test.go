package registrytest

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// TestBuilt checks that olmkit reads catalog and bundle images that podman and buildah build, as
// each of them saves images.
func TestBuilt(t *testing.T) {
	e := env(t)
	dir := newCatalogs(t, e)
	for _, program := range []string{"podman", "buildah"} {
		t.Run(program, func(t *testing.T) {
			if _, err := exec.LookPath(program); err != nil {
				t.Skipf("%v; install %s to run this test", err, program)
			}
			store := t.TempDir()
			tool := func(args ...string) string {
				t.Helper()
				storage := []string{"--storage-driver", "vfs", "--root", filepath.Join(store, "root"), "--runroot", filepath.Join(store, "run")}
				return e.must(t, dir, program, append(storage, args...)...)
			}
			bundle := func(from string) []string {
				return []string{"render", "template.yaml", "--from", "example.com/demo:1=" + from, "-o", "jsonl"}
			}
			for name, tt := range map[string]struct {
				from, at string
				labels   map[string]string
				args     func(from string) []string
			}{
				"catalog": {"community", "/configs", catalogLabels, func(from string) []string { return []string{"fmt", "-o", "jsonl", from} }},
				"bundle":  {"bundle", "/", bundleLabels, bundle},
			} {
				// With --layers, the second layer has one directory of the first again.
				entries, err := os.ReadDir(filepath.Join(dir, tt.from))
				check(t, err)
				first := entries[0].Name()
				file := fmt.Sprintf("FROM scratch\nADD . %s\nADD %s %s\n", tt.at, first, path.Join(tt.at, first))
				for _, label := range slices.Sorted(maps.Keys(tt.labels)) {
					file += fmt.Sprintf("LABEL %s=%s\n", label, tt.labels[label])
				}
				check(t, os.WriteFile(filepath.Join(dir, "Containerfile"), []byte(file), 0o666))
				image := "localhost/" + name + ":v1"
				tool("build", "--layers", "--isolation", "chroot", "-q", "-t", image, "-f", "Containerfile", tt.from)

				at := program + "-" + name
				saved := []string{"oci-archive:" + at + "-oci.tar", "docker-archive:" + at + "-docker.tar", "dir:" + at + "-dir", "oci:" + at + "-oci"}
				for _, to := range saved {
					format, at, _ := strings.Cut(to, ":")
					switch {
					case program == "podman":
						name := cmp.Or(map[string]string{"dir": "docker-dir", "oci": "oci-dir"}[format], format)
						tool("save", "-q", "--format", name, "-o", at, image)
					case format == "docker-archive":
						tool("push", "-q", image, to+":"+image)
					default:
						tool("push", "-q", image, to)
					}
				}
				want := e.must(t, dir, olmkit, tt.args(tt.from)...)
				for _, from := range saved {
					if got := e.must(t, dir, olmkit, tt.args(from)...); got != want {
						t.Errorf("%s: %s", from, firstDifference(got, want))
					}
				}
			}
		})
	}
}
