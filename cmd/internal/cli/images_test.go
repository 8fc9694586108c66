package cli_test

import (
	"archive/tar"
	"bytes"
	"embed"
	"io"
	"io/fs"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/cmd/internal/cli"
	"github.com/olmkit/olmkit/internal/sample"
)

// catalogCommands returns the command lines of testdata/references/commands.txt.
func catalogCommands(t *testing.T) [][]string {
	t.Helper()
	text, err := references.ReadFile("testdata/references/commands.txt")
	check(t, err)
	var out [][]string
	for line := range strings.Lines(string(text)) {
		if !strings.HasPrefix(line, "#") {
			out = append(out, strings.Fields(line))
		}
	}
	return out
}

// references holds the command lines of TestReferences and their files, except for the sample catalog.
//
//go:embed testdata/references
var references embed.FS

// TestReferences checks that a command prints the same for a catalog in an image or on a server as for its directory.
func TestReferences(t *testing.T) {
	place := newPlaces(t)
	for _, command := range catalogCommands(t) {
		line := strings.Join(command, " ")
		for _, p := range place.list {
			// A catalog is named after its directory, or after its reference.
			dir := "community"
			if p.stdin != "" {
				dir = "stdin"
			}
			want, wantErr, wantCode := run(t, "", command, dir, "other")
			if wantCode == 2 && command[0] != "merge" { // which reports where both catalogs have a package
				t.Fatalf("%s: exit code 2: %s", line, wantErr)
			}
			got, stderr, code := run(t, p.stdin, command, p.catalog, p.other)
			if wantCode == 2 {
				got, want = withoutNotes(stderr), wantErr
			}
			for _, shown := range []struct{ from, to string }{{p.catalog, dir}, {p.other, "other"}} {
				got = strings.ReplaceAll(got, shown.from, shown.to)
				if _, at, ok := strings.Cut(shown.from, "://"); ok {
					got = strings.ReplaceAll(got, at, shown.to)
				}
			}
			if got != want || code != wantCode {
				t.Errorf("%s over %s: exit code %d, want %d; stderr %q\n%s", line, p.catalog, code, wantCode, stderr, firstDifference(got, want))
			}
		}
	}
}

// TestReferencesComplete checks that commands.txt has every command that takes a catalog.
func TestReferencesComplete(t *testing.T) {
	tested := map[string]bool{}
	for _, c := range catalogCommands(t) {
		tested[c[0]] = true
	}
	for _, cmd := range cli.Command().Commands() {
		takes := strings.Contains(cmd.Use, "CATALOG") || cmd.Flags().Lookup("catalog") != nil
		for _, sub := range append([]*cobra.Command{cmd}, cmd.Commands()...) {
			takes = takes || strings.Contains(sub.Use, "CATALOG") || sub.Flags().Lookup("catalog") != nil
		}
		if takes && !tested[cmd.Name()] {
			t.Errorf("commands.txt lacks %s", cmd.Name())
		}
	}
}

func withoutNotes(stderr string) string {
	var b strings.Builder
	for line := range strings.Lines(stderr) {
		if !strings.HasPrefix(line, "note: ") {
			b.WriteString(line)
		}
	}
	return b.String()
}

func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range min(len(g), len(w)) {
		if g[i] != w[i] {
			return "got  " + g[i] + "\nwant " + w[i]
		}
	}
	return "one is longer:\n" + strings.Join(g[min(len(g), len(w)):], "\n") + strings.Join(w[min(len(g), len(w)):], "\n")
}

// run runs a command line in this process.
func run(t *testing.T, stdin string, args []string, catalog, other string) (stdout, stderr string, code int) {
	t.Helper()
	var in io.Reader = strings.NewReader("")
	if stdin != "" {
		f, err := os.Open(stdin)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		in = f
	}
	var line []string
	for _, a := range args {
		line = append(line, strings.NewReplacer("CATALOG", catalog, "OTHER", other).Replace(a))
	}
	var out, err bytes.Buffer
	code = cli.Run(t.Context(), line, in, &out, &err)
	return out.String(), err.String(), code
}

// The places where the same two catalogs are.
type places struct {
	server *httptest.Server
	host   string
	list   []placed
}

type placed struct{ catalog, other, stdin string }

func newPlaces(t *testing.T) *places {
	t.Helper()
	dir := t.TempDir()
	files, err := fs.Sub(references, "testdata/references")
	check(t, err)
	check(t, os.CopyFS(dir, files))
	t.Chdir(dir)
	t.Setenv("XDG_CACHE_HOME", filepath.Join(dir, "cache"))
	t.Setenv("HOME", dir)
	check(t, os.CopyFS("community", sample.Catalog()))
	check(t, os.CopyFS("other", sample.Catalog()))
	check(t, os.RemoveAll("other/grafana"))
	addManifests(t, "community/demo.json")
	check(t, os.CopyFS("stdin", os.DirFS("community")))
	server := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	t.Cleanup(server.Close)
	p := &places{server: server, host: strings.TrimPrefix(server.URL, "http://")}
	images := map[string]v1.Image{}
	digests := map[string]string{}
	for _, n := range []string{"community", "other"} {
		img := catalogImage(t, n)
		images[n] = img
		ref := p.ref(t, n)
		check(t, remote.Write(ref, img))
		d, err := img.Digest()
		check(t, err)
		digests[n] = ref.Context().Digest(d.String()).String()

		l, err := layout.Write("layout/"+n, empty.Index)
		check(t, err)
		check(t, l.AppendImage(img, layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": "v1"})))
		check(t, os.MkdirAll("archive", 0o777))
		tarOf(t, "layout/"+n, "archive/"+n+".tar")
		check(t, os.MkdirAll("docker", 0o777))
		check(t, tarball.WriteToFile("docker/"+n+".tar", ref, img))
		writeDir(t, "saved/"+n, img)
	}
	p.list = []placed{
		{catalog: "docker://" + p.ref(t, "community").String(), other: "docker://" + p.ref(t, "other").String()},
		{catalog: digests["community"], other: p.ref(t, "other").String()},
		{catalog: "oci:layout/community", other: "oci:layout/other:v1"},
		{catalog: "oci-archive:archive/community.tar", other: "oci-archive:archive/other.tar:v1"},
		{catalog: "docker-archive:docker/community.tar", other: "docker-archive:docker/other.tar:v1"},
		{catalog: "docker-archive:-", other: "dir:saved/other", stdin: "docker/community.tar"},
		{catalog: "dir:saved/community", other: "other"},
	}
	return p
}

func (p *places) ref(t *testing.T, repo string) name.Reference {
	ref, err := name.ParseReference(p.host + "/team/" + repo + ":v1")
	check(t, err)
	return ref
}

// catalogImage returns an image with a catalog in /configs.
func catalogImage(t *testing.T, dir string) v1.Image {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	check(t, fs.WalkDir(os.DirFS(dir), ".", func(p string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		text, err := fs.ReadFile(os.DirFS(dir), p)
		check(t, err)
		check(t, w.WriteHeader(&tar.Header{Name: "configs/" + p, Mode: 0o644, Size: int64(len(text))}))
		_, err = w.Write(text)
		return err
	}))
	check(t, w.Close())
	return imageOf(t, map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}, b.Bytes())
}

func imageOf(t *testing.T, labels map[string]string, layer []byte) v1.Image {
	t.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(layer)), nil })
	check(t, err)
	img, err := mutate.AppendLayers(empty.Image, l)
	check(t, err)
	config, err := img.ConfigFile()
	check(t, err)
	config = config.DeepCopy()
	config.Config.Labels = labels
	img, err = mutate.ConfigFile(img, config)
	check(t, err)
	return img
}

// tarOf writes an archive of a directory.
func tarOf(t *testing.T, dir, name string) {
	t.Helper()
	f, err := os.Create(name)
	check(t, err)
	defer f.Close()
	w := tar.NewWriter(f)
	check(t, w.AddFS(os.DirFS(dir)))
	check(t, w.Close())
}

// writeDir writes an image in the format of skopeo copy to dir:DIR.
func writeDir(t *testing.T, dir string, img v1.Image) {
	t.Helper()
	check(t, os.MkdirAll(dir, 0o777))
	manifest, err := img.RawManifest()
	check(t, err)
	check(t, os.WriteFile(dir+"/manifest.json", manifest, 0o666))
	check(t, os.WriteFile(dir+"/version", []byte("Directory Transport Version: 1.1\n"), 0o666))
	config, err := img.RawConfigFile()
	check(t, err)
	h, err := img.ConfigName()
	check(t, err)
	check(t, os.WriteFile(filepath.Join(dir, h.Hex), config, 0o666))
	layers, err := img.Layers()
	check(t, err)
	for _, l := range layers {
		h, err := l.Digest()
		check(t, err)
		r, err := l.Compressed()
		check(t, err)
		text, err := io.ReadAll(r)
		check(t, err)
		check(t, os.WriteFile(filepath.Join(dir, h.Hex), text, 0o666))
	}
}

// TestServedCatalog checks that https:// and http:// read a catalog as catalogd serves it.
func TestServedCatalog(t *testing.T) {
	newPlaces(t)
	all, _, code := run(t, "", []string{"fmt", "community", "-o", "jsonl"}, "", "")
	if code != 0 {
		t.Fatalf("fmt: exit code %d", code)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/catalogs/community/api/v1/all" {
			http.NotFound(w, r)
			return
		}
		io.WriteString(w, all)
	}))
	defer server.Close()
	for _, command := range [][]string{
		{"list", "bundles", "CATALOG", "etcd"},
		{"resolve", "CATALOG", "--package", "etcd"},
		{"extract", "CATALOG", "--package", "etcd"},
	} {
		want, _, _ := run(t, "", command, "community", "")
		got, stderr, code := run(t, "", command, server.URL+"/catalogs/community/", "")
		if got != want || code != 0 {
			t.Errorf("%v: exit code %d, %s\n%s", command, code, stderr, firstDifference(got, want))
		}
	}
	_, stderr, code := run(t, "", []string{"list", "packages", "CATALOG"}, server.URL+"/nowhere", "")
	if code != 2 || !strings.Contains(stderr, server.URL+"/nowhere") {
		t.Errorf("a catalog that is not served: exit code %d, %s", code, stderr)
	}
}

// TestReferenceNotes checks that a note explains how an ambiguous argument was read.
func TestReferenceNotes(t *testing.T) {
	p := newPlaces(t)
	bare := p.ref(t, "community").String()
	if _, stderr, _ := run(t, "", []string{"list", "packages", bare}, "", ""); stderr != "note: "+bare+" is not a path; reading image docker://"+bare+"\n" {
		t.Errorf("a bare reference: %q", stderr)
	}
	check(t, os.CopyFS(filepath.FromSlash(bare), os.DirFS("other")))
	if out, stderr, _ := run(t, "", []string{"list", "packages", bare}, "", ""); stderr != "note: "+bare+" exists; reading that path; write docker://"+bare+" for the image\n" || strings.Contains(out, "grafana") {
		t.Errorf("a path that exists: %q, %s", stderr, out)
	}
}

// TestReferenceErrors checks that an error names the catalog and what is wrong.
func TestReferenceErrors(t *testing.T) {
	p := newPlaces(t)
	check(t, remote.Write(p.ref(t, "bundle"), imageOf(t, map[string]string{"operators.operatorframework.io.bundle.manifests.v1": "manifests/"}, nil)))
	check(t, remote.Write(p.ref(t, "plain"), imageOf(t, nil, nil)))
	tarOf(t, "bundle", "archive.tar")
	for _, tt := range []struct{ arg, want string }{
		{"docker://" + p.ref(t, "bundle").String(), "the image is a bundle, not a catalog"},
		{"docker://" + p.ref(t, "plain").String(), "the image is not a catalog"},
		{"docker://" + p.ref(t, "missing").String(), "catalog docker://" + p.ref(t, "missing").String() + ": "},
		{"oci:layout/community:v2", `no image has tag "v2"; it has v1`},
		{"oci:nowhere", "catalog oci:nowhere: "},
		{"docker-archive:-", "the archive is empty; if it is standard input, pipe an archive in"},
		{"dir:layout/community", "manifest.json is missing; write oci:layout/community"},
		{"dir:community", "manifest.json is missing, so this is not an image"},
		{"docker://Registry/UPPER:v1", "not a reference to an image; write REGISTRY/REPOSITORY:TAG"},
		{"quay.io/team/catalog", "for an image, add its tag: quay.io/team/catalog:TAG"},
		{"docker:quay.io/team/catalog:v1", "for the image, write docker://quay.io/team/catalog:v1"},
		{"containers-storage:quay.io/team/catalog:v1", `run "podman save IMAGE | olmkit … docker-archive:-"`},
		{"archive.tar", "write docker-archive: or oci-archive: before its name"},
		{"docker-archive:state.yaml", "not a whole tar archive"},
	} {
		_, stderr, code := run(t, "", []string{"list", "packages", "CATALOG"}, tt.arg, "")
		if code != 2 || !strings.Contains(stderr, tt.want) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%s: exit code %d, %q; want %q", tt.arg, code, stderr, tt.want)
		}
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// addManifests writes a package whose bundle has its manifests in the catalog.
func addManifests(t *testing.T, name string) {
	t.Helper()
	catalog, stderr, code := run(t, "", []string{"render", "template.yaml", "--from", "example.com/demo:1=bundle", "--data", "objects", "-o", "jsonl"}, "", "")
	if code != 0 {
		t.Fatalf("render: exit code %d, %s", code, stderr)
	}
	check(t, os.WriteFile(name, []byte(catalog), 0o666))
}

// TestRenderImages checks that render prints the same for a bundle image as for its directory.
func TestRenderImages(t *testing.T) {
	p := newPlaces(t)
	labels := map[string]string{
		"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
		"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
		"operators.operatorframework.io.bundle.metadata.v1":  "metadata/",
	}
	check(t, os.WriteFile("bundle/metadata/dependencies.yaml", []byte("dependencies: [{type: olm.package, value: {packageName: other, version: '>1.0.0'}}]\n"), 0o666))
	tarOf(t, "bundle", "bundle.tar")
	layer, err := os.ReadFile("bundle.tar")
	check(t, err)
	img := imageOf(t, labels, layer)
	ref := p.ref(t, "demo").String()
	check(t, remote.Write(p.ref(t, "demo"), img))
	l, err := layout.Write("layout/demo", empty.Index)
	check(t, err)
	check(t, l.AppendImage(img))
	check(t, os.WriteFile("image.yaml", []byte("schema: olm.template.basic\nentries:\n- {schema: olm.package, name: demo, defaultChannel: stable}\n- {schema: olm.channel, package: demo, name: stable, entries: [{name: demo.v1.0.0}]}\n- {schema: olm.bundle, image: \""+ref+"\"}\n"), 0o666))
	for _, tt := range []struct{ dir, image []string }{
		{[]string{"render", ref + "=bundle"}, []string{"render", "docker://" + ref}},
		{[]string{"render", ref + "=bundle"}, []string{"render", "oci:layout/demo", "--image", ref}},
		{[]string{"render", ref + "=bundle"}, []string{"render", ref + "=oci:layout/demo"}},
		{[]string{"render", "image.yaml", "--from", ref + "=bundle"}, []string{"render", "image.yaml", "--from", ref + "=docker://" + ref}},
	} {
		want, stderr, code := run(t, "", tt.dir, "", "")
		if code != 0 {
			t.Fatalf("%v: exit code %d, %s", tt.dir, code, stderr)
		}
		if got, stderr, code := run(t, "", tt.image, "", ""); got != want || code != 0 {
			t.Errorf("%v: exit code %d, %s%s", tt.image, code, stderr, firstDifference(got, want))
		}
	}
	for _, image := range []string{"docker://" + ref, "oci:layout/demo"} {
		got, stderr, code := run(t, "", []string{"validate", image}, "", "")
		want, _, wantCode := run(t, "", []string{"validate", "bundle"}, "", "")
		got = strings.NewReplacer(image+" is", "bundle is", strings.TrimPrefix(image, "docker://")+"/manifests", "bundle/manifests").Replace(got)
		if got != want || code != wantCode {
			t.Errorf("validate %s: exit code %d, %s\n%s", image, code, stderr, firstDifference(got, want))
		}
		got, stderr, code = run(t, "", []string{"manifests", image, "-n", "ops"}, "", "")
		if want, notes, wantCode := run(t, "", []string{"manifests", "bundle", "-n", "ops"}, "", ""); got != want || code != wantCode || stderr != notes || !strings.Contains(notes, "dependencies.yaml is not used here") {
			t.Errorf("manifests %s: exit code %d, %s\n%s", image, code, stderr, firstDifference(got, want))
		}
	}
	if _, stderr, code := run(t, "", []string{"render", "x=oci:layout/community"}, "", ""); code != 2 || !strings.Contains(stderr, "bundle oci:layout/community: ") || !strings.Contains(stderr, "the image is a catalog, not a bundle") {
		t.Errorf("a catalog instead of a bundle: exit code %d, %s", code, stderr)
	}
}
