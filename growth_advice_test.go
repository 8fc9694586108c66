package repo_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
)

// These begin the names of workloads that explain why 4n operators get no newer version, and that find the outlook of
// each version in each channel of n packages.
const (
	heldBack = "held back "
	censusOf = "census "
)

// advising returns the workload with a name that begins with heldBack or censusOf, or nil.
func advising(t testing.TB, name string) []workload {
	var n int
	if _, err := fmt.Sscanf(name, heldBack+"%d", &n); err == nil {
		return []workload{{name, explainedAll(held(t, 4*n))}} // in smaller namespaces, more operators get fixes
	}
	if _, err := fmt.Sscanf(name, censusOf+"%d", &n); err == nil {
		return []workload{{name, censusTaken(open(t, packagesWithGaps(n)))}}
	}
	return nil
}

// held returns a problem with n installed operators. A third of them is held back by a requirement that
// nothing satisfies, a third is stuck with a way out, and a third is stuck for good.
func held(t testing.TB, n int) resolver.Problem {
	p := resolver.Problem{Namespace: "operators", Catalogs: []resolver.Catalog{{Name: "c", Graph: open(t, packagesWithGaps(n))}}}
	for i := range n {
		pkg := fmt.Sprintf("p%05d", i)
		version, channel := 0, "new"
		switch i % 3 {
		case 0:
			version = 4 // whose successor has a requirement
		case 1:
			version = 1 // channel old leads to 2, from which new goes on
		case 2:
			version = 5 // which no channel has
		}
		p.Installed = append(p.Installed, resolver.Installed{Name: testcatalog.Bundle(pkg, version), Version: testcatalog.Version(version), Package: pkg})
		p.Subscriptions = append(p.Subscriptions, resolver.Subscription{Package: pkg, Channel: channel, InstalledCSV: testcatalog.Bundle(pkg, version)})
	}
	return p
}

// packagesWithGaps returns the text of a catalog with n packages. Channel old has the versions 1 and 2, channel new
// the versions 3, 4 and 6, of which 3 replaces 2, and 6 needs what nothing provides.
func packagesWithGaps(n int) string {
	var b strings.Builder
	for i := range n {
		pkg := fmt.Sprintf("p%05d", i)
		name := func(v int) string { return testcatalog.Bundle(pkg, v) }
		fmt.Fprintf(&b, `{"schema":"olm.package","name":%q,"defaultChannel":"new"}
{"schema":"olm.channel","package":%[1]q,"name":"old","entries":[{"name":%[2]q},{"name":%[3]q,"replaces":%[2]q}]}
{"schema":"olm.channel","package":%[1]q,"name":"new","entries":[{"name":%[4]q,"replaces":%[3]q},{"name":%[5]q,"replaces":%[4]q},{"name":%[6]q,"replaces":%[5]q}]}
`, pkg, name(1), name(2), name(3), name(4), name(6))
		for _, v := range []int{1, 2, 3, 4, 6} {
			more := ""
			if v == 6 {
				more = `,{"type":"olm.package.required","value":{"packageName":"missing","versionRange":">=1.0.0"}}`
			}
			fmt.Fprintf(&b, `{"schema":"olm.bundle","package":%q,"name":%q,"image":"i","properties":[{"type":"olm.package","value":{"packageName":%[1]q,"version":%[3]q}}%s]}`+"\n",
				pkg, name(v), testcatalog.Version(v), more)
		}
	}
	return b.String()
}

// open loads a catalog.
func open(t testing.TB, text string) *graph.Catalog {
	c, err := graph.LoadReader(context.Background(), strings.NewReader(text), "catalog.json", nil)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// explainedAll returns a function that explains why the operators of a problem get no newer version, with fixes.
func explainedAll(p resolver.Problem) func() error {
	return func() error {
		sol, err := resolver.Resolve(context.Background(), p)
		if err != nil {
			return err
		}
		list, err := sol.AdviceWithFixes(context.Background())
		if err == nil && len(list) < len(p.Installed) {
			err = fmt.Errorf("%d operators are explained, of %d", len(list), len(p.Installed))
		}
		return err
	}
}

// censusTaken returns a function that finds the outlook of each version in each channel of a catalog, in both
// readings.
func censusTaken(c *graph.Catalog) func() error {
	return func() error {
		var stuck int
		for _, r := range []graph.Reading{graph.Classic, graph.V1} {
			for p := range c.Packages() {
				o := graph.NewOutlooks(r, []graph.Source{{Catalog: "c", Package: p}}, nil)
				for b := range p.Bundles() {
					for ch := range p.Channels() {
						if o.Of(b.Node(), "", []string{ch.Name()}).EndsEarly() {
							stuck++
						}
					}
				}
			}
		}
		if stuck == 0 {
			return errors.New("nothing is stuck")
		}
		return nil
	}
}
