package oci_test

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/olmkit/olmkit/kube/oci"
)

// TestHostile checks that unsafe images are rejected with an error that states
// why.
func TestHostile(t *testing.T) {
	r := newRegistry(t)
	with := func(more ...item) v1.Image {
		return image(t, bundleLabels, append(files("manifests/csv.yaml", csv), more...))
	}
	small := oci.Limits{Download: 1 << 20, Scan: 1 << 20, Bytes: 4 << 10, Files: 10, Layers: 3}
	zeros := strings.Repeat("\x00", 64<<20)
	foreign, err := mutate.Append(with(), mutate.Addendum{Layer: layerOf(t, archive(t, nil)), URLs: []string{"http://elsewhere.example/layer"}, MediaType: types.DockerForeignLayer})
	if err != nil {
		t.Fatal(err)
	}
	many := func(n int) []v1.Layer {
		var out []v1.Layer
		for range n {
			out = append(out, layerOf(t, archive(t, files("manifests/csv.yaml", csv))))
		}
		return out
	}
	cut := archive(t, files("manifests/csv.yaml", csv, "manifests/b.yaml", config("b")))
	for _, tt := range []struct {
		name   string
		img    v1.Image
		target any
		want   string
	}{
		{"dot dot", with(item{"../../etc/passwd", "x", 0}), new(*oci.UnsafeError), `"../../etc/passwd" is a path outside the image`},
		{"dot dot inside", with(item{"manifests/../../x", "x", 0}), new(*oci.UnsafeError), "outside the image"},
		{"dot dot elsewhere", with(item{"bin/../../x", "x", 0}), new(*oci.UnsafeError), "outside the image"},
		{"symbolic link out", with(item{"manifests/x.yaml", "/etc/passwd", tar.TypeSymlink}), new(*oci.UnsafeError), `"manifests/x.yaml" is a link to "/etc/passwd", which is not a file in the same directory`},
		{"relative link out", with(item{"manifests/x.yaml", "../../../etc/passwd", tar.TypeSymlink}), new(*oci.UnsafeError), "not a file in the same directory"},
		{"links in a circle", with(item{"manifests/x", "y", tar.TypeSymlink}, item{"manifests/y", "x", tar.TypeSymlink}), new(*oci.UnsafeError), `is part of a cycle of links`},
		{"link to a directory", with(item{"manifests/d", "", tar.TypeDir}, item{"manifests/x", "d", tar.TypeSymlink}), new(*oci.UnsafeError), `is a link to a directory`},
		{"hard link out", with(item{"manifests/x.yaml", "etc/shadow", tar.TypeLink}), new(*oci.UnsafeError), "not a file in the directories that olmkit unpacks"},
		{"hard link dot dot", with(item{"manifests/x.yaml", "../csv.yaml", tar.TypeLink}), new(*oci.UnsafeError), "not a file in the directories that olmkit unpacks"},
		{"device", with(item{"manifests/null", "", tar.TypeChar}), new(*oci.UnsafeError), `"manifests/null" is a device or another special file`},
		{"the directory is a link", image(t, bundleLabels, append(files("data/csv.yaml", csv), item{"manifests", "data", tar.TypeSymlink})), new(*oci.UnsafeError), `"manifests" is not a directory, as label ` + oci.LabelManifests + `=manifests requires`},
		{"the directory is a file", image(t, bundleLabels, files("manifests", csv)), new(*oci.UnsafeError), `"manifests" is not a directory`},
		{"backslash", with(item{`manifests/a\b`, "x", 0}), new(*oci.UnsafeError), "is not a portable file name"},
		{"no UTF-8", with(item{"manifests/a\xff", "x", 0}), new(*oci.UnsafeError), "is not a portable file name"},
		{"large file", with(item{"manifests/large", strings.Repeat("x", 5000), 0}), new(*oci.LimitError), "the files are larger than 4096 bytes in total; raise the limit on the size of files in images to allow it"},
		{"many files", with(files("manifests/1", "", "manifests/2", "", "manifests/3", "", "manifests/4", "", "manifests/5", "", "manifests/6", "", "manifests/7", "", "manifests/8", "", "manifests/9", "", "manifests/10", "")...), new(*oci.LimitError), "the image has more than 10 files and directories; raise the limit on the number of files in images to allow it"},
		{"gzip bomb elsewhere", with(item{"bin/opm", zeros, 0}), new(*oci.LimitError), "the decompressed layers are larger than 1048576 bytes; raise the limit on decompressed layers in images to allow it"},
		{"gzip bomb inside", with(item{"manifests/x", zeros, 0}), new(*oci.LimitError), "the files are larger than 4096 bytes in total"},
		{"gzip bomb behind the archive", imageOf(t, bundleLabels, static.NewLayer(zipped(t, append(archive(t, files("manifests/csv.yaml", csv)), zeros...)), types.DockerLayer)), new(*oci.LimitError), "the decompressed layers are larger than 1048576 bytes"},
		{"large download", imageOf(t, bundleLabels, static.NewLayer(bytes.Repeat([]byte("x"), 2<<20), types.DockerLayer)), new(*oci.LimitError), "the compressed layers are larger than 1048576 bytes; raise the limit on compressed layers in images to allow it"},
		{"many layers", imageOf(t, bundleLabels, many(4)...), new(*oci.LimitError), "the image has more than 3 layers; raise the limit on layers in images to allow it"},
		{"a layer elsewhere", foreign, new(*oci.UnsafeError), "is a layer stored outside the registry"},
		{"cut archive", imageOf(t, bundleLabels, layerOf(t, cut[:530])), nil, "layer 1 of 1: unexpected EOF"},
		{"no archive", imageOf(t, bundleLabels, static.NewLayer([]byte("hello"), types.DockerLayer)), nil, "layer 1 of 1: "},
		{"no label", image(t, nil, files("manifests/csv.yaml", csv)), new(*oci.LabelError), "label " + oci.LabelManifests + " is missing: the image is not a bundle"},
		{"another media type", image(t, map[string]string{oci.LabelMediaType: "helm+v1", oci.LabelManifests: "manifests/"}, files("manifests/csv.yaml", csv)), new(*oci.LabelError), "label " + oci.LabelMediaType + "=helm+v1 is not registry+v1"},
		{"label dot dot", image(t, map[string]string{oci.LabelManifests: "../manifests"}, files("manifests/csv.yaml", csv)), new(*oci.LabelError), "=../manifests is not a valid directory"},
		{"label of the root", image(t, map[string]string{oci.LabelManifests: "/"}, files("csv.yaml", csv)), new(*oci.LabelError), "=/ is not a valid directory"},
		{"empty directory", image(t, bundleLabels, files("other/csv.yaml", csv)), new(*oci.LabelError), "names a directory that is missing or empty"},
		{"no object", with(item{"manifests/README.md", "Hello: world\n", 0}), new(*oci.ManifestError), "manifests/README.md:1: is not a Kubernetes object: kind, apiVersion or metadata.name is missing"},
		{"aliases (S1)", with(item{"manifests/x.yaml", config("a") + doubled(20), 0}), new(*oci.ManifestError), "manifests/x.yaml:1: the aliases of the YAML expand to more than 67108864 bytes"},
		{"tags (S1)", with(item{"manifests/x.yaml", "%TAG !e! tag:x\n" + config("a"), 0}), new(*oci.ManifestError), "manifests/x.yaml:1: invalid YAML: %TAG directives are not supported"},
		{"no YAML", with(item{"manifests/x.yaml", config("a") + "---\na: [\n", 0}), new(*oci.ManifestError), "manifests/x.yaml:6: invalid YAML: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref := r.push(t, "hostile:v1", tt.img)
			b, err := oci.New(&oci.Options{Bundles: small}).Bundle(t.Context(), ref)
			var e *oci.Error
			if b != nil || !errors.As(err, &e) || e.Ref != ref {
				t.Fatalf("Bundle = %v, %v; want an *Error of %s", b, err, ref)
			}
			if !strings.Contains(err.Error(), tt.want) || tt.target != nil && !errors.As(err, tt.target) {
				t.Errorf("%v\nwant a %T: %s", err, tt.target, tt.want)
			}
		})
	}
	if _, err := oci.New(nil).Catalog(t.Context(), r.push(t, "db:v1", image(t, map[string]string{"operators.operatorframework.io.index.database.v1": "/db"}, files("db", "x")))); err == nil ||
		!strings.Contains(err.Error(), "label "+oci.LabelConfigs+" is missing: the image is a database catalog") {
		t.Errorf("a catalog in a database: %v", err)
	}
}

// doubled returns YAML that aliases expand to a hundred times 2^n bytes.
func doubled(n int) string {
	text := "x0: &x0 " + strings.Repeat("A", 100) + "\n"
	for i := range n {
		text += fmt.Sprintf("x%d: &x%d [*x%d, *x%d]\n", i+1, i+1, i, i)
	}
	return text
}

// TestDigest checks that content that does not match its digest is rejected.
func TestDigest(t *testing.T) {
	for _, part := range []string{"/manifests/sha256", "/blobs/"} {
		for name, change := range map[string]func([]byte) []byte{
			"changed": func(b []byte) []byte { return bytes.Replace(b, []byte("2"), []byte("3"), 1) },
			"longer":  func(b []byte) []byte { return append(b, "\n"...) },
			"shorter": func(b []byte) []byte { return b[:len(b)-1] },
		} {
			t.Run(part+" "+name, func(t *testing.T) {
				r := newRegistry(t)
				ref := r.push(t, "etcd:v1", image(t, bundleLabels, files("manifests/csv.yaml", csv)))
				f := func(path string, body []byte) []byte {
					if strings.Contains(path, part) && len(body) > 1 {
						return change(bytes.Clone(body))
					}
					return body
				}
				r.change.Store(&f)
				if b, err := oci.New(nil).Bundle(t.Context(), ref); err == nil {
					t.Errorf("%v passes", b)
				}
			})
		}
	}
}
