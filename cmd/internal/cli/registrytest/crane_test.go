package registrytest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// newCrane builds crane, a program for images that shares no code with skopeo.
func newCrane(t *testing.T) (file string) {
	t.Helper()
	file = filepath.Join(t.TempDir(), "crane")
	build := exec.CommandContext(t.Context(), "go", "build", "-o", file, "github.com/google/go-containerregistry/cmd/crane")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return file
}

// TestCrane checks that olmkit reads what crane builds, copies and saves, and that crane copies
// what olmkit lists.
func TestCrane(t *testing.T) {
	crane := newCrane(t)
	from, to := newRegistry(t, "token"), newRegistry(t, "htpasswd")
	e := env(t, from, to)
	dir := newCatalogs(t, e)
	bare := func(ref string) string { return strings.TrimPrefix(ref, "docker://") }
	image := bare(from.ref("team/community", "v1"))

	// Each step of crane writes another image: a layer, then its label.
	check(t, os.WriteFile(filepath.Join(dir, "layer.tar"), layerOf(t, filepath.Join(dir, "community"), "configs/"), 0o666))
	e.must(t, dir, crane, "append", "--new_layer", "layer.tar", "--new_tag", image)
	e.must(t, dir, crane, "mutate", image, "--label", "operators.operatorframework.io.index.configs.v1=/configs", "--tag", image)
	e.must(t, dir, crane, "copy", image, bare(to.ref("mirror/community", "v1")))
	e.must(t, dir, crane, "index", "append", "--manifest", image, "--tag", bare(from.ref("team/index", "v1")))
	e.must(t, dir, crane, "pull", "--format", "tarball", image, "saved.tar")
	e.must(t, dir, crane, "pull", "--format", "oci", image, "layout")
	want := e.must(t, dir, olmkit, "fmt", "community", "-o", "jsonl")
	for _, ref := range []string{
		"docker://" + image, to.ref("mirror/community", "v1"), from.ref("team/index", "v1"), "docker-archive:saved.tar", "oci:layout",
	} {
		if got := e.must(t, dir, olmkit, "fmt", "-o", "jsonl", ref); got != want {
			t.Errorf("%s: %s", ref, firstDifference(got, want))
		}
	}

	// Images that olmkit lists: a bundle with an operand.
	digest := func(repo, image string) string {
		ref := from.ref(repo, "v1")
		e.copy(t, dir, "dir:"+image, ref)
		return strings.TrimSuffix(bare(ref), ":v1") + "@" + strings.TrimSpace(e.must(t, dir, crane, "digest", bare(ref)))
	}
	writeImage(t, filepath.Join(dir, "image/operand"), nil, filepath.Join(dir, "community"), "files/")
	operand := digest("team/operand", "image/operand")
	edit(t, filepath.Join(dir, "bundle/manifests/csv.yaml"), "\nspec:\n", "\nspec:\n  relatedImages: [{name: main, image: \""+operand+"\"}]\n")
	edit(t, filepath.Join(dir, "bundle/manifests/csv.yaml"), "example.com/demo:1", operand)
	writeImage(t, filepath.Join(dir, "image/bundle"), bundleLabels, filepath.Join(dir, "bundle"), "")
	bundle := digest("team/demo", "image/bundle")
	edit(t, filepath.Join(dir, "template.yaml"), "example.com/demo:1", bundle)
	catalog := e.must(t, dir, olmkit, "render", "template.yaml", "--from", bundle+"=docker://"+bundle, "-o", "yaml")
	check(t, os.WriteFile(filepath.Join(dir, "made.yaml"), []byte(catalog), 0o666))
	list := e.must(t, dir, olmkit, "subset", "made.yaml", "-p", "demo", "-o", "images")
	if list != bundle+"\n"+operand+"\n" {
		t.Errorf("the images are\n%swant\n%s\n%s", list, bundle, operand)
	}
	for image := range strings.Lines(list) {
		image = strings.TrimSpace(image)
		e.must(t, dir, crane, "copy", image, strings.Replace(strings.Replace(image, from.host, to.host+"/mirror", 1), "@sha256:", ":", 1))
	}
}
