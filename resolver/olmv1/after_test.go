package olmv1

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/olmkit/olmkit/graph"
)

// randomCatalog returns a catalog with package p, whose entries replace, skip and cover others at random.
func randomCatalog(t *testing.T, r *rand.Rand) *graph.Catalog {
	t.Helper()
	const versions = 12
	version := func(i int) string {
		if i == versions-1 {
			return fmt.Sprintf("1.%d.0-rc.1", i+1)
		}
		return fmt.Sprintf("1.%d.0", i)
	}
	var b strings.Builder
	b.WriteString("---\nschema: olm.package\nname: p\ndefaultChannel: a\n")
	for _, channel := range []string{"a", "b"} {
		fmt.Fprintf(&b, "---\nschema: olm.channel\npackage: p\nname: %s\nentries:\n", channel)
		for i := range versions {
			fmt.Fprintf(&b, "- name: p.v%d\n", i)
			if i > 0 && r.IntN(4) > 0 {
				fmt.Fprintf(&b, "  replaces: p.v%d\n", r.IntN(i))
			}
			if i > 0 && r.IntN(4) == 0 {
				fmt.Fprintf(&b, "  skips: [p.v%d]\n", r.IntN(i))
			}
			if r.IntN(4) == 0 {
				fmt.Fprintf(&b, "  skipRange: '<%s'\n", version(i))
			}
		}
	}
	var gone []string
	for i := range versions {
		v := version(i)
		if r.IntN(10) == 0 {
			v = version(max(0, i-1)) // two bundles have it
		}
		fmt.Fprintf(&b, "---\nschema: olm.bundle\npackage: p\nname: p.v%d\nproperties:\n- {type: olm.package, value: {packageName: p, version: %s}}\n", i, v)
		if r.IntN(10) == 0 {
			b.WriteString("- {type: olm.package.required, value: {packageName: q, versionRange: '>=1'}}\n")
		}
		if r.IntN(8) == 0 {
			gone = append(gone, fmt.Sprintf("{reference: {schema: olm.bundle, name: p.v%d}, message: gone}", i))
		}
	}
	fmt.Fprintf(&b, "---\nschema: olm.deprecations\npackage: p\nentries: [%s]\n", strings.Join(gone, ", "))
	c, err := graph.Load(t.Context(), fstest.MapFS{"catalog.yaml": {Data: []byte(b.String())}}, nil)
	if c == nil {
		t.Fatal(err)
	}
	return c
}

// After an upgrade, the next selection is the one that a new request with that bundle gets.
func TestAfter(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 7))
		q := Request{Package: "p", Catalogs: []Catalog{{Name: "x", Graph: randomCatalog(t, r), Priority: r.IntN(2)}, {Name: "y", Graph: randomCatalog(t, r), Priority: r.IntN(2)}}}
		q.Version = []string{"", ">1.3.0", "1.2.0 - 1.9.0"}[r.IntN(3)]
		q.Channels = [][]string{nil, {"a"}, {"a", "b"}}[r.IntN(3)]
		q.Policy = []UpgradePolicy{CatalogProvided, SelfCertified}[r.IntN(8)/7]
		q.Options.Semver = []SemverMode{semverOff, SemverAlso, SemverInstead}[max(0, r.IntN(8)-5)]
		first, err := selectFor(t.Context(), &q)
		if err != nil {
			t.Fatal(err)
		}
		for _, at := range first.inRanges {
			next, err := first.after(t.Context(), at)
			if err != nil {
				t.Fatal(err)
			}
			asked := q
			asked.Installed = &Installed{Name: at.Name(), Version: at.text()}
			want, err := selectFor(context.Background(), &asked)
			if err != nil {
				t.Fatal(err)
			}
			if fmt.Sprint(want.refusal, want.left) != fmt.Sprint(next.refusal, next.left) {
				t.Errorf("seed %d, after %s: %v %v, want %v %v", seed, at.Name(), next.refusal, next.left, want.refusal, want.left)
			}
		}
	}
}
