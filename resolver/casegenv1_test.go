package resolver_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// v1Case makes a request to OLM v1.
func v1Case(t *testing.T, seed uint64) (text string, rules []string, ok bool) {
	r := randomRequest(seed)
	want := selectOracleWithout(t, r, "").answer()
	for _, id := range removableInV1 {
		if selectOracleWithout(t, r, id).answer() != want {
			rules = append(rules, id)
		}
	}
	files := make([]txtar.File, 0, 5)
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		files = append(files, txtar.File{Name: c.Name + ".json", Data: []byte(*c.FBC)})
		c.FBC, c.Dir = nil, c.Name
	}
	return generatedText(seed, rules, append(files, yamlFile(t, "request.yaml", r)), want), rules, len(rules) > 0
}

// randomRequest makes a request for the package demo over one to three catalogs whose
// channels, edges, versions and deprecations differ. Equal seeds make equal requests.
func randomRequest(seed uint64) olmv1.Request {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 0x0c1)), odd: rand.New(rand.NewPCG(seed, 0x0dd))}
	r := olmv1.Request{ID: fmt.Sprint(seed), Package: "demo"}
	var names []generated
	for i := range 1 + g.weighted(4, 4, 1) {
		text, bundles := g.demo()
		names = append(names, bundles...)
		r.Catalogs = append(r.Catalogs, olmv1.Catalog{
			Name: fmt.Sprintf("cat%d", i), Priority: g.weighted(4, 1), Unavailable: g.one(12), FBC: &text,
			Labels: map[string]string{"tier": pick(g, "gold", "lead")},
		})
	}
	if g.one(2) {
		r.Version = pick(g, "1.x", "^1.0.0", "~1.1", ">=1.1.0, <3.0.0", "1.0.0 || 2.0.0", ">=1.0.0-0", "2.0.0", "<2", "1.0.0 - 2.0.0", "*")
	}
	switch g.weighted(5, 3, 1) {
	case 1:
		r.Channels = []string{pick(g, "alpha", "stable")}
	case 2:
		r.Channels = []string{"alpha", "beta"}
	}
	if !g.one(3) {
		b := pick(g, names...)
		if g.one(4) {
			b.name, b.version = "demo.v0.9", "0.9.0"
		}
		r.Installed = &olmv1.Installed{Name: b.name, Version: b.version}
		if b.version == "soon" || g.one(4) {
			r.Policy = olmv1.SelfCertified
		}
	}
	switch g.weighted(8, 1, 1, 1) {
	case 1:
		r.Selector = &olmv1.LabelSelector{MatchLabels: map[string]string{"tier": "gold"}}
	case 2:
		r.Selector = &olmv1.LabelSelector{MatchExpressions: []olmv1.LabelRequirement{{Key: "tier", Operator: "NotIn", Values: []string{"lead"}}}}
	case 3:
		r.Options.OtherEdges = true
	}
	return r
}

// demo returns a catalog with the package demo.
func (g *generator) demo() (text string, bundles []generated) {
	versions := []string{"1.0.0", "1.0.0+1", "1.0.0+2", "1.1.0", "1.2.0-rc.1", "2.0.0", "2.0.0+a.1", "3.0.0"}
	g.Shuffle(len(versions), func(i, j int) { versions[i], versions[j] = versions[j], versions[i] })
	versions = versions[:2+g.IntN(4)]
	slices.Sort(versions)
	docs := []doc{{Schema: "olm.package", Name: "demo", DefaultChannel: "stable"}}
	for _, v := range versions {
		b := generated{pkg: "demo", name: "demo.v" + strings.ReplaceAll(v, "+", "-"), version: v}
		if g.odd.IntN(25) == 0 {
			b.version = "soon"
		}
		b.props = []property.Property{demoVersion(b.version)}
		if g.odd.IntN(12) == 0 {
			b.props = append(b.props, api(property.TypeGVKRequired, "a"))
		}
		bundles = append(bundles, b)
		docs = append(docs, doc{Schema: "olm.bundle", Package: "demo", Name: b.name, Image: "img/" + b.name, Properties: b.props})
	}
	deprecated := doc{Schema: "olm.deprecations", Package: "demo"}
	deprecate := func(schema, name string) {
		deprecated.Entries = append(deprecated.Entries, docEntry{Reference: &docReference{Schema: "olm." + schema, Name: name}, Message: schema + " is old"})
	}
	for _, ch := range []string{"stable", "alpha", "beta"}[:1+g.weighted(2, 3, 1)] {
		docs = append(docs, g.demoChannel(ch, bundles))
		if g.one(8) {
			deprecate("channel", ch)
		}
	}
	for _, b := range bundles {
		if g.one(4) {
			deprecate("bundle", b.name)
		}
	}
	if g.one(12) {
		deprecate("package", "")
	}
	if deprecated.Entries != nil {
		docs = append(docs, deprecated)
	}
	return strings.NewReplacer(`\u003c`, "<", `\u003e`, ">").Replace(render(docs)), bundles
}

func demoVersion(version string) property.Property {
	return text(property.TypePackage, `{"packageName":"demo","version":%q}`, version)
}

// demoChannel returns a channel of some of the bundles.
func (g *generator) demoChannel(name string, bundles []generated) doc {
	ch := doc{Schema: "olm.channel", Package: "demo", Name: name}
	for _, b := range bundles {
		if len(ch.Entries) > 0 && g.one(4) {
			continue
		}
		e := docEntry{Name: b.name}
		if n := len(ch.Entries); n > 0 {
			e.Replaces = ch.Entries[n-1].Name
			if g.one(4) {
				e.Skips = []string{ch.Entries[n-1].Name}
				e.Replaces = ch.Entries[max(n-2, 0)].Name
			}
		} else if g.one(2) {
			e.Replaces = "demo.v0.9"
		}
		if g.one(5) {
			e.SkipRange = pick(g, ">=1.0.0 <2.0.0", "<1.1.0", ">=0.5.0 <3.0.0")
		}
		ch.Entries = append(ch.Entries, e)
	}
	return ch
}
