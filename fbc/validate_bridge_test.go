package fbc

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// bridgeCatalog returns a package with channels of entries such as
// "2.0.0 < 1.0.0 skips 1.0.1 in >=1.0.0": versions stand for bundles.
func bridgeCatalog(channels map[string][]string) []string {
	docs := []string{"schema: olm.package\nname: a\ndefaultChannel: one\n"}
	versions := map[string]bool{}
	for name, entries := range channels {
		doc := fmt.Sprintf("schema: olm.channel\npackage: a\nname: %q\nentries:\n", name)
		for _, e := range entries {
			e, rng, _ := strings.Cut(e, " in ")
			e, skips, _ := strings.Cut(e, " skips ")
			version, replaces, _ := strings.Cut(e, " < ")
			versions[version] = true
			doc += "- name: a.v" + version + "\n"
			if replaces != "" {
				doc += "  replaces: a.v" + replaces + "\n"
			}
			if skips != "" {
				doc += "  skips: [a.v" + skips + "]\n"
			}
			if rng != "" {
				doc += fmt.Sprintf("  skipRange: %q\n", rng)
			}
		}
		docs = append(docs, doc)
	}
	for v := range versions {
		docs = append(docs, fmt.Sprintf("schema: olm.bundle\npackage: a\nname: a.v%s\nimage: q/a:1\nproperties:\n- {type: olm.package, value: {packageName: a, version: %s}}\n", v, v))
	}
	slices.Sort(docs[1:])
	return docs
}

// TestBridge finds the versions that a channel leaves behind when it continues
// another one before its end (B9), and nothing where there is a way on.
func TestBridge(t *testing.T) {
	one := []string{"1.0.0", "1.0.1 < 1.0.0", "1.0.2 < 1.0.1", "1.0.3 < 1.0.2"}
	for name, tt := range map[string]struct {
		channels map[string][]string
		want     string // channel: versions left behind
	}{
		"before the end":            {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1", "1.1.1 < 1.1.0"}}, "two: a.v1.0.2, a.v1.0.3"},
		"at the end":                {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.3", "1.1.1 < 1.1.0"}}, ""},
		"continues nothing":         {map[string][]string{"one": one, "two": {"1.1.0"}}, ""},
		"replaces what is gone":     {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.9"}}, ""},
		"skipped by name":           {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1 skips 1.0.3"}}, ""},
		"only some skipped":         {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1 skips 1.0.2"}}, "two: a.v1.0.3"},
		"range":                     {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1 in >=1.0.0 <1.1.0"}}, ""},
		"range of a later entry":    {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1", "1.1.1 < 1.1.0 in >=1.0.3 <1.1.1"}}, ""},
		"range that ends early":     {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1 in >=1.0.0 <1.0.3"}}, "two: a.v1.0.3"},
		"by way of a third":         {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1"}, "three": {"1.0.4 < 1.0.3", "1.1.0 < 1.0.4"}}, ""},
		"past the channel":          {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1"}, "three": {"1.2.0 < 1.0.3"}}, ""},
		"the third ends as well":    {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1"}, "three": {"1.0.4 < 1.0.3"}}, "two: a.v1.0.2, a.v1.0.3"},
		"runs in parallel":          {map[string][]string{"one": append(slices.Clip(one), "1.2.0 < 1.0.3"), "two": {"1.1.0 < 1.0.1"}}, ""},
		"two end":                   {map[string][]string{"one": one, "oneb": {"1.0.1", "1.0.4 < 1.0.1"}, "two": {"1.1.0 < 1.0.1"}}, "two: a.v1.0.2, a.v1.0.3, a.v1.0.4"},
		"has them itself":           {map[string][]string{"one": one, "two": {"1.0.3 < 1.0.1", "1.1.0 < 1.0.3"}}, ""},
		"two channels continue":     {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.2"}, "three": {"1.2.0 < 1.0.1", "1.2.1 < 1.2.0"}}, "three: a.v1.0.2, a.v1.0.3\ntwo: a.v1.0.3"},
		"only a skipped one has it": {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1 in <1.1.0", "1.1.1 skips 1.1.0"}}, ""},
	} {
		docs := bridgeCatalog(tt.channels)
		var first string
		for i := range 3 {
			_, found, err := CheckBytes(t.Context(), []byte(strings.Join(docs, "---\n")), "f", nil, nil)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, d := range found {
				if d.Code == CodeBridge {
					_, left, _ := strings.Cut(d.Err.Error(), "or newer: ")
					left, _, _ = strings.Cut(left, ";")
					got = append(got, d.Name+": "+left)
				}
			}
			slices.Sort(got)
			if text := strings.Join(got, "\n"); text != tt.want {
				t.Errorf("%s: %q, want %q; of %v", name, text, tt.want, found)
			} else if i == 0 {
				first = text
			} else if text != first {
				t.Errorf("%s: in another order %q, want %q", name, text, first)
			}
			rand.New(rand.NewPCG(9, uint64(i))).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		}
	}
}

// TestBridgesOfRealCatalogs finds what was checked by hand in the real catalogs,
// and nothing else (B9).
func TestBridgesOfRealCatalogs(t *testing.T) {
	want := map[string]map[string]string{
		"community": {
			"service-binding-operator/stable":       "service-binding-operator.v0.10.0",
			"strimzi-kafka-operator/strimzi-0.46.x": "strimzi-cluster-operator.v0.45.1, strimzi-cluster-operator.v0.45.2",
		},
		"community-invalid": {},
		"openshift-v4.16":   {},
		"openshift-v4.19": {
			"project-quay/stable-3.16": "quay-operator.v3.15.3, quay-operator.v3.15.4, quay-operator.v3.15.5, quay-operator.v3.15.6, quay-operator.v3.15.7",
			"project-quay/stable-3.17": "quay-operator.v3.16.3, quay-operator.v3.16.4, quay-operator.v3.16.5",
		},
	}
	for name, want := range want {
		c, err := Load(t.Context(), realTree(t, name), nil)
		if err != nil {
			t.Fatal(err)
		}
		found, err := Validate(t.Context(), c, nil)
		if err != nil {
			t.Fatal(err)
		}
		got := map[string]string{}
		for _, d := range found {
			if d.Code == CodeBridge {
				_, left, _ := strings.Cut(d.Err.Error(), "or newer: ")
				left, _, _ = strings.Cut(left, ";")
				got[d.Package+"/"+d.Name] = left
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		t.Logf("%s: %d of %d channels", name, len(got), len(c.Channels))
	}
}
