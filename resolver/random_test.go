package resolver_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// A generator makes small, difficult problems. Bundles skip and cover each other, share APIs, have nested
// requirements, or are deprecated or unreadable, and operators are installed with and without subscriptions. Equal
// seeds make equal problems.
type generator struct {
	*rand.Rand
	odd     *rand.Rand // draws rare and invalid input
	p       resolver.Problem
	bundles []generated
	left    int // bundles that may still be made
}

type generated struct {
	pkg, name, version string
	props              []property.Property
}

func randomProblem(seed uint64) resolver.Problem {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x01f)), odd: rand.New(rand.NewPCG(seed, 0x0dd)), left: 12}
	g.p = resolver.Problem{ID: fmt.Sprint(seed), Namespace: "ns", Subscriptions: []resolver.Subscription{}, Installed: []resolver.Installed{}}
	for i := range 1 + g.weighted(6, 3, 1) {
		g.catalog(i)
	}
	g.installed()
	g.subscriptions()
	if g.one(2) {
		g.p.Options.Semantics = resolver.PerBundle
	}
	if g.one(10) {
		g.p.Options.OtherSources = true
	}
	if g.one(10) {
		g.p.Options.SubscriptionOrder = resolver.AsGiven
	}
	if g.one(6) {
		g.policy()
	}
	return g.p
}

// one returns true once in n calls on average.
func (g *generator) one(n int) bool { return g.IntN(n) == 0 }

// weighted returns a random index, with the given weights.
func (g *generator) weighted(weights ...int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := g.IntN(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	panic("unreachable")
}

func pick[T any](g *generator, of ...T) T { return of[g.IntN(len(of))] }

func (g *generator) catalog(i int) {
	var docs []doc
	names := []string{"a", "b", "c", "d", "e"}
	g.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names[:2+g.IntN(3)] {
		docs = append(docs, g.pkg(name)...)
	}
	text := render(docs)
	if g.odd.IntN(12) == 0 {
		g.p.GlobalNamespace = "global"
	}
	g.p.Catalogs = append(g.p.Catalogs, resolver.Catalog{
		Name: fmt.Sprintf("cat%d", i), Namespace: pick(g, "olm", "olm", "ns"), Priority: g.IntN(3) - 1, FBC: &text,
	})
}

// render writes documents as JSON, one on each line.
func render(docs []doc) string {
	var b strings.Builder
	for _, d := range docs {
		text, err := json.Marshal(d)
		if err != nil {
			panic(err)
		}
		b.Write(text)
		b.WriteByte('\n')
	}
	return b.String()
}

// pkg returns the blobs of a package.
func (g *generator) pkg(name string) []doc {
	n := min(1+g.weighted(2, 4, 3, 2), g.left)
	if n == 0 {
		return nil
	}
	g.left -= n
	var out []doc
	var names []string
	for _, v := range []string{"1.0.0", "1.1.0", "2.0.0", "3.0.0-rc.1"}[:n] {
		b := generated{pkg: name, name: name + ".v" + v[:3], version: v, props: g.properties(name, v)}
		if g.one(40) {
			b.name = "same.v1" // in several packages (H14)
		}
		if slices.Contains(names, b.name) {
			b.name = name + ".v" + v[:3]
		}
		g.bundles = append(g.bundles, b)
		names = append(names, b.name)
		out = append(out, doc{Schema: "olm.bundle", Package: name, Name: b.name, Image: "img/" + b.name, Properties: b.props})
	}
	channels := []string{"stable", "alpha", "x/y"}
	g.Shuffle(len(channels), func(i, j int) { channels[i], channels[j] = channels[j], channels[i] })
	channels = channels[:1+g.weighted(5, 3, 1)]
	for _, ch := range channels {
		out = append(out, g.channel(name, ch, names))
	}
	return append(out, doc{Schema: "olm.package", Name: name, DefaultChannel: pick(g, channels...)})
}

func (g *generator) channel(pkg, name string, names []string) doc {
	ch := doc{Schema: "olm.channel", Package: pkg, Name: name}
	for _, b := range names {
		if g.one(6) && len(names) > 1 {
			continue
		}
		e := docEntry{Name: b}
		if n := len(ch.Entries); n > 0 && !g.one(25) {
			e.Replaces = ch.Entries[n-1].Name
			if n > 1 && g.one(5) {
				e.Replaces = ch.Entries[n-2].Name
				e.Skips = append(e.Skips, ch.Entries[n-1].Name)
			} else if g.one(8) {
				e.Skips = append(e.Skips, ch.Entries[n-1].Name)
			}
		} else if n == 0 && g.one(3) {
			e.Replaces = pkg + ".v0.9"
		}
		if g.one(4) {
			e.SkipRange = pick(g, ">=0.5.0 <1.0.0", "<2.0.0", ">=1.0.0", "<9.0.0", "=1.0.0", ">=1.1.0 <3.0.0", "0.9.0 || 1.0.0")
		}
		if g.one(8) {
			e.Skips = append(e.Skips, pkg+".v0.8")
		}
		if g.odd.IntN(30) == 0 {
			e.Skips = append(e.Skips, b) // itself
		}
		ch.Entries = append(ch.Entries, e)
	}
	if len(ch.Entries) == 0 {
		ch.Entries = append(ch.Entries, docEntry{Name: names[0]})
	}
	return ch
}

func (g *generator) properties(pkg, version string) []property.Property {
	out := []property.Property{text(property.TypePackage, `{"packageName":%q,"version":%q}`, pkg, version)}
	switch g.weighted(6, 3, 1) {
	case 0:
		out = append(out, api(property.TypeGVK, pkg))
	case 1:
		out = append(out, api(property.TypeGVK, pick(g, "a", "b", "s", "t")))
	}
	if n := len(out); n > 1 && g.odd.IntN(30) == 0 {
		out = append(out, out[n-1])
	}
	if g.one(4) {
		out = append(out, text("color", "%q", pick(g, "red", "blue")))
	}
	if g.one(6) {
		out = append(out, text(property.TypeLabel, `{"label":%q}`, pick(g, "gold", "lead")))
	}
	for range g.weighted(8, 5, 1) {
		switch g.weighted(3, 3, 1, 6) {
		case 0:
			out = append(out, api(property.TypeGVKRequired, pick(g, "a", "b", "c", "d", "s", "t")))
		case 1:
			out = append(out, text(property.TypePackageRequired, `{"packageName":%q,"versionRange":%q}`, g.name(), g.rng()))
		case 2:
			out = append(out, text(property.TypeLabelRequired, `{"label":%q}`, pick(g, "gold", "lead")))
		case 3:
			out = append(out, property.Property{Type: property.TypeConstraint, Value: json.RawMessage(g.tree(0))})
		}
	}
	switch {
	case g.one(25):
		out = append(out, text(property.TypeDeprecated, `{}`))
	case g.one(40):
		out = append(out, text(property.TypePackageRequired, `{"packageName":"a","versionRange":"~1.0"}`))
	case g.one(60):
		out = append(out, text(property.TypeConstraint, `{"any":{"constraints":[]}}`))
	}
	return out
}

func text(typ, format string, args ...any) property.Property {
	return property.Property{Type: typ, Value: json.RawMessage(fmt.Sprintf(format, args...))}
}

func api(typ, name string) property.Property {
	return text(typ, `{"group":"g.io","version":"v1","kind":%q}`, strings.ToUpper(name))
}

func (g *generator) name() string { return pick(g, "a", "b", "c", "d", "e") }

func (g *generator) rng() string {
	return pick(g, ">=0.0.0", ">=1.0.0", ">=1.1.0", "<2.0.0", ">=2.0.0", "=1.0.0", "!1.1.0", "<1.0.0")
}

// tree returns the text of an olm.constraint.
func (g *generator) tree(depth int) string {
	if depth < 3 && g.one(1+depth) {
		kind := pick(g, "all", "any", "any", "not")
		var kids []string
		for range 1 + g.weighted(4, 4, 1) {
			kids = append(kids, g.tree(depth+1))
		}
		return fmt.Sprintf(`{"failureMessage":"m%d",%q:{"constraints":[%s]}}`, g.IntN(9), kind, strings.Join(kids, ","))
	}
	switch g.weighted(4, 4, 2) {
	case 0:
		return fmt.Sprintf(`{"gvk":{"group":"g.io","version":"v1","kind":%q}}`, strings.ToUpper(pick(g, "a", "b", "c", "s", "t")))
	case 1:
		return fmt.Sprintf(`{%q:{%q:%q,"versionRange":%q}}`, "package", pick(g, "packageName", "name"), g.name(), g.rng())
	}
	rule := pick(g,
		`properties.exists(p, p.type == 'color' && p.value == 'red')`,
		`properties.exists(p, p.type == 'olm.package' && semver_compare(p.value.version, '2.0.0') >= 0)`,
		`properties.exists(p, p.type == 'color')`,
		`properties.all(p, p.type != 'color')`,
		`properties[0].value.missing == 'x'`, // an error on every bundle
	)
	return fmt.Sprintf(`{"cel":{"rule":%q}}`, rule)
}

func (g *generator) installed() {
	for range g.weighted(4, 4, 3, 1) {
		b := pick(g, g.bundles...)
		in := resolver.Installed{Name: b.name, Version: b.version, Package: b.pkg, Properties: slices.Clone(b.props)}
		switch g.weighted(12, 1, 1, 1, 3, 1, 1, 1) {
		case 1:
			in.Version = ""
		case 2:
			in.Package = ""
		case 3:
			// No property states the package.
			in.Package = ""
			in.Properties = slices.DeleteFunc(in.Properties, func(p property.Property) bool { return p.Type == property.TypePackage })
		case 4:
			// It is not in any catalog, except as the name of an entry.
			in.Name, in.Version = b.pkg+pick(g, ".v0.9", ".v0.8"), pick(g, "0.9.0", "0.8.0")
			in.Properties = []property.Property{text(property.TypePackage, `{"packageName":%q,"version":%q}`, b.pkg, in.Version)}
		case 5:
			// It lacks the annotation with its properties (H22).
			in.Package, in.Properties = "", nil
		case 6:
			in.Package = pick(g, "", b.pkg)
			in.Properties = append(in.Properties, text(property.TypePackage, `{"packageName":%q,"version":"1.0.0"}`, g.name()))
		case 7:
			in.Package, in.Version = "", pick(g, in.Version, "")
			in.Properties = []property.Property{text(property.TypePackage, pick(g, `{"packageName":%q}`, `{"packageName":%q,"version":""}`), b.pkg)}
		}
		if !slices.ContainsFunc(g.p.Installed, func(x resolver.Installed) bool { return x.Name == in.Name }) {
			g.p.Installed = append(g.p.Installed, in)
			if g.one(3) {
				continue // freestanding
			}
			g.p.Subscriptions = append(g.p.Subscriptions, g.subscription(b.pkg, in.Name))
		}
	}
}

func (g *generator) subscriptions() {
	for range 1 + g.weighted(3, 4, 2) {
		b := pick(g, g.bundles...)
		if g.one(40) {
			b.pkg = "nowhere"
		}
		s := g.subscription(b.pkg, "")
		switch {
		case g.one(8):
			s.StartingCSV = b.name
		case g.one(12):
			s.InstalledCSV = "gone.v1" // a fresh installation (H4)
		}
		g.p.Subscriptions = append(g.p.Subscriptions, s)
	}
}

func (g *generator) subscription(pkg, installed string) resolver.Subscription {
	s := resolver.Subscription{
		Name: fmt.Sprintf("s%d-%s", g.IntN(10), pick(g, "x", "y", "z")), Package: pkg, InstalledCSV: installed,
		Channel: pick(g, "", "", "stable", "stable", "alpha", "x/y"),
	}
	for slices.ContainsFunc(g.p.Subscriptions, func(o resolver.Subscription) bool { return o.Name == s.Name }) {
		s.Name += "'"
	}
	// Usually a channel that exists.
	for _, c := range g.p.Catalogs {
		for l := range strings.Lines(*c.FBC) {
			var d doc
			if json.Unmarshal([]byte(l), &d) == nil && d.Schema == "olm.channel" && d.Package == pkg && s.Channel != "" && !g.one(8) {
				s.Channel = d.Name
				if g.one(3) {
					s.Catalog, s.CatalogNamespace = c.Name, c.Namespace
				}
				if g.odd.IntN(40) == 0 {
					s.CatalogNamespace = ""
				}
			}
		}
	}
	return s
}

func (g *generator) policy() {
	b := pick(g, g.bundles...)
	p := resolver.Policy{Package: b.pkg, Reason: "so be it"}
	switch g.IntN(5) {
	case 0:
		p.Pin = b.name
	case 1:
		p.Pin = b.version
	case 2:
		p.Hold = true
	case 3:
		p.Exclude = b.name
	case 4:
		p.Exclude = g.rng()
	}
	if p.Exclude != "" && len(g.p.Installed) > 0 && g.IntN(2) == 0 { // an upgrade
		if p.From = pick(g, g.p.Installed...).Name; g.IntN(3) == 0 {
			p.From = b.version
		}
	}
	g.p.Policies = append(g.p.Policies, p)
}
