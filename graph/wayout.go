package graph

import (
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

// lower returns the best upgrade in a lane from a bundle that OLM v1 prefers to it, of those that outranks accepts, or nil.
func (o *Outlooks) lower(own *lane, at *spot, outranks func(at, to *spot) bool) *Step {
	if o.reading != V1 {
		return nil
	}
	var best *link
	links := o.links(at)
	for i := range links {
		if x := &links[i]; own.has(x) && x.edge != NoEdge && outranks(at, x.to) && (best == nil || o.compare(own, x, best) < 0) {
			best = x
		}
	}
	if best == nil {
		return nil
	}
	step := best.step(at)
	return &step
}

// highest returns the newest bundle of the start and the steps of an outlook.
func (o *Outlooks) highest(out *Outlook) *spot {
	at := o.spot(out.From)
	for _, x := range out.Steps {
		if to := o.spot(x.To); !newer(at, to) {
			at = to
		}
	}
	return at
}

// downgrades completes an outlook with the first step to an older version.
func (o *Outlooks) downgrades(out *Outlook) { // H2
	i := slices.IndexFunc(out.Steps, func(x Step) bool { return newer(o.spot(x.From), o.spot(x.To)) })
	switch {
	case i >= 0:
		out.Downgrade = &out.Steps[i]
		out.Keep = o.keeper(o.spot(out.Steps[i].From))
	case out.Kind == OutlookAhead && len(out.Steps) == 0:
		out.Keep = o.keeper(o.spot(out.From))
	}
}

// keeper returns a channel in which the bundle at a spot is the head and stays, or nil.
func (o *Outlooks) keeper(at *spot) *Target {
	for i := range o.heads {
		h := &o.heads[i]
		for _, l := range o.lanes {
			if h.Name == at.Name && l.channel != "" && l.catalog == h.Catalog && l.channel == h.Channel && o.next(l, at) == nil {
				return h
			}
		}
	}
	return nil
}
