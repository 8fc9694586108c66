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

// TestHostile proves that what must not be unpacked is not, and that the error
// says why.
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
		{"dot dot", with(item{"../../etc/passwd", "x", 0}), new(*oci.UnsafeError), `"../../etc/passwd" is a name that leads out of the image`},
		{"dot dot inside", with(item{"manifests/../../x", "x", 0}), new(*oci.UnsafeError), "leads out of the image"},
		{"dot dot elsewhere", with(item{"bin/../../x", "x", 0}), new(*oci.UnsafeError), "leads out of the image"},
		{"symbolic link out", with(item{"manifests/x.yaml", "/etc/passwd", tar.TypeSymlink}), new(*oci.UnsafeError), `"manifests/x.yaml" is a link to "/etc/passwd", which is not a file of the same directory`},
		{"relative link out", with(item{"manifests/x.yaml", "../../../etc/passwd", tar.TypeSymlink}), new(*oci.UnsafeError), "not a file of the same directory"},
		{"links in a circle", with(item{"manifests/x", "y", tar.TypeSymlink}, item{"manifests/y", "x", tar.TypeSymlink}), new(*oci.UnsafeError), `is a link in a circle`},
		{"link to a directory", with(item{"manifests/d", "", tar.TypeDir}, item{"manifests/x", "d", tar.TypeSymlink}), new(*oci.UnsafeError), `is a link to a directory`},
		{"hard link out", with(item{"manifests/x.yaml", "etc/shadow", tar.TypeLink}), new(*oci.UnsafeError), "not a file of the same directory"},
		{"hard link dot dot", with(item{"manifests/x.yaml", "../csv.yaml", tar.TypeLink}), new(*oci.UnsafeError), "not a file of the same directory"},
		{"device", with(item{"manifests/null", "", tar.TypeChar}), new(*oci.UnsafeError), `"manifests/null" is a special file, such as a device`},
		{"the directory is a link", image(t, bundleLabels, append(files("data/csv.yaml", csv), item{"manifests", "data", tar.TypeSymlink})), new(*oci.UnsafeError), `"manifests" is not a directory, and label ` + oci.LabelManifests + `=manifests needs one`},
		{"the directory is a file", image(t, bundleLabels, files("manifests", csv)), new(*oci.UnsafeError), `"manifests" is not a directory`},
		{"backslash", with(item{`manifests/a\b`, "x", 0}), new(*oci.UnsafeError), "not every system understands"},
		{"no UTF-8", with(item{"manifests/a\xff", "x", 0}), new(*oci.UnsafeError), "not every system understands"},
		{"large file", with(item{"manifests/large", strings.Repeat("x", 5000), 0}), new(*oci.LimitError), "its files have more than 4096 bytes; raise Limits.Bytes if that is right"},
		{"many files", with(files("manifests/1", "", "manifests/2", "", "manifests/3", "", "manifests/4", "", "manifests/5", "", "manifests/6", "", "manifests/7", "", "manifests/8", "", "manifests/9", "", "manifests/10", "")...), new(*oci.LimitError), "it has more than 10 files and directories; raise Limits.Files if that is right"},
		{"gzip bomb beside", with(item{"bin/opm", zeros, 0}), new(*oci.LimitError), "its layers hold more than 1048576 bytes; raise Limits.Scan if that is right"},
		{"gzip bomb inside", with(item{"manifests/x", zeros, 0}), new(*oci.LimitError), "its files have more than 4096 bytes"},
		{"gzip bomb behind the archive", imageOf(t, bundleLabels, static.NewLayer(zipped(t, append(archive(t, files("manifests/csv.yaml", csv)), zeros...)), types.DockerLayer)), new(*oci.LimitError), "its layers hold more than 1048576 bytes"},
		{"large download", imageOf(t, bundleLabels, static.NewLayer(bytes.Repeat([]byte("x"), 2<<20), types.DockerLayer)), new(*oci.LimitError), "its layers have more than 1048576 bytes; raise Limits.Download if that is right"},
		{"many layers", imageOf(t, bundleLabels, many(4)...), new(*oci.LimitError), "it has more than 3 layers; raise Limits.Layers if that is right"},
		{"a layer elsewhere", foreign, new(*oci.UnsafeError), "is a layer that lies at an address outside of the registry"},
		{"cut archive", imageOf(t, bundleLabels, layerOf(t, cut[:530])), nil, "layer 1 of 1: unexpected EOF"},
		{"no archive", imageOf(t, bundleLabels, static.NewLayer([]byte("hello"), types.DockerLayer)), nil, "layer 1 of 1: "},
		{"no label", image(t, nil, files("manifests/csv.yaml", csv)), new(*oci.LabelError), "it has no label " + oci.LabelManifests + ": it is no bundle image"},
		{"another media type", image(t, map[string]string{oci.LabelMediaType: "helm+v1", oci.LabelManifests: "manifests/"}, files("manifests/csv.yaml", csv)), new(*oci.LabelError), "its label " + oci.LabelMediaType + "=helm+v1 is no registry+v1"},
		{"label dot dot", image(t, map[string]string{oci.LabelManifests: "../manifests"}, files("manifests/csv.yaml", csv)), new(*oci.LabelError), "=../manifests names no directory in the image"},
		{"label of the root", image(t, map[string]string{oci.LabelManifests: "/"}, files("csv.yaml", csv)), new(*oci.LabelError), "=/ names no directory in the image"},
		{"empty directory", image(t, bundleLabels, files("other/csv.yaml", csv)), new(*oci.LabelError), "names a directory that the image does not have, or that is empty"},
		{"no object", with(item{"manifests/README.md", "Hello: world\n", 0}), new(*oci.ManifestError), "manifests/README.md: document 1: is no Kubernetes object: it has no kind, apiVersion or name"},
		{"aliases (S1)", with(item{"manifests/x.yaml", config("a") + doubled(20), 0}), new(*oci.ManifestError), "manifests/x.yaml: document 1: the YAML expands to more than 67108864 bytes"},
		{"tags (S1)", with(item{"manifests/x.yaml", "%TAG !e! tag:x\n" + config("a"), 0}), new(*oci.ManifestError), "manifests/x.yaml: document 1: %TAG directives are not supported"},
		{"no YAML", with(item{"manifests/x.yaml", config("a") + "---\na: [\n", 0}), new(*oci.ManifestError), "manifests/x.yaml: document 2: "},
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
		!strings.Contains(err.Error(), "it has no label "+oci.LabelConfigs+": only catalogs in files can be read, not those in a database") {
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

// TestDigest proves that a registry cannot pass something off as something else.
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
