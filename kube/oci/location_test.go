package oci_test

import (
	"context"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/kube/oci"
)

func TestMirrors(t *testing.T) {
	one, two := newRegistry(t), newRegistry(t)
	img := image(t, bundleLabels, files("manifests/csv.yaml", csv))
	digest := func(ref string) string { return ref[strings.Index(ref, "@"):] }(two.push(t, "quay/example/etcd:v1", img))
	broken := func(string, []byte) []byte { return []byte("{}") }
	one.push(t, "quay/example/etcd:v1", img)
	one.change.Store(&broken)

	// The first mirror returns other content, the second one has the image, and
	// the source does not exist.
	p := oci.New(&oci.Options{Registries: []oci.Registry{
		{Prefix: "quay.example", Mirrors: mirrors("nowhere.example")},
		{Prefix: "quay.example/example", Mirrors: mirrors(one.host+"/quay/example", two.host+"/quay/example"), Blocked: true},
		{Prefix: "quay.example/exam", Mirrors: mirrors("nowhere.example")},
	}})
	b := bundle(t, p, "quay.example/example/etcd"+digest)
	if "@"+b.Digest != digest {
		t.Errorf("digest %s; want %s", b.Digest, digest)
	}
	// A tag may refer to another image in a mirror.
	p = oci.New(&oci.Options{Registries: []oci.Registry{{Prefix: one.host, Mirrors: mirrors(two.host + "/quay")}}})
	if _, err := p.Bundle(t.Context(), one.host+"/example/etcd:v1"); err == nil {
		t.Error("a mirror for digests was used for a tag")
	}
	p = oci.New(&oci.Options{Registries: []oci.Registry{{Prefix: one.host, Mirrors: []oci.Mirror{{Location: two.host + "/quay", Use: oci.Tags}}}}})
	bundle(t, p, one.host+"/example/etcd:v1")

	p = oci.New(&oci.Options{Registries: []oci.Registry{{Prefix: "quay.example", Mirrors: mirrors(one.host+"/a", two.host+"/b"), Blocked: true}}})
	_, err := p.Bundle(t.Context(), "quay.example/xx@"+strings.TrimPrefix(digest, "@"))
	if err == nil || !strings.Contains(err.Error(), one.host+"/a/xx@") || !strings.Contains(err.Error(), two.host+"/b/xx@") {
		t.Errorf("%v; want the error of each mirror", err)
	}
	for ref, registries := range map[string][]oci.Registry{
		"UPPER/xx":                 nil,
		"quay.example/xx" + digest: {{Prefix: "quay.example", Blocked: true}},
		"quay.example/yy" + digest: {{Prefix: "quay.example", Mirrors: mirrors("UPPER CASE")}},
		"quay.example/zz" + digest: {{Prefix: "quay.example", Location: "UPPER CASE"}},
	} {
		if _, err := oci.New(&oci.Options{Registries: registries}).Bundle(t.Context(), ref); err == nil {
			t.Errorf("%s with %v: no error", ref, registries)
		}
	}
}

func mirrors(locations ...string) []oci.Mirror {
	var list []oci.Mirror
	for _, l := range locations {
		list = append(list, oci.Mirror{Location: l})
	}
	return list
}

// A registry with a certificate of an unknown authority is used only if its
// Insecure, or that of the mirror, is set.
func TestInsecure(t *testing.T) {
	plain := newRegistry(t)
	plain.push(t, "example/etcd:v1", image(t, bundleLabels, files("manifests/csv.yaml", csv)))
	to, err := url.Parse("http://" + plain.host)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewTLSServer(httputil.NewSingleHostReverseProxy(to))
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(server.Close)
	host := strings.Replace(strings.TrimPrefix(server.URL, "https://"), "127.0.0.1", "localhost.localdomain", 1)
	dial := &http.Transport{DialContext: func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}}
	for _, test := range []struct {
		name       string
		registries []oci.Registry
		ok         bool
	}{
		{"secure", nil, false},
		{"insecure", []oci.Registry{{Prefix: host, Insecure: true}}, true},
		{"insecure mirror", []oci.Registry{{Prefix: "quay.example", Mirrors: []oci.Mirror{{Location: host, Use: oci.DigestsAndTags, Insecure: true}}}}, true},
		{"mirror at an insecure registry", []oci.Registry{
			{Prefix: "quay.example", Mirrors: []oci.Mirror{{Location: host, Use: oci.DigestsAndTags}}}, {Prefix: host, Insecure: true},
		}, true},
		{"secure mirror", []oci.Registry{{Prefix: "quay.example", Blocked: true, Mirrors: []oci.Mirror{{Location: host, Use: oci.DigestsAndTags}}}}, false},
	} {
		ref := "quay.example/example/etcd:v1"
		if !strings.Contains(test.name, "mirror") {
			ref = host + "/example/etcd:v1"
		}
		_, err := oci.New(&oci.Options{Transport: dial, Registries: test.registries}).Bundle(t.Context(), ref)
		if refused := (*oci.RegistryError)(nil); (err == nil) != test.ok || err != nil && (!errors.As(err, &refused) || refused.Fault != oci.FaultTrust) {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}
