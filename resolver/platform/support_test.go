package platform_test

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/resolver/platform"
)

// lifecycles returns a blob with the lifecycles of three versions of package p.
func lifecycles() string {
	version := func(name, from, until, end, platforms string) string {
		return fmt.Sprintf(`{"name":%q,"phases":[{"name":"Full support","startDate":%q,"endDate":"%s-30"},{"name":"Maintenance support","startDate":"%s-31","endDate":%q}],`+
			`"platformCompatibility":[{"name":"openshift","versions":[%s]}]}`, name, from, until, until, end, platforms)
	}
	return `{"schema":"io.openshift.operators.lifecycles.v1alpha1","package":"p","versions":[` +
		version("1.0", "2024-01-01", "2024-07", "2025-01-31", `"4.16"`) + "," +
		version("1.1", "2024-06-01", "2024-12", "2025-06-30", `"4.16","4.17"`) + "," +
		version("1.2", "2025-01-01", "2025-07", "2026-01-31", `"4.17","4.18"`) + `]}` + "\n"
}

// G5: the lifecycle data in catalogs state which versions have support on a day, and with which platforms they are
// compatible.
func TestSupport(t *testing.T) {
	problem := func(on lifecycle.Date, extra string) platform.Problem {
		c16, c18 := *catalog("p/s: 1.0.0, 1.1.0 <1.0.0")+extra, *catalog("p/s: 1.0.0, 1.1.0 <1.0.0\np/fast: 1.2.0 <1.1.0")+extra
		return platform.Problem{
			From: "4.16", To: "4.18", On: on,
			Catalogs:  []platform.Catalog{{Platform: "4.16", Name: "a", FBC: &c16}, {Platform: "4.17", Name: "b", FBC: &c16}, {Platform: "4.18", Name: "c", FBC: &c18}},
			Installed: []platform.Operator{{Name: "p.v1.0.0", Package: "p", Channel: "s"}},
		}
	}
	for _, tt := range []struct {
		name  string
		on    lifecycle.Date
		extra string
	}{
		{"support", "", lifecycles()},
		{"support-on", "2025-07-01", lifecycles()},
		{"support-during", "2025-01-15", lifecycles()},
		{"support-before", "2023-01-01", lifecycles()},
		{"support-unknown", "2025-07-01", ""},
		{"support-twice", "2025-07-01", lifecycles() + lifecycles()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := plan(t, problem(tt.on, tt.extra))
			golden.File(t, tt.name+".txt", got.String())
			text, err := json.MarshalIndent(got, "", "  ")
			if err != nil {
				t.Fatal(err)
			}
			golden.File(t, tt.name+".json", string(text)+"\n")
		})
	}
}

// TestSupportedAlways: the plan stops at a version that the platform supports, also with the strategy minimal, and a
// person is asked only where no upgrade leads to one (G5).
func TestSupportedAlways(t *testing.T) {
	c := *catalog("p/s: 1.0.0, 1.1.0 <1.0.0, 1.2.0 <1.1.0") + lifecycles()
	for _, tt := range []struct {
		name, installed string
		strategy        platform.Strategy
	}{
		{"stops", "p.v1.0.0", platform.Latest},
		{"stops-minimal", "p.v1.0.0", platform.Minimal},
		{"stops-late", "p.v1.2.0", platform.Latest},
	} {
		p := platform.Problem{From: "4.16", To: "4.18", Strategy: tt.strategy, Installed: []platform.Operator{{Name: tt.installed, Package: "p", Channel: "s"}}}
		for _, v := range []string{"4.16", "4.17", "4.18"} {
			p.Catalogs = append(p.Catalogs, platform.Catalog{Platform: v, FBC: &c})
		}
		got := plan(t, p)
		golden.File(t, tt.name+".txt", got.String())
		walkThrough(t, p, got)
	}
}
