package repo_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/resolver"
)

var updateCosts = flag.Bool("costs", false, "rewrite testdata/costs.json")

// A cost is the cost of one run of a workload: its allocations, and the number of statements of olmkit and the SAT
// solver that it executes. Unlike time, these are nearly the same on every machine.
type cost struct {
	Name       string `json:"name"`
	Allocs     uint64 `json:"allocs"`
	Bytes      uint64 `json:"bytes"`
	Statements uint64 `json:"statements"`
}

// tolerance is the fraction by which a cost may exceed its baseline. Seeds of maps and versions of Go cause small
// differences.
const tolerance = 1.15

// TestCosts compares the allocations and statements of loading and resolving with the baseline in testdata/costs.json.
// To compare two builds, run the older one with -costs and then the newer one without.
func TestCosts(t *testing.T) {
	if testsize.Race {
		t.Skip("the race detector allocates memory")
	}
	const file = "testdata/costs.json"
	got := costs(t)
	if *updateCosts {
		text, err := json.MarshalIndent(got, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, append(text, '\n'), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	var want []cost
	if err := json.Unmarshal(text, &want); err != nil {
		t.Fatal(err)
	}
	if len(got) != len(want) {
		t.Fatalf("measured %d costs, but %s has %d; run with -costs", len(got), file, len(want))
	}
	for i, g := range got {
		w := want[i]
		t.Logf("%-20s %7d allocations (%+.0f %%), %8d bytes (%+.0f %%), %8d statements (%+.0f %%)", g.Name,
			g.Allocs, percent(g.Allocs, w.Allocs), g.Bytes, percent(g.Bytes, w.Bytes), g.Statements, percent(g.Statements, w.Statements))
		if g.Name != w.Name {
			t.Errorf("measured %q, but %s has %q; run with -costs", g.Name, file, w.Name)
		}
		for _, text := range g.above(w) {
			t.Errorf("%s: %s; find the cause, or run with -costs and explain the increase", g.Name, text)
		}
	}
}

// above describes the parts of c that exceed those of base by more than the tolerance.
func (c cost) above(base cost) []string {
	var out []string
	for _, x := range []struct {
		what      string
		got, want uint64
		slack     float64
	}{
		{"allocations", c.Allocs, base.Allocs, 4},
		{"bytes", c.Bytes, base.Bytes, 4096},
		{"statements", c.Statements, base.Statements, 100},
	} {
		if float64(x.got) > tolerance*float64(x.want)+x.slack {
			out = append(out, fmt.Sprintf("%d %s, the baseline is %d", x.got, x.what, x.want))
		}
	}
	return out
}

// TestCostAbove checks that above returns exactly the parts that exceed the baseline.
func TestCostAbove(t *testing.T) {
	base := cost{"x", 100, 10_000, 1000}
	for _, x := range []struct {
		c    cost
		want int
	}{
		{base, 0}, {cost{"x", 1, 1, 1}, 0}, {cost{"x", 118, 15_000, 1240}, 0},
		{cost{"x", 120, 15_000, 1240}, 1}, {cost{"x", 118, 16_000, 1240}, 1}, {cost{"x", 118, 15_000, 1260}, 1}, {cost{"x", 200, 20_000, 2000}, 3},
	} {
		if got := x.c.above(base); len(got) != x.want {
			t.Errorf("%v is above in %q, want %d", x.c, got, x.want)
		}
	}
}

func percent(got, want uint64) float64 {
	return 100 * (float64(got) - float64(want)) / max(float64(want), 1)
}

// costs measures all workloads.
func costs(t *testing.T) []cost {
	executed := statements(t)
	var out []cost
	for _, x := range workloads(t) {
		const runs = 5
		if err := x.do(); err != nil { // read the files that are cached
			t.Fatalf("%s: %v", x.name, err)
		}
		var before, after runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&before)
		for range runs {
			if err := x.do(); err != nil {
				t.Fatalf("%s: %v", x.name, err)
			}
		}
		runtime.ReadMemStats(&after)
		out = append(out, cost{x.name, (after.Mallocs - before.Mallocs) / runs, (after.TotalAlloc - before.TotalAlloc) / runs, executed(x.name)})
	}
	return out
}

// A workload is an operation whose cost is measured.
type workload struct {
	name string
	do   func() error
}

// workloads returns the operations to measure. Each runs on one goroutine.
func workloads(t *testing.T) []workload {
	ctx := context.Background()
	one := &fbc.LoadOptions{Concurrency: 1}
	jsonText, yamlText := costCatalog(false), costCatalog(true)
	blobs, err := fbc.LoadReader(ctx, bytes.NewReader(jsonText), "costs.json", one)
	if err != nil {
		t.Fatal(err)
	}
	c, err := graph.Build(ctx, blobs, nil)
	if err != nil {
		t.Fatal(err)
	}
	if list := c.Findings(); len(list) > 0 {
		t.Fatal(list)
	}
	var index bytes.Buffer
	if err := graph.WriteIndex(ctx, &index, c, ""); err != nil {
		t.Fatal(err)
	}
	problem := func(from, n int, channel string) resolver.Problem {
		p := resolver.Problem{Namespace: "ns", Catalogs: []resolver.Catalog{{Name: "costs", Namespace: "olm", Graph: c}}}
		for i := range n {
			p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: fmt.Sprintf("p%02d", from+i), Channel: channel})
		}
		return p
	}
	resolve := func(p resolver.Problem, solvable bool) func() error {
		return func() error {
			_, err := resolver.Resolve(ctx, p)
			if (err == nil) != solvable {
				return fmt.Errorf("resolving: %w", err)
			}
			return nil
		}
	}
	dependent := problem(0, 0, "")
	for i := range 10 {
		s := resolver.Subscription{Package: fmt.Sprintf("p%02d", 5*i+1), Channel: "stable"} // needs the package before it
		dependent.Subscriptions = append(dependent.Subscriptions, s)
	}
	upgrade := problem(0, 10, "stable")
	for i := range upgrade.Subscriptions {
		s := &upgrade.Subscriptions[i]
		pkg, _ := c.Package(s.Package)
		b, _ := pkg.Bundle(s.Package + ".v1.3.0")
		in := resolver.Installed{Name: b.Name(), Version: b.Version().String(), Package: s.Package}
		for q := range b.Properties() {
			in.Properties = append(in.Properties, q)
		}
		s.InstalledCSV, upgrade.Installed = in.Name, append(upgrade.Installed, in)
	}
	return []workload{
		{"load JSON", func() error { _, err := fbc.LoadReader(ctx, bytes.NewReader(jsonText), "costs.json", one); return err }},
		{"load YAML", func() error { _, err := fbc.LoadReader(ctx, bytes.NewReader(yamlText), "costs.yaml", one); return err }},
		{"load and index JSON", func() error {
			_, err := graph.LoadReader(ctx, bytes.NewReader(jsonText), "costs.json", &graph.Options{Load: one})
			return err
		}},
		{"load and index YAML", func() error {
			_, err := graph.LoadReader(ctx, bytes.NewReader(yamlText), "costs.yaml", &graph.Options{Load: one})
			return err
		}},
		{"build", func() error { _, err := graph.Build(ctx, blobs, nil); return err }},
		{"open an index", func() error {
			_, err := graph.ReadIndex(bytes.NewReader(index.Bytes()), int64(index.Len()), nil)
			return err
		}},
		{"resolve 1 over an index on demand", func() error {
			c, err := graph.ReadIndex(bytes.NewReader(index.Bytes()), int64(index.Len()), &graph.Options{OnDemand: true})
			if err != nil {
				return err
			}
			p := problem(0, 1, "stable")
			p.Catalogs[0].Graph = c
			return resolve(p, true)()
		}},
		{"validate JSON", func() error {
			_, _, err := fbc.CheckReader(ctx, bytes.NewReader(jsonText), "costs.json", one, nil)
			return err
		}},
		{"resolve 1 fresh", resolve(problem(0, 1, "stable"), true)},
		{"resolve 30 fresh", resolve(problem(0, 30, "stable"), true)},
		{"resolve 30 without channels", resolve(problem(0, 30, ""), true)},
		{"resolve 10 with dependencies", resolve(dependent, true)},
		{"resolve 10 upgrades", resolve(upgrade, true)},
		{"resolve 100 namespaces of 10", func() error {
			all := func(yield func(resolver.Problem) bool) {
				for n := range 100 {
					if !yield(problem(n%38, 10, "stable")) {
						return
					}
				}
			}
			for r := range resolver.ResolveAll(ctx, all, &resolver.BatchOptions{Concurrency: 1}) {
				if r.Err != nil {
					return r.Err
				}
			}
			return nil
		}},
		{"outlooks of a package", func() error {
			pkg, _ := c.Package("p07")
			outlooks := graph.NewOutlooks(graph.Classic, []graph.Source{{Catalog: "costs", Package: pkg}}, nil)
			for b := range pkg.Bundles() {
				outlooks.Of(graph.Node{Name: b.Name(), Version: b.Version().String()}, "costs", []string{"stable"})
			}
			return nil
		}},
		{"explain a conflict", resolve(problem(48, 2, "clash"), false)},
	}
}

// costCatalog returns a catalog of 50 packages with 20 bundles each. The last two packages have a channel named clash;
// the bundles in these channels provide the same API, so they conflict.
func costCatalog(yaml bool) []byte {
	var b strings.Builder
	blob := func(format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		if yaml {
			// One level in block style, as people write it.
			text = strings.TrimSuffix(strings.TrimPrefix(text, "{"), "}")
			text = "---\n" + strings.ReplaceAll(text, "\x00", "\n") + "\n"
		} else {
			text = strings.ReplaceAll(text, "\x00", ",") + "\n"
		}
		b.WriteString(text)
	}
	for p := range 50 {
		pkg := fmt.Sprintf("p%02d", p)
		blob(`{"schema": "olm.package"`+"\x00"+`"name": %q`+"\x00"+`"defaultChannel": "stable"}`, pkg)
		var entries []string
		for v := range 20 {
			name := fmt.Sprintf("%s.v1.%d.0", pkg, v)
			e := fmt.Sprintf(`{"name": %q}`, name)
			if v > 0 {
				e = fmt.Sprintf(`{"name": %q, "replaces": "%s.v1.%d.0", "skipRange": "<1.%d.0"}`, name, pkg, v-1, v/2)
			}
			entries = append(entries, e)
			props := fmt.Sprintf(`{"type": "olm.package", "value": {"packageName": %q, "version": "1.%d.0"}}`, pkg, v)
			for k := range 3 {
				props += fmt.Sprintf(`, {"type": "olm.gvk", "value": {"group": "%s.io", "kind": "K%d", "version": "v1"}}`, pkg, k)
			}
			if p >= 48 {
				props += `, {"type": "olm.gvk", "value": {"group": "clash.io", "kind": "Clash", "version": "v1"}}`
			}
			if p%5 == 1 {
				props += fmt.Sprintf(`, {"type": "olm.package.required", "value": {"packageName": "p%02d", "versionRange": ">=1.2.0"}}`, p-1)
			}
			blob(`{"schema": "olm.bundle"`+"\x00"+`"package": %q`+"\x00"+`"name": %q`+"\x00"+`"image": "quay.io/%s"`+"\x00"+`"properties": [%s]}`, pkg, name, name, props)
		}
		for _, ch := range []string{"clash", "stable"} {
			blob(`{"schema": "olm.channel"`+"\x00"+`"package": %q`+"\x00"+`"name": %q`+"\x00"+`"entries": [%s]}`, pkg, ch, strings.Join(entries, ", "))
		}
	}
	return []byte(b.String())
}
