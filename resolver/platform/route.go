package platform

import (
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
)

// A route is what one operator does at each level: it follows its channel, and changes it
// where it would otherwise block the platform or be left behind.
type route struct {
	*road                       // the road that it ends on
	nodes map[graph.Node]*facts // those of its roads
	stays []stay                // by level
	// solved are the blockers that changes of channels resolve.
	solved []Blocker
}

// A stay is what an operator does at one level.
type stay struct {
	// road is the road that the operator follows from here on. It starts on it at node then.
	road *road
	// The operator arrives at the level with node at, and leaves it with node end.
	at, then, end graph.Node
	// The steps at the level begin with those to node then (before).
	before, steps []Step
}

// route returns the route of an operator.
func (t *trip) route(ctx context.Context, o *Operator) (*route, error) {
	r := &road{trip: t, Operator: o, within: t.ranges[o]}
	f, err := r.begin(ctx)
	if err != nil {
		return nil, err
	}
	if err := r.explore(ctx, f); err != nil {
		return nil, err
	}
	rt := &route{nodes: map[graph.Node]*facts{}}
	rt.follow(r, r.start, nil)
	for from := 0; ; {
		k, fatal, ok := rt.trouble(from)
		if !ok {
			return rt, nil
		}
		d, err := rt.detour(ctx, k, fatal)
		if err != nil {
			return nil, err
		}
		if d == nil && fatal {
			return rt, nil
		}
		if d != nil {
			if err := rt.take(ctx, d, k, fatal); err != nil {
				return nil, err
			}
		}
		from = k + 1
	}
}

// follow makes the operator follow a road to its end. It arrives at the first level of the
// road with node at, and first takes the given steps there.
func (rt *route) follow(r *road, at graph.Node, before []Step) {
	rt.road, rt.stays = r, rt.stays[:r.first]
	n := r.start
	for k := r.first; k <= r.end; k++ {
		l := &r.levels[k]
		maps.Copy(rt.nodes, l.facts)
		s := stay{road: r, at: n, then: n, end: n}
		if k == r.first {
			s.at, s.before, s.steps = at, before, slices.Clip(before)
		}
		if l.u != nil {
			list, hold := r.choose(k, n)
			if len(list) > 0 {
				s.end = list[len(list)-1].To
			}
			if hold != "" {
				s.steps = append(s.steps, r.hold(k, s.end, hold))
			}
			s.steps = append(s.steps, r.upgrades(k, list)...)
		}
		rt.stays = append(rt.stays, s)
		n = s.end
	}
}

// upgrades returns upgrades of the operator as steps of the plan.
func (r *road) upgrades(k int, list []graph.Step) []Step {
	out := make([]Step, len(list))
	for i := range list {
		out[i] = r.step(k)
		out[i].Operator = &list[i]
	}
	return out
}

// hold returns the step that keeps OLM from upgrading the operator beyond a node.
func (r *road) hold(k int, n graph.Node, reason string) Step {
	s := r.step(k)
	s.Hold, s.Reason = &Hold{Bundle: n, Reading: r.Reading}, reason
	return s
}

// step returns a step of the operator that does nothing yet.
func (r *road) step(k int) Step {
	return Step{Platform: r.at(k).String(), Package: r.Package, Catalog: r.levels[k].catalog}
}

// trouble returns the first level, from a given one on, at which the operator is left
// behind for good, or the last one, if it blocks the platform there (fatal).
func (rt *route) trouble(from int) (level int, fatal, ok bool) {
	for k := max(from, rt.first); k <= rt.end; k++ {
		if l := &rt.levels[k]; l.u != nil && l.best(rt.stays[k].then) < k {
			return k, false, true
		}
	}
	return rt.end, true, rt.end < rt.last()
}

// take makes the operator take a detour because of its trouble at a level.
func (rt *route) take(ctx context.Context, d *detour, level int, fatal bool) error {
	b := rt.blocker(level, fatal)
	b.Switch = &Switch{Platform: rt.at(d.from).String(), Channel: d.next.Channel}
	old, s := rt.road, rt.stays[d.from]
	s.steps = slices.Clip(s.before)
	channel := old.Channel
	reason := b.Reason
	change := func(r *road, k int, to string) {
		if to != channel {
			x := r.step(k)
			x.Switch, x.Reason = &ChannelSwitch{From: channel, To: to}, reason
			if k < d.to {
				x.Before = rt.at(k + 1).String()
			}
			s.steps = append(s.steps, x)
			channel = to
		}
	}
	waits := d.next.first > d.from
	held := false
	hold := func(r *road, k int, n graph.Node) {
		s.steps = append(s.steps, r.hold(k, n, "OLM would upgrade it to a bundle from which it cannot continue as planned"))
	}
	for i, leg := range d.way.Legs {
		change(old, d.from, leg.Channel)
		last := i == len(d.way.Legs)-1
		if leg.Stop && (!last || waits) {
			hold(old, d.from, leg.End())
			held = last
		}
		s.steps = append(s.steps, old.upgrades(d.from, leg.Steps)...)
		b.Lift = append(b.Lift, leg.Steps...)
		b.Switch.Way = &d.way
	}
	if waits {
		r, err := old.on(ctx, channel, d.from, d.end, d.facts)
		if err != nil {
			return err
		}
		maps.Copy(rt.nodes, r.levels[d.from].facts)
		rt.stays = rt.stays[:d.from]
		for k := d.from; k < d.next.first; k++ {
			if l := &r.levels[k]; !held && l.u != nil && len(l.olm.Walk(d.end).Steps) > 0 {
				hold(r, k, d.end)
				held = true
			}
			s.end = d.end
			rt.stays = append(rt.stays, s)
			s = stay{road: r, at: d.end, then: d.end}
		}
		if b := r.left(d.next.first, d.end); b != nil {
			reason = b.Reason
		}
	}
	change(d.next, d.next.first, d.next.Channel)
	rt.follow(d.next, s.at, s.steps)
	rt.solved = append(rt.solved, b)
	return nil
}

// blocker returns why the operator is in trouble at a level; see [route.trouble].
func (rt *route) blocker(k int, fatal bool) Blocker {
	s := &rt.stays[k]
	if !fatal {
		return *s.road.left(k, s.then)
	}
	n := s.at
	if k == rt.end {
		n = s.end
	}
	return Blocker{Package: rt.Package, Bundle: n.Name, Platform: rt.at(k).String(), Kind: BlockerMaxOpenShift, Reason: rt.nodes[n].maxText(n.String(), rt.at(k+1))}
}

// A detour is a change of channels.
type detour struct {
	from  int // the level at which the operator leaves its road
	to    int // the level before which it is in trouble otherwise
	way   graph.Way
	end   graph.Node // of the way
	facts *facts     // those of end
	// next is the road to follow then. If it starts at a later level, the operator stays at
	// end until then.
	next *road
	// closes is 1 if OLM takes an upgrade on next that closes the way to a newer version, or else 0.
	closes int
}

// detour returns the best change of channels for the trouble of the operator at a level: one
// with which it has a path to the head of a channel there or at a later level or, if it blocks
// the platform, with which the platform can continue. Of equally good ones it returns the last
// possible one, and then the easiest. It returns nil if there is none.
func (rt *route) detour(ctx context.Context, level int, fatal bool) (*detour, error) { // G5
	to := level
	if fatal {
		to++
	}
	all, err := rt.candidates(ctx, to)
	if err != nil {
		return nil, err
	}
	free, err := rt.free(ctx)
	if err != nil {
		return nil, err
	}
	type start struct {
		level   int
		channel string
		node    graph.Node
	}
	roads := map[start]*road{}
	var best *detour
	for ; to <= rt.last(); to++ {
		all = slices.DeleteFunc(all, func(d detour) bool { return d.facts.blocks(rt.at(to)) })
		homes, err := rt.homes(ctx, to, all)
		if err != nil {
			return nil, err
		}
		for _, d := range all {
			d.to = to
			channel, stop := rt.Channel, false
			if n := len(d.way.Legs); n > 0 {
				channel, stop = d.way.Legs[n-1].Channel, d.way.Legs[n-1].Stop
			}
			channels := slices.Clone(homes[d.end])
			if i := slices.Index(channels, channel); i > 0 {
				channels = slices.Insert(slices.Delete(channels, i, i+1), 0, channel)
			}
			if fatal && len(channels) == 0 {
				channels = []string{channel}
			}
			for _, ch := range channels {
				// If the operator already follows the channel, it need not wait for level to,
				// unless OLM would upgrade it too far.
				levels := []int{to}
				switch {
				case ch == channel && len(d.way.Legs) == 0 && d.from == to:
					continue
				case ch == channel && len(d.way.Legs) > 0 && !stop:
					levels = []int{d.from}
				case ch == channel && len(d.way.Legs) > 0 && d.from < to:
					levels = []int{d.from, to}
				}
				for _, from := range levels {
					at := start{from, ch, d.end}
					if roads[at] == nil {
						if roads[at], err = rt.on(ctx, ch, from, d.end, d.facts); err != nil {
							return nil, err
						}
					}
					d.next = roads[at]
					if d.next.end < to || !fatal && d.home() < to {
						continue
					}
					if d.closes, err = d.next.closes(ctx); err != nil {
						return nil, err
					}
					if best == nil || d.compare(best, free) > 0 {
						best = &d
					}
					if best.home() == rt.last() && best.closes == 0 {
						return best, nil
					}
				}
			}
		}
	}
	return best, nil
}

// home returns the last level at which the operator can get to its head after the detour.
func (d *detour) home() int { return d.next.levels[d.next.first].best(d.next.start) }

// closes returns 1 if OLM takes an upgrade that closes the way to a newer version where the road starts, or
// else 0.
func (r *road) closes(ctx context.Context) (int, error) {
	if r.levels[r.first].u == nil {
		return 0, nil
	}
	o, err := r.outlooks(ctx, r.first)
	if err != nil {
		return 0, err
	}
	var channels []string
	if r.Channel != "" {
		channels = []string{r.Channel}
	}
	if o.Of(r.start, "", channels).Closes != nil {
		return 1, nil
	}
	return 0, nil
}

// compare is positive if d is better than other: if the operator can get to a head at a later
// level by more changes of channels, then if it or the platform gets further without, then if no upgrade
// closes the way to a newer version. free is the road through all channels.
func (d *detour) compare(other *detour, free *road) int {
	return cmp.Or(
		cmp.Compare(free.levels[d.next.first].best(d.next.start), free.levels[other.next.first].best(other.next.start)),
		cmp.Compare(d.next.end, other.next.end),
		cmp.Compare(d.home(), other.home()),
		cmp.Compare(other.closes, d.closes))
}

// free returns the road of the operator from the start if it follows all channels.
func (rt *route) free(ctx context.Context) (*road, error) {
	r := &road{trip: rt.trip, Operator: rt.Operator, start: rt.stays[0].at, within: rt.within, all: true}
	return r, r.explore(ctx, rt.nodes[r.start])
}

// candidates returns detours without the road to follow: those at a level up to to, with which
// the platform can continue to that level, the latest first and of those the easiest.
func (rt *route) candidates(ctx context.Context, to int) ([]detour, error) {
	var out []detour
	for k := min(to, rt.end); k >= rt.first; k-- {
		l, at := &rt.levels[k], rt.stays[k].then
		add := func(d detour) {
			for n := k + 1; n <= to; n++ {
				if d.facts.blocks(rt.at(n)) {
					return
				}
			}
			out = append(out, d)
		}
		add(detour{from: k, end: at, facts: l.facts[at]})
		if l.u == nil {
			continue
		}
		o, err := rt.outlooks(ctx, k)
		if err != nil {
			return nil, err
		}
		for _, w := range o.Ways(at, "", rt.options(l.pkg).Channels) {
			d := detour{from: k, way: w, end: w.End()}
			b, ok := l.pkg.Bundle(d.end.Name)
			if !ok {
				continue
			}
			if d.facts, err = rt.facts.of(ctx, b); err != nil {
				return nil, err
			}
			add(d)
		}
	}
	return out, nil
}

// outlooks returns the outlooks of the operator at a level, without bundles that need a newer Kubernetes.
func (r *road) outlooks(ctx context.Context, k int) (*graph.Outlooks, error) {
	l := &r.levels[k]
	without, failed := r.without(ctx, k)
	o := graph.NewOutlooks(r.Reading, []graph.Source{{Catalog: l.catalog, Package: l.pkg}}, without)
	o.Exclude(r.Excluded)
	return o, *failed
}

// homes returns the channels at a level that have a path to their head from the end of a
// detour: the default channel first, then the others by the version of the head, the newest
// first, then by name.
func (rt *route) homes(ctx context.Context, level int, list []detour) (map[graph.Node][]string, error) {
	_, pkg, ok := rt.source(rt.Operator, rt.at(level))
	if !ok {
		return nil, nil
	}
	var ends []graph.Node
	for _, d := range list {
		if !slices.Contains(ends, d.end) {
			ends = append(ends, d.end)
		}
	}
	channels := slices.Collect(pkg.Channels())
	slices.SortStableFunc(channels, func(a, b graph.Channel) int {
		switch {
		case a.IsDefault() != b.IsDefault() && a.IsDefault():
			return -1
		case a.IsDefault() != b.IsDefault():
			return 1
		}
		return headVersion(b).Compare(headVersion(a))
	})
	out := map[graph.Node][]string{}
	for _, c := range channels {
		ch := c.Name()
		without, failed := rt.without(ctx, level)
		u := pkg.Upgrades(rt.Reading, &graph.UpgradeOptions{Channels: []string{ch}, Installed: ends, Without: without, Excluded: rt.Excluded})
		if *failed != nil {
			return nil, *failed
		}
		for _, n := range ends {
			if _, ok := u.PathToHead(n); ok {
				out[n] = append(out[n], ch)
			}
		}
	}
	return out, nil
}

// headVersion returns the version of the head of a channel, or 0.0.0 if it has none.
func headVersion(ch graph.Channel) semver.Version {
	if e, ok := ch.Head(); ok {
		if b, ok := e.Bundle(); ok {
			return b.Version()
		}
	}
	return semver.Version{}
}
