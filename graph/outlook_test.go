package graph_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/realcat"
	"github.com/olmkit/olmkit/internal/testsize"
)

// outlook returns an outlook as a line of text.
func outlook(o *graph.Outlook) string {
	var b strings.Builder
	fmt.Fprint(&b, o.Kind)
	for _, s := range o.Steps {
		fmt.Fprint(&b, " ", short(s.To))
	}
	if g := o.Gap; g != nil {
		fmt.Fprintf(&b, "; gap %s over %s", short(g.Entry), shortAll(g.Over))
	}
	if g := o.Gap; g != nil && g.Skipped != nil {
		fmt.Fprintf(&b, "; %s skips %s", short(*g.By), short(*g.Skipped))
	}
	if n := o.Newest; n != nil {
		fmt.Fprintf(&b, "; newest %s", short(n.Node))
		if n.Channel != "" {
			fmt.Fprint(&b, " in ", n.Channel)
		}
	}
	if w := o.Way; w != nil {
		b.WriteString("; way")
		for _, l := range w.Legs {
			fmt.Fprintf(&b, " %s/%s", l.Catalog, l.Channel)
			if l.Stays {
				b.WriteString("(stays)")
			}
			for _, s := range l.Steps {
				fmt.Fprint(&b, " ", short(s.To))
			}
			if l.Stop {
				b.WriteString("(stop)")
			}
		}
		if w.AtHead {
			b.WriteString(" head")
		}
		if w.Strands {
			b.WriteString(" strands")
		}
	}
	if w := o.Nearer; w != nil {
		fmt.Fprintf(&b, "; nearer %s in %d legs", short(w.End()), len(w.Legs))
	}
	if d := o.Downgrade; d != nil {
		fmt.Fprintf(&b, "; %s is older", short(d.To))
	}
	if k := o.Keep; k != nil {
		fmt.Fprintf(&b, ", %s keeps %s", k.Channel, short(k.Node))
	}
	if c := o.Closes; c != nil {
		fmt.Fprintf(&b, "; %s closes", short(c.To))
	}
	return b.String()
}

// TestOutlook checks the outlooks of nodes in small graphs (H40).
func TestOutlook(t *testing.T) {
	quay := "s17: 3.17.0 <3.16.2\ns15: 3.15.1, 3.15.2 <3.15.1, 3.15.3 <3.15.2, 3.15.4 <3.15.3\n" +
		"s16: 3.16.0 <3.15.2, 3.16.1 <3.16.0, 3.16.2 <3.16.1, 3.16.5 <3.16.2\n"
	for _, tt := range []struct {
		name, catalog, from, channel, want string // channel may be several
		reading                            graph.Reading
	}{
		{"at the head of the default channel", "a: 1.0.0, 1.1.0 <1.0.0", "1.1.0", "a", "at-head", graph.Classic},
		{"two steps", "a: 1.8.1, 1.9.1 <1.8.1, 1.10.2 <1.9.1", "1.8.1", "a", "steps-away 1.9.1 1.10.2", graph.Classic},
		{"no way out", quay, "3.15.4", "s16", "stuck; gap 3.16.0 over 3.15.2; newest 3.17.0 in s17, s15 keeps 3.15.4", graph.Classic},
		{"the last moment to act", quay, "3.15.1", "s15",
			"steps-away 3.15.2 3.15.3 3.15.4; newest 3.17.0 in s17; way c/s15(stays) 3.15.2(stop) c/s16 3.16.0 3.16.1 3.16.2(stop) c/s17 3.17.0 head; 3.15.3 closes", graph.Classic},
		{"a head that leads no further", quay, "3.15.1", "s16",
			"stuck; gap 3.16.0 over 3.15.2; newest 3.17.0 in s17; way c/s15 3.15.2(stop) c/s16 3.16.0 3.16.1 3.16.2(stop) c/s17 3.17.0 head; nearer 3.16.5 in 2 legs", graph.Classic},
		{"a head that one needs many switches to get to, and that leads no further", "stable: 1.0.0, 1.1.0 <1.0.0, 1.4.0 <1.1.0\nx1: 1.1.0 <1.0.0\nx2: 1.2.0 <1.1.0\nx3: 1.3.0 <1.2.0, 1.3.1 <1.3.0\ny: 2.0.0", "1.0.0", "x3",
			"stuck; gap 1.3.0 over 1.2.0; newest 2.0.0 in y; way c/stable 1.1.0 1.4.0 head strands", graph.Classic},
		{"one switch leads further than two that return", "stable: 1.6.0, 1.7.0 <1.6.0, 1.8.0 <1.7.0, 1.9.0 <1.8.0\ns7: 1.7.0 <1.6.0\ns8: 1.8.0 <1.7.0", "1.6.0", "s8",
			"stuck; gap 1.8.0 over 1.7.0; newest 1.9.0 in stable; way c/stable 1.7.0 1.8.0 1.9.0 head", graph.Classic},
		{"the default channel without a stop", "stable: 1.0.0, 1.1.0 <1.0.0, 1.2.0 <1.1.0\nx: 1.1.0 [<0.1.0]", "1.0.0", "x",
			"stuck; gap 1.1.0 over ; newest 1.2.0 in stable; way c/stable 1.1.0 1.2.0 head", graph.Classic},
		{"a way out through two channels", "r7: 1.7.0 <1.6.0\nr5: 1.5.0 <1.4.0\nr6: 1.6.0 <1.5.0\nr4: 1.4.0", "1.4.0", "r7",
			"stuck; gap 1.7.0 over 1.6.0; newest 1.7.0 in r7; way c/r5 1.5.0 c/r6 1.6.0 c/r7 1.7.0 head", graph.Classic},
		{"a way that does not get to the head", "r7: 1.7.0-alpha, 1.7.0 <1.7.0-alpha\nr5: 1.5.0 <1.4.0\nr6: 1.6.0 <1.5.0\nr4: 1.4.0", "1.4.0", "r7",
			"stuck; gap 1.7.0-alpha over ; newest 1.7.0 in r7; way c/r5 1.5.0 c/r6 1.6.0 strands", graph.Classic},
		{"newer than the channel", "a: 1.0.0\nb: 2.0.0", "2.0.0", "a", "ahead, b keeps 2.0.0", graph.Classic},
		{"an older version whose range is too wide", "a: 1.0.0, 1.1.0 <1.0.0 [>0.9.0]\nb: 1.0.0, 1.1.0 <1.0.0, 2.0.0 <1.1.0", "2.0.0", "a",
			"steps-away 1.1.0; 1.1.0 is older, b keeps 2.0.0", graph.Classic},
		{"a skipped entry accepts it", "a: 1.0.0, 1.1.0 <1.0.0, 1.2.0 <1.1.0 -1.1.0", "1.0.0", "a", "stuck; gap 1.2.0 over 1.1.0; 1.2.0 skips 1.1.0; newest 1.2.0 in a", graph.Classic},
		{"without a channel, the head of another", "a: 1.0.0, 1.1.0 <1.0.0\nb: 2.0.0", "1.0.0", "", "steps-away 1.1.0; newest 2.0.0 in b", graph.Classic},
		{"a bundle that no catalog has", "a: 1.0.0, 1.1.0 <1.0.0", "0.9.0", "a", "stuck; gap 1.0.0 over ; newest 1.1.0 in a", graph.Classic},
		{"a missing channel", "a: 1.0.0, 1.1.0 <1.0.0", "1.0.0", "z", "no-channel; newest 1.1.0 in a; way c/a 1.1.0 head", graph.Classic},
		{"without a channel", "a: 1.0.0\nb: 1.0.0, 1.1.0 <1.0.0", "1.0.0", "", "steps-away 1.1.0", graph.Classic},
		{"in v1 without a channel", "a: 1.0.0\nb: 1.0.0, 1.1.0 <1.0.0", "1.0.0", "", "steps-away 1.1.0", graph.V1},
		{"in v1 stuck in a channel", "a: 1.0.0, 1.2.0 <1.1.0\nb: 1.0.0, 1.1.0 <1.0.0", "1.0.0", "a",
			"stuck; gap 1.2.0 over 1.1.0; newest 1.2.0; way c/ 1.1.0 1.2.0 head", graph.V1},
		{"in v1 an entry in two channels", "a: 1.2.0, 2.0.0\nb: 1.0.0, 2.0.0 <1.0.0\nc: 1.1.0, 2.0.0 -1.1.0", "1.2.0", "", "stuck; gap 2.0.0 over 1.0.0 1.1.0; newest 2.0.0", graph.V1},
		{"in v1 by allowing one version", "a: 1.0.0, 1.1.0 <1.0.0, 1.2.0 [<1.1.0], 1.3.0 <1.1.0", "1.0.0", "a",
			"stuck 1.2.0; gap 1.3.0 over 1.1.0; newest 1.3.0; way c/a 1.1.0(stop) c/a 1.3.0 head; 1.2.0 closes", graph.V1},
		{"in v1 newer than two channels", "a: 1.0.0\nb: 1.1.0\nd: 2.0.0", "2.0.0", "a b", "ahead", graph.V1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := parse(t, tt.catalog)
			o := graph.NewOutlooks(tt.reading, []graph.Source{{Catalog: "c", Package: p}}, nil)
			if got := outlook(o.Of(node(tt.from), "", strings.Fields(tt.channel))); got != tt.want {
				t.Errorf("the outlook of %s in %q is\n%s, want\n%s", tt.from, tt.channel, got, tt.want)
			}
		})
	}
}

// TestOutlookOfCatalogs checks a switch to a channel of another catalog (H40).
func TestOutlookOfCatalogs(t *testing.T) {
	old := parse(t, "r6: 1.6.0\nr4: 1.4.0\nr5: 1.5.0 <1.4.0")
	next := parse(t, "r6: 1.6.0 <1.5.0\nr5: 1.5.0")
	o := graph.NewOutlooks(graph.Classic, []graph.Source{{Catalog: "new", Package: next}, {Catalog: "old", Package: old}}, nil)
	for catalog, want := range map[string]string{
		"new": "stuck; gap 1.6.0 over 1.5.0; newest 1.6.0 in r6; way old/r5 1.5.0 new/r6 1.6.0 head",
		"":    "stuck; gap 1.6.0 over 1.5.0; newest 1.6.0 in r6; way old/r5 1.5.0 new/r6 1.6.0 head",
	} {
		if got := outlook(o.Of(node("1.4.0"), catalog, []string{"r6"})); got != want {
			t.Errorf("in catalog %q the outlook is\n%s, want\n%s", catalog, got, want)
		}
	}
	// The way goes on beyond the head of the channel if nothing leads to the newest head.
	next = parse(t, "r7: 1.7.0\nr6: 1.6.0 <1.5.0, 1.6.1 <1.6.0\nr5: 1.5.0")
	o = graph.NewOutlooks(graph.Classic, []graph.Source{{Catalog: "new", Package: next}, {Catalog: "old", Package: old}}, nil)
	want := "stuck; gap 1.5.0 over ; newest 1.7.0 in r7; way old/r5 1.5.0 new/r6 1.6.0 1.6.1 strands"
	if got := outlook(o.Of(node("1.4.0"), "new", []string{"r5"})); got != want {
		t.Errorf("the outlook is\n%s, want\n%s", got, want)
	}
}

// A census counts outlooks by kind, and stuck ones by whether there is a way out.
type census struct {
	n, atHead, stepsAway, wayOut, further, permanent, others, closing int
}

func (c *census) count(o *graph.Outlook) {
	c.n++
	if o.Closes != nil {
		c.closing++
	}
	switch {
	case o.Kind == graph.OutlookAtHead:
		c.atHead++
	case o.Kind == graph.OutlookStepsAway:
		c.stepsAway++
	case !o.EndsEarly():
		c.others++
	case o.Way == nil:
		c.permanent++
	case o.Way.AtHead:
		c.wayOut++
	default:
		c.further++
	}
}

// takeCensus calls do with the outlook of each version of each package in each channel, and
// in v1 also in all channels.
func takeCensus(c *graph.Catalog, r graph.Reading, do func(graph.Package, string, *graph.Outlook)) {
	for p := range c.Packages() {
		o := graph.NewOutlooks(r, []graph.Source{{Catalog: "c", Package: p}}, nil)
		for b := range p.Bundles() {
			for ch := range p.Channels() {
				do(p, ch.Name(), o.Of(b.Node(), "", []string{ch.Name()}))
			}
			if r == graph.V1 {
				do(p, "", o.Of(b.Node(), "", nil))
			}
		}
	}
}

// TestOutlookOfRealCatalogs compares the outlook of every version of every package in every
// channel with a walk over Upgrades (H40).
func TestOutlookOfRealCatalogs(t *testing.T) {
	names := []string{"openshift-v4.16", "openshift-v4.19"}
	for _, name := range append(names, testsize.Of(nil, []string{"community"}, []string{"community"})...) {
		c, err := graph.Load(context.Background(), realcat.FS(t, name), nil)
		if c == nil {
			t.Fatal(err)
		}
		for _, r := range []graph.Reading{graph.Classic, graph.V1} {
			var all census
			var known *walked
			takeCensus(c, r, func(p graph.Package, channel string, o *graph.Outlook) {
				all.count(o)
				if known == nil || known.p != p {
					known = walk(p, r)
				}
				known.check(t, channel, o)
			})
			t.Logf("%s %v: %+v", name, r, all)
		}
	}
}

// TestOutlookOfGenerated does the same for random packages (H40).
func TestOutlookOfGenerated(t *testing.T) {
	for seed := range uint64(400) {
		text := generate(rand.New(rand.NewPCG(seed, 40)))
		c := parse(t, text).Catalog()
		for _, r := range []graph.Reading{graph.Classic, graph.V1} {
			takeCensus(c, r, func(p graph.Package, channel string, o *graph.Outlook) { walk(p, r).check(t, channel, o) })
		}
		if t.Failed() {
			t.Fatalf("seed %d:\n%s", seed, text)
		}
	}
}

// walked holds the upgrades in each channel of a package and, in v1, those in all channels
// under "".
type walked struct {
	p        graph.Package
	reading  graph.Reading
	channels []string
	of       map[string]*graph.Upgrades
}

func walk(p graph.Package, r graph.Reading) *walked {
	w := &walked{p: p, reading: r, of: map[string]*graph.Upgrades{}}
	// Nodes that only another channel has are installed, too.
	var all []graph.Node
	for n := range p.Upgrades(r, nil).Nodes() {
		all = append(all, n)
	}
	for b := range p.Bundles() {
		all = append(all, b.Node())
	}
	for ch := range p.Channels() {
		w.channels = append(w.channels, ch.Name())
		w.of[ch.Name()] = p.Upgrades(r, &graph.UpgradeOptions{Channels: []string{ch.Name()}, Installed: all})
	}
	if r == graph.V1 {
		w.channels = append(w.channels, "")
		w.of[""] = p.Upgrades(r, nil)
	}
	return w
}

// next returns the step from a node in a channel. A bundle that would upgrade to itself
// stays.
func (w *walked) next(channel string, from graph.Node) (graph.Node, bool) {
	for s := range w.of[channel].Steps(from) {
		if w.reading == graph.V1 {
			s, ok := w.of[channel].Next(from)
			return s.To, ok
		}
		return s.To, s.To.Name != from.Name
	}
	return graph.Node{}, false
}

// check compares an outlook with a walk of one step after the other.
func (w *walked) check(t *testing.T, channel string, o *graph.Outlook) {
	t.Helper()
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s %v from %v in %q: %s: %s", w.p.Name(), w.reading, o.From, channel, fmt.Sprintf(format, args...), outlook(o))
	}
	heads := w.of[channel].Heads()
	at, seen := o.From, map[graph.Node]bool{o.From: true}
	for i := 0; ; i++ {
		to, ok := w.next(channel, at)
		if !ok {
			if len(o.Steps) != i || o.Kind == graph.OutlookLoops {
				fail("the walk has %d steps", i)
			}
			break
		}
		if i >= len(o.Steps) || o.Steps[i].To != to {
			fail("step %d is %v", i+1, to)
			return
		}
		if at = to; seen[at] {
			if o.Kind != graph.OutlookLoops || len(o.Steps) != i+1 {
				fail("the walk loops")
			}
			break
		}
		seen[at] = true
	}
	if head := slices.Contains(heads, at); head != (o.Kind == graph.OutlookAtHead || o.Kind == graph.OutlookStepsAway) && o.Kind != graph.OutlookLoops {
		fail("at the head: %v", head)
	}
	if len(heads) == 0 != (o.Kind == graph.OutlookNoChannel) {
		fail("the heads are %v", heads)
	}
	if o.Way != nil {
		w.checkWay(o, fail)
	}
	reached := w.reached(o.From)
	end := version(o.From) // the newest so far
	for _, x := range o.Steps {
		if v := version(x.To); !end.GT(v) {
			end = v
		}
	}
	w.checkDowngrade(o, fail)
	var newer, heady bool
	for n := range reached {
		if w.reading == graph.V1 && o.Way == nil {
			continue // OLM v1 cannot be stopped everywhere
		}
		if n == o.From {
			continue
		}
		newer = newer || version(n).GT(end)
		head := o.Newest != nil && n == o.Newest.Node || o.Head != nil && n == o.Head.Node && version(n).GT(end)
		heady = heady || head
	}
	switch {
	case w.reading == graph.Classic && (o.EndsEarly() || o.Newest != nil) && newer != (o.Way != nil):
		fail("something newer is reached: %v", newer)
	case w.reading == graph.Classic && heady && !o.Way.AtHead:
		fail("a head is reached")
	}
	if w.reading == graph.Classic && o.Way != nil {
		w.checkBeyond(o, reached, fail)
	}
}

// checkDowngrade checks the first step to an older version, and the channel that prevents it.
func (w *walked) checkDowngrade(o *graph.Outlook, fail func(string, ...any)) {
	i := slices.IndexFunc(o.Steps, func(x graph.Step) bool {
		v, to := version(x.From), version(x.To)
		build := slices.ContainsFunc(x.Reasons, func(r graph.Reason) bool { return r.Edge == graph.Replaces }) && v.Major == to.Major && v.Minor == to.Minor && v.Patch == to.Patch
		return v.GT(to) && !build
	})
	if i < 0 != (o.Downgrade == nil) || i >= 0 && o.Downgrade != &o.Steps[i] {
		fail("step %d is a downgrade", i+1)
		return
	}
	keeps, at := false, o.From
	if i >= 0 {
		at = o.Steps[i].From
	}
	for _, ch := range w.channels {
		stays := len(o.Steps) == 0 && (o.Kind == graph.OutlookAhead || o.Kind == graph.OutlookStuck && o.Way == nil)
		if ch == "" || i < 0 && !stays {
			continue
		}
		_, moves := w.next(ch, at)
		keeps = keeps || !moves && slices.Contains(w.of[ch].Heads(), at)
	}
	if w.reading == graph.Classic && keeps != (o.Keep != nil) {
		fail("a channel keeps it: %v", keeps)
	}
}

// reached returns all nodes that any switches lead to.
func (w *walked) reached(from graph.Node) map[graph.Node]bool {
	reached := map[graph.Node]bool{from: true}
	for queue := []graph.Node{from}; len(queue) > 0; queue = queue[1:] {
		for _, ch := range w.channels {
			to, ok := w.next(ch, queue[0])
			if ok && !reached[to] {
				reached[to] = true
				queue = append(queue, to)
			}
		}
	}
	return reached
}

// checkBeyond checks what the end of a way and the steps close.
func (w *walked) checkBeyond(o *graph.Outlook, reached map[graph.Node]bool, fail func(string, ...any)) {
	strands := o.Newest != nil && version(o.Newest.Node).GT(version(o.Way.End())) && !w.reached(o.Way.End())[o.Newest.Node]
	if strands != o.Way.Strands {
		fail("the way strands: %v", strands)
	}
	if strands && reached[o.Newest.Node] {
		fail("another way leads to the newest head")
	}
	beyond := w.reached(o.Way.End())
	if w := o.Nearer; w != nil && (!reached[w.End()] || !version(o.Way.End()).GT(version(w.End()))) {
		fail("the nearer way leads to %v", w.End())
	}
	if h := o.Head; h != nil && reached[h.Node] && version(h.Node).GT(version(o.Way.End())) && !beyond[h.Node] {
		fail("another way leads further, to the head of the channel")
	}
	for i := range o.Steps {
		if !w.reached(o.Steps[i].To)[o.Way.End()] {
			if o.Closes == nil || o.Closes.To != o.Steps[i].To {
				fail("step %d closes the way", i+1)
			}
			return
		}
	}
	if o.Closes != nil {
		fail("no step closes the way")
	}
}

// checkWay checks that the steps of a way are possible.
func (w *walked) checkWay(o *graph.Outlook, fail func(string, ...any)) {
	at := o.From
	for i, l := range o.Way.Legs {
		if l.Catalog != "c" && !l.Stays {
			fail("leg %d is in catalog %q", i+1, l.Catalog)
		}
		for _, s := range l.Steps {
			to, ok := w.next(l.Channel, at)
			if w.reading == graph.V1 && l.Stop && len(l.Steps) == 1 {
				for x := range w.of[l.Channel].Steps(at) {
					if x.To == s.To {
						to, ok = s.To, true
					}
				}
			}
			if !ok || s.From != at || s.To != to {
				fail("leg %d continues to %v, the walk to %v", i+1, s.To, to)
				return
			}
			at = to
		}
		if _, moves := w.next(l.Channel, at); moves && !l.Stop {
			fail("leg %d does not stop at %v", i+1, at)
		}
	}
	if end := o.Way.End(); end != at || !version(at).GT(version(o.End())) {
		fail("the way ends at %v", at)
	}
}

// BenchmarkOutlook measures the census of a catalog, and a single outlook for a stuck
// operator of its largest package.
func BenchmarkOutlook(b *testing.B) {
	c, err := graph.Load(context.Background(), realcat.FS(b, "community-full"), nil)
	if c == nil {
		b.Fatal(err)
	}
	for _, r := range []graph.Reading{graph.Classic, graph.V1} {
		b.Run("census/"+r.String(), func(b *testing.B) {
			n := 0
			for b.Loop() {
				n = 0
				takeCensus(c, r, func(graph.Package, string, *graph.Outlook) { n++ })
			}
			b.ReportMetric(float64(n), "answers")
		})
		b.Run("stuck/"+r.String(), func(b *testing.B) {
			// Find a stuck operator in the largest package, which takes longest.
			var p graph.Package
			var stuck *graph.Outlook
			takeCensus(c, r, func(q graph.Package, _ string, o *graph.Outlook) {
				if o.EndsEarly() && (stuck == nil || q.NumBundles() > p.NumBundles()) {
					p, stuck = q, o
				}
			})
			for b.Loop() {
				graph.NewOutlooks(r, []graph.Source{{Catalog: "c", Package: p}}, nil).Of(stuck.From, "", stuck.Channels)
			}
			b.ReportMetric(float64(p.NumBundles()), "bundles")
		})
	}
}

// version returns the version of a node, 0.0.0 if it has none.
func version(n graph.Node) semver.Version {
	v, _ := semver.Parse(n.Version)
	return v
}
