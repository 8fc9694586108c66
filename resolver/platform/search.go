package platform

import (
	"container/heap"
	"context"
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// A cost ranks ways of an operator through the versions of the platform. Of two ways, the one with the
// lower number is better at the first place where they differ.
type cost [costs]int

const (
	// costUnsupported counts the versions of the platform that do not support the operator: its
	// lifecycle data do not list them, or they lack an API that it needs.
	costUnsupported = iota
	costOlder       // 1 if the way ends at an older version than it starts with
	costAdrift      // 1 if the way ends at a bundle that no channel leads from to its head
	costStranded    // 1 if the operator's channel leads nowhere from the end, and another leads further or, if its own is missing, has it
	costClosed      // the newer heads that nothing leads to from the end; see ground.goals
	costHeld        // 1 if OLM has to be held back at the end
	costDown        // the upgrades to an older version
	costLeft        // the versions of the platform on which no channel leads to its head
	costFewest      // Minimal: the upgrades before the target
	costAway        // 1 if the way does not end in the channel that it starts in, with a path to its head, although that channel is there
	costNeeds       // the changes of the channel and the holds
	costArrives     // the versions of the platform that do not support the operator when it gets there
	costBreaking    // the upgrades that break something
	costBehind      // how far the operator is from its head, at each version
	costLater       // how long before the target each need is due
	costChannel     // the place of each channel that is chosen among those of its level
	costSteps       // the upgrades
	costs
)

// far is the distance of a node to a head that nothing leads to.
const far = 1 << 16

// A mode states who decides what happens next to an operator.
type mode int8

const (
	moving mode = iota // OLM upgrades it as soon as it can
	ready              // the same, but a person can act first, because the operator has not been upgraded since the last act
	held               // OLM waits for a person
)

// A place is where an operator is on its way.
type place struct {
	level, node, channel int32
	mode                 mode
	between              bool // it has left its channel, and is to be switched to another
}

// A visit is the best way to a place: an earlier visit and the move from there.
type visit struct {
	place
	from *visit
	move move
	step *graph.Step // of moveUpgrade and movePin
	cost cost
	nth  int
}

// A move leads from one place to another.
type move int8

const (
	moveHop     move = iota // the platform is upgraded, or the way ends
	moveUpgrade             // OLM upgrades the operator
	moveHold                // a person keeps OLM from upgrading the operator
	movePin                 // OLM v1: a person allows one version, and OLM upgrades to it
	moveResume              // a person ends a hold
	moveLeave               // a person is about to change the channel
	moveSwitch              // a person has changed the channel
)

// A search finds the best way of an operator to a level (target). It visits each place once, the
// cheapest first, so the way is the best of all.
type search struct {
	*ground
	target   int
	nodes    []graph.Node
	number   map[graph.Node]int32
	channels []string
	places   map[place]*visit
	queue    visits
	pushed   int
	top      int                // the highest level visited
	home     int                // the level at which the end of the way counts; see settle
	lost     map[graph.Node]int // at level home; see ground.goals
	heads    []graph.Node
	unfit    map[[2]int32]bool // whether a node (second) is unsupported at a level
}

// find returns the best way to the last level that can be reached. The last visit of the way is at the
// level after that one.
func (g *ground) find(ctx context.Context) (*search, *visit, error) {
	for target := len(g.levels) - 1; ; {
		s := &search{ground: g, target: target, number: map[graph.Node]int32{}, unfit: map[[2]int32]bool{}}
		if err := s.settle(ctx); err != nil {
			return nil, nil, err
		}
		if s.home >= 0 {
			var err error
			if s.lost, s.heads, err = g.goals(ctx, s.home); err != nil {
				return nil, nil, err
			}
		}
		v, err := s.run(ctx, place{node: s.numberOf(s.start), channel: s.channel(s.Channel), mode: ready}, cost{})
		if v != nil || err != nil {
			return s, v, err
		}
		target = s.top
	}
}

// settle sets home: the last level at which the operator can get to the head of a channel or, if there is none,
// the last one with the package. It is -1 without that.
func (s *search) settle(ctx context.Context) error {
	s.home = -1
	for k := s.target; k >= 0; k-- {
		if !s.levels[k].ok {
			continue
		}
		s.home = max(s.home, k)
		for _, n := range s.levels[k].reach {
			if home, _, err := s.elsewhere(ctx, k, n); home || err != nil {
				s.home = k
				return err
			}
		}
	}
	return nil
}

// run searches from a place with a cost. It returns the last visit of the best way, or nil if there is none.
func (s *search) run(ctx context.Context, at place, c cost) (*visit, error) {
	s.places, s.queue = map[place]*visit{}, nil
	s.push(at, nil, moveHop, nil, c)
	for len(s.queue) > 0 {
		v := heap.Pop(&s.queue).(*visit)
		if s.places[v.place] != v {
			continue // a cheaper one came later
		}
		if int(v.level) > s.target {
			return v, nil
		}
		s.top = max(s.top, int(v.level))
		if v.nth%1024 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err := s.expand(ctx, v); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// expand queues the places to which one move leads from a visit.
func (s *search) expand(ctx context.Context, v *visit) error {
	k, n, l := int(v.level), s.nodes[v.node], &s.levels[v.level]
	need := v.cost
	need[costNeeds]++
	need[costLater] += s.target - k
	to := v.place
	if v.between {
		to.between = false
		for i, name := range l.channels {
			if to.channel = s.channel(name); to.channel != v.channel {
				c := need
				c[costChannel] += i
				s.push(to, v, moveSwitch, nil, c)
			}
		}
		return nil
	}
	a, err := s.lane(ctx, k, s.channels[v.channel])
	if err != nil {
		return err
	}
	step, moves := s.next(a, n)
	if v.mode != held && moves && s.excluded(step) == nil {
		to.node, to.mode = s.numberOf(step.To), moving
		s.push(to, v, moveUpgrade, &step, s.upgraded(v.cost, k, step))
		to = v.place
	}
	acts := v.mode != moving || !moves
	if v.mode != held && (acts || s.Reading == graph.Classic) {
		to.mode = held
		s.push(to, v, moveHold, nil, need)
	}
	if acts && s.Reading == graph.V1 && a != nil {
		to.mode = held
		for x := range a.u.Steps(n) {
			to.node = s.numberOf(x.To)
			s.push(to, v, movePin, &x, s.upgraded(need, k, x))
		}
		to.node = v.node
	}
	if v.mode == held {
		to.mode = moving
		s.push(to, v, moveResume, nil, v.cost)
	}
	if acts && l.ok {
		to.mode, to.between = max(v.mode, ready), true
		s.push(to, v, moveLeave, nil, v.cost)
	}
	if (v.mode == held || !moves) && (k == s.target || !l.facts[n].blocks(s.at(k+1))) {
		c, err := s.leave(ctx, v.cost, k, n, s.channels[v.channel], v.mode == held)
		if err != nil {
			return err
		}
		next := place{level: v.level + 1, node: v.node, channel: v.channel}
		if v.mode == held {
			next.mode = held
		}
		s.push(next, v, moveHop, nil, c)
	}
	return nil
}

// upgraded adds an upgrade at a level to a cost.
func (s *search) upgraded(c cost, k int, x graph.Step) cost {
	c[costSteps]++
	if s.Strategy == Minimal && k < s.target {
		c[costFewest]++
	}
	if older(x.To, x.From) {
		c[costDown]++
	}
	if slices.ContainsFunc(s.Breaking, func(b Judgment) bool { return b.of(x) }) {
		c[costBreaking]++
	}
	return c
}

// leave adds to a cost that the platform leaves a level with a node in a channel, for the next one.
func (s *search) leave(ctx context.Context, c cost, k int, n graph.Node, channel string, isHeld bool) (cost, error) {
	bad, err := s.unsupported(ctx, k, n)
	if err != nil {
		return c, err
	}
	if bad {
		c[costUnsupported]++
	}
	a, err := s.lane(ctx, k, channel)
	if err != nil {
		return c, err
	}
	d := a.toHead(n)
	if d < 0 {
		c[costBehind] += far
	} else {
		c[costBehind] += d
	}
	if l := &s.levels[k]; l.ok && d < 0 {
		home, further, err := s.elsewhere(ctx, k, n)
		if err != nil {
			return c, err
		}
		missing := channel != "" && !slices.Contains(l.channels, channel)
		if k == s.home && (further || home && missing) {
			c[costStranded]++
		}
		if !home {
			c[costLeft]++
			if k == s.home {
				c[costAdrift]++
			}
		}
	}
	if k == s.home {
		if l := &s.levels[k]; l.ok && (d < 0 || s.named(k, channel) != s.named(k, s.Channel)) && slices.Contains(l.channels, s.named(k, s.Channel)) {
			c[costAway]++
		}
		c[costClosed] += s.lost[n]
		if older(n, s.start) {
			c[costOlder]++
		}
		if isHeld {
			c[costHeld]++
		}
	}
	if k < s.target {
		if bad, err = s.unsupported(ctx, k+1, n); bad {
			c[costArrives]++
		}
		if u := s.levels[k].facts[n].unserved(s.at(k+1), false); u != nil {
			c[costUnsupported]++
		}
	}
	return c, err
}

// elsewhere reports whether any channel at a level leads from a node to its head (home), and whether any
// leads to a newer node (further), at once or through older ones.
func (s *search) elsewhere(ctx context.Context, k int, n graph.Node) (home, further bool, err error) {
	for _, ch := range s.levels[k].channels {
		a, err := s.lane(ctx, k, ch)
		if err != nil {
			return false, false, err
		}
		d := a.toHead(n)
		home = home || d >= 0
		further = further || d > 0 && !slices.ContainsFunc(a.u.Heads(), func(h graph.Node) bool { return older(h, n) })
		if x, ok := s.next(a, n); ok && s.excluded(x) == nil && !older(x.To, n) {
			further = true
		}
	}
	return home, further, nil
}

// unsupported reports whether the lifecycle data of a node do not list the platform of a level, or whether it needs a newer
// Kubernetes, which OLM v1 does not check.
func (s *search) unsupported(ctx context.Context, k int, n graph.Node) (bool, error) {
	key := [2]int32{int32(k), s.numberOf(n)}
	bad, ok := s.unfit[key]
	if ok {
		return bad, nil
	}
	x, err := s.support(ctx, k, n)
	if err != nil {
		return false, err
	}
	if x != nil {
		fits, known := x.Lifecycle.Compatible(s.at(k))
		bad = known && !fits
	}
	bad = bad || s.tooNew(k, n)
	s.unfit[key] = bad
	return bad, nil
}

func (s *search) numberOf(n graph.Node) int32 {
	i, ok := s.number[n]
	if !ok {
		i = int32(len(s.nodes))
		s.number[n] = i
		s.nodes = append(s.nodes, n)
	}
	return i
}

// channel returns the number of a channel.
func (s *search) channel(name string) int32 {
	i := slices.Index(s.channels, name)
	if i < 0 {
		i = len(s.channels)
		s.channels = append(s.channels, name)
	}
	return int32(i)
}

func (s *search) push(at place, from *visit, m move, step *graph.Step, c cost) {
	if known := s.places[at]; known != nil && slices.Compare(known.cost[:], c[:]) <= 0 {
		return
	}
	s.pushed++
	v := &visit{at, from, m, step, c, s.pushed}
	s.places[at] = v
	heap.Push(&s.queue, v)
}

// visits is a heap: the cheapest visit first, and of equally cheap ones the one that was queued first.
type visits []*visit

func (q visits) Len() int { return len(q) }

func (q visits) Less(i, j int) bool {
	if c := slices.Compare(q[i].cost[:], q[j].cost[:]); c != 0 {
		return c < 0
	}
	return q[i].nth < q[j].nth
}

func (q visits) Swap(i, j int) { q[i], q[j] = q[j], q[i] }

func (q *visits) Push(v any) { *q = append(*q, v.(*visit)) }

func (q *visits) Pop() any {
	last := len(*q) - 1
	v := (*q)[last]
	*q = (*q)[:last]
	return v
}
