// Package generate makes problems and catalogs from seeds, and copies of real catalogs under other names. Equal seeds
// give equal results.
package generate

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// Problem returns a small problem with many interactions, whose catalogs opm accepts: bundles skip and cover each
// other, share APIs and have nested requirements, and operators are installed with and without subscriptions. The
// catalogs are inline text.
func Problem(seed uint64) resolver.Problem {
	g := newMaker(seed)
	g.installed()
	for range 1 + g.IntN(3) {
		g.subscribe(pick(g, g.bundles...), "")
	}
	return g.p
}

// newMaker returns a maker with generated catalogs.
func newMaker(seed uint64) *maker {
	g := &maker{Rand: rand.New(rand.NewPCG(seed, 0xc0))}
	g.p = resolver.Problem{ID: fmt.Sprint(seed), Namespace: "ns"}
	g.p.Options.Semantics = resolver.PerBundle
	for i := range 1 + g.IntN(2) {
		text := g.catalog()
		g.p.Catalogs = append(g.p.Catalogs, resolver.Catalog{
			Name: fmt.Sprintf("cat%d", i), Namespace: "olm", Priority: g.IntN(2), FBC: &text,
		})
	}
	return g
}

type maker struct {
	*rand.Rand
	p       resolver.Problem
	bundles []bundle
	cats    []map[string][]string // the channels of each package of each catalog
}

type bundle struct {
	cat                int
	pkg, name, version string
	props              []property.Property
}

func pick[T any](g *maker, of ...T) T { return of[g.IntN(len(of))] }

// one returns true once in n calls on average.
func (g *maker) one(n int) bool { return g.IntN(n) == 0 }

func (g *maker) catalog() string {
	var out strings.Builder
	write := func(blob map[string]any) {
		text, _ := json.Marshal(blob) // cannot fail: only strings, numbers and lists
		out.Write(text)
		out.WriteByte('\n')
	}
	g.cats = append(g.cats, map[string][]string{})
	names := []string{"a", "b", "c", "d", "e", "f"}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, pkg := range names[:3+g.IntN(3)] {
		g.pkg(pkg, write)
	}
	return out.String()
}

func (g *maker) pkg(pkg string, write func(map[string]any)) {
	cat := len(g.cats) - 1
	versions := []string{"1.0.0", "1.1.0", "2.0.0", "3.0.0"}[:1+g.IntN(4)]
	var names []string
	for _, v := range versions {
		b := bundle{cat, pkg, pkg + ".v" + v, v, g.properties(pkg, v)}
		g.bundles = append(g.bundles, b)
		names = append(names, b.name)
		write(map[string]any{"schema": "olm.bundle", "package": pkg, "name": b.name, "image": "quay.io/test/" + b.name, "properties": b.props})
	}
	channels := []string{"stable", "alpha"}[:1+g.IntN(2)]
	for i, ch := range channels {
		var entries []map[string]any
		for n, name := range names {
			if i > 0 && n == 0 && len(names) > 1 && g.one(2) {
				continue // the first channel holds every bundle
			}
			e := map[string]any{"name": name}
			if k := len(entries); k > 0 {
				e["replaces"] = entries[k-1]["name"]
				switch {
				case k > 1 && g.one(5):
					e["replaces"] = entries[k-2]["name"]
					e["skips"] = []any{entries[k-1]["name"]}
				case g.one(8):
					e["skips"] = []any{entries[k-1]["name"]}
				}
			} else if g.one(3) {
				e["replaces"] = pkg + ".v0.9.0"
			}
			if g.one(4) {
				e["skipRange"] = pick(g, ">=0.5.0 <1.0.0", "<2.0.0", ">=1.0.0 <3.0.0", "0.9.0 || 1.0.0")
			}
			entries = append(entries, e)
		}
		write(map[string]any{"schema": "olm.channel", "package": pkg, "name": ch, "entries": entries})
	}
	write(map[string]any{"schema": "olm.package", "name": pkg, "defaultChannel": pick(g, channels...)})
	g.cats[cat][pkg] = channels
}

func prop(typ, format string, args ...any) property.Property {
	return property.Property{Type: typ, Value: json.RawMessage(fmt.Sprintf(format, args...))}
}

func gvk(name string) string {
	return fmt.Sprintf(`{"group":"g.io","version":"v1","kind":%q}`, strings.ToUpper(name))
}

func (g *maker) properties(pkg, version string) []property.Property {
	out := []property.Property{prop(property.TypePackage, `{"packageName":%q,"version":%q}`, pkg, version)}
	if g.one(2) {
		out = append(out, prop(property.TypeGVK, "%s", gvk(pick(g, pkg, pkg, "s", "t"))))
	}
	if g.one(4) {
		out = append(out, prop("color", "%q", pick(g, "red", "blue")))
	}
	for range g.IntN(3) {
		switch g.IntN(4) {
		case 0:
			out = append(out, prop(property.TypeGVKRequired, "%s", gvk(pick(g, "a", "b", "c", "d", "s", "t"))))
		case 1:
			out = append(out, prop(property.TypePackageRequired, `{"packageName":%q,"versionRange":%q}`, g.name(), g.rng()))
		case 2:
			out = append(out, prop(property.TypeConstraint, "%s", g.tree(0)))
		}
	}
	if g.one(25) {
		out = append(out, prop(property.TypeDeprecated, "{}"))
	}
	return out
}

func (g *maker) name() string { return pick(g, "a", "b", "c", "d", "e", "f") }

func (g *maker) rng() string {
	return pick(g, ">=0.0.0", ">=1.0.0", ">=1.1.0", "<2.0.0", ">=2.0.0", "=1.0.0", "!1.1.0")
}

// tree returns the text of an olm.constraint.
func (g *maker) tree(depth int) string {
	if depth < 3 && g.one(1+depth) {
		var kids []string
		for range 1 + g.IntN(3) {
			kids = append(kids, g.tree(depth+1))
		}
		return fmt.Sprintf(`{"failureMessage":"m%d",%q:{"constraints":[%s]}}`, g.IntN(9), pick(g, "all", "any", "any", "not"), strings.Join(kids, ","))
	}
	switch g.IntN(5) {
	case 0, 1:
		return fmt.Sprintf(`{"failureMessage":"g","gvk":%s}`, gvk(pick(g, "a", "b", "c", "s", "t")))
	case 2, 3:
		return fmt.Sprintf(`{"failureMessage":"p","package":{"packageName":%q,"versionRange":%q}}`, g.name(), g.rng())
	}
	rule := pick(g,
		`properties.exists(p, p.type == 'color' && p.value == 'red')`,
		`properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '2.0.0') >= 0)`,
		`properties.exists(p, p.type == 'color')`,
	)
	return fmt.Sprintf(`{"failureMessage":"c","cel":{"rule":%q}}`, rule)
}

func (g *maker) installed() {
	for range g.IntN(3) {
		b := pick(g, g.bundles...)
		if g.one(4) {
			// Not in any catalog, except as the name of an entry.
			b.name, b.version = b.pkg+".v0.9.0", "0.9.0"
			b.props = []property.Property{prop(property.TypePackage, `{"packageName":%q,"version":"0.9.0"}`, b.pkg)}
		}
		if slices.ContainsFunc(g.p.Installed, func(x resolver.Installed) bool { return x.Package == b.pkg }) {
			continue
		}
		g.p.Installed = append(g.p.Installed, resolver.Installed{Name: b.name, Version: b.version, Package: b.pkg, Properties: b.props})
		if !g.one(3) { // else freestanding
			g.subscribe(b, b.name)
		}
	}
}

// subscribe adds a subscription to the package of a bundle, but only sometimes if the package already has one.
func (g *maker) subscribe(b bundle, installed string) {
	if slices.ContainsFunc(g.p.Subscriptions, func(s resolver.Subscription) bool { return s.Package == b.pkg }) && !g.one(6) {
		return
	}
	c := &g.p.Catalogs[b.cat]
	s := resolver.Subscription{
		Name: fmt.Sprintf("s%d", len(g.p.Subscriptions)), Package: b.pkg, InstalledCSV: installed,
		Channel: pick(g, g.cats[b.cat][b.pkg]...), Catalog: c.Name, CatalogNamespace: c.Namespace,
	}
	if installed == "" && g.one(8) {
		s.StartingCSV = b.name
	}
	g.p.Subscriptions = append(g.p.Subscriptions, s)
}
