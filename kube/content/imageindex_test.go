package content_test

import (
	"io"
	"log"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/oci"
)

// TestImageIndex checks that a restarted program opens the index of an image's catalog
// instead of loading the catalog, that it can still read the manifests, and that it
// replaces a damaged index.
func TestImageIndex(t *testing.T) {
	ts := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer ts.Close()
	host, dir := strings.TrimPrefix(ts.URL, "http://"), t.TempDir()
	push(t, host+"/catalog:latest", "configs/catalog.json", catalog("1.0.0", true), map[string]string{oci.LabelConfigs: "/configs"})
	index := func() string {
		t.Helper()
		list, err := filepath.Glob(filepath.Join(dir, "catalog-sha256-*.index"))
		if err != nil || len(list) != 1 {
			t.Fatalf("%q, %v", list, err)
		}
		return list[0]
	}
	read := func() (loaded bool) {
		t.Helper()
		s := content.New(&content.Options{Sources: content.Sources{Images: oci.New(&oci.Options{Dir: dir})}})
		if h := refresh(t, s, source(t, `{"sourceType":"grpc","image":"`+host+`/catalog:latest"}`)); h.State != content.StateReady {
			t.Fatalf("%+v", h)
		}
		v := s.View()
		g, err := v.Catalog(t.Context(), community)
		if err != nil {
			t.Fatal(err)
		}
		if objects, err := manifests(t, v); err != nil || len(objects) != 1 || objects[0].Metadata.Name != "etcd.v1.0.0" {
			t.Errorf("%v, %v", objects, err)
		}
		return g.SourceHash() == "" // that of an index
	}
	if !read() {
		t.Error("there is an index before the first read")
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(index(), old, old); err != nil {
		t.Fatal(err)
	}
	if read() {
		t.Error("the catalog was loaded again")
	}
	if info, err := os.Stat(index()); err != nil || !info.ModTime().After(old) {
		t.Errorf("the time of the index was not updated: %v", err)
	}
	if err := os.WriteFile(index(), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if !read() {
		t.Error("a damaged index was opened")
	}
	if read() {
		t.Error("a damaged index was not written again")
	}
}
