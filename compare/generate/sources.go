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

// Sources returns the n-th small problem over the catalogs of a seed. The problems are about where bundles come from.
// Several catalogs, of different namespaces and priorities, have the same packages, and the namespace does not see all
// of them. Channels have entries that skip others or themselves, and bundles list an API twice. Subscriptions leave
// out the catalog or name channels, catalogs and startingCSVs that may not exist. Installed operators may be missing
// from the catalogs. Constraints are tested per bundle.
func Sources(seed, n uint64) resolver.Problem {
	g := &sourceMaker{maker: &maker{Rand: rand.New(rand.NewPCG(seed, 0x50))}}
	g.p = resolver.Problem{ID: fmt.Sprintf("%d-%d", seed, n), Namespace: "ns"}
	g.p.Options.Semantics = resolver.PerBundle
	if g.one(8) {
		g.p.GlobalNamespace = "global"
	}
	for range 1 + g.IntN(4) {
		g.source()
	}
	g.Rand = rand.New(rand.NewPCG(seed, 0x51+n))
	for range g.IntN(3) {
		g.install()
	}
	for range 1 + g.IntN(2) {
		g.want("", "")
	}
	return g.p
}

// A sourceMaker makes problems of several sources.
type sourceMaker struct {
	*maker
	lines []line
}

// A line is one channel of a package in one catalog.
type line struct {
	cat          int
	pkg, channel string
	names        []string // of the package's bundles
}

var sourcePackages = []string{"a", "b", "c", "d"}

func (g *sourceMaker) somePackage() string { return pick(g.maker, sourcePackages...) }

// source adds a catalog.
func (g *sourceMaker) source() {
	id := resolver.CatalogID{Name: pick(g.maker, "c0", "c1", "c2", "c3"), Namespace: pick(g.maker, "olm", "olm", "olm", "olm", "ns", "ns", "global", "far")}
	if slices.ContainsFunc(g.p.Catalogs, func(c resolver.Catalog) bool { return c.ID() == id }) {
		return
	}
	var out strings.Builder
	write := func(blob map[string]any) {
		text, _ := json.Marshal(blob) // cannot fail: only strings, numbers and lists
		out.Write(text)
		out.WriteByte('\n')
	}
	for _, i := range g.Perm(len(sourcePackages))[:1+g.IntN(3)] {
		g.sourcePackage(sourcePackages[i], write)
	}
	text := out.String()
	g.p.Catalogs = append(g.p.Catalogs, resolver.Catalog{Name: id.Name, Namespace: id.Namespace, Priority: g.IntN(3) - 1, FBC: &text})
}

func (g *sourceMaker) sourcePackage(pkg string, write func(map[string]any)) {
	var names []string
	for _, v := range []string{"1.0.0", "1.1.0", "2.0.0", "3.0.0"} {
		if len(names) > 0 && g.one(3) {
			continue
		}
		b := bundle{len(g.p.Catalogs), pkg, pkg + ".v" + v, v, g.sourceProperties(pkg, v)}
		g.bundles = append(g.bundles, b)
		names = append(names, b.name)
		write(map[string]any{"schema": "olm.bundle", "package": pkg, "name": b.name, "image": "quay.io/test/" + b.name, "properties": b.props})
	}
	channels := []string{"s", "t", "u"}
	g.Shuffle(len(channels), func(i, j int) { channels[i], channels[j] = channels[j], channels[i] })
	channels = channels[:1+g.IntN(3)]
	for i, ch := range channels {
		write(map[string]any{"schema": "olm.channel", "package": pkg, "name": ch, "entries": g.sourceEntries(pkg, names, i == 0)})
		g.lines = append(g.lines, line{len(g.p.Catalogs), pkg, ch, names})
	}
	write(map[string]any{"schema": "olm.package", "name": pkg, "defaultChannel": pick(g.maker, channels...)})
}

// sourceEntries returns the entries of a channel: all bundles, or some.
func (g *sourceMaker) sourceEntries(pkg string, names []string, all bool) []map[string]any {
	var entries []map[string]any
	for n, name := range names {
		if !all && len(names) > 1 && g.one(3) && n < len(names)-1 {
			continue
		}
		e := map[string]any{"name": name}
		var skips []any
		last := func(back int) any { return entries[len(entries)-back]["name"] }
		switch k := len(entries); {
		case k > 1 && g.one(4):
			e["replaces"] = last(2)
			skips = append(skips, last(1))
		case k > 0:
			e["replaces"] = last(1)
			if g.one(6) {
				skips = append(skips, last(1))
			}
		case g.one(3):
			e["replaces"] = pkg + ".v0.9.0"
		}
		if g.one(8) {
			skips = append(skips, pick(g.maker, pkg+".v0.8.0", pkg+".v0.9.0"))
		}
		if g.one(12) && (n < len(names)-1 || g.one(8)) {
			skips = append(skips, name) // itself
		}
		if g.one(100) {
			e["replaces"] = name
		}
		if skips != nil {
			e["skips"] = skips
		}
		if g.one(3) {
			e["skipRange"] = pick(g.maker, ">=0.5.0 <1.0.0", "<2.0.0", ">=1.0.0 <3.0.0", "0.9.0 || 1.0.0", "<9.0.0", ">=1.0.0")
		}
		entries = append(entries, e)
	}
	return entries
}

func (g *sourceMaker) sourceProperties(pkg, version string) []property.Property {
	out := []property.Property{prop(property.TypePackage, `{"packageName":%q,"version":%q}`, pkg, version)}
	if g.one(2) {
		api := prop(property.TypeGVK, "%s", gvk(pick(g.maker, pkg, pkg, pkg, "s")))
		out = append(out, api)
		if g.one(8) {
			out = append(out, api) // twice
		}
	}
	switch g.IntN(8) {
	case 0:
		out = append(out, prop(property.TypeGVKRequired, "%s", gvk(pick(g.maker, "a", "b", "c", "d", "s"))))
	case 1:
		out = append(out, prop(property.TypePackageRequired, `{"packageName":%q,"versionRange":%q}`, g.somePackage(), g.rng()))
	case 2:
		out = append(out, prop(property.TypeConstraint, "%s", g.tree(1)))
	}
	if g.one(15) {
		out = append(out, prop(property.TypeDeprecated, "{}"))
	}
	return out
}

// install adds an operator, usually with one subscription that owns it, sometimes with two.
func (g *sourceMaker) install() {
	b := pick(g.maker, g.bundles...)
	if g.one(4) {
		// Not in any catalog, except as the name of an entry.
		b.version = pick(g.maker, "0.9.0", "0.8.0")
		b.name = b.pkg + ".v" + b.version
		b.props = []property.Property{prop(property.TypePackage, `{"packageName":%q,"version":%q}`, b.pkg, b.version)}
	}
	if slices.ContainsFunc(g.p.Installed, func(x resolver.Installed) bool { return x.Package == b.pkg }) {
		return
	}
	g.p.Installed = append(g.p.Installed, resolver.Installed{Name: b.name, Version: b.version, Package: b.pkg, Properties: b.props})
	if g.one(4) {
		return // freestanding
	}
	g.want(b.pkg, b.name)
	if g.one(6) {
		g.want(b.pkg, b.name)
	}
}

// want adds a subscription to the package pkg, or to a random one if pkg is empty. The channel, catalog and
// startingCSV that it names usually exist.
func (g *sourceMaker) want(pkg, installed string) {
	of := slices.DeleteFunc(slices.Clone(g.lines), func(l line) bool { return pkg != "" && l.pkg != pkg })
	seen := slices.DeleteFunc(slices.Clone(of), func(l line) bool { return g.p.WhyUnseen(g.p.Catalogs[l.cat].ID()) != "" })
	if len(seen) > 0 && !g.one(20) {
		of = seen
	}
	l := pick(g.maker, of...)
	id := g.p.Catalogs[l.cat].ID()
	if slices.ContainsFunc(g.p.Subscriptions, func(s resolver.Subscription) bool { return s.Package == l.pkg }) && !g.one(6) && installed == "" {
		return
	}
	s := resolver.Subscription{
		Name: fmt.Sprintf("s%d", len(g.p.Subscriptions)), Package: l.pkg, InstalledCSV: installed,
		Channel: l.channel, Catalog: id.Name, CatalogNamespace: id.Namespace,
	}
	if g.one(4) {
		s.Channel = ""
	}
	switch g.IntN(80) {
	case 0:
		s.Catalog = ""
	case 1:
		s.CatalogNamespace = ""
	case 2:
		s.Catalog = "missing"
	case 3:
		s.Channel = "missing"
	case 4:
		s.Package = "missing"
	case 5, 6, 7, 8, 9, 10, 11, 12, 13, 14:
		s.Catalog, s.CatalogNamespace = "", ""
	}
	switch g.IntN(12) {
	case 0, 1, 2:
		s.StartingCSV = pick(g.maker, l.names...)
	case 3:
		s.StartingCSV = l.pkg + ".v1.0.0"
	}
	if installed == "" && g.one(12) {
		s.InstalledCSV = l.pkg + ".v0.1.0" // gone
	}
	g.p.Subscriptions = append(g.p.Subscriptions, s)
}
