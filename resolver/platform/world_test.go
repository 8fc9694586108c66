package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/platform"
)

// A lookup is a key of world.known.
type lookup struct {
	pkg, channel string
	reading      graph.Reading
	k            int
	all          bool
}

// upgrades returns the upgrades of a channel at a level, or nil without the package; all includes bundles that
// cannot run there.
func (w *world) upgrades(o *platform.Operator, k int, channel string, all bool) *graph.Upgrades {
	key := lookup{o.Package, channel, o.Reading, k, all}
	u, ok := w.known[key]
	if !ok {
		var installed []graph.Node
		for n := range 5 {
			installed = append(installed, graph.Node{Name: fmt.Sprintf("%s.v%d.0.0", o.Package, n+1), Version: fmt.Sprintf("%d.0.0", n+1)})
		}
		if pkg, found := w.Catalogs[k].Graph.Package(o.Package); found {
			u = pkg.Upgrades(o.Reading, &graph.UpgradeOptions{
				Channels: []string{channel}, Installed: installed,
				Without: func(b graph.Bundle) bool { return !all && o.Reading == graph.Classic && w.min[b.Name()] > firstMinor+k },
			})
		}
		w.known[key] = u
	}
	return u
}

// next returns what OLM does next.
func (w *world) next(o *platform.Operator, k int, channel string, n graph.Node) (graph.Step, bool) {
	u := w.upgrades(o, k, channel, false)
	if u == nil {
		return graph.Step{}, false
	}
	x, ok := u.Next(n)
	return x, ok && x.To != n
}

// toHead reports whether a channel leads from a node to its head.
func (w *world) toHead(o *platform.Operator, k int, channel string, n graph.Node, all bool) bool {
	u := w.upgrades(o, k, channel, all)
	if u == nil {
		return false
	}
	_, ok := u.PathToHead(n)
	return ok
}

// channels returns those of a package at a level.
func (w *world) channels(o *platform.Operator, k int) (names []string) {
	pkg, ok := w.Catalogs[k].Graph.Package(o.Package)
	if !ok {
		return nil
	}
	for ch := range pkg.Channels() {
		names = append(names, ch.Name())
	}
	return names
}

// blocks reports whether the platform cannot leave a level with a node.
func (w *world) blocks(k int, n graph.Node) bool {
	m, ok := w.max[n.Name]
	return ok && m <= firstMinor+k
}

// unfit reports whether the lifecycle data do not list the platform of a level for a node, or whether it needs a newer
// Kubernetes and OLM v1 installs it nevertheless.
func (w *world) unfit(o *platform.Operator, k int, n graph.Node) bool {
	fits, ok := w.fits[n.Name]
	return ok && !fits[firstMinor+k] || o.Reading == graph.V1 && w.min[n.Name] > firstMinor+k
}

func newer(a, b graph.Node) bool { return a.Version > b.Version } // they have one digit

// A price ranks ways: how far the platform does not get, then the costs of package platform, up to the needs.
const (
	priceBlocked = iota
	priceUnfit
	priceOlder
	priceAdrift
	priceStranded
	priceClosed
	priceHeld
	priceDown
	priceLeft
	priceFewest
	priceAway
	priceNeeds
	prices
)

// A standing is where an operator is.
type standing struct {
	k       int
	node    graph.Node
	channel string
	mode    int // 0: OLM upgrades it, 1: a person can act first, 2: it is held
}

// leave returns what it costs to leave a level.
func (w *world) leave(o *platform.Operator, s standing, home int) (c [prices]int) {
	if w.unfit(o, s.k, s.node) {
		c[priceUnfit]++
	}
	names := w.channels(o, s.k)
	stays := w.toHead(o, s.k, s.channel, s.node, false)
	if names != nil && !stays {
		inAny, further := false, false
		for _, ch := range names {
			u := w.upgrades(o, s.k, ch, false)
			path, ok := u.PathToHead(s.node)
			inAny = inAny || ok
			further = further || ok && len(path) > 0 && !slices.ContainsFunc(u.Heads(), func(h graph.Node) bool { return newer(s.node, h) })
			if x, ok := w.next(o, s.k, ch, s.node); ok && !newer(s.node, x.To) {
				further = true
			}
		}
		if !inAny {
			c[priceLeft]++
		}
		if s.k == home {
			if !inAny {
				c[priceAdrift]++
			}
			if further || inAny && !slices.Contains(names, s.channel) {
				c[priceStranded]++
			}
		}
	}
	if s.k == home {
		if newer(graph.Node{Version: "1.0.0"}, s.node) {
			c[priceOlder]++
		}
		if s.mode == 2 {
			c[priceHeld]++
		}
		if names != nil && slices.Contains(names, o.Channel) && (!stays || s.channel != o.Channel) {
			c[priceAway]++
		}
		c[priceClosed] = w.closed(o, s.k, s.node)
	}
	return c
}

// closed returns how many heads are newer than everything that a node can become at a level.
func (w *world) closed(o *platform.Operator, k int, n graph.Node) int {
	seen := map[graph.Node]bool{n: true}
	for queue := []graph.Node{n}; len(queue) > 0; queue = queue[1:] {
		for _, ch := range w.channels(o, k) {
			for _, to := range w.follow(o, k, ch, queue[0]) {
				if !seen[to] {
					seen[to] = true
					queue = append(queue, to)
				}
			}
		}
	}
	lost := map[graph.Node]bool{}
	for _, ch := range w.channels(o, k) {
		for _, h := range w.upgrades(o, k, ch, false).Heads() {
			lost[h] = true
			for m := range seen {
				if !newer(h, m) {
					delete(lost, h)
				}
			}
		}
	}
	return len(lost)
}

// follow returns what OLM can be made to upgrade a node to in a channel.
func (w *world) follow(o *platform.Operator, k int, channel string, n graph.Node) (out []graph.Node) {
	if o.Reading == graph.V1 {
		if u := w.upgrades(o, k, channel, false); u != nil {
			for x := range u.Steps(n) {
				out = append(out, x.To)
			}
		}
	} else if x, ok := w.next(o, k, channel, n); ok {
		out = append(out, x.To)
	}
	return out
}

// upgraded returns what an upgrade costs.
func (w *world) upgraded(k, target int, from, to graph.Node) (c [prices]int) {
	if newer(from, to) {
		c[priceDown]++
	}
	if w.Strategy == platform.Minimal && k < target {
		c[priceFewest]++
	}
	return c
}

// acts calls visit with each place that an operator can get to next, and what that costs. Places at level target+1 are ends.
func (w *world) acts(o *platform.Operator, s standing, target, home int, visit func(standing, [prices]int)) {
	x, moves := w.next(o, s.k, s.channel, s.node)
	var free, need [prices]int
	need[priceNeeds] = 1
	to := s
	if s.mode != 2 && moves {
		to.node, to.mode = x.To, 0
		visit(to, w.upgraded(s.k, target, s.node, x.To))
	}
	acts := s.mode > 0 || !moves
	if to = s; s.mode != 2 && (acts || o.Reading == graph.Classic) {
		to.mode = 2
		visit(to, need)
	}
	if acts && o.Reading == graph.V1 {
		for _, n := range w.follow(o, s.k, s.channel, s.node) {
			c := w.upgraded(s.k, target, s.node, n)
			c[priceNeeds]++
			visit(standing{s.k, n, s.channel, 2}, c)
		}
	}
	if to = s; s.mode == 2 {
		to.mode = 0
		visit(to, free)
	}
	if acts {
		for _, ch := range w.channels(o, s.k) {
			if ch != s.channel {
				visit(standing{s.k, s.node, ch, max(s.mode, 1)}, need)
			}
		}
	}
	if (s.mode == 2 || !moves) && (s.k == target || !w.blocks(s.k, s.node)) {
		to = s
		to.k++
		to.mode = s.mode &^ 1
		visit(to, w.leave(o, s, home))
	}
}

// best returns the price of the best of all ways of an operator.
func (w *world) best(o *platform.Operator) []int {
	target, home := w.horizon(o)
	start := standing{0, graph.Node{Name: o.Name, Version: "1.0.0"}, o.Channel, 1}
	cheapest := map[standing][prices]int{start: {}}
	for queue := []standing{start}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		if s.k > target {
			continue
		}
		w.acts(o, s, target, home, func(to standing, c [prices]int) {
			for i, n := range cheapest[s] {
				c[i] += n
			}
			if old, ok := cheapest[to]; !ok || slices.Compare(c[:], old[:]) < 0 {
				cheapest[to] = c
				queue = append(queue, to)
			}
		})
	}
	var best []int
	for s, c := range cheapest {
		if s.k > target && (best == nil || slices.Compare(c[:], best) < 0) {
			best = c[:]
		}
	}
	best[priceBlocked] = w.last() - target
	return best
}

// horizon returns the last level that an operator can reach, and the last one of these on which it can get to a head or, if
// there is none, the last one with its package.
func (w *world) horizon(o *platform.Operator) (target, home int) {
	start := standing{0, graph.Node{Name: o.Name, Version: "1.0.0"}, o.Channel, 1}
	seen := map[standing]bool{start: true}
	heads := -1
	home = -1
	for queue := []standing{start}; len(queue) > 0; queue = queue[1:] {
		s := queue[0]
		target = max(target, s.k)
		if names := w.channels(o, s.k); names != nil {
			home = max(home, s.k)
			if slices.ContainsFunc(names, func(ch string) bool { return w.toHead(o, s.k, ch, s.node, false) }) {
				heads = max(heads, s.k)
			}
		}
		w.acts(o, s, w.last(), -1, func(to standing, _ [prices]int) {
			if to.k <= w.last() && !seen[to] {
				seen[to] = true
				queue = append(queue, to)
			}
		})
	}
	if heads >= 0 {
		home = heads
	}
	return target, home
}

// price returns the price of the plan of one operator.
func (w *world) price(t *testing.T, o *platform.Operator, p *platform.Plan) []int {
	t.Helper()
	target, home := w.horizon(o)
	var sum [prices]int
	add := func(c [prices]int) {
		for i, n := range c {
			sum[i] += n
		}
	}
	s := standing{0, graph.Node{Name: o.Name, Version: "1.0.0"}, o.Channel, 0}
	for _, x := range p.Steps {
		switch {
		case x.Next != "":
			add(w.leave(o, s, home))
			s.k++
		case x.Operator != nil:
			add(w.upgraded(s.k, target, s.node, x.Operator.To))
			s.node = x.Operator.To
		case x.Switch != nil:
			s.channel = x.Switch.To
			if x.Resume {
				s.mode = 0
			}
			sum[priceNeeds]++
		case x.Hold != nil:
			s.mode = 2
			sum[priceNeeds]++
		default:
			s.mode = 0
		}
	}
	add(w.leave(o, s, home))
	sum[priceBlocked] = w.last() - s.k
	return sum[:]
}

// execute follows the steps of a plan as OLM and a person do: OLM upgrades an operator as soon as it can, unless it is held.
func execute(t *testing.T, w *world, p *platform.Plan) {
	t.Helper()
	for i := range w.Installed {
		o := &w.Installed[i]
		end := p.Operators[slices.IndexFunc(p.Operators, func(x platform.OperatorPlan) bool { return x.Installed == i })]
		s := standing{0, graph.Node{Name: o.Name, Version: "1.0.0"}, o.Channel, 1}
		var hold graph.Node
		approved := false // by a need
		for _, x := range p.Steps {
			if (x.Package != end.Package || x.Instance != end.Instance) && x.Next == "" {
				continue
			}
			offered, moves := w.next(o, s.k, s.channel, s.node)
			if manual := o.Manual && o.Reading == graph.Classic; s.mode == 0 && moves && !manual && (x.Operator == nil || x.Operator.To != offered.To) {
				t.Errorf("before the step %+v on 4.%d, OLM upgrades %s to %s", x, firstMinor+s.k, s.node, offered.To)
				return
			} else if s.mode != 2 && manual && x.Operator != nil {
				approved = slices.ContainsFunc(p.Needs, func(n platform.Need) bool {
					return n.Package == end.Package && n.Instance == end.Instance && n.Platform == x.Platform && strings.HasPrefix(n.Action, "approve") && strings.Contains(n.Action, x.Operator.To.Name)
				})
				if !approved {
					t.Errorf("nobody is asked to approve the upgrade to %s", x.Operator.To)
				}
			}
			switch {
			case x.Next != "":
				if w.blocks(s.k, s.node) {
					t.Errorf("%s blocks %s", s.node, x.Next)
				}
				s.k++
				s.mode &^= 1
			case x.Operator != nil:
				possible := moves && offered.To == x.Operator.To
				if s.mode == 2 && o.Reading == graph.V1 {
					possible = x.Operator.To == hold && slices.Contains(w.follow(o, s.k, s.channel, s.node), hold)
				}
				if !possible || s.mode == 2 && s.node == hold {
					t.Errorf("OLM does not upgrade %s to %s in channel %s on 4.%d", s.node, x.Operator.To, s.channel, firstMinor+s.k)
				}
				s.node = x.Operator.To
				if s.mode == 1 {
					s.mode = 0
				}
			case x.Switch != nil:
				if x.Switch.From != s.channel || !slices.Contains(w.channels(o, s.k), x.Switch.To) {
					t.Errorf("the channel cannot be changed from %s to %s", x.Switch.From, x.Switch.To)
				}
				if s.channel = x.Switch.To; s.mode != 2 || x.Resume {
					s.mode = 0
				}
			case x.Hold != nil:
				s.mode, hold = 2, x.Hold.Bundle
			default:
				s.mode = 0
			}
		}
		offered, moves := w.next(o, s.k, s.channel, s.node)
		if s.mode != 2 && moves {
			t.Errorf("OLM upgrades %s to %s after the last step", s.node, offered.To)
		}
		if end.To != s.node || end.Channel != s.channel || w.at(s.k).String() != p.Reached {
			t.Errorf("the plan ends with %s in channel %s, not %s in %s", s.node, s.channel, end.To, end.Channel)
		}
	}
}

// untouched reports whether the platform gets to the target and all operators follow in the best way if nobody acts.
func (w *world) untouched(t *testing.T, p *platform.Plan) bool {
	t.Helper()
	for i := range w.Installed {
		o := &w.Installed[i]
		target, home := w.horizon(o)
		var sum [prices]int
		n, waits := graph.Node{Name: o.Name, Version: "1.0.0"}, false
		for k := range w.Catalogs {
			for seen := map[graph.Node]bool{}; ; {
				x, ok := w.next(o, k, o.Channel, n)
				if !ok {
					break
				}
				if seen[n] || o.Manual && o.Reading == graph.Classic {
					return false
				}
				seen[n] = true
				for i, c := range w.upgraded(k, target, n, x.To) {
					sum[i] += c
				}
				n = x.To
			}
			stays := w.toHead(o, k, o.Channel, n, false)
			if k < w.last() && w.blocks(k, n) || w.unfit(o, k, n) || !stays && !w.toHead(o, k, o.Channel, n, true) {
				return false
			}
			waits = !stays
			for i, c := range w.leave(o, standing{k, n, o.Channel, 0}, home) {
				sum[i] += c
			}
		}
		if waits || sum[priceDown] > 0 || slices.Compare(sum[:], w.best(o)) != 0 {
			return false
		}
	}
	return true
}
