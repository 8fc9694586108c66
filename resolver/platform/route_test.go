package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/golden"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/platform"
)

// G5: in generated catalogs, every step of a plan is possible when it is taken, and the platform gets as far as with
// the best of all possible orders of upgrades and changes of the channel.
func TestDetours(t *testing.T) {
	const cases = 3000
	t.Run("all upgrades", func(t *testing.T) { testDetours(t, cases, false) })
	t.Run("without excluded upgrades", func(t *testing.T) { testDetours(t, cases/2, true) })
}

// testDetours tests generated trips.
func testDetours(t *testing.T, cases uint64, exclude bool) {
	reached, home, switches, holds := 0, 0, 0, 0
	for seed := range cases {
		p := randomTrip(rand.New(rand.NewPCG(seed, 1)))
		if seed%2 == 1 {
			p.Installed[0].Reading = graph.V1
		}
		if exclude {
			p.Installed[0].Excluded = randomExclusions(rand.New(rand.NewPCG(seed, 2)))
		}
		got := plan(t, p)
		walkThrough(t, p, got)
		for _, s := range got.Steps {
			if s.Switch != nil {
				switches++
			}
			if s.Hold != nil {
				holds++
			}
			if x := s.Operator; x != nil && slices.ContainsFunc(p.Installed[0].Excluded, func(e graph.Exclusion) bool { return e.From == x.From.Name && e.To == x.To.Name }) {
				t.Errorf("seed %d: the plan takes the excluded upgrade %s -> %s", seed, x.From, x.To)
			}
		}
		at, best := exhaustive(t, &p)
		if got.Reached != at.String() {
			t.Errorf("seed %d: the plan reaches %s, but %s is possible", seed, got.Reached, at)
		} else if got.OK {
			reached++
			behind := slices.ContainsFunc(got.LeftBehind(), func(b platform.Blocker) bool { return b.Platform == got.To })
			inAny, further := elsewhere(&p, got.Operators[0].To)
			switch {
			case behind && best && inAny && !further: // a change of the channel that upgrades nothing is not planned
				home++
			case !behind && !best:
				t.Errorf("seed %d: the operator is not left behind, but no order of steps achieves that", seed)
			case behind && best:
				t.Errorf("seed %d: the plan leaves the operator behind although another order of steps does not", seed)
			case best:
				home++
			}
		}
		if t.Failed() {
			text := ""
			for _, c := range p.Catalogs {
				text += c.Platform + "\n" + *c.FBC
			}
			t.Fatalf("%s%v\n%s", text, p.Installed[0].Excluded, got)
		}
	}
	t.Logf("%d of %d plans reach the target, %d with the operator at home; %d changes of the channel, %d holds", reached, cases, home, switches, holds)
}

// randomExclusions returns upgrades of the operator of randomTrip that are excluded.
func randomExclusions(r *rand.Rand) (out []graph.Exclusion) {
	for range 1 + r.IntN(3) {
		from := 1 + r.IntN(4)
		out = append(out, graph.Exclusion{From: fmt.Sprintf("p.v%d.0.0", from), To: fmt.Sprintf("p.v%d.0.0", from+1+r.IntN(5-from)), Reason: "it breaks"})
	}
	return out
}

// randomTrip returns an upgrade over three versions with one operator, whose channels differ in every catalog.
func randomTrip(r *rand.Rand) platform.Problem {
	p := platform.Problem{From: "4.16", To: "4.18", Installed: []platform.Operator{{Name: "p.v1.0.0", Package: "p", Channel: "a"}}}
	for v := range 3 {
		var lines strings.Builder
		for _, ch := range []string{"a", "b", "c"} {
			if v > 0 && r.IntN(4) == 0 {
				continue
			}
			var entries []string
			last := 0
			for n := 1; n <= 5; n++ {
				if r.IntN(2) == 0 && (n > 1 || ch != "a" || v > 0) {
					continue
				}
				e := fmt.Sprintf("%d.0.0", n)
				if m := n%3 + 15 + (n+1)%2*2; n < 4 {
					e += fmt.Sprintf(" max=4.%d", m)
				}
				if last > 0 {
					e += fmt.Sprintf(" <%d.0.0", last)
				} else if n > 1 && r.IntN(2) == 0 {
					e += fmt.Sprintf(" <%d.0.0", 1+r.IntN(n-1))
				}
				last = n
				entries = append(entries, e)
			}
			if len(entries) > 0 {
				fmt.Fprintf(&lines, "p/%s: %s\n", ch, strings.Join(entries, ", "))
			}
		}
		if lines.Len() == 0 {
			lines.WriteString("p/a: 1.0.0\n")
		}
		p.Catalogs = append(p.Catalogs, platform.Catalog{Platform: fmt.Sprintf("4.%d", 16+v), FBC: catalog(lines.String())})
	}
	return p
}

// exhaustive returns the last version that the platform can reach with its only operator, and whether the operator can
// then have a path to the head of a channel. It tries all orders of upgrades and changes of the channel.
func exhaustive(t *testing.T, p *platform.Problem) (property.MinorVersion, bool) {
	t.Helper()
	o := p.Installed[0]
	max := map[string]property.MinorVersion{}
	type state struct {
		node    graph.Node
		channel string
	}
	now := map[state]bool{{graph.Node{Name: o.Name, Version: "1.0.0"}, o.Channel}: true}
	for i := range p.Catalogs {
		pkg, ok := p.Catalogs[i].Graph.Package("p")
		if !ok {
			t.Fatal("no package")
		}
		for b := range pkg.Bundles() {
			if m, ok, err := property.LowestMaxOpenShift(b.Properties()); ok && err == nil {
				max[b.Name()] = m
			}
		}
	}
	for i := range p.Catalogs {
		pkg, _ := p.Catalogs[i].Graph.Package("p")
		at, _ := property.ParseMinorVersion(p.Catalogs[i].Platform)
		reach := map[state]bool{}
		home := false
		var visit func(state)
		visit = func(s state) {
			if reach[s] {
				return
			}
			reach[s] = true
			all := pkg.Upgrades(o.Reading, &graph.UpgradeOptions{Channels: []string{s.channel}, Installed: []graph.Node{s.node}})
			u := all.Without(o.Excluded)
			if o.Reading == graph.V1 {
				for x := range u.Steps(s.node) {
					visit(state{x.To, s.channel})
				}
			} else if x, ok := offered(all, s.node, o.Excluded); ok {
				visit(state{x.To, s.channel})
			}
			if _, ok := u.PathToHead(s.node); ok {
				home = true
			}
			for ch := range pkg.Channels() {
				visit(state{s.node, ch.Name()})
			}
		}
		for s := range now {
			visit(s)
		}
		if i == len(p.Catalogs)-1 {
			return at, home
		}
		now = map[state]bool{}
		for s := range reach {
			if m, ok := max[s.node.Name]; !ok || m.Compare(at.Next()) >= 0 {
				now[s] = true
			}
		}
		if len(now) == 0 {
			return at, false
		}
	}
	panic("unreachable")
}

// elsewhere reports whether any channel of the last catalog leads from a node to its head, and whether any upgrades it
// although the channel that the plan ends in does not.
func elsewhere(p *platform.Problem, n graph.Node) (home, further bool) {
	pkg, _ := p.Catalogs[len(p.Catalogs)-1].Graph.Package("p")
	o := p.Installed[0]
	for ch := range pkg.Channels() {
		u := pkg.Upgrades(o.Reading, &graph.UpgradeOptions{Channels: []string{ch.Name()}, Installed: []graph.Node{n}})
		_, ok := u.Without(o.Excluded).PathToHead(n)
		home = home || ok
		_, ok = offered(u, n, o.Excluded)
		further = further || ok
	}
	return home, further
}

// offered returns the only upgrade that classic OLM offers, whether or not it waits for approval, unless it is excluded.
func offered(u *graph.Upgrades, n graph.Node, excluded []graph.Exclusion) (graph.Step, bool) {
	x, ok := u.Next(n)
	return x, ok && !slices.ContainsFunc(excluded, func(e graph.Exclusion) bool { return e.From == x.From.Name && e.To == x.To.Name })
}

// TestExcluded checks that a plan takes another way around an excluded upgrade, and that a blocker names the upgrade if
// there is none (G5).
func TestExcluded(t *testing.T) {
	x := graph.Exclusion{From: "p.v1.0.0", To: "p.v2.0.0", Reason: "it breaks something"}
	p := platform.Problem{
		From: "4.16", To: "4.17", Installed: []platform.Operator{{Name: "p.v1.0.0", Package: "p", Channel: "a", Excluded: []graph.Exclusion{x}}},
		Catalogs: []platform.Catalog{
			{Platform: "4.16", FBC: catalog("p/a: 1.0.0, 2.0.0 <1.0.0\np/b: 1.5.0 <1.0.0, 2.0.0 <1.5.0")},
			{Platform: "4.17", FBC: catalog("p/a: 2.0.0")},
		},
	}
	golden.File(t, "excluded-around.txt", plan(t, p).String())
	for i := range p.Catalogs {
		p.Catalogs[i] = platform.Catalog{Platform: p.Catalogs[i].Platform, FBC: catalog("p/a: 1.0.0, 2.0.0 <1.0.0")}
	}
	golden.File(t, "excluded-all.txt", plan(t, p).String())
}
