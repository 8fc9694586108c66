package registrytest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMirror runs the loop of docs/recipes/mirror.md: skopeo copies all images that olmkit lists
// to a second registry, from which olmkit then reads them.
func TestMirror(t *testing.T) {
	from, to := newRegistry(t, "token"), newRegistry(t, "htpasswd")
	e := env(t, from, to)
	dir := newCatalogs(t, e)

	// A bundle and its operand, pinned by digest, in a catalog.
	digest := func(repo, image string) string {
		ref := from.ref(repo, "v1")
		e.copy(t, dir, "dir:"+image, ref)
		d := strings.TrimSpace(e.must(t, dir, "skopeo", "inspect", "--format", "{{.Digest}}", ref))
		return strings.TrimSuffix(strings.TrimPrefix(ref, "docker://"), ":v1") + "@" + d
	}
	writeImage(t, filepath.Join(dir, "image/operand"), nil, filepath.Join(dir, "bundle/metadata"), "usr/")
	operand := digest("team/operand", "image/operand")
	edit(t, filepath.Join(dir, "bundle/manifests/csv.yaml"), "\nspec:\n", fmt.Sprintf("\nspec:\n  relatedImages: [{name: main, image: %q}]\n", operand))
	edit(t, filepath.Join(dir, "bundle/manifests/csv.yaml"), "example.com/demo:1", operand)
	writeImage(t, filepath.Join(dir, "image/bundle"), bundleLabels, filepath.Join(dir, "bundle"), "")
	bundle := digest("team/demo", "image/bundle")
	edit(t, filepath.Join(dir, "template.yaml"), "example.com/demo:1", bundle)
	check(t, os.MkdirAll(filepath.Join(dir, "catalog"), 0o777))
	catalog := e.must(t, dir, olmkit, "render", "template.yaml", "--from", bundle+"=docker://"+bundle, "-o", "yaml")
	check(t, os.WriteFile(filepath.Join(dir, "catalog/catalog.yaml"), []byte(catalog), 0o666))
	writeImage(t, filepath.Join(dir, "image/catalog"), catalogLabels, filepath.Join(dir, "catalog"), "configs/")
	index := from.ref("team/catalog", "v1")
	e.copy(t, dir, "dir:image/catalog", index)

	page, err := os.ReadFile("../../../../docs/recipes/mirror.md")
	check(t, err)
	block := regexp.MustCompile("(?s)```text\n(olmkit subset .*?)```").FindSubmatch(page)
	if block == nil {
		t.Fatal("mirror.md has no loop")
	}
	loop := replaceAll(t, string(block[1]),
		"olmkit subset ", olmkit+" subset ",
		"registry.redhat.io/redhat/redhat-operator-index:v4.19 -p etcd", index+" -p demo",
		"skopeo copy", "skopeo --insecure-policy copy -q",
		"registry.example.com", to.host)
	e.must(t, dir, "sh", "-euc", loop)

	for _, image := range []string{bundle, operand} {
		mirrored := strings.Replace(image, from.host, to.host+"/mirror", 1)
		e.must(t, dir, "skopeo", "inspect", "--raw", "docker://"+mirrored)
	}
	list, err := os.ReadFile(filepath.Join(dir, "images.txt"))
	check(t, err)
	if want := bundle + "\n" + operand + "\n"; string(list) != want {
		t.Errorf("the list is\n%swant\n%s", list, want)
	}

	// The mirror suffices once the source is gone.
	mirrors := fmt.Sprintf("apiVersion: config.openshift.io/v1\nkind: ImageDigestMirrorSet\nmetadata: {name: m}\nspec: {imageDigestMirrors: [{source: %s, mirrors: [%s/mirror]}]}\n", from.host, to.host)
	check(t, os.WriteFile(filepath.Join(dir, "mirrors.yaml"), []byte(mirrors), 0o666))
	from.Close()
	if got := e.must(t, dir, olmkit, "render", "template.yaml", "--from", bundle+"=docker://"+bundle, "--mirrors", "mirrors.yaml", "--no-cache", "-o", "yaml"); got != catalog {
		t.Errorf("from the mirror: %s", firstDifference(got, catalog))
	}
}

// edit replaces text that a file has.
func edit(t *testing.T, file, from, to string) {
	t.Helper()
	text, err := os.ReadFile(file)
	check(t, err)
	check(t, os.WriteFile(file, []byte(replaceAll(t, string(text), from, to)), 0o600))
}

// replaceAll replaces pairs of texts, each of which must be there.
func replaceAll(t *testing.T, text string, pairs ...string) string {
	t.Helper()
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(text, pairs[i]) {
			t.Fatalf("%q is not in %s", pairs[i], text)
		}
		text = strings.ReplaceAll(text, pairs[i], pairs[i+1])
	}
	return text
}
