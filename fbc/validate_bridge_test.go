package fbc

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/codes"
)

// bridgeCatalog returns a package with channels of entries such as "2.0.0 < 1.0.0 skips
// 1.0.1 in >=1.0.0", in which bundles are named by version.
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

// TestBridge checks the findings about versions that a channel leaves behind because it
// continues another channel before its end (B9), and that following the advice fixes them.
func TestBridge(t *testing.T) {
	one := []string{"1.0.0", "1.0.1 < 1.0.0", "1.0.2 < 1.0.1", "1.0.3 < 1.0.2"}
	many := []string{"1.0.0"}
	for i := range 30 {
		many = append(many, fmt.Sprintf("1.0.%d < 1.0.%d", i+1, i))
	}
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
		"through a third":           {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1"}, "three": {"1.0.4 < 1.0.3", "1.1.0 < 1.0.4"}}, ""},
		"past the channel":          {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1"}, "three": {"1.2.0 < 1.0.3"}}, ""},
		"the third ends as well":    {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1"}, "three": {"1.0.4 < 1.0.3"}}, "two: a.v1.0.2, a.v1.0.3"},
		"runs in parallel":          {map[string][]string{"one": append(slices.Clip(one), "1.2.0 < 1.0.3"), "two": {"1.1.0 < 1.0.1"}}, ""},
		"two end":                   {map[string][]string{"one": one, "oneb": {"1.0.1", "1.0.4 < 1.0.1"}, "two": {"1.1.0 < 1.0.1"}}, "two: a.v1.0.2, a.v1.0.3, a.v1.0.4"},
		"has them itself":           {map[string][]string{"one": one, "two": {"1.0.3 < 1.0.1", "1.1.0 < 1.0.3"}}, ""},
		"two channels continue":     {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.2"}, "three": {"1.2.0 < 1.0.1", "1.2.1 < 1.2.0"}}, "three: a.v1.0.2, a.v1.0.3\ntwo: a.v1.0.3"},
		"only a skipped one has it": {map[string][]string{"one": one, "two": {"1.1.0 < 1.0.1 in <1.1.0", "1.1.1 skips 1.1.0"}}, ""},
		"skips":                     {map[string][]string{"one": one, "two": {"1.1.0 skips 1.0.1"}}, "two: a.v1.0.2, a.v1.0.3"},
		"skips the end":             {map[string][]string{"one": one, "two": {"1.1.0 skips 1.0.3"}}, ""},
		"only a range":              {map[string][]string{"one": one, "two": {"1.1.0 in >=1.0.0 <1.0.2 || 1.0.5"}}, "two: a.v1.0.2, a.v1.0.3"},
		"only a whole range":        {map[string][]string{"one": one, "two": {"1.1.0 in >=1.0.2 <1.1.0"}}, ""},
		"branches off":              {map[string][]string{"one": {"1.1.0"}, "old": one, "two": {"1.0.0", "1.0.1 < 1.0.0", "1.1.0 < 1.0.1"}}, "two: a.v1.0.2, a.v1.0.3"},
		"branches off the default":  {map[string][]string{"one": one, "two": {"1.0.0", "1.0.1 < 1.0.0", "1.1.0 < 1.0.1"}}, ""},
		"many":                      {map[string][]string{"one": many, "two": {"1.1.0 < 1.0.5"}}, "two: a.v1.0.6, a.v1.0.7, a.v1.0.8, a.v1.0.9, a.v1.0.10, a.v1.0.11, a.v1.0.12, a.v1.0.13, a.v1.0.14, a.v1.0.15, a.v1.0.16, a.v1.0.17, a.v1.0.18, a.v1.0.19, a.v1.0.20, a.v1.0.21, a.v1.0.22, a.v1.0.23, a.v1.0.24, a.v1.0.25, … and 5 more"},
	} {
		found := bridgesOf(t, bridgeCatalog(tt.channels))
		var got []string
		for _, d := range found {
			got = append(got, d.Name+": "+leftBehind(d))
		}
		if text := strings.Join(got, "\n"); text != tt.want {
			t.Errorf("%s: %q, want %q", name, text, tt.want)
		}
		for _, d := range found {
			fixes := bridgeFix.FindAllStringSubmatch(d.Err.Error(), -1)
			if len(fixes) == 0 {
				t.Errorf("%s: no fix in %v", name, d)
			}
			for _, fix := range fixes {
				fixed := maps.Clone(tt.channels)
				fixed[d.Name] = slices.Clone(fixed[d.Name])
				var entry int
				if _, err := fmt.Sscanf(d.Path, "/entries/%d", &entry); err != nil {
					t.Fatal(err)
				}
				e := &fixed[d.Name][entry]
				if fix[1] == "skipRange" {
					*e, _, _ = strings.Cut(*e, " in ")
					*e += " in " + fix[2]
				} else {
					version, _, _ := strings.Cut(*e, " ")
					*e = version + " < " + strings.TrimPrefix(fix[2], "a.v")
				}
				for _, left := range bridgesOf(t, bridgeCatalog(fixed)) {
					if left.Name == d.Name {
						t.Errorf("%s: after %s %q: %v", name, fix[1], fix[2], left)
					}
				}
			}
		}
	}
}

// bridgeFix matches the fix in the message of a finding.
var bridgeFix = regexp.MustCompile(`(skipRange|replaces): "([^"]*)"`)

// leftBehind returns the versions that a finding lists.
func leftBehind(d *Diagnostic) string {
	_, left, _ := strings.Cut(d.Err.Error(), "or newer: ")
	left, _, _ = strings.Cut(left, ";")
	return left
}

// bridgesOf returns the findings of a catalog by channel, and checks that they do not
// depend on the order of the documents.
func bridgesOf(t *testing.T, docs []string) (list Diagnostics) {
	t.Helper()
	var first []string
	for i := range 3 {
		_, found, err := CheckReader(t.Context(), strings.NewReader(strings.Join(docs, "---\n")), "f", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		list = slices.DeleteFunc(found, func(d *Diagnostic) bool { return d.Code != codes.Bridge })
		slices.SortFunc(list, func(a, b *Diagnostic) int { return strings.Compare(a.Name, b.Name) })
		var texts []string
		for _, d := range list {
			texts = append(texts, d.Name+" "+d.Path+": "+d.Err.Error())
		}
		if i == 0 {
			first = texts
		} else if !slices.Equal(texts, first) {
			t.Errorf("in another order %q, want %q", texts, first)
		}
		rand.New(rand.NewPCG(9, uint64(i))).Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
	}
	return list
}

// TestBridgesOfRealCatalogs compares the findings in the real catalogs with those that were
// checked by hand (B9).
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
			if d.Code == codes.Bridge {
				got[d.Package+"/"+d.Name] = leftBehind(d)
			}
		}
		if !maps.Equal(got, want) {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
		t.Logf("%s: %d of %d channels", name, len(got), len(c.Channels))
	}
}
