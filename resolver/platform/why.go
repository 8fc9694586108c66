package platform

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// A trouble is what happens to an operator if nobody acts.
type trouble struct {
	reason  string
	blocker *Blocker // or nil
}

// why returns what happens to an operator at a visit of the best way, which ends at last, if nobody acts
// any more: the most important thing that is then worse.
func (s *search) why(ctx context.Context, v, last *visit) (trouble, error) {
	var alone cost
	var what [costs]trouble
	k, at, channel := int(v.level), s.nodes[v.node], s.channels[v.channel]
	for ; ; k++ {
		a, err := s.lane(ctx, k, channel)
		if err != nil {
			return trouble{}, err
		}
		seen := map[graph.Node]bool{at: true}
		for {
			x, ok := s.next(a, at)
			if !ok {
				break
			}
			if e := s.excluded(x); e != nil {
				return trouble{reason: "OLM would take an excluded upgrade: " + exclusionText(e)}, nil
			}
			if seen[x.To] {
				return trouble{reason: fmt.Sprintf("the upgrades of channel %s lead from %s back to %s", s.named(k, channel), at, short(x.To))}, nil
			}
			seen[x.To] = true
			alone = s.upgraded(alone, k, x)
			if older(x.To, x.From) && what[costOlder].reason == "" {
				what[costOlder].reason = fmt.Sprintf("OLM would take it back from %s to %s, which accepts upgrades from newer versions", x.From, x.To)
				what[costDown] = what[costOlder]
			}
			now, ok := s.lost[at]
			if n := s.lost[x.To]; ok && n > now && what[costClosed].reason == "" {
				what[costClosed].reason = fmt.Sprintf("upgrading %s to %s closes the way to %s", at, short(x.To), short(s.heads[now]))
			}
			what[costFewest].reason = fmt.Sprintf("strategy %s upgrades no further than needed, and OLM would upgrade it to %s", Minimal, short(x.To))
			at = x.To
		}
		if k < s.target && s.levels[k].facts[at].blocks(s.at(k+1)) {
			b := s.blocks(k, at)
			return trouble{b.Reason, &b}, nil
		}
		before := alone
		if alone, err = s.leave(ctx, alone, k, at, channel, false); err != nil {
			return trouble{}, err
		}
		if alone[costUnsupported] > before[costUnsupported] && what[costUnsupported].reason == "" {
			b, err := s.fails(ctx, k, at)
			if err != nil {
				return trouble{}, err
			}
			what[costUnsupported] = trouble{b.Reason, b}
		}
		for _, i := range []int{costAdrift, costStranded, costLeft} {
			if alone[i] > before[i] && what[i].reason == "" {
				b := s.left(k, channel, at)
				what[i] = trouble{b.Reason, b}
			}
		}
		if n := s.lost[at]; k == s.home && n > 0 && what[costClosed].reason == "" {
			what[costClosed].reason = fmt.Sprintf("on %s, nothing leads from %s to %s", s.at(k), at, short(s.heads[0]))
		}
		if alone[costAway] > before[costAway] {
			what[costAway].reason = fmt.Sprintf("channel %s was needed only to get to %s", s.named(k, channel), at)
		}
		if k == s.target {
			break
		}
		if alone[costArrives] > before[costArrives] && what[costArrives].reason == "" {
			b, err := s.incompatible(ctx, k+1, at)
			if err != nil {
				return trouble{}, err
			}
			what[costArrives] = trouble{reason: b.Reason}
		}
	}
	for i := range alone {
		if alone[i] > last.cost[i]-v.cost[i] && what[i].reason != "" {
			return what[i], nil
		}
	}
	return trouble{reason: "OLM would upgrade it to a bundle from which it cannot continue as planned"}, nil
}

// released returns what happens to an operator that the best way, which ends at last, holds at a visit, if OLM
// takes its next upgrade instead and a person does what is best then.
func (s *search) released(ctx context.Context, v, last *visit) (trouble, error) {
	at, c := v.from.place, v.from.cost
	at.mode = moving
	for ; int(at.level) <= s.target; at.level++ {
		k, n := int(at.level), s.nodes[at.node]
		a, err := s.lane(ctx, k, s.channels[at.channel])
		if err != nil {
			return trouble{}, err
		}
		if x, ok := s.next(a, n); ok {
			at.node = s.numberOf(x.To)
			return s.astray(ctx, at, x, s.upgraded(c, k, x), last)
		}
		if k < s.target && s.levels[k].facts[n].blocks(s.at(k+1)) {
			return trouble{reason: s.blocks(k, n).Reason}, nil
		}
		if c, err = s.leave(ctx, c, k, n, s.channels[at.channel], false); err != nil {
			return trouble{}, err
		}
	}
	return s.why(ctx, v, last)
}

// astray returns what is worse than on the best way, which ends at last, if OLM takes an upgrade that leads to a place.
func (s *search) astray(ctx context.Context, at place, x graph.Step, c cost, last *visit) (trouble, error) {
	if e := s.excluded(x); e != nil {
		return trouble{reason: "OLM would take an excluded upgrade: " + exclusionText(e)}, nil
	}
	v := &visit{place: at, cost: c}
	end, err := s.run(ctx, at, c)
	if err != nil {
		return trouble{}, err
	}
	to := fmt.Sprintf("OLM would upgrade it to %s on %s, ", x.To, s.at(int(at.level)))
	if k := int(at.level); end == nil && s.levels[k].facts[x.To].blocks(s.at(k+1)) {
		return trouble{reason: s.blocks(k, x.To).Reason}, nil
	} else if end == nil {
		return trouble{reason: to + fmt.Sprintf("with which the platform cannot get to %s", s.at(s.target))}, nil
	}
	i := 0
	for i < costs-1 && end.cost[i] <= last.cost[i] {
		i++
	}
	switch i {
	case costOlder, costDown:
		if older(x.To, x.From) {
			return trouble{reason: fmt.Sprintf("OLM would take it back from %s to %s, which accepts upgrades from newer versions", x.From, x.To)}, nil
		}
	case costUnsupported, costArrives:
		if b, err := s.fails(ctx, int(at.level), x.To); err != nil {
			return trouble{}, err
		} else if b != nil {
			return trouble{reason: b.Reason}, nil
		}
	case costAdrift, costStranded, costLeft:
		return trouble{reason: to + fmt.Sprintf("and no channel leads on from there on %s", s.at(s.home))}, nil
	case costClosed:
		if now, ok := s.lost[x.From]; ok && now < s.lost[x.To] {
			return trouble{reason: fmt.Sprintf("upgrading %s to %s closes the way to %s", x.From, short(x.To), short(s.heads[now]))}, nil
		}
	case costFewest:
		return trouble{reason: fmt.Sprintf("strategy %s upgrades no further than needed, and OLM would upgrade it to %s", Minimal, short(x.To))}, nil
	case costAway:
		return trouble{reason: to + fmt.Sprintf("and channel %s does not lead on from there", s.named(s.home, s.Channel))}, nil
	}
	return s.why(ctx, v, last)
}

// before returns the first version of the platform at which it is too late to act as the best way does at
// a visit: nothing that can be done then ends as well, without more effort. It is empty if there is none.
func (s *search) before(ctx context.Context, v, last *visit) (string, error) {
	at, c := v.place, v.cost
	at.between = false
	for ; int(at.level) < s.target; at.level++ {
		k, seen := int(at.level), map[int32]bool{}
		a, err := s.lane(ctx, k, s.channels[at.channel])
		if err != nil {
			return "", err
		}
		next := s.at(k + 1).String()
		for at.mode != held && !seen[at.node] {
			x, ok := s.next(a, s.nodes[at.node])
			if !ok {
				break
			}
			seen[at.node] = true
			if s.excluded(x) != nil {
				return next, nil
			}
			at.node, c = s.numberOf(x.To), s.upgraded(c, k, x)
		}
		n := s.nodes[at.node]
		if seen[at.node] || s.levels[k].facts[n].blocks(s.at(k+1)) {
			return next, nil
		}
		if c, err = s.leave(ctx, c, k, n, s.channels[at.channel], at.mode == held); err != nil {
			return "", err
		}
		from := at
		from.level++
		if from.mode != held {
			from.mode = moving
		}
		end, err := s.run(ctx, from, c)
		if err != nil {
			return "", err
		}
		if end == nil || slices.Compare(end.cost[:costArrives], last.cost[:costArrives]) > 0 {
			return next, nil
		}
	}
	return "", nil
}
