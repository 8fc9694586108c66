package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// A road has, for each level, the nodes that one operator can become. A node is a bundle
// that is installed or can be.
type road struct {
	*trip
	*Operator
	start  graph.Node
	known  bool               // whether the requirements of the installed bundle are known
	within olmv1.VersionRange // the versions that OLM v1 may install
	all    bool               // whether it has all channels, whichever the operator follows
	first  int                // the level at which the road starts
	levels []level            // those before first are empty
	end    int                // the last level that the platform can reach with the operator
}

// A level is one version of the platform, with what an operator can become there.
type level struct {
	catalog string
	pkg     graph.Package
	u       *graph.Upgrades // nil without a catalog or package
	olm     *graph.Upgrades // u with the excluded upgrades, which OLM would take
	// single has u or, if the road has all channels, those of each channel.
	single []*graph.Upgrades
	// starts are the nodes with which the operator can arrive. reach are these and the
	// nodes that it can become here.
	starts, reach []graph.Node
	facts         map[graph.Node]*facts
	// pass has the nodes of reach with which the platform can continue to the last level.
	// home has, for each of them, the last level at which the operator can then get to its
	// head, or -1 if there is none.
	pass map[graph.Node]bool
	home map[graph.Node]int
}

// explore fills the levels: first forward, with the nodes that the operator can reach at
// each level, then backward, with those that let the platform continue to the last level.
func (r *road) explore(ctx context.Context, f *facts) error {
	starts := map[graph.Node]*facts{r.start: f}
	order := []graph.Node{r.start}
	r.levels = make([]level, r.first)
	for k := r.first; ; k++ {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		l, err := r.level(ctx, k, order, starts)
		if err != nil {
			return err
		}
		r.levels = append(r.levels, l)
		r.end = k
		if k == r.last() {
			break
		}
		starts, order = map[graph.Node]*facts{}, nil
		for _, n := range l.reach {
			if !l.facts[n].blocks(r.at(k + 1)) {
				starts[n] = l.facts[n]
				order = append(order, n)
			}
		}
		if len(order) == 0 {
			break
		}
	}
	end := &r.levels[r.end]
	end.pass, end.home = map[graph.Node]bool{}, map[graph.Node]int{}
	for _, n := range end.reach {
		end.pass[n] = true
		end.home[n] = end.atHome(r.end, n)
	}
	for k := r.end - 1; k >= r.first; k-- {
		l, next := &r.levels[k], &r.levels[k+1]
		l.pass = l.through(next)
		l.home = map[graph.Node]int{}
		for n := range l.pass {
			l.home[n] = max(next.best(n), l.atHome(k, n))
		}
	}
	return nil
}

// atHome returns k, the number of the level, if n has a path to its head at this level, or
// else -1.
func (l *level) atHome(k int, n graph.Node) int {
	for _, u := range l.single {
		if _, ok := u.PathToHead(n); ok {
			return k
		}
	}
	return -1
}

// best returns the last level at which an operator that arrives at this one with n can get
// to its head without blocking the platform, or -1 if there is none.
func (l *level) best(n graph.Node) int {
	best := -1
	for _, m := range l.from(n) {
		if l.pass[m] {
			best = max(best, l.home[m])
		}
	}
	return best
}

// begin sets start and known, and returns the facts of the installed bundle.
func (r *road) begin(ctx context.Context) (*facts, error) {
	r.start = graph.Node{Name: r.Name, Version: r.Version}
	f, stated := installedFacts(r.Operator)
	b, ok := r.trip.known(r.Operator)
	r.known = stated || ok
	if !ok {
		return f, nil
	}
	if r.start.Version == "" {
		r.start = b.Node()
	}
	of, err := r.facts.of(ctx, b)
	if err != nil || !stated {
		return of, err
	}
	f.apis = of.apis
	return f, nil
}

// options returns the options for the upgrades of the operator in a package: the channels
// that it follows.
func (r *road) options(pkg graph.Package) *graph.UpgradeOptions {
	o := &graph.UpgradeOptions{}
	switch {
	case r.all:
	case r.Channel != "":
		o.Channels = []string{r.Channel}
	case r.Reading == graph.Classic:
		o.Channels = []string{pkg.DefaultChannelName()}
	}
	return o
}

// level returns level k for an operator that can arrive with any of the nodes of order.
// starts has the facts of these nodes.
func (r *road) level(ctx context.Context, k int, order []graph.Node, starts map[graph.Node]*facts) (level, error) {
	l := level{starts: order, reach: slices.Clone(order), facts: starts}
	c, pkg, ok := r.source(r.Operator, r.at(k))
	if !ok {
		return l, nil
	}
	l.catalog, l.pkg = c.Name, pkg
	o := r.options(pkg)
	o.Installed = order
	without, failed := r.without(ctx, k)
	o.Without = without
	l.olm = pkg.Upgrades(r.Reading, o)
	l.u = l.olm.Without(r.Excluded)
	o.Excluded = r.Excluded
	if *failed != nil || l.u.Err() != nil {
		return l, cmp.Or(*failed, l.u.Err())
	}
	seen := map[graph.Node]bool{}
	for _, n := range order {
		seen[n] = true
	}
	for _, from := range order {
		for n := range l.u.Reachable(from) {
			if seen[n] {
				continue
			}
			seen[n] = true
			b, ok := l.u.Bundle(n)
			if !ok {
				continue
			}
			f, err := r.trip.facts.of(ctx, b)
			if err != nil {
				return l, err
			}
			l.facts[n] = f
			l.reach = append(l.reach, n)
		}
	}
	l.single = []*graph.Upgrades{l.u}
	if !r.all {
		return l, nil
	}
	l.single = nil
	for ch := range pkg.Channels() {
		o.Channels, o.Installed = []string{ch.Name()}, l.reach
		l.single = append(l.single, pkg.Upgrades(r.Reading, o))
	}
	return l, *failed
}

// through returns the nodes of l with which the operator can arrive at next and then,
// without blocking the platform, continue from there.
func (l *level) through(next *level) map[graph.Node]bool {
	out := map[graph.Node]bool{}
	for _, n := range next.starts {
		if slices.ContainsFunc(next.from(n), func(m graph.Node) bool { return next.pass[m] }) {
			out[n] = true
		}
	}
	return out
}

// from returns n and the nodes that it can become at this level.
func (l *level) from(n graph.Node) []graph.Node {
	out := []graph.Node{n}
	if l.u != nil {
		out = slices.AppendSeq(out, l.u.Reachable(n))
	}
	return out
}

// without returns a function that reports the bundles that cannot be installed at a level, or are outside of the version range of the operator. If the facts of a bundle cannot be read, the function sets the error.
func (r *road) without(ctx context.Context, k int) (func(graph.Bundle) bool, *error) {
	var failed error
	return func(b graph.Bundle) bool {
		if r.outside(b) {
			return true
		}
		f, err := r.facts.of(ctx, b)
		if err != nil {
			failed = cmp.Or(failed, err)
			return true
		}
		return f.unfit(r.at(k))
	}, &failed
}

// outside reports whether a bundle is outside of the version range of the operator.
func (r *road) outside(b graph.Bundle) bool { return !r.within.Contains(b.Version()) } // C2

// on returns a road that starts at a level with a node, in a channel.
func (r *road) on(ctx context.Context, channel string, first int, n graph.Node, f *facts) (*road, error) {
	o := *r.Operator
	o.Channel = channel
	out := &road{trip: r.trip, Operator: &o, start: n, known: r.known, within: r.within, first: first}
	return out, out.explore(ctx, f)
}

// choose returns the steps that the operator takes at level k, where it starts with node at.
// If OLM would do otherwise, it also returns why the operator must be held back.
func (r *road) choose(k int, at graph.Node) (steps []graph.Step, hold string) {
	l := &r.levels[k]
	// An operator whose package is missing from a later catalog is upgraded as far as the
	// earlier ones allow.
	home := l.best(at)
	ok := func(n graph.Node) bool { return l.pass[n] && l.home[n] == home }
	w := l.olm.Walk(at)
	if w.Loops {
		// The last step leads back to an earlier node.
		w.Steps = w.Steps[:len(w.Steps)-1]
		w.End = at
		if n := len(w.Steps); n > 0 {
			w.End = w.Steps[n-1].To
		}
	}
	if x := r.firstExcluded(w.Steps); x != nil {
		hold = "OLM would take an excluded upgrade: " + exclusionText(x)
	} else if !ok(w.End) {
		hold = r.tooFar(k, w.End)
	}
	if r.Strategy == Minimal && k < r.end {
		return r.fewest(l, at, ok), hold
	}
	if hold == "" {
		return w.Steps, ""
	}
	// Choose the allowed node that is nearest to the head.
	best, dist := []graph.Step(nil), -1
	for _, n := range l.from(at) {
		if !ok(n) {
			continue
		}
		d := 1 << 30
		if rest, ok := l.u.PathToHead(n); ok {
			d = len(rest)
		}
		path, _ := l.u.Path(at, n)
		if dist < 0 || d < dist || d == dist && len(path) < len(best) {
			best, dist = path, d
		}
	}
	return best, hold
}

// firstExcluded returns the exclusion of the first excluded step, or nil.
func (r *road) firstExcluded(steps []graph.Step) *graph.Exclusion {
	for _, s := range steps {
		for i := range r.Excluded {
			if x := &r.Excluded[i]; x.From == s.From.Name && x.To == s.To.Name {
				return x
			}
		}
	}
	return nil
}

func exclusionText(x *graph.Exclusion) string {
	text := x.From + " -> " + x.To
	if x.Reason != "" {
		text += " (" + x.Reason + ")"
	}
	return text
}

// tooFar returns why the operator must not become n at level k.
func (r *road) tooFar(k int, n graph.Node) string {
	for next := k + 1; next <= r.end; next++ {
		if f := r.levels[k].facts[n]; f.blocks(r.at(next)) {
			return f.maxText(n.String(), r.at(next))
		}
	}
	return fmt.Sprintf("%s has no upgrade path to the head of its channel in a later catalog", n)
}

// fewest returns the shortest path from at to a node that ok accepts.
func (r *road) fewest(l *level, at graph.Node, ok func(graph.Node) bool) []graph.Step {
	var best []graph.Step
	found := false
	for _, n := range l.from(at) {
		if path, _ := l.u.Path(at, n); ok(n) && (!found || len(path) < len(best)) {
			best, found = path, true
		}
	}
	return best
}

// left returns the blocker that leaves the operator behind at level k: node at has no path
// to the head there. It returns nil if there is a path, or no catalog for the level.
func (r *road) left(k int, at graph.Node) *Blocker {
	l := &r.levels[k]
	v := r.at(k)
	b := &Blocker{Package: r.Package, Bundle: at.Name, Platform: v.String(), Kind: BlockerNoPath}
	if !r.hasCatalog(v) {
		return nil
	}
	if l.u == nil {
		b.Kind = BlockerNoPackage
		b.Reason = fmt.Sprintf("no given catalog for %s has package %s, so %s gets no updates there", v, r.Package, at)
		return b
	}
	for _, name := range r.options(l.pkg).Channels {
		if ch, ok := l.pkg.Channel(name); !ok {
			var names []string
			for c := range l.pkg.Channels() {
				names = append(names, c.Name())
			}
			b.Kind = BlockerNoChannel
			b.Reason = fmt.Sprintf("the catalog for %s has no channel %q of package %s, only %s", v, name, r.Package, strings.Join(names, ", "))
			return b
		} else if err := ch.Err(); err != nil && r.Reading == graph.Classic {
			b.Reason = fmt.Sprintf("the catalog for %s cannot be used: %v", v, err)
			return b
		}
	}
	if _, ok := l.u.PathToHead(at); ok {
		return nil
	}
	if list := l.u.Blocking(at, graph.Node{}); len(list) > 0 {
		var texts []string
		for i := range list {
			texts = append(texts, exclusionText(&list[i]))
		}
		b.Kind = BlockerExcluded
		b.Reason = fmt.Sprintf("each upgrade path from %s in the catalog for %s takes an excluded upgrade: %s", at, v, phrase.Or(texts))
		return b
	}
	var heads []string
	for _, h := range l.u.Heads() {
		heads = append(heads, h.String())
	}
	b.Reason = fmt.Sprintf("the catalog for %s has no upgrade path from %s", v, at)
	switch {
	case len(heads) == 0 && r.Versions != "":
		b.Reason += fmt.Sprintf(", and no bundle in the version range %q can be installed on %s", r.Versions, v)
	case len(heads) == 0:
		b.Reason += fmt.Sprintf(", and no bundle of its channels can be installed on %s", v)
	case len(heads) == 1:
		b.Reason += " to the head " + heads[0]
		if v, err := semver.Parse(at.Version); err == nil {
			if h, err := semver.Parse(l.u.Heads()[0].Version); err == nil && h.LT(v) {
				b.Reason += ", which is older"
			}
		}
	default:
		b.Reason += " to any of the heads " + strings.Join(heads, ", ")
	}
	return b
}

// waiting returns the blocker for a head that the operator would reach at level k if not for
// the minKubeVersion of the head or an API that it uses, or nil.
func (r *road) waiting(ctx context.Context, k int, at graph.Node) (*Blocker, error) {
	l := &r.levels[k]
	if l.u == nil {
		return nil, nil
	}
	o := r.options(l.pkg)
	o.Installed, o.Without = []graph.Node{at}, r.outside
	free := l.pkg.Upgrades(r.Reading, o)
	for _, h := range free.Heads() {
		b, ok := free.Bundle(h)
		if !ok || slices.Contains(l.u.Heads(), h) {
			continue
		}
		if _, ok := free.Path(at, h); !ok {
			continue
		}
		f, err := r.trip.facts.of(ctx, b)
		if err != nil {
			return nil, err
		}
		out := &Blocker{Package: r.Package, Platform: r.at(k).String(), Kind: BlockerMinKube, Bundle: h.Name}
		switch u := f.unserved(r.at(k), true); {
		case f.minErr != nil:
			out.Reason = fmt.Sprintf("%s has an invalid minKubeVersion: %v", h, f.minErr)
		case f.tooNew(r.at(k)) || u == nil:
			out.Reason = fmt.Sprintf("%s requires Kubernetes %s, but %s", h, f.min, kubeText(r.at(k)))
		default:
			out.Kind = BlockerRemovedAPI
			out.Reason = fmt.Sprintf("%s %s; %s", h, u, kubeText(r.at(k)))
			out.Action = "request a version without it from the author"
			if u.Instead != "" {
				out.Action = fmt.Sprintf("request a version that uses %s from the author", u.Instead)
			}
			out.there = true
		}
		return out, nil
	}
	return nil, nil
}
