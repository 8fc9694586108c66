package subset_test

import (
	"strings"
	"testing"

	"github.com/olmkit/olmkit/resolver/subset"
)

// TestUnmet checks the warning for each requirement that the catalog cannot satisfy, with the reason (G9).
func TestUnmet(t *testing.T) {
	const (
		k1     = `{"type":"olm.gvk.required","value":{"group":"x.y","version":"v1","kind":"K"}}`
		z1     = `{"type":"olm.gvk.required","value":{"group":"z.y","version":"v1","kind":"Z"}}`
		b2     = `{"type":"olm.package.required","value":{"packageName":"b","versionRange":">=2.0.0"}}`
		b1     = `{"type":"olm.package.required","value":{"packageName":"b","versionRange":"<2.0.0"}}`
		needK  = `{"type":"olm.gvk.required","value":{"group":"x.y","version":"v2","kind":"K"}}`
		giveZ  = `{"type":"olm.gvk","value":{"group":"z.y","version":"v1","kind":"Z"}}`
		fromB2 = "b.v2.0.0 requires API K (x.y/v2), which no bundle provides"
	)
	for _, tt := range []struct {
		name, a, b string // properties of a.v1.0.0 and b.v2.0.0
		want       []string
	}{
		{"nothing", b2, giveZ, nil},
		{"one of two", k1 + "," + z1, giveZ, []string{"a.v1.0.0 requires API K (x.y/v1), which the catalog cannot satisfy: no bundle provides it"}},
		{"both", k1 + "," + b2, needK, []string{
			"a.v1.0.0 requires API K (x.y/v1), which the catalog cannot satisfy: no bundle provides it",
			"a.v1.0.0 requires package b >=2.0.0, which the catalog cannot satisfy: " + fromB2,
		}},
		{"further on", z1, giveZ + "," + needK, []string{"a.v1.0.0 requires API Z (z.y/v1), which the catalog cannot satisfy: " + fromB2}},
		{"together", z1 + "," + b1, giveZ, []string{"the catalog cannot satisfy all requirements of a.v1.0.0 together: API Z (z.y/v1) and package b <2.0.0"}},
	} {
		bundle := func(pkg, version, properties string) string {
			return `{"schema":"olm.bundle","package":"` + pkg + `","name":"` + pkg + `.v` + version + `","image":"q/` + pkg + `:1","properties":[{"type":"olm.package","value":{"packageName":"` + pkg + `","version":"` + version + `"}}` + strings.TrimSuffix(","+properties, ",") + `]}`
		}
		c := parse(t, `{"schema":"olm.package","name":"a","defaultChannel":"s"}{"schema":"olm.package","name":"b","defaultChannel":"s"}`+
			`{"schema":"olm.channel","package":"a","name":"s","entries":[{"name":"a.v1.0.0"}]}`+
			`{"schema":"olm.channel","package":"b","name":"s","entries":[{"name":"b.v1.0.0"},{"name":"b.v2.0.0","replaces":"b.v1.0.0"}]}`+
			bundle("a", "1.0.0", tt.a)+bundle("b", "1.0.0", "")+bundle("b", "2.0.0", tt.b))
		s, err := subset.Cut(t.Context(), c, subset.Request{Packages: []subset.Want{{Package: "a"}}})
		if err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, w := range tt.want {
			want += "package a: " + w + "\n"
		}
		got := ""
		for _, w := range s.Warnings {
			got += w + "\n"
		}
		if got != want {
			t.Errorf("%s:\n%swant\n%s", tt.name, got, want)
		}
	}
}
