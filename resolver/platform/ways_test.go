package platform_test

import (
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/resolver/platform"
)

// TestWays checks what a person is asked to do, and why, with one operator or more (G5).
func TestWays(t *testing.T) {
	one := func(name, channel string) []platform.Operator {
		return []platform.Operator{{Name: name, Package: "p", Channel: channel}}
	}
	for _, tt := range []struct {
		name      string
		catalogs  []string // from 4.16 on
		installed []platform.Operator
	}{
		// H2: a channel that accepts nothing from the installed version is not a way around older versions.
		{"older-between", []string{"p/main: 1.0.0, 0.9.9 <1.0.0, 0.9.5 <0.9.9, 1.1.0 <0.9.5\np/island: 3.1.0", "p/main: 1.1.0"}, one("p.v1.0.0", "main")},
		// Another channel is followed only as far as the operator's own channel leads on.
		{"there-and-back", []string{
			"p/s: 1.0.0, 1.1.1 <1.0.0\np/fast: 1.1.0, 1.1.1 <1.1.0\np/candidate: 1.1.0, 1.1.1 <1.1.0, 1.2.0 <1.1.1",
			"p/s: 1.0.0, 1.1.1 <1.0.0\np/candidate: 1.1.1, 1.2.0 <1.1.1",
		}, one("p.v1.1.0", "s")},
		// The reason of a hold is what it prevents, not why the channel is changed later.
		{"hold-for-later", []string{"p/v20: 1.0.0, 1.0.4 <1.0.0", "p/v20: 1.0.4, 1.0.5 <1.0.4\np/v21: 1.1.0 <1.0.4", "p/v21: 1.1.0"}, one("p.v1.0.0", "v20")},
		{"no-such-channel", []string{"p/v20: 1.0.0, 1.0.4 <1.0.0", "p/v20: 1.0.4, 1.0.5 <1.0.4"}, one("p.v1.0.0", "v2")},
		// C7: upgrades that lift a block wait for approval.
		{"approval", []string{"p/s: 1.0.0 max=4.16, 1.1.0 max=4.16 <1.0.0, 1.2.0 max=4.17 <1.1.0", "p/s: 1.2.0, 1.3.0 <1.2.0"},
			[]platform.Operator{{Name: "p.v1.0.0", Package: "p", Manual: true}}},
		// What blocks behind the first block, and what can be installed again.
		{"behind-block", []string{
			"p/s: 1.0.0 max=4.16\nq/s: 1.0.0 max=4.17\nr/s: 1.0.0\nu/s: 1.0.0",
			"p/s17: 1.1.0 max=4.17\nq/s: 1.0.0 max=4.17\nr/s: 1.0.0\nu/t: 1.0.0, 2.0.0 <1.0.0",
			"q/s: 1.2.0\nu/t: 2.0.0",
		}, []platform.Operator{
			{Name: "p.v1.0.0", Package: "p", Channel: "s"}, {Name: "q.v1.0.0", Package: "q", Channel: "s"},
			{Name: "r.v1.0.0", Package: "r"}, {Name: "u.v1.0.0", Package: "u", Channel: "s"},
		}},
		// H16: OLM v1 refuses bundles that declare dependencies, and what follows is out of reach.
		{"v1-dependencies", []string{"p/s: 1.0.0, 1.1.0 <1.0.0, 2.0.0 <1.1.0 needs=x, 3.0.0 <2.0.0", "p/s: 1.1.0, 2.0.0 <1.1.0 needs=x, 3.0.0 <2.0.0"},
			[]platform.Operator{{Name: "p.v1.0.0", Package: "p", Reading: graph.V1}}},
		// Many operators that upgrade in a row have one line.
		{"many", []string{"a/s: 1.0.0, 2.0.0 <1.0.0\nb/s: 1.0.0, 2.0.0 <1.0.0\nc/s: 1.0.0, 2.0.0 <1.0.0\nd/s: 1.0.0, 2.0.0 <1.0.0\n" +
			"e/s: 1.0.0, 2.0.0 <1.0.0, 3.0.0 <2.0.0\nf/s: 1.0.0, 2.0.0 <1.0.0\ng/s: 1.0.0\ng/t: 1.0.0, 2.0.0 <1.0.0\nh/s: 1.0.0, 2.0.0 <1.0.0",
			"g/t: 1.0.0, 2.0.0 <1.0.0"}, many("a", "b", "c", "d", "e", "f", "g", "h")},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := platform.Problem{From: "4.16", Installed: tt.installed}
			for i, c := range tt.catalogs {
				p.To = []string{"4.16", "4.17", "4.18"}[i]
				p.Catalogs = append(p.Catalogs, platform.Catalog{Platform: p.To, FBC: catalog(c)})
			}
			got := plan(t, p)
			golden.File(t, tt.name+".txt", got.Text(100))
			walkThrough(t, p, got)
		})
	}
}

// many returns operators with version 1.0.0.
func many(packages ...string) (out []platform.Operator) {
	for _, p := range packages {
		out = append(out, platform.Operator{Name: p + ".v1.0.0", Package: p, Channel: "s"})
	}
	return out
}
