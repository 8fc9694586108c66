package oci

import (
	"slices"
	"strings"
	"testing"
)

// TestLocations covers the prefixes of containers-registries.conf(5).
func TestLocations(t *testing.T) {
	const digest = "@sha256:0123456789012345678901234567890123456789012345678901234567890123"
	p := New(&Options{Registries: []Registry{
		{Prefix: "quay.io", Mirrors: []Mirror{{Location: "d.example", Use: Digests}, {Location: "t.example", Use: Tags}, {Location: "all.example:5000/quay", Use: DigestsAndTags}}},
		{Prefix: "quay.io/moved", Location: "new.example/from"},
		{Prefix: "quay.io/moved/one:v1", Location: "new.example/one:v2"},
		{Prefix: "*.corp.example", Mirrors: []Mirror{{Location: "corp-mirror.example", Use: DigestsAndTags}}},
		{Prefix: "*.corp.example/team", Mirrors: []Mirror{{Location: "team-mirror.example", Use: DigestsAndTags}}},
		{Prefix: "*.port.example:5000", Location: "port.example"},
		{Prefix: "docker.io/library", Location: "hub.example/library"},
		{Prefix: "closed.example", Blocked: true, Mirrors: []Mirror{{Location: "open.example"}}},
	}})
	for ref, want := range map[string]string{
		"quay.io/a/b:v1":                "t.example/a/b:v1 all.example:5000/quay/a/b:v1 quay.io/a/b:v1",
		"quay.io/a/b" + digest:          "d.example/a/b" + digest + " all.example:5000/quay/a/b" + digest + " quay.io/a/b" + digest,
		"quay.io:5000/a/b:v1":           "quay.io:5000/a/b:v1",
		"quay.io.example/a/b:v1":        "quay.io.example/a/b:v1",
		"quay.io/moved/b:v1":            "new.example/from/b:v1",
		"quay.io/moved/one:v1":          "new.example/one:v2",
		"quay.io/moved/one:v11":         "new.example/from/one:v11",
		"quay.io/moved2/b:v1":           "t.example/moved2/b:v1 all.example:5000/quay/moved2/b:v1 quay.io/moved2/b:v1",
		"a.b.corp.example:8443/c/d:v1":  "corp-mirror.example:8443/c/d:v1 a.b.corp.example:8443/c/d:v1",
		"a.corp.example/team/c/d:v1":    "team-mirror.example/c/d:v1 a.corp.example/team/c/d:v1",
		"a.corp.example/teams/d:v1":     "corp-mirror.example/teams/d:v1 a.corp.example/teams/d:v1",
		"a.corp.example.com/c/d:v1":     "a.corp.example.com/c/d:v1",
		"b.example/a.corp.example/d:v1": "b.example/a.corp.example/d:v1",
		"a.port.example:5000/c/d:v1":    "port.example/c/d:v1",
		"a.port.example/c/d:v1":         "a.port.example/c/d:v1",
		"corp.example/c/d:v1":           "corp.example/c/d:v1",
		"alpine:3":                      "hub.example/library/alpine:3",
		"closed.example/a/b" + digest:   "open.example/a/b" + digest,
		"closed.example/a/b:v1":         "",
		"closed.example.com/a/b:latest": "closed.example.com/a/b:latest",
	} {
		list, err := p.locations(ref)
		var got []string
		for _, l := range list {
			got = append(got, l.ref.Name())
		}
		if !slices.Equal(got, strings.Fields(want)) || (err != nil) != (want == "") {
			t.Errorf("%s: %q, %v; want %s", ref, got, err, want)
		}
	}
}
