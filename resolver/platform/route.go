package platform

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// A route is the best way of an operator, with the steps that it takes.
type route struct {
	*search
	stays []stay // by level
	end   int    // the last level that the platform can reach with the operator
	// solved are the blockers that changes of the channel resolve.
	solved []Blocker
}

// A stay is what an operator does at one level.
type stay struct {
	at, end graph.Node // the nodes with which the operator arrives and leaves
	channel string     // the channel that it follows when it leaves
	lane    *lane      // of channel; nil without a package
	steps   []Step
}

// route returns the route of an operator.
func (t *trip) route(ctx context.Context, o *Operator) (*route, error) {
	g, err := t.ground(ctx, o)
	if err != nil {
		return nil, err
	}
	s, last, err := g.find(ctx)
	if err != nil {
		return nil, err
	}
	rt := &route{search: s, end: s.target}
	var way []*visit
	for v := last; v.from != nil; v = v.from {
		way = append(way, v)
	}
	slices.Reverse(way)
	var acts []act
	for k := 0; k <= rt.end; k++ {
		stay := stay{at: rt.start, end: rt.start}
		if k > 0 {
			stay.at, stay.end = rt.stays[k-1].end, rt.stays[k-1].end
		}
		for len(way) > 0 && way[0].move != moveHop {
			v := way[0]
			way = way[1:]
			stay.end = s.nodes[v.node]
			if v.move == moveLeave {
				continue
			}
			x := act{level: k, move: v.move, step: v.step, channel: s.channels[v.channel], node: stay.end}
			if v.move == moveSwitch {
				x.old = s.channels[v.from.channel]
				if x.why, err = s.why(ctx, v.from, last); err == nil {
					x.before, err = s.before(ctx, v.from, last)
				}
			} else if v.move == moveHold {
				_, moves := s.next(g.levels[k].lanes[x.channel], x.node)
				x.early = !moves
				x.why, err = s.released(ctx, v, last)
			} else if v.move == movePin {
				x.why, err = s.why(ctx, v.from, last)
			}
			if err != nil {
				return nil, err
			}
			acts = append(acts, x)
		}
		stay.channel = s.channels[way[0].channel]
		way = way[1:]
		if stay.lane, err = g.lane(ctx, k, stay.channel); err != nil {
			return nil, err
		}
		rt.stays = append(rt.stays, stay)
		acts = append(acts, act{level: k, move: moveHop})
	}
	rt.write(order(acts))
	return rt, nil
}

// An act is a move of a route.
type act struct {
	level   int
	move    move
	step    *graph.Step
	node    graph.Node
	channel string // the one that the operator follows then
	old     string // moveSwitch: the one before
	before  string // moveSwitch: the version of the platform at which it is too late
	resumes bool   // moveSwitch: ends a hold
	again   bool   // moveHold: OLM waits for approvals already
	early   bool   // moveHold: OLM upgrades the operator only on the next version of the platform
	why     trouble
}

// order moves the acts of a person to where they must be done. Unless OLM stops at its bundle, a hold must be there
// before OLM begins with the upgrades that lead to it: before a change of the channel that makes it begin, or before the
// platform is upgraded.
func order(acts []act) []act {
	var out []act
	for _, x := range acts {
		at := len(out)
		switch x.move {
		case moveHold, movePin:
			for x.move == moveHold && !x.early && at > 0 && out[at-1].move == moveUpgrade {
				at--
			}
			if at > 0 && out[at-1].resumes {
				out[at-1].resumes, x.again = false, true // OLM keeps waiting
			}
			for at > 0 && out[at-1].move == moveSwitch && !x.again {
				at--
			}
			if at > 0 && out[at-1].move == moveHop && x.move == moveHold && !x.again {
				at--
				x.level, x.early = out[at].level, true
			}
			if at > 0 && out[at-1].move == moveResume {
				at--
				out = slices.Delete(out, at, at+1)
				x.again = true
			}
			hold := x
			hold.move = moveHold
			out = slices.Insert(out, at, hold)
			if x.move == movePin {
				x.move = moveUpgrade
				out = append(out, x)
			}
			continue
		case moveSwitch:
			if at > 0 && out[at-1].move == moveResume {
				out = out[:at-1]
				x.resumes = true
			}
		case moveResume:
			if at > 0 && out[at-1].move == moveSwitch {
				out[at-1].resumes = true
				continue
			}
		}
		out = append(out, x)
	}
	return out
}

// write turns acts into steps of the plan, with commands.
func (rt *route) write(acts []act) {
	for i := range acts {
		x := &acts[i]
		s := Step{Platform: rt.at(x.level).String(), Package: rt.Package, Instance: rt.instance(), Catalog: rt.levels[x.level].catalog}
		switch x.move {
		case moveHop:
			continue
		case moveUpgrade:
			s.Operator = x.step
			s.Approval = rt.Manual && rt.Reading == graph.Classic
			if s.Approval {
				for _, o := range rt.objects() {
					s.Commands = append(s.Commands, o.Approve())
				}
			}
			breaks := func(s *graph.Step) int {
				return slices.IndexFunc(rt.Breaking, func(b Judgment) bool { return b.of(*s) })
			}
			if at := breaks(x.step); at >= 0 {
				s.Reason, s.prepare = rt.Breaking[at].Reason, rt.Breaking[at].backups()
				if !s.Approval {
					first := i
					for first > 0 && acts[first-1].move == moveUpgrade && breaks(acts[first-1].step) < 0 {
						first--
					}
					s.pause = &Hold{Bundle: acts[first].step.From, Reading: rt.Reading}
					var before, after []string
					for _, o := range rt.objects() {
						before, after = append(before, o.Hold(s.pause.Bundle.Version)), append(after, o.Resume(rt.Versions))
					}
					s.prepare = slices.Concat(before, s.prepare, after)
				}
			}
		case moveHold:
			s.Hold, s.Reason = &Hold{Bundle: x.node, Reading: rt.Reading}, x.why.reason
			if x.early && x.level < rt.end {
				s.Before = rt.at(x.level + 1).String()
			}
			if rt.Reading == graph.V1 || !x.again && !rt.Manual {
				for _, o := range rt.objects() {
					s.Commands = append(s.Commands, o.Hold(x.node.Version))
				}
			}
		case moveResume:
			s.Resume = true
			for _, o := range rt.objects() {
				if rt.Reading == graph.Classic && rt.Manual {
					break
				}
				s.Commands = append(s.Commands, o.Resume(rt.Versions))
			}
		case moveSwitch:
			s.Switch, s.Reason = &ChannelSwitch{From: x.old, To: x.channel}, x.why.reason
			s.Before, s.Resume = x.before, x.resumes
			var more map[string]any
			if x.resumes && (rt.Reading == graph.V1 || !rt.Manual) {
				more = rt.objects()[0].Resumed(rt.Versions)
			}
			for _, o := range rt.objects() {
				s.Commands = append(s.Commands, o.Follow(x.channel, more))
			}
			if b := x.why.blocker; b != nil {
				b.Switch = &Switch{Platform: s.Platform, Channel: x.channel}
				for _, y := range acts[i+1:] {
					if y.level != x.level || y.move == moveSwitch {
						break
					}
					if y.step != nil {
						b.Lift = append(b.Lift, *y.step)
					}
				}
				rt.solved = append(rt.solved, *b)
			}
		}
		stay := &rt.stays[x.level]
		stay.steps = append(stay.steps, s)
	}
}
