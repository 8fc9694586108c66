package oci_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote/transport"
	"github.com/google/go-containerregistry/pkg/v1/types"

	fbcbundle "github.com/olmkit/olmkit/fbc/bundle"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/oci"
)

func objects(t *testing.T, b *oci.Bundle) []string {
	t.Helper()
	var out []string
	for _, o := range b.Objects {
		out = append(out, o.Kind+" "+o.Metadata.Name)
	}
	return out
}

func bundle(t *testing.T, p *oci.Puller, ref string) *oci.Bundle {
	t.Helper()
	b, err := p.Bundle(t.Context(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestLayers checks that upper layers change lower ones as in a container.
func TestLayers(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(t, "etcd:v1", image(t, bundleLabels,
		append(files("manifests/csv.yaml", csv, "manifests/old.yaml", config("old"), "manifests/b.yaml", config("b1"), "bin/opm", "binary",
			"manifests/sub/deep.yaml", config("deep")), item{"manifests", "", '5'}),
		append(files("manifests/.wh.old.yaml", "", "./manifests/b.yaml", config("b2")+"---\n"+config("b3"), "metadata/annotations.yaml", annotations),
			item{"manifests/c.yaml", "b.yaml", '2'}, item{"manifests/d.json", "/manifests/e", '1'}),
	))
	_, err := oci.New(nil).Bundle(t.Context(), ref)
	if err == nil || !strings.Contains(err.Error(), `layer 2 of 2: "manifests/d.json" is a hard link to "/manifests/e", which is not a file in the directories that olmkit unpacks`) {
		t.Fatalf("a hard link to a missing file: %v", err)
	}
	ref = r.push(t, "etcd:v1", image(t, bundleLabels,
		files("manifests/csv.yaml", csv, "manifests/old.yaml", config("old"), "manifests/b.yaml", config("b1"), "bin/opm", "binary",
			"manifests/sub/deep.yaml", config("deep"), "manifests/.hidden", "{"),
		append(files("manifests/.wh.old.yaml", "", "./manifests/b.yaml", config("b2")+"---\n"+config("b3")+"---\n", "metadata/annotations.yaml", annotations),
			item{"manifests/c.yaml", "b.yaml", '2'}, item{"manifests/d.json", "/manifests/csv.yaml", '1'}),
	))
	b := bundle(t, oci.New(nil), ref)
	want := []string{"ConfigMap b2", "ConfigMap b3", "ConfigMap b2", "ConfigMap b3", "ClusterServiceVersion etcd.v1.0.0", "ClusterServiceVersion etcd.v1.0.0"}
	if diff := cmp.Diff(want, objects(t, b)); diff != "" {
		t.Error(diff)
	}
	if !strings.HasSuffix(ref, b.Digest) {
		t.Errorf("digest %s of %s", b.Digest, ref)
	}
	if _, err := fs.Stat(b.FS, "bin/opm"); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("bin/opm was unpacked: %v", err)
	}
}

func TestOpaque(t *testing.T) {
	r := newRegistry(t)
	for name, upper := range map[string][]item{
		"opaque directory":                {{"manifests/csv.yaml", csv, 0}, {"manifests/.wh..wh..opq", "", 0}},
		"directory removed and new":       {{".wh.manifests", "", 0}, {"manifests/csv.yaml", csv, 0}},
		"opaque root":                     {{".wh..wh..opq", "", 0}, {"manifests/csv.yaml", csv, 0}},
		"file over directory, and back":   {{"manifests", "", '5'}, {"manifests/sub", config("sub"), 0}, {"manifests/.wh.a.yaml", "", 0}, {"manifests/csv.yaml", csv, 0}, {"manifests/.wh.sub", "", 0}},
		"the last of one name in a layer": {{"manifests/csv.yaml", "{", 0}, {"manifests/csv.yaml", csv, 0}, {"manifests/.wh.a.yaml", "", 0}, {"manifests/.wh.sub", "", 0}},
	} {
		t.Run(name, func(t *testing.T) {
			ref := r.push(t, "etcd:v1", image(t, bundleLabels, files("manifests/a.yaml", config("a"), "manifests/sub/x.yaml", config("x")), upper))
			b := bundle(t, oci.New(nil), ref)
			got := strings.Join(objects(t, b), ", ")
			want := "ClusterServiceVersion etcd.v1.0.0"
			if name == "file over directory, and back" {
				want += ", ConfigMap sub"
			}
			if got != want {
				t.Errorf("%s; want %s", got, want)
			}
		})
	}
}

// TestBundleDir checks that package bundle can read the directory of a pulled
// bundle (A14).
func TestBundleDir(t *testing.T) {
	r := newRegistry(t)
	labels := map[string]string{oci.LabelManifests: "data/m", oci.LabelMetadata: "/data/meta"}
	b := bundle(t, oci.New(nil), r.push(t, "etcd:v1", image(t, labels, files("data/m/csv.yaml", csv, "data/meta/annotations.yaml", annotations))))
	dir, err := fbcbundle.Load(t.Context(), b.FS, nil)
	if err != nil || dir.Bundle.Name != "etcd.v1.0.0" || dir.Bundle.Package != "etcd" {
		t.Errorf("%+v, %v", dir, err)
	}
}

const catalogText = `{"schema":"olm.package","name":"etcd","defaultChannel":"stable"}
{"schema":"olm.channel","package":"etcd","name":"stable","entries":[{"name":"etcd.v1.0.0"}]}
{"schema":"olm.bundle","package":"etcd","name":"etcd.v1.0.0","image":"x/y:z","properties":[{"type":"olm.package","value":{"packageName":"etcd","version":"1.0.0"}}]}
`

func TestCatalog(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		r := newRegistry(t)
		ref := r.push(t, "catalog:latest", image(t, catalogLabels, files("configs/etcd/catalog.json", catalogText, "bin/opm", "x")))
		p := oci.New(&oci.Options{Dir: dir})
		img, err := p.Catalog(t.Context(), ref)
		if err != nil {
			t.Fatal(err)
		}
		g, err := graph.Load(t.Context(), img.FS, nil)
		if err != nil || g.Size().Bundles != 1 {
			t.Fatalf("%v, %v", g, err)
		}
		for b := range g.Bundles() {
			if raw, err := b.Raw(t.Context()); err != nil || !strings.Contains(string(raw), "x/y:z") {
				t.Errorf("Raw = %s, %v", raw, err)
			}
		}
		// The tag is resolved again and returns the same image.
		before := r.requests.Load()
		again, err := p.Catalog(t.Context(), r.host+"/catalog:latest")
		if err != nil || again != img {
			t.Errorf("by tag: %p, %v; want %p", again, err, img)
		}
		if n := r.requests.Load() - before; n == 0 || n > 2 {
			t.Errorf("%d requests for a tag that did not move", n)
		}
	}
}

func TestIndex(t *testing.T) {
	r := newRegistry(t)
	arch := func(os, arch string) mutate.IndexAddendum {
		img := image(t, bundleLabels, files("manifests/a.yaml", config(os+"-"+arch)))
		return mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: os, Architecture: arch}}}
	}
	attestation := arch("unknown", "unknown")
	for _, tt := range []struct {
		name     string
		index    []mutate.IndexAddendum
		platform v1.Platform
		want     string
	}{
		{"the default", []mutate.IndexAddendum{arch("linux", "arm64"), arch("linux", "amd64")}, v1.Platform{}, "linux-amd64"},
		{"as asked", []mutate.IndexAddendum{arch("linux", "amd64"), arch("linux", "arm64")}, v1.Platform{OS: "linux", Architecture: "arm64"}, "linux-arm64"},
		{"instead", []mutate.IndexAddendum{arch("windows", "amd64"), arch("linux", "amd64")}, v1.Platform{OS: "linux", Architecture: "riscv64"}, "linux-amd64"},
		{"the first", []mutate.IndexAddendum{attestation, arch("linux", "s390x"), arch("linux", "ppc64le")}, v1.Platform{}, "linux-s390x"},
		{"none", []mutate.IndexAddendum{attestation}, v1.Platform{}, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ref := r.push(t, "etcd:v1", mutate.IndexMediaType(mutate.AppendManifests(empty.Index, tt.index...), types.OCIImageIndex))
			b, err := oci.New(&oci.Options{Platform: tt.platform}).Bundle(t.Context(), ref)
			if tt.want == "" {
				if err == nil || !strings.Contains(err.Error(), "lists only attestations or artifacts") {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := objects(t, b)[0]; got != "ConfigMap "+tt.want {
				t.Errorf("%s; want %s", got, tt.want)
			}
		})
	}
}

func TestKeychain(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(t, "etcd:v1", image(t, bundleLabels, files("manifests/csv.yaml", csv)))
	r.auth = "Basic " + base64.StdEncoding.EncodeToString([]byte("user:secret"))
	var refused *transport.Error
	if _, err := oci.New(nil).Bundle(t.Context(), ref); !errors.As(err, &refused) || refused.StatusCode != http.StatusUnauthorized {
		t.Errorf("without credentials: %v", err)
	}
	bundle(t, oci.New(&oci.Options{Keychain: keychain{r.host: {Username: "user", Password: "secret"}}}), ref)
}

type keychain map[string]authn.AuthConfig

func (k keychain) Resolve(res authn.Resource) (authn.Authenticator, error) {
	if c, ok := k[res.RegistryStr()]; ok {
		return authn.FromConfig(c), nil
	}
	return authn.Anonymous, nil
}

func TestCache(t *testing.T) {
	for _, dir := range []string{"", t.TempDir()} {
		r := newRegistry(t)
		ref := r.push(t, "etcd:v1", image(t, bundleLabels, files("manifests/csv.yaml", csv)))
		p := oci.New(&oci.Options{Dir: dir})
		first := bundle(t, p, ref)
		before := r.requests.Load()
		if again := bundle(t, p, ref); again.Image != first.Image || r.requests.Load() != before {
			t.Errorf("dir %q: a digest was pulled twice", dir)
		}
		if dir == "" {
			continue
		}
		p = oci.New(&oci.Options{Dir: dir})
		if again := bundle(t, p, ref); again.Digest != first.Digest || r.requests.Load() != before || len(again.Objects) != 1 || again.Labels[oci.LabelManifests] != "manifests/" {
			t.Errorf("a new process pulled it again, or reads %+v", again)
		}
		list, _ := filepath.Glob(filepath.Join(dir, "*"))
		if len(list) != 1 || !strings.Contains(list[0], "bundle-sha256-") {
			t.Fatalf("files: %q", list)
		}
		text, err := os.ReadFile(list[0])
		if err != nil {
			t.Fatal(err)
		}
		for name, damaged := range map[string][]byte{"cut": text[:len(text)/2], "empty": nil, "flipped": flipped(text)} {
			if err := os.WriteFile(list[0], damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			before = r.requests.Load()
			if again := bundle(t, oci.New(&oci.Options{Dir: dir}), ref); r.requests.Load() == before || len(again.Objects) != 1 {
				t.Errorf("%s: it was not pulled again", name)
			}
		}
	}
}

// flipped changes a bit in the content of the first file.
func flipped(text []byte) []byte {
	out := []byte(string(text))
	out[70] ^= 4
	return out
}

func TestRemember(t *testing.T) {
	r := newRegistry(t)
	p := oci.New(&oci.Options{Remember: 2})
	var refs []string
	for i := range 3 {
		refs = append(refs, r.push(t, fmt.Sprintf("b%d:v1", i), image(t, bundleLabels, files("manifests/a.yaml", config(fmt.Sprint("c", i))))))
		bundle(t, p, refs[i])
		bundle(t, p, refs[0])
	}
	before := r.requests.Load()
	bundle(t, p, refs[0])
	bundle(t, p, refs[2])
	if r.requests.Load() != before {
		t.Error("the most recently used image was evicted")
	}
	bundle(t, p, refs[1])
	if r.requests.Load() == before {
		t.Error("more images are cached than Options.Remember")
	}
}

// TestMemory checks that the total size of images in memory is limited, across
// pullers with different credentials.
func TestMemory(t *testing.T) {
	r := newRegistry(t)
	noise := make([]byte, 4_000)
	var refs []string
	for i := range 4 {
		for j := range noise {
			noise[j] = byte('a' + rand.IntN(26))
		}
		refs = append(refs, r.push(t, fmt.Sprintf("b%d:v1", i), image(t, bundleLabels, files("manifests/a.yaml", config(string(noise))))))
	}
	asks := func(p *oci.Puller, i int) bool {
		t.Helper()
		before := r.requests.Load()
		bundle(t, p, refs[i])
		return r.requests.Load() != before
	}
	p := oci.New(&oci.Options{Memory: 10_000}) // each image takes about 3,000 bytes
	other := p.With(authn.NewMultiKeychain(), "")
	for i := range 2 {
		if !asks(p, i) || asks(p, i) {
			t.Errorf("image %d was not requested exactly once", i)
		}
	}
	if !asks(other, 0) {
		t.Error("a puller with other credentials gets a cached image")
	}
	if !asks(other, 2) || !asks(p, 0) {
		t.Error("images beyond the limit are cached")
	}
	if asks(p, 0) {
		t.Error("the last image is not cached")
	}
	tiny := oci.New(&oci.Options{Memory: 100})
	for range 2 {
		if !asks(tiny, 0) {
			t.Error("an image larger than the limit is cached")
		}
	}
}

func TestCallersShareAPull(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(t, "etcd:v1", image(t, bundleLabels, files("manifests/csv.yaml", csv)))
	var calls sync.WaitGroup
	calls.Add(10)
	slow := func(_ string, body []byte) []byte { calls.Wait(); time.Sleep(20 * time.Millisecond); return body }
	r.change.Store(&slow)
	p := oci.New(nil)
	r.requests.Store(0)
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() {
			calls.Done()
			if _, err := p.Bundle(t.Context(), ref); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := r.requests.Load(); n > 5 { // the API, the manifest, the config, the layer
		t.Errorf("%d requests for ten callers at once", n)
	}
}

func TestContext(t *testing.T) {
	r := newRegistry(t)
	ref := r.push(t, "etcd:v1", image(t, bundleLabels, files("manifests/csv.yaml", csv)))
	release := make(chan struct{})
	t.Cleanup(func() { close(release) })
	hang := func(path string, body []byte) []byte {
		if strings.Contains(path, "/blobs/") {
			<-release
		}
		return body
	}
	r.change.Store(&hang)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	// If the puller ignored the context, it would wait for an hour.
	if _, err := oci.New(&oci.Options{Timeout: time.Hour}).Bundle(ctx, ref); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	// A registry that hangs does not block a caller without a deadline.
	_, err := oci.New(&oci.Options{Timeout: 50 * time.Millisecond}).Bundle(t.Context(), ref)
	var e *oci.Error
	if !errors.As(err, &e) || !strings.Contains(err.Error(), "the pull took longer than Options.Timeout, 50ms") {
		t.Errorf("%v; want the timeout", err)
	}
}
