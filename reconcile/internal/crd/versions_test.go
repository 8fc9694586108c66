package crd

import (
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/olmkit/olmkit/olm"
)

func yamlCRD(t *testing.T, text string) *olm.CustomResourceDefinition {
	t.Helper()
	v := new(olm.CustomResourceDefinition)
	if err := yaml.Unmarshal([]byte(text), v); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return v
}

func versionsCRD(t *testing.T, versions, stored string) *olm.CustomResourceDefinition {
	t.Helper()
	return yamlCRD(t, `{metadata: {name: things.x.io}, spec: {group: x.io, versions: `+versions+`}, status: {storedVersions: `+stored+`}}`)
}

// E7: the versions that an upgrade removes are listed, in order.
func TestLostVersions(t *testing.T) {
	const v1, v2 = `[{name: v1, served: true, storage: true}]`, `[{name: v2, served: true, storage: true}]`
	const both = `[{name: v1, served: true}, {name: v2, served: true, storage: true}]`
	const unserved = `[{name: v1, served: false}, {name: v2, served: true, storage: true}]`
	user := func(member, version string) *olm.ClusterServiceVersion {
		c := &olm.ClusterServiceVersion{}
		c.Metadata.Namespace, c.Metadata.Name = "ns", "a.v1"
		d := []olm.CRDDescription{{Name: "things.x.io", Version: version, Kind: "Thing"}}
		if member == "owned" {
			c.Spec.CRDs.Owned = d
		} else {
			c.Spec.CRDs.Required = d
		}
		return c
	}
	for _, c := range []struct {
		name, old, stored, new string
		user                   *olm.ClusterServiceVersion
		want                   string
	}{
		{"same versions", v1, "[v1]", v1, nil, ""},
		{"served version gone", `[{name: v1, served: true, storage: true}, {name: v2, served: true}]`, "[v1]", v1, nil, "version v2: is served, but missing from the new definition"},
		{"stored version gone", `[{name: v1, served: false, storage: true}]`, "[v1]", v2, nil, "version v1: has stored objects, but is missing from the new definition"},
		{"served and stored is reported once", v1, "[v1]", v2, nil, "version v1: is served, but missing from the new definition"},
		{"version no longer served, never stored", `[{name: v1, served: false}]`, "[]", v2, nil, ""},
		{"no longer served, owned", both, "[v1, v2]", unserved, user("owned", "v1"), "version v1: is served, but not by the new definition, and used by ns/a.v1"},
		{"no longer served, required", both, "[v1, v2]", unserved, user("required", "v1"), "version v1: is served, but not by the new definition, and used by ns/a.v1"},
		{"no longer served, owned in another version", both, "[v1, v2]", unserved, user("owned", "v2"), ""},
		{"no longer served, without users", both, "[v1, v2]", unserved, nil, ""},
	} {
		var users []*olm.ClusterServiceVersion
		if c.user != nil {
			users = append(users, c.user)
		}
		var got []string
		for _, v := range LostVersions(versionsCRD(t, c.old, c.stored), versionsCRD(t, c.new, "[]"), users, true) {
			got = append(got, v.String())
		}
		if text := strings.Join(got, "; "); text != c.want {
			t.Errorf("%s: got %q, want %q", c.name, text, c.want)
		}
	}
}

// E7: a v1beta1 definition has its version in another field.
func TestLostVersionsV1beta1(t *testing.T) {
	old := yamlCRD(t, `{metadata: {name: things.x.io}, spec: {group: x.io, version: v1}}`)
	new := yamlCRD(t, `{metadata: {name: things.x.io}, spec: {group: x.io, version: v2}}`)
	if got := LostVersions(old, new, nil, true); len(got) != 1 || got[0].Version != "v1" {
		t.Errorf("got %v, want the loss of v1", got)
	}
}
