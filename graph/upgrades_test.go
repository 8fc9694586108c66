package graph_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/olmkit/olmkit/graph"
)

// parse indexes a catalog written in a small language: lines "channel: entry,
// entry", each entry a version, then optionally "<v" replaces, "-v" skips and
// "[range]". The package is p, the names are p.v and the version. A version
// after "deprecated:" is deprecated.
func parse(t testing.TB, text string) graph.Package {
	t.Helper()
	var fbc strings.Builder
	versions := map[string]bool{}
	var first, deprecated string
	for line := range strings.Lines(text) {
		channel, list, ok := strings.Cut(strings.TrimSpace(line), ":")
		if !ok {
			continue
		}
		if channel == "deprecated" {
			for v := range strings.FieldsSeq(list) {
				deprecated += fmt.Sprintf(`,{"reference":{"schema":"olm.bundle","name":"p.v%s"},"message":"gone"}`, v)
			}
			continue
		}
		if first == "" {
			first = channel
		}
		var entries []string
		for entry := range strings.SplitSeq(list, ",") {
			entry, rng, _ := strings.Cut(entry, "[")
			words := strings.Fields(entry)
			if len(words) == 0 {
				continue
			}
			name, noBundle := strings.CutPrefix(words[0], "?")
			if !noBundle {
				versions[name] = true
			}
			e := fmt.Sprintf(`{"name":"p.v%s"`, name)
			var skips []string
			for _, w := range words[1:] {
				if w[0] == '<' {
					e += fmt.Sprintf(`,"replaces":"p.v%s"`, w[1:])
				} else {
					skips = append(skips, fmt.Sprintf("%q", "p.v"+w[1:]))
				}
			}
			if skips != nil {
				e += `,"skips":[` + strings.Join(skips, ",") + "]"
			}
			if rng != "" {
				e += fmt.Sprintf(`,"skipRange":%q`, strings.TrimSuffix(strings.TrimSpace(rng), "]"))
			}
			entries = append(entries, e+"}")
		}
		fmt.Fprintf(&fbc, `{"schema":"olm.channel","package":"p","name":%q,"entries":[%s]}`+"\n", channel, strings.Join(entries, ","))
	}
	for v := range versions {
		fmt.Fprintf(&fbc, `{"schema":"olm.bundle","package":"p","name":"p.v%[1]s","image":"i","properties":[{"type":"olm.package","value":{"packageName":"p","version":%[1]q}}]}`+"\n", v)
	}
	if deprecated != "" {
		fmt.Fprintf(&fbc, `{"schema":"olm.deprecations","package":"p","entries":[%s]}`, deprecated[1:])
	}
	text = fmt.Sprintf(`{"schema":"olm.package","name":"p","defaultChannel":%q}`+"\n", first) + fbc.String()
	lastText = text
	c, err := graph.LoadReader(context.Background(), strings.NewReader(text), "test.json", nil)
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	p, _ := c.Package("p")
	return p
}

// lastText is the last catalog that parse created.
var lastText string

func node(v string) graph.Node { return graph.Node{Name: "p.v" + v, Version: v} }

func short(n graph.Node) string { return strings.TrimPrefix(n.Name, "p.v") }

func shortAll(list []graph.Node) string {
	var out []string
	for _, n := range list {
		out = append(out, short(n))
	}
	return strings.Join(out, " ")
}

// route returns steps as text such as "1 -replaces-> 2".
func route(from graph.Node, steps []graph.Step) string {
	s := short(from)
	for _, x := range steps {
		var kinds []string
		for _, r := range x.Reasons {
			if k := r.Edge.String(); !slices.Contains(kinds, k) {
				kinds = append(kinds, k)
			}
		}
		s += " -" + strings.Join(kinds, "+") + "-> " + short(x.To)
	}
	return s
}

func TestWalk(t *testing.T) {
	for _, tt := range []struct {
		name, catalog, from string
		classic, v1         string
	}{
		{
			"B5: one step at a time", "stable: 0.1.3 <0.1.2, 0.1.2 <0.1.1, 0.1.1", "0.1.1",
			"0.1.1 -replaces-> 0.1.2 -replaces-> 0.1.3 head", "0.1.1 -replaces-> 0.1.2 -replaces-> 0.1.3 head",
		},
		{
			"B3: nearest to the head wins in classic", "stable: 3.0.0 <2.0.0 [>=1.0.0 <2.0.0], 2.0.0 <1.0.0, 1.0.0", "1.0.0",
			"1.0.0 -skipRange-> 3.0.0 head", "1.0.0 -skipRange-> 3.0.0 head",
		},
		{
			"B3: versions do not order a channel, in v1 they do", "stable: 1.5.0 <2.0.0 [>=1.0.0 <2.0.0], 2.0.0 <1.0.0, 1.0.0", "1.0.0",
			"1.0.0 -skipRange-> 1.5.0 -skipRange-> 1.5.0 loops head", "1.0.0 -replaces-> 2.0.0 head",
		},
		{
			"B3: a skipped version is never offered, whoever has it moves on", "stable: 0.9.2 <0.9.0 -0.9.1, 0.9.1 <0.9.0, 0.9.0", "0.9.0",
			"0.9.0 -replaces-> 0.9.2 head", "0.9.0 -replaces-> 0.9.2 head",
		},
		{
			"B8: a skipRange below a skip", "stable: 3.0.0 -2.0.0, 2.0.0 [>=1.0.0 <2.0.0]", "1.0.0",
			"1.0.0", "1.0.0 -skipRange-> 2.0.0 -skips-> 3.0.0 head",
		},
		{
			"B6: a virtual node has a way out by name", "stable: 1.2.0 <1.1.0", "1.1.0",
			"1.1.0 -replaces-> 1.2.0 head", "1.1.0 -replaces-> 1.2.0 head",
		},
		{
			"H2: a wide range admits a downgrade in classic; v1 has a version order", "stable: 3.0.0 <5.0.0 [<9.0.0], 5.0.0", "5.0.0",
			"5.0.0 -replaces+skipRange-> 3.0.0 -skipRange-> 3.0.0 loops head", "5.0.0 head",
		},
		{
			"C5: v1 stays when the only successor is deprecated", "stable: 1.2.0 <1.1.0, 1.1.0\ndeprecated: 1.2.0", "1.1.0",
			"1.1.0 -replaces-> 1.2.0 head", "1.1.0 head",
		},
		{
			"H16: v1 leaves a deprecated bundle for one that is not", "stable: 1.3.0 <1.2.0 , 1.2.0 <1.1.0, 1.1.0\ndeprecated: 1.2.0 1.1.0", "1.1.0",
			"1.1.0 -replaces-> 1.2.0 -replaces-> 1.3.0 head", "1.1.0 -replaces-> 1.2.0 -replaces-> 1.3.0 head",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, tt.catalog)
			for _, r := range []struct {
				graph.Reading
				want string
			}{{graph.Classic, tt.classic}, {graph.V1, tt.v1}} {
				w := p.Upgrades(r.Reading, &graph.UpgradeOptions{Installed: []graph.Node{node(tt.from)}}).Walk(node(tt.from))
				got := route(node(tt.from), w.Steps)
				if w.Loops {
					got += " loops"
				}
				if w.AtHead {
					got += " head"
				}
				if got != r.want {
					t.Errorf("%v: got  %s\nwant %s", r.Reading, got, r.want)
				}
			}
		})
	}
}

func TestDisagreements(t *testing.T) {
	// Classic has no way from 1.0.0, v1 has (B8, G4).
	p := parse(t, "stable: 3.0.0 -2.0.0, 2.0.0 [>=1.0.0 <2.0.0]")
	got := p.Disagreements(&graph.UpgradeOptions{Installed: []graph.Node{node("1.0.0")}})
	want := []graph.Disagreement{{
		From:   node("1.0.0"),
		V1:     &graph.Step{From: node("1.0.0"), To: node("2.0.0"), Reasons: []graph.Reason{{Channel: "stable", Edge: graph.SkipRange}}},
		OnlyV1: []graph.Node{node("2.0.0"), node("3.0.0")},
	}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestChannelsConstrainTheGraph(t *testing.T) {
	// B8: only the edges of the requested channels count, unless OtherEdges.
	p := parse(t, "stable: 1.0.0, 1.2.0 <1.0.0\nfast: 1.0.0, 1.1.0 <1.0.0, 1.2.0 <1.1.0")
	for _, tt := range []struct {
		opts graph.UpgradeOptions
		want string
	}{
		{graph.UpgradeOptions{Channels: []string{"stable"}}, "1.1.0"},
		{graph.UpgradeOptions{Channels: []string{"stable"}, OtherEdges: true}, "1.1.0 -replaces-> 1.2.0"},
		{graph.UpgradeOptions{Channels: []string{"stable", "fast"}}, "1.1.0 -replaces-> 1.2.0"},
		{graph.UpgradeOptions{}, "1.1.0 -replaces-> 1.2.0"},
		{graph.UpgradeOptions{Channels: []string{"none"}}, "1.1.0"},
	} {
		tt.opts.Installed = []graph.Node{node("1.1.0")}
		if got := route(node("1.1.0"), p.Upgrades(graph.V1, &tt.opts).Walk(node("1.1.0")).Steps); got != tt.want {
			t.Errorf("%v: got %s, want %s", tt.opts.Channels, got, tt.want)
		}
	}
}

func TestSameVersion(t *testing.T) {
	// B8: any bundle of the installed version and release is a successor.
	p := parse(t, "stable: 1.0.0+1, 1.0.0+2 <1.0.0+1, 1.0.0+10 <1.0.0+2, 2.0.0+a2345678901234567890, 3.0.0+a23456789012345678901")
	for _, tt := range []struct{ installed, version, want string }{
		{"x", "1.0.0+2", "p.v1.0.0+2"},
		{"x", "1.0.0", ""},
		{"p.v1.0.0+1", "1.0.0+1", "p.v1.0.0+2"},
		// A release has at most 20 characters (A8). With one more, build metadata means nothing.
		{"x", "2.0.0+a2345678901234567890", "p.v2.0.0+a2345678901234567890"},
		{"x", "2.0.0+b2345678901234567890", ""},
		{"x", "3.0.0+a23456789012345678901", "p.v3.0.0+a23456789012345678901"},
		{"x", "3.0.0+b23456789012345678901", "p.v3.0.0+a23456789012345678901"},
	} {
		n := graph.Node{Name: tt.installed, Version: tt.version}
		s, _ := p.Upgrades(graph.V1, &graph.UpgradeOptions{Installed: []graph.Node{n}}).Next(n)
		if s.To.Name != tt.want {
			t.Errorf("from %v: got %q, want %q", n, s.To.Name, tt.want)
		}
	}
}

func TestStranded(t *testing.T) {
	for _, tt := range []struct{ name, catalog, classic, v1 string }{
		{"a chain strands nobody", "stable: 3.0.0 <2.0.0, 2.0.0 <1.0.0, 1.0.0", "", ""},
		{"H3: what only a skipped entry replaces is stuck in classic", "stable: 3.0.0 <2.0.0 -2.0.0, 2.0.0 <1.0.0, 1.0.0", "1.0.0", ""},
		{"A7: several heads: no classic upgrades at all", "stable: 3.0.0, 2.0.0, 1.0.0", "1.0.0 2.0.0 3.0.0", "1.0.0 2.0.0"},
		{"A7: a cycle", "stable: 3.0.0 <2.0.0, 2.0.0 <1.0.0, 1.0.0 <2.0.0", "1.0.0 2.0.0 3.0.0", ""},
		{"A7: no head", "stable: 2.0.0 <1.0.0, 1.0.0 <2.0.0", "1.0.0 2.0.0", ""},
		{"A6: an entry without a bundle", "stable: ?3.0.0 <2.0.0, 2.0.0 <1.0.0, 1.0.0", "3.0.0", "3.0.0"},
		{"A6: a range that does not parse admits nothing", "stable: 3.0.0 [>=1 <], 2.0.0 <1.0.0, 1.0.0", "1.0.0 2.0.0 3.0.0", "1.0.0 2.0.0"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, tt.catalog)
			for r, want := range map[graph.Reading]string{graph.Classic: tt.classic, graph.V1: tt.v1} {
				if got := shortAll(slices.Collect(p.Upgrades(r, nil).Stranded())); got != want {
					t.Errorf("%v: got %q, want %q", r, got, want)
				}
			}
		})
	}
}

// A7: a channel without exactly one head has that fault, even if it also has a cycle.
// Otherwise a cycle is a fault only if it breaks the chain.
func TestChannelFault(t *testing.T) {
	for _, tt := range []struct{ catalog, want string }{
		{"stable: 4.0.0, 3.0.0, 2.0.0 <1.0.0, 1.0.0 <2.0.0", "has 2 heads: p.v3.0.0, p.v4.0.0"},
		{"stable: 2.0.0 <1.0.0, 1.0.0 <2.0.0", "has no head"},
		{"stable: 3.0.0 <2.0.0, 2.0.0 <1.0.0, 1.0.0 <2.0.0", "replaces form a cycle: p.v1.0.0 -> p.v2.0.0 -> p.v1.0.0; remove one of these edges"},
		{"stable: 4.0.0 <3.0.0 -2.0.0 -1.0.0, 3.0.0, 2.0.0 <1.0.0, 1.0.0 <2.0.0", ""},
	} {
		ch, _ := parse(t, tt.catalog).Channel("stable")
		if err := ch.Err(); (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: got the fault %v, want %q", tt.catalog, err, tt.want)
		}
	}
}

func TestMaxSteps(t *testing.T) {
	// D18: too many ranges that cover everything are an error and do not exhaust the
	// memory.
	var b strings.Builder
	b.WriteString("stable: ")
	for i := range 300 {
		fmt.Fprintf(&b, "1.0.%d [<2.0.0], ", i)
	}
	p := parse(t, b.String())
	u := p.Upgrades(graph.V1, &graph.UpgradeOptions{MaxSteps: 80_000})
	if want := `package "p" has more than 80000 possible upgrades; select fewer channels, or raise MaxSteps`; u.Err() == nil || u.Err().Error() != want {
		t.Errorf("got %v\nwant %s", u.Err(), want)
	}
	for range u.AllSteps() {
		t.Fatal("there are steps")
	}
	if u := p.Upgrades(graph.V1, nil); u.Err() != nil {
		t.Error(u.Err())
	}
	if d := p.Disagreements(&graph.UpgradeOptions{MaxSteps: 1}); d != nil {
		t.Errorf("there are disagreements: %v", d[0])
	}
}

func FuzzUpgrades(f *testing.F) {
	for _, s := range []string{
		`[{"name":"a.v1"}]`,
		`[{"name":"a.v1","replaces":"a.v2"},{"name":"a.v2","replaces":"a.v1"}]`,
		`[{"name":"a.v1","replaces":"a.v1","skipRange":"<9.0.0"},{"name":"a.v2","skips":["a.v1","a.v1","x"]}]`,
		`[{"name":"a.v3","replaces":"a.v2","skips":["a.v1"],"skipRange":">=1.0.0 <3.0.0"},{"name":"a.v2","skipRange":">="},{"name":"b"}]`,
	} {
		f.Add(s, "x", "1.5.0")
	}
	f.Fuzz(func(t *testing.T, entries, name, version string) {
		text := `{"schema":"olm.package","name":"a","defaultChannel":"s"}`
		for i := range 4 {
			text += fmt.Sprintf(`{"schema":"olm.bundle","package":"a","name":"a.v%d","properties":[{"type":"olm.package","value":{"packageName":"a","version":"%d.0.0"}}]}`, i, i)
		}
		c, err := graph.LoadReader(context.Background(), strings.NewReader(text+`{"schema":"olm.channel","package":"a","name":"s","entries":`+entries+`}`), "f.json", nil)
		if err != nil {
			return
		}
		if _, err := read(write(t, c, "")); err != nil {
			t.Fatalf("what was built does not open: %v", err) // S5
		}
		p, _ := c.Package("a")
		installed := graph.Node{Name: name, Version: version}
		for _, r := range []graph.Reading{graph.Classic, graph.V1} {
			u := p.Upgrades(r, &graph.UpgradeOptions{Installed: []graph.Node{installed}})
			for n := range u.Nodes() {
				w := u.Walk(n)
				if hops, ok := u.Paths(n).Hops(w.End); !ok || !w.Loops && hops > len(w.Steps) {
					t.Errorf("%v: the walk from %v to %v has %d steps, the shortest path %d (%v)", r, n, w.End, len(w.Steps), hops, ok)
				}
			}
		}
		p.Disagreements(nil)
	})
}

func TestWhy(t *testing.T) {
	s := graph.Step{Reasons: []graph.Reason{
		{Channel: "stable", Edge: graph.Replaces}, {Channel: "stable", Edge: graph.SkipRange}, {Channel: "alpha", Edge: graph.Replaces}, {Edge: graph.SameVersion},
	}}
	if got, want := s.Why(), "replaces in stable and alpha, skipRange in stable, version"; got != want {
		t.Errorf("Why() = %q, want %q", got, want)
	}
}
