package content_test

import (
	"archive/tar"
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-containerregistry/pkg/name"
	"github.com/google/go-containerregistry/pkg/registry"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/tarball"

	"github.com/olmkit/olmkit/kube/content"
	"github.com/olmkit/olmkit/kube/oci"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

func manifests(t *testing.T, v *content.View) ([]olm.Object, error) {
	t.Helper()
	g, err := v.Catalog(t.Context(), community)
	if err != nil {
		return nil, err
	}
	for b := range g.Bundles() {
		return v.Manifests(t.Context(), community, b)
	}
	return nil, nil
}

// push stores an image of one file.
func push(t *testing.T, ref, file, text string, labels map[string]string) {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	err := w.WriteHeader(&tar.Header{Name: file, Typeflag: tar.TypeReg, Size: int64(len(text)), Mode: 0o644})
	if err == nil {
		_, err = io.WriteString(w, text)
	}
	if err == nil {
		err = w.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	layer, err := tarball.LayerFromOpener(func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(b.Bytes())), nil })
	if err != nil {
		t.Fatal(err)
	}
	img, err := mutate.AppendLayers(empty.Image, layer)
	if err == nil {
		img, err = mutate.Config(img, v1.Config{Labels: labels})
	}
	if err != nil {
		t.Fatal(err)
	}
	at, err := name.ParseReference(ref)
	if err == nil {
		err = remote.Write(at, img)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestImages checks that a catalog may be an image, that the manifests of its
// bundles may be in images too, and when a tag is resolved again.
func TestImages(t *testing.T) {
	ts := httptest.NewServer(registry.New(registry.Logger(log.New(io.Discard, "", 0))))
	defer ts.Close()
	host := strings.TrimPrefix(ts.URL, "http://")
	pushCatalog := func(version string) {
		text := strings.ReplaceAll(catalog(version, false), "registry.example", host)
		push(t, host+"/catalog:latest", "configs/catalog.json", text, map[string]string{oci.LabelConfigs: "/configs"})
	}
	pushBundle := func(tag, version string) {
		push(t, host+"/etcd:"+tag, "manifests/csv.json", fmt.Sprintf(csv, version), map[string]string{oci.LabelManifests: "manifests/"})
	}
	pushCatalog("1.0.0")
	pushBundle("1.0.0", "1.0.0")
	puller := oci.New(nil)
	clock := newClock()
	s := content.New(&content.Options{Sources: content.Sources{Images: puller}, Bundles: puller, Now: clock.now})
	c := source(t, `{"sourceType":"grpc","image":"`+host+`/catalog:latest"}`)
	if h := refresh(t, s, c); h.State != content.StateReady || h.Next != 0 {
		t.Fatalf("%+v; want a ready catalog and no next refresh", h)
	}
	v := s.View()
	if objects, err := manifests(t, v); err != nil || len(objects) != 1 || objects[0].Metadata.Name != "etcd.v1.0.0" {
		t.Errorf("%v, %v", objects, err)
	}

	// Without registryPoll the tag is not resolved again.
	pushCatalog("2.0.0")
	clock.advance(time.Hour)
	if h := refresh(t, s, c); h.Changed {
		t.Errorf("%+v", h)
	}
	c = source(t, `{"sourceType":"grpc","image":"`+host+`/catalog:latest","updateStrategy":{"registryPoll":{"interval":"10m"}}}`)
	if h := refresh(t, s, c); !h.Changed || h.Next != 10*time.Minute || head(t, s.View()) != "etcd.v2.0.0" {
		t.Errorf("%+v", h)
	}

	// An error in a bundle's image is reported with the bundle.
	v = s.View()
	if _, err := manifests(t, v); err == nil || !strings.HasPrefix(err.Error(), `catalog community/olm: bundle "etcd.v2.0.0": image `+host+"/etcd:2.0.0: ") {
		t.Errorf("a missing image: %v", err)
	}
	pushBundle("2.0.0", "1.0.0")
	want := `catalog community/olm: bundle "etcd.v2.0.0": image ` + host + "/etcd:2.0.0 contains a different operator, etcd.v1.0.0"
	if _, err := manifests(t, v); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

func TestNoPuller(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", false))
	s := content.New(&content.Options{Sources: named(content.Dir(dir, nil))})
	refresh(t, s, source(t, `{}`))
	want := `catalog community/olm: bundle "etcd.v1.0.0": its manifests are in image registry.example/etcd:1.0.0, but this program is not configured to pull images`
	if _, err := manifests(t, s.View()); err == nil || err.Error() != want {
		t.Errorf("%v\nwant %s", err, want)
	}
}

// TestOneView checks that a view returns the manifests of the content it was taken from, even
// if newer content has been read.
func TestOneView(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	clock := newClock()
	s := content.New(&content.Options{Sources: named(content.Dir(dir, nil)), Now: clock.now})
	refresh(t, s, source(t, `{}`))
	old := s.View()
	before, err := manifests(t, old)
	if err != nil {
		t.Fatal(err)
	}
	write(t, dir, catalog("2.0.0", true))
	clock.advance(time.Hour)
	refresh(t, s, source(t, `{}`))
	after, err := manifests(t, old)
	if err != nil || len(after) != 1 || after[0].Metadata.Name != before[0].Metadata.Name {
		t.Errorf("%v, %v; want %v", after, err, before)
	}
	g, err := old.Catalog(t.Context(), community)
	if err != nil {
		t.Fatal(err)
	}
	for b := range g.Bundles() {
		if _, err := s.View().Manifests(t.Context(), community, b); err == nil || !strings.Contains(err.Error(), "belongs to another version of the catalog") {
			t.Errorf("a bundle of another view: %v", err)
		}
	}
}

// TestDecide checks that resolution works with a view, and waits while a
// catalog is unhealthy (D14, E4).
func TestDecide(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, catalog("1.0.0", true))
	s := content.New(&content.Options{Sources: named(content.Dir(dir, nil)), Now: newClock().now})
	c := source(t, `{"sourceType":"grpc","address":"x:1"}`)
	plan := func() string {
		object, err := olm.ToObject(c)
		if err != nil {
			t.Fatal(err)
		}
		var sub, group olm.Object
		for o, text := range map[*olm.Object]string{
			&sub:   `{"apiVersion":"operators.coreos.com/v1alpha1","kind":"Subscription","metadata":{"name":"etcd","namespace":"ops"},"spec":{"name":"etcd","source":"community","sourceNamespace":"olm"}}`,
			&group: `{"apiVersion":"operators.coreos.com/v1","kind":"OperatorGroup","metadata":{"name":"all","namespace":"ops"}}`,
		} {
			if err := o.UnmarshalJSON([]byte(text)); err != nil {
				t.Fatal(err)
			}
		}
		snap, err := reconcile.NewSnapshot("ops", "olm", []olm.Object{object, sub, group})
		if err != nil {
			t.Fatal(err)
		}
		p, err := reconcile.Decide(t.Context(), snap, s.View(), nil)
		if err != nil {
			t.Fatal(err)
		}
		var out []string
		for _, c := range p.Changes {
			out = append(out, c.String())
		}
		return strings.Join(out, "\n")
	}
	h := refresh(t, s, c)
	if !h.Apply(c) || h.Apply(c) {
		t.Error("Apply does not report that it changed the status")
	}
	if got := plan(); !strings.Contains(got, "create InstallPlan") {
		t.Errorf("no install plan:\n%s", got)
	}
	c.Status.ConnectionState.LastObservedState = content.StateFailing
	if got := plan(); strings.Contains(got, "create InstallPlan") {
		t.Errorf("there is an install plan although the catalog is unhealthy:\n%s", got)
	}
}

func TestApply(t *testing.T) {
	at := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	c := source(t, `{}`)
	c.Status.Rest = olm.Members{"latestImageRegistryPoll": []byte(`"2026-01-01T00:00:00Z"`)}
	steps := []struct {
		h       content.Health
		changed bool
		want    string
	}{
		{content.Health{Address: "x", State: content.StateReady, LastConnect: at}, true, `{"address":"x","lastObservedState":"READY","lastConnect":"2026-11-21T12:00:00Z"}`},
		{content.Health{Address: "x", State: content.StateReady, LastConnect: at}, false, `{"address":"x","lastObservedState":"READY","lastConnect":"2026-11-21T12:00:00Z"}`},
		{content.Health{Address: "x", State: content.StateReady, Changed: true, LastConnect: at.Add(time.Hour)}, true, `{"address":"x","lastObservedState":"READY","lastConnect":"2026-11-21T13:00:00Z"}`},
		{content.Health{Address: "x", State: content.StateFailing, Reason: "RegistryServerError", Message: "down", LastConnect: at.Add(time.Hour)}, true, `{"address":"x","lastObservedState":"TRANSIENT_FAILURE","lastConnect":"2026-11-21T13:00:00Z"}`},
		{content.Health{Address: "x", State: content.StateFailing, Reason: "RegistryServerError", Message: "still down", LastConnect: at.Add(time.Hour)}, true, `{"address":"x","lastObservedState":"TRANSIENT_FAILURE","lastConnect":"2026-11-21T13:00:00Z"}`},
		{content.Health{Address: "x", State: content.StateReady, LastConnect: at.Add(2 * time.Hour)}, true, `{"address":"x","lastObservedState":"READY","lastConnect":"2026-11-21T14:00:00Z"}`},
	}
	for i, s := range steps {
		if got := s.h.Apply(c); got != s.changed {
			t.Errorf("step %d: Apply = %v", i, got)
		}
		text, err := c.MarshalJSON()
		if err != nil || !strings.Contains(string(text), `"connectionState":`+s.want) || !strings.Contains(string(text), "latestImageRegistryPoll") {
			t.Errorf("step %d: %s, %v\nwant %s", i, text, err, s.want)
		}
		if c.Status.Reason != s.h.Reason || c.Status.Message != s.h.Message {
			t.Errorf("step %d: %q %q", i, c.Status.Reason, c.Status.Message)
		}
	}
	// OLM's packageserver reads a gRPC server only if the status describes it.
	for _, x := range []struct{ spec, want string }{
		{`{"image":"example.com/catalog","address":"catalog.olm:50051"}`, `{"protocol":"grpc"}`},
		{`{"image":"example.com/catalog","address":"https://catalog.olm"}`, ""},
		{`{"image":"example.com/catalog"}`, ""},
		{`{"address":"catalog.olm:50051"}`, ""}, // olmkit cannot read it
	} {
		c, h := source(t, x.spec), content.Health{State: content.StateReady, LastConnect: at}
		if !h.Apply(c) || h.Apply(c) {
			t.Errorf("%s: Apply does not report once that it changed the status", x.spec)
		}
		if got := string(c.Status.Rest["registryService"]); got != x.want {
			t.Errorf("%s: registryService is %q, want %q", x.spec, got, x.want)
		}
		c.Status.Rest = olm.Members{"registryService": []byte(`{"serviceName":"x"}`)}
		if h.Apply(c) {
			t.Errorf("%s: Apply overwrites what OLM wrote", x.spec)
		}
	}
	// The reconciliation's message about a template stays (E8).
	c.Metadata.Annotations = map[string]string{olm.AnnotationImageTemplate: "x:{y}"}
	c.Status.Reason, c.Status.Message = "SpecInvalidError", "the template cannot be resolved"
	content.Health{State: content.StateFailing, Reason: "RegistryServerError", Message: "x"}.Apply(c)
	if c.Status.Message != "the template cannot be resolved" || c.Status.ConnectionState.LastObservedState != content.StateFailing {
		t.Errorf("%+v", c.Status)
	}
}
