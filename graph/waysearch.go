package graph

import (
	"cmp"
	"container/heap"
	"slices"
)

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
