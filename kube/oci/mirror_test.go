package oci_test

import (
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

	// The first mirror lies, the second one has it; the source does not exist.
	p := oci.New(&oci.Options{Mirrors: []oci.Mirror{
		{Source: "quay.example", Mirrors: []string{"nowhere.example"}},
		{Source: "quay.example/example", Mirrors: []string{one.host + "/quay/example", two.host + "/quay/example"}, Never: true},
		{Source: "quay.example/exam", Mirrors: []string{"nowhere.example"}},
	}})
	b := bundle(t, p, "quay.example/example/etcd"+digest)
	if "@"+b.Digest != digest {
		t.Errorf("digest %s; want %s", b.Digest, digest)
	}
	// Nobody said that tags mean the same in mirrors.
	p = oci.New(&oci.Options{Mirrors: []oci.Mirror{{Source: one.host, Mirrors: []string{two.host + "/quay"}}}})
	if _, err := p.Bundle(t.Context(), one.host+"/example/etcd:v1"); err == nil {
		t.Error("a mirror was asked for a tag")
	}
	p = oci.New(&oci.Options{Mirrors: []oci.Mirror{{Source: one.host, Mirrors: []string{two.host + "/quay"}, Tags: true}}})
	bundle(t, p, one.host+"/example/etcd:v1")

	p = oci.New(&oci.Options{Mirrors: []oci.Mirror{{Source: "quay.example", Mirrors: []string{one.host + "/a", two.host + "/b"}, Never: true}}})
	_, err := p.Bundle(t.Context(), "quay.example/xx@"+strings.TrimPrefix(digest, "@"))
	if err == nil || !strings.Contains(err.Error(), one.host+"/a/xx@") || !strings.Contains(err.Error(), two.host+"/b/xx@") {
		t.Errorf("%v; want what each mirror said", err)
	}
	for ref, mirrors := range map[string][]oci.Mirror{
		"UPPER/xx":                 nil,
		"quay.example/xx" + digest: {{Source: "quay.example", Never: true}},
		"quay.example/yy" + digest: {{Source: "quay.example", Mirrors: []string{"UPPER CASE"}}},
	} {
		if _, err := oci.New(&oci.Options{Mirrors: mirrors}).Bundle(t.Context(), ref); err == nil {
			t.Errorf("%s with %v: no error", ref, mirrors)
		}
	}
}
