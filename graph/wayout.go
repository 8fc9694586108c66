package graph

import (
	"cmp"
	"container/heap"
	"slices"
)

// A Way is a list of channels to follow, one after another, with the steps that OLM takes in
// each.
type Way struct {
	Legs []Leg `json:"legs,omitzero"`
	// AtHead is true if the way ends at the head of the operator's channel, of the default
	// channel, or of the channel with the newest head. If it is false, the way ends at the
	// highest version that can be reached.
	AtHead bool `json:"atHead"`
	// Strands reports whether no way leads on from the end to [Outlook.Newest], which is newer.
	Strands bool `json:"strands,omitzero"`
}

// End is the bundle at which the way ends.
func (w *Way) End() Node { return w.Legs[len(w.Legs)-1].End() }

// Steps returns the upgrades of all legs, in order.
func (w *Way) Steps() (steps []Step) {
	for _, l := range w.Legs {
		steps = append(steps, l.Steps...)
	}
	return steps
}

// A Leg is the part of a way in one channel.
type Leg struct {
	Catalog string `json:"catalog,omitempty"`
	// Channel is the channel to follow. In v1 it may be empty, which means all.
	Channel string `json:"channel,omitempty"`
	// Stays reports whether the operator already follows the channel.
	Stays bool `json:"stays,omitzero"`
	// Stop reports whether OLM must be kept from continuing to a bundle that is not on the
	// way: in classic, approve nothing further; in v1, allow only the version of the end.
	Stop  bool   `json:"stop,omitzero"`
	Steps []Step `json:"steps,omitzero"`
}

// End is the bundle at which the leg ends.
func (l *Leg) End() Node { return l.Steps[len(l.Steps)-1].To }

// search finds the best way that leads further than the steps of an outlook. It leads to the head of
// the operator's channel, of the default channel or of the newest channel or, if none can be reached, to
// the highest version that can be. Of the heads, those are better from which the way to the newest of
// those that can be reached is open. Among these, a newer one is better if the way there is easier: if it has
// fewer changes of channel, of which a stop ([Leg.Stop]) counts as four. Of the ways to one bundle, the easiest
// is best, then that with the fewest steps. A way from whose end no way leads to the newest head ends at the
// highest version that can be reached from there, if that needs no more stops.
func (o *Outlooks) search(own *lane, out *Outlook) {
	var s *waySearch
	var found []arrival
	goals := o.goals(out)
	for _, pins := range []bool{false, true} {
		// In v1, pin single versions only to reach what cannot be reached otherwise.
		if pins && (o.reading != V1 || len(found) == len(goals) && len(goals) > 0) {
			break
		}
		s = o.from(own, out.From, pins)
		for _, goal := range goals {
			known := slices.ContainsFunc(found, func(a arrival) bool { return a.at == goal })
			if v := s.visited(goal); v != nil && v.from != nil && !known {
				found = append(found, arrival{goal, goal, &Way{Legs: s.legs(v), AtHead: true}})
			}
		}
	}
	if len(found) > 0 {
		o.choose(own, out, found)
	} else if far := s.farthest(o.highest(out), true); far != nil {
		out.Way = &Way{Legs: s.legs(far)}
	} else {
		return
	}
	o.beyond(own, out)
}

// An arrival is a way to the head of a channel.
type arrival struct {
	at *spot
	// reach is the newest head to which ways lead on from there.
	reach *spot
	way   *Way
}

// choose sets the best of some ways, which are in order of preference, and an easier one that leads less far.
func (o *Outlooks) choose(own *lane, out *Outlook, found []arrival) {
	best := &found[0]
	for i := range found {
		a := &found[i]
		if len(found) > 1 {
			s := o.from(own, a.at.Node, o.reading == V1)
			for _, b := range found {
				if newer(b.at, a.reach) && s.visited(b.at) != nil {
					a.reach = b.at
				}
			}
		}
		if newer(a.reach, best.reach) || !newer(best.reach, a.reach) && newer(a.at, best.at) && a.way.effort() < best.way.effort() {
			best = a
		}
	}
	out.Way = best.way
	for _, a := range found {
		w := a.way
		if newer(best.reach, a.reach) && w.effort() <= best.way.effort() {
			out.Nearer = w
			return
		}
	}
}

// Reach returns the newest bundle to which the steps of an outlook or its way lead, and how many changes of channel
// are needed for that. A [Leg.Stop] counts as four.
func (o *Outlook) Reach() (end Node, effort int) {
	if o.Way != nil {
		return o.Way.End(), o.Way.effort()
	}
	return o.End(), 0
}

// effort returns what a way costs an administrator: the changes of the channel, and the stops.
func (w *Way) effort() int {
	n := w.stops() * (costStop / costSwitch)
	for _, l := range w.Legs {
		if !l.Stays {
			n++
		}
	}
	return n
}

// beyond completes an outlook with what the ends of its way and of its steps close.
func (o *Outlooks) beyond(own *lane, out *Outlook) {
	leads := func(from Node, to *spot) bool { return o.from(own, from, o.reading == V1).visited(to) != nil }
	if out.Newest != nil {
		newest := o.spot(out.Newest.Node)
		if newer(newest, o.spot(out.Way.End())) && !leads(out.Way.End(), newest) {
			out.Way.Strands = true
			o.extend(own, out)
		}
	}
	// If no way leads there from one bundle, none does from those after it.
	to := o.spot(out.Way.End())
	i, _ := slices.BinarySearchFunc(out.Steps, false, func(x Step, _ bool) int {
		if leads(x.To, to) {
			return -1
		}
		return 0
	})
	if i < len(out.Steps) {
		out.Closes = &out.Steps[i]
	}
}

// extend leads the way of an outlook on to the highest version that can be reached from its end, if that
// needs no more stops.
func (o *Outlooks) extend(own *lane, out *Outlook) {
	end := o.spot(out.Way.End())
	far := o.from(own, end.Node, o.reading == V1).farthest(end, prerelease(end))
	if far == nil {
		return
	}
	s := o.from(own, out.From, o.reading == V1)
	if v := s.visited(far.at); v != nil && v.from != nil {
		if w := (&Way{Legs: s.legs(v), AtHead: slices.Contains(o.goals(out), far.at), Strands: true}); w.stops() <= out.Way.stops() {
			out.Way = w
		}
	}
}

// farthest returns the visit of the highest version, if that is newer than another one, or nil. Prereleases may count.
func (s *waySearch) farthest(than *spot, prereleases bool) (far *visit) {
	for _, v := range s.order {
		if v.from != nil && newer(v.at, than) && (prereleases || !prerelease(v.at)) && (far == nil || newer(v.at, far.at)) {
			far = v
		}
	}
	return far
}

// from searches all ways from a bundle.
func (o *Outlooks) from(own *lane, from Node, pins bool) *waySearch {
	s := &waySearch{Outlooks: o, own: own, pins: pins}
	s.run(o.spot(from))
	return s
}

// stops returns the number of times that OLM must be kept from continuing.
func (w *Way) stops() (n int) {
	for _, l := range w.Legs {
		if l.Stop {
			n++
		}
	}
	return n
}

// Ways returns the best way from an installed bundle to each bundle that it can be upgraded
// to, the easiest first. The arguments are those of [Outlooks.Of]. AtHead is not set.
func (o *Outlooks) Ways(from Node, catalog string, channels []string) []Way {
	s := o.from(o.own(catalog, channels), from, o.reading == V1)
	var out []Way
	for _, v := range s.order {
		if v.from != nil {
			out = append(out, Way{Legs: s.legs(v)})
		}
	}
	return out
}

// WayTo returns the best way from an installed bundle to another one, or nil if there is none. The arguments are
// those of [Outlooks.Of]. AtHead is not set.
func (o *Outlooks) WayTo(from Node, catalog string, channels []string, to Node) *Way {
	s := o.from(o.own(catalog, channels), from, o.reading == V1)
	if v := s.visited(o.spot(to)); v != nil && v.from != nil {
		return &Way{Legs: s.legs(v)}
	}
	return nil
}

// goals returns the possible targets of a way, in order of preference: heads that are newer
// than the start and all steps.
func (o *Outlooks) goals(out *Outlook) (list []*spot) {
	end, highest := o.spot(out.End()), o.highest(out)
	add := func(t *Target) {
		n := o.spot(t.Node)
		if t.Name != out.From.Name && t.Name != end.Name && (newer(n, highest) || end.version == nil) && !slices.Contains(list, n) {
			list = append(list, n)
		}
	}
	if out.Head != nil {
		add(out.Head)
	}
	for i := range o.heads {
		if o.heads[i].Default {
			add(&o.heads[i])
		}
	}
	if out.Newest != nil {
		add(out.Newest)
	}
	return list
}

// A visit records how a search reached a bundle (at) while the operator follows a lane,
// from an earlier visit (from).
type visit struct {
	at   *spot
	lane *lane
	from *visit
	by   *link // nil if only the lane has changed
	// held means that an administrator keeps OLM from continuing along the lane.
	held  bool
	cost  uint64
	total uint64 // with a stop at the end, see arrive
	order int
}

// The costs of the parts of a way. One stop costs as much as four switches to other lanes,
// and one switch more than all steps.
const (
	costStop   = 4 * costSwitch
	costSwitch = 1 << 20
	costStep   = 1
)

// A waySearch finds the cheapest ways from one bundle to all others.
type waySearch struct {
	*Outlooks
	own   *lane
	pins  bool     // v1: also allow single versions
	best  []*visit // the cheapest so far, by key
	at    []*visit // the cheapest of each spot, by its id
	order []*visit // the elements of at, cheapest first
	queue visits
	// pushed counts the queued visits.
	pushed int
}

func (s *waySearch) run(from *spot) {
	s.best = make([]*visit, 0, 2*len(s.lanes)*(len(s.spots)+1))
	s.push(visit{at: from, lane: s.own})
	for len(s.queue) > 0 {
		v := heap.Pop(&s.queue).(*visit)
		if s.best[s.key(v)] != v {
			continue // a cheaper one came later
		}
		next := s.next(v.lane, v.at)
		if v.arrived() {
			s.arrive(v, next != nil)
		}
		if next != nil && !v.held && !s.excludes(v.at, next) {
			s.push(visit{at: next.to, lane: v.lane, from: v, by: next, cost: v.cost + costStep})
		}
		if v.arrived() {
			s.act(v, next != nil)
		}
	}
	slices.SortStableFunc(s.order, func(a, b *visit) int { return cmp.Compare(a.total, b.total) })
}

// arrive records a visit as the way to its spot if no other is as cheap. moves is true if OLM would upgrade the operator
// further along its lane, so that a way that ends here needs another stop.
func (s *waySearch) arrive(v *visit, moves bool) {
	v.total = v.cost
	if moves && !v.held && v.from != nil {
		v.total += costStop
	}
	for len(s.at) <= v.at.id {
		s.at = append(s.at, nil)
	}
	switch known := s.at[v.at.id]; {
	case known == nil:
		s.order = append(s.order, v)
	case known.total <= v.total:
		return
	default:
		s.order[slices.Index(s.order, known)] = v
	}
	s.at[v.at.id] = v
}

// excludes reports whether ways must not take a link from a spot.
func (o *Outlooks) excludes(from *spot, x *link) bool {
	return o.excluded[[2]string{from.Name, x.to.Name}] || o.avoid != nil && o.avoid(x.bundle)
}

// visited returns the cheapest visit of a spot, or nil.
func (s *waySearch) visited(at *spot) *visit {
	if at.id < len(s.at) {
		return s.at[at.id]
	}
	return nil
}

// act queues the visits that an administrator can cause after visit v: by switching the
// operator to another lane or, in v1, by allowing a single version. moves is true if OLM
// would upgrade the operator further along its lane.
func (s *waySearch) act(v *visit, moves bool) {
	stop := uint64(0)
	if moves && v.from != nil && !v.held {
		// Without an approval, classic OLM waits; OLM v1 has already continued.
		if s.reading == V1 {
			return
		}
		stop = costStop
	}
	for _, l := range s.lanes {
		goes := s.next(l, v.at) != nil
		if !goes && !s.pins { // a pinned version may be lower, and lead on
			continue
		}
		cost := v.cost + stop
		if l != v.lane {
			cost += costSwitch
			if s.reading == V1 && v.from != nil {
				cost += costStep // rather at once than after a wait
			}
		}
		if goes && (l != v.lane || v.held) {
			s.push(visit{at: v.at, lane: l, from: v, cost: cost})
		}
		// Any version that one channel allows is allowed by all channels together.
		if s.pins && (l.whole || l == s.own) {
			links := s.links(v.at)
			for i := range links {
				if x := &links[i]; x.to.Name != v.at.Name && l.has(x) && !s.excludes(v.at, x) {
					s.push(visit{at: x.to, lane: l, from: v, by: x, held: true, cost: cost + costStop + costStep})
				}
			}
		}
	}
}

// arrived reports whether a visit is the start of the search or an upgrade, and not a
// switch to another lane.
func (v *visit) arrived() bool { return v.by != nil || v.from == nil }

// key returns the index in best of visits with the same spot, lane and held.
func (s *waySearch) key(v *visit) int {
	k := 2 * (v.at.id*len(s.lanes) + v.lane.id)
	if v.held {
		k++
	}
	return k
}

func (s *waySearch) push(v visit) {
	k := s.key(&v)
	for len(s.best) <= k {
		s.best = append(s.best, nil)
	}
	if known := s.best[k]; known != nil && known.cost <= v.cost {
		return
	}
	s.pushed++
	v.order = s.pushed
	s.best[k] = &v
	heap.Push(&s.queue, &v)
}

// legs returns the legs that lead to a visit.
func (s *waySearch) legs(v *visit) []Leg {
	var list []*visit
	for x := v; x.from != nil; x = x.from {
		list = append(list, x)
	}
	var out []Leg
	var last *visit // the visit that the current leg has reached, or nil after a switch
	for _, x := range slices.Backward(list) {
		if x.by == nil {
			last = nil
			continue
		}
		if last == nil || x.held {
			stays := x.lane == s.own && len(out) == 0 && !x.held
			out = append(out, Leg{Catalog: x.lane.catalog, Channel: x.lane.channel, Stays: stays})
		}
		l := &out[len(out)-1]
		l.Steps = append(l.Steps, x.by.step(x.from.at))
		l.Stop = x.held || s.next(x.lane, x.at) != nil
		last = x
	}
	return out
}

// visits is a heap: the cheapest visit first, and of equally cheap ones the one that was
// queued first.
type visits []*visit

func (q visits) Len() int { return len(q) }

func (q visits) Less(i, j int) bool {
	if q[i].cost != q[j].cost {
		return q[i].cost < q[j].cost
	}
	return q[i].order < q[j].order
}

func (q visits) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *visits) Push(v any) { *q = append(*q, v.(*visit)) }

func (q *visits) Pop() any {
	last := len(*q) - 1
	v := (*q)[last]
	*q = (*q)[:last]
	return v
}
