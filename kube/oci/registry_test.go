package oci_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// A testRegistry is a registry in this process. Tests may change its responses.
type testRegistry struct {
	host     string
	requests atomic.Int64
	change   atomic.Pointer[func(path string, body []byte) []byte]
	auth     string // the required Authorization header, if any
}

func newRegistry(t *testing.T) *testRegistry {
	t.Helper()
	r := &testRegistry{}
	inner := registry.New(registry.Logger(log.New(io.Discard, "", 0)))
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if req.Method == http.MethodGet {
			r.requests.Add(1)
			if r.auth != "" && req.Header.Get("Authorization") != r.auth {
				w.Header().Set("WWW-Authenticate", `Basic realm="test"`)
				w.WriteHeader(http.StatusUnauthorized)
				return
			}
		}
		change := r.change.Load()
		if change == nil || req.Method != http.MethodGet {
			inner.ServeHTTP(w, req)
			return
		}
		rec := httptest.NewRecorder()
		inner.ServeHTTP(rec, req)
		body := (*change)(req.URL.Path, rec.Body.Bytes())
		for k, v := range rec.Header() {
			if k != "Content-Length" {
				w.Header()[k] = v
			}
		}
		w.WriteHeader(rec.Code)
		w.Write(body)
	}))
	t.Cleanup(s.Close)
	r.host = strings.TrimPrefix(s.URL, "http://")
	return r
}

func (r *testRegistry) ref(t *testing.T, text string) name.Reference {
	t.Helper()
	ref, err := name.ParseReference(r.host + "/" + text)
	if err != nil {
		t.Fatal(err)
	}
	return ref
}

// push stores an image or index and returns its reference by digest.
func (r *testRegistry) push(t *testing.T, tag string, what remote.Taggable) string {
	t.Helper()
	ref := r.ref(t, tag)
	var err error
	var digest v1.Hash
	switch x := what.(type) {
	case v1.Image:
		if err = remote.Write(ref, x); err == nil {
			digest, err = x.Digest()
		}
	case v1.ImageIndex:
		if err = remote.WriteIndex(ref, x); err == nil {
			digest, err = x.Digest()
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return ref.Context().Digest(digest.String()).String()
}

// An item is an entry of a layer. It is a file unless typ is set.
type item struct {
	name, content string
	typ           byte
}

func files(pairs ...string) []item {
	var out []item
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, item{name: pairs[i], content: pairs[i+1]})
	}
	return out
}

func archive(t *testing.T, items []item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, i := range items {
		h := &tar.Header{Name: i.name, Typeflag: i.typ, Mode: 0o644, Format: tar.FormatPAX}
		switch i.typ {
		case 0:
			h.Typeflag, h.Size = tar.TypeReg, int64(len(i.content))
		case tar.TypeSymlink, tar.TypeLink:
			h.Linkname = i.content
		}
		err := w.WriteHeader(h)
		if err == nil && h.Size > 0 {
			_, err = io.WriteString(w, i.content)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func layerOf(t *testing.T, text []byte) v1.Layer {
	t.Helper()
	l, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(text)), nil })
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func image(t *testing.T, labels map[string]string, layers ...[]item) v1.Image {
	t.Helper()
	var list []v1.Layer
	for _, l := range layers {
		list = append(list, layerOf(t, archive(t, l)))
	}
	return imageOf(t, labels, list...)
}

func imageOf(t *testing.T, labels map[string]string, layers ...v1.Layer) v1.Image {
	t.Helper()
	img, err := mutate.AppendLayers(empty.Image, layers...)
	if err == nil {
		img, err = mutate.Config(img, v1.Config{Labels: labels})
	}
	if err != nil {
		t.Fatal(err)
	}
	return mutate.MediaType(img, types.DockerManifestSchema2)
}

func zipped(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(text); err != nil {
		t.Fatal(err)
	}
	w.Close()
	return b.Bytes()
}

var bundleLabels = map[string]string{
	"operators.operatorframework.io.bundle.mediatype.v1": "registry+v1",
	"operators.operatorframework.io.bundle.manifests.v1": "manifests/",
	"operators.operatorframework.io.bundle.metadata.v1":  "metadata/",
}

var catalogLabels = map[string]string{"operators.operatorframework.io.index.configs.v1": "/configs"}

const csv = `apiVersion: operators.coreos.com/v1alpha1
kind: ClusterServiceVersion
metadata:
  name: etcd.v1.0.0
spec:
  version: 1.0.0
`

func config(name string) string {
	return "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: " + name + "\n"
}

const annotations = "annotations:\n  operators.operatorframework.io.bundle.package.v1: etcd\n"
