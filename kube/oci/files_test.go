package oci_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmkit/olmkit/kube/oci"
)

var configs = map[string]string{oci.LabelConfigs: "/configs"}

// writeLayout writes an OCI layout with images by tag.
func writeLayout(t *testing.T, dir string, tagged map[string]mutate.Appendable) {
	t.Helper()
	l, err := layout.Write(dir, empty.Index)
	if err != nil {
		t.Fatal(err)
	}
	for tag, what := range tagged {
		o := layout.WithAnnotations(map[string]string{"org.opencontainers.image.ref.name": tag})
		switch x := what.(type) {
		case v1.Image:
			err = l.AppendImage(x, o)
		case v1.ImageIndex:
			err = l.AppendIndex(x, o)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestFiles reads a catalog from an image in each kind of file.
func TestFiles(t *testing.T) {
	dir := t.TempDir()
	img := image(t, configs, files("configs/a.yaml", "1"), files("etc/passwd", "x"), files("configs/b.yaml", "2", "configs/.wh.a.yaml", ""))
	index := mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: image(t, configs, files("configs/s390x.yaml", "1")), Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "s390x"}}},
		mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "linux", Architecture: "amd64"}}})
	writeLayout(t, dir+"/one", map[string]mutate.Appendable{"v1": img})
	writeLayout(t, dir+"/two", map[string]mutate.Appendable{"v1": img, "v2": index})
	saved, err := name.NewTag("quay.io/example/catalog:v1")
	if err == nil {
		err = tarball.WriteToFile(dir+"/saved.tar", saved, img)
	}
	if err != nil {
		t.Fatal(err)
	}
	compress(t, dir+"/saved.tar")
	archiveOf(t, dir+"/two", dir+"/two.tar")
	stdin, err := os.Open(dir + "/saved.tar.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()

	p := oci.New(&oci.Options{Stdin: stdin, Dir: dir + "/cache"})
	for _, ref := range []string{
		"oci:" + dir + "/one", "oci:" + dir + "/one:v1", "oci:" + dir + "/two:v1", "oci:" + dir + "/two:v2",
		"oci-archive:" + dir + "/two.tar:v2",
		"docker-archive:" + dir + "/saved.tar", "docker-archive:" + dir + "/saved.tar:v1", "docker-archive:" + dir + "/saved.tar.gz",
		"docker-archive:-",
	} {
		got, err := p.CatalogFile(t.Context(), ref)
		if err != nil {
			t.Errorf("%s: %v", ref, err)
			continue
		}
		list, err := fs.Glob(got.FS, "*")
		if err != nil || strings.Join(list, " ") != "b.yaml" {
			t.Errorf("%s has %v, %v; want b.yaml", ref, list, err)
		}
		if !oci.IsFile(ref) {
			t.Errorf("IsFile(%s) = false", ref)
		}
	}
	if left, _ := filepath.Glob(dir + "/cache/*.tmp"); len(left) > 0 {
		t.Errorf("temporary files remain: %v", left)
	}

	bundle := image(t, map[string]string{oci.LabelManifests: "manifests/"}, files("manifests/a.yaml", "{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"))
	writeLayout(t, dir+"/bundle", map[string]mutate.Appendable{"v1": bundle})
	b, err := p.BundleFile(t.Context(), "oci:"+dir+"/bundle")
	if err != nil || len(b.Objects) != 1 {
		t.Errorf("BundleFile = %v, %v", b, err)
	}
}

// TestFilesRefused checks the errors for invalid images in files.
func TestFilesRefused(t *testing.T) {
	dir := t.TempDir()
	img := image(t, configs, files("configs/a.yaml", "1"))
	writeLayout(t, dir+"/two", map[string]mutate.Appendable{"v1": img, "v2": image(t, configs, files("configs/b.yaml", "1"))})
	writeLayout(t, dir+"/bundle", map[string]mutate.Appendable{"v1": image(t, map[string]string{oci.LabelManifests: "manifests/"}, files("manifests/a.yaml", "1"))})
	writeLayout(t, dir+"/unsafe", map[string]mutate.Appendable{"v1": image(t, configs, []item{{name: "configs/a", content: "/etc/passwd", typ: tar.TypeSymlink}})})
	writeLayout(t, dir+"/empty", map[string]mutate.Appendable{"v1": mutate.AppendManifests(empty.Index,
		mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: "unknown", Architecture: "unknown"}}})})

	// A layer whose bytes differ from its digest.
	writeLayout(t, dir+"/changed", map[string]mutate.Appendable{"v1": img})
	layers, err := img.Layers()
	if err != nil {
		t.Fatal(err)
	}
	digest, err := layers[0].Digest()
	if err != nil {
		t.Fatal(err)
	}
	other, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) {
		return io.NopCloser(strings.NewReader(string(archive(t, files("configs/a.yaml", "changed"))))), nil
	})
	if err != nil {
		t.Fatal(err)
	}
	content, err := other.Compressed()
	if err != nil {
		t.Fatal(err)
	}
	blob, err := os.Create(filepath.Join(dir, "changed/blobs/sha256", digest.Hex))
	if err == nil {
		_, err = blob.ReadFrom(content)
	}
	if err != nil {
		t.Fatal(err)
	}
	blob.Close()

	// A blob that is a link to a file outside the layout.
	writeLayout(t, dir+"/linked", map[string]mutate.Appendable{"v1": img})
	at := filepath.Join(dir, "linked/blobs/sha256", digest.Hex)
	text, err := os.ReadFile(at)
	if err == nil {
		err = os.WriteFile(dir+"/outside", text, 0o600)
	}
	if err == nil {
		err = os.Remove(at)
	}
	if err == nil {
		err = os.Symlink(dir+"/outside", at)
	}
	if err != nil {
		t.Fatal(err)
	}

	if err := os.MkdirAll(dir+"/schema1", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/schema1/manifest.json", []byte(`{"schemaVersion":1,"name":"x","tag":"y","fsLayers":[]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(dir+"/text", []byte("not an archive"), 0o600); err != nil {
		t.Fatal(err)
	}

	for _, tt := range []struct {
		ref    string
		target any
		want   string
	}{
		{"oci:" + dir + "/two", new(*oci.TagError), "add one: it has v1, v2"},
		{"oci:" + dir + "/two:v3", new(*oci.TagError), `no image has tag "v3"; it has v1, v2`},
		{"oci:" + dir + "/bundle", new(*oci.LabelError), "the image is a bundle, not a catalog"},
		{"oci:" + dir + "/unsafe", new(*oci.UnsafeError), "is a link to"},
		{"oci:" + dir + "/empty", new(*oci.IndexError), "lists only attestations or artifacts"},
		{"oci:" + dir + "/changed", new(*oci.DigestError), "the content has digest sha256:"},
		{"oci:" + dir + "/linked", nil, "leads out of"},
		{"oci:" + dir + "/nowhere", nil, "no such file"},
		{"dir:" + dir + "/schema1", new(*oci.FormatError), "schema version 1"},
		{"docker-archive:" + dir + "/text", nil, "not a whole tar archive"},
		{"docker-archive:-", nil, "no standard input"},
	} {
		_, err := oci.New(nil).CatalogFile(t.Context(), tt.ref)
		var e *oci.Error
		if !errors.As(err, &e) || e.Ref != tt.ref || tt.target != nil && !errors.As(err, tt.target) || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v\nwant a %T: %s", tt.ref, err, tt.target, tt.want)
		}
	}

	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := oci.New(nil).CatalogFile(ctx, "oci:"+dir+"/two:v1"); !errors.Is(err, context.Canceled) {
		t.Errorf("with a canceled context: %v", err)
	}
}

// TestSchema1 pulls an image that exists only in schema version 1.
func TestSchema1(t *testing.T) {
	e := &oci.FormatError{MediaType: string(types.DockerManifestSchema1Signed)}
	if !strings.Contains(e.Error(), "schema version 1") {
		t.Error(e)
	}
}

func archiveOf(t *testing.T, dir, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := tar.NewWriter(f)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close()); err != nil {
		t.Fatal(err)
	}
}

func compress(t *testing.T, name string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(name + ".gz")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	w := gzip.NewWriter(f)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
