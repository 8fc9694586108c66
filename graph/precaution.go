package graph

// A Precaution states how operators at a node get further that the new catalog strands.
type Precaution struct {
	From Node `json:"from"`
	// Channel is the channel in which the node loses its path.
	Channel string `json:"channel"`
	// Before is the way to take with the old catalog, before the new one replaces it, and After the
	// way to take with the new one, which may need no change of the channel after Before. Both are
	// nil if neither leads to a head of the new one.
	Before *Way `json:"before,omitzero"`
	After  *Way `json:"after,omitzero"`
}

// precautions returns one for each of some nodes, which lose their path in a channel of package p. The new
// catalog has it as q.
func precautions(p, q Package, channel string, lost []Node, reading Reading) (list []Precaution) { // G9
	if len(lost) == 0 {
		return nil
	}
	before, after := NewOutlooks(reading, []Source{{Package: p}}, nil), NewOutlooks(reading, []Source{{Package: q}}, nil)
	for _, n := range lost {
		x := Precaution{From: n, Channel: channel}
		x.find(before, after, q)
		list = append(list, x)
	}
	return list
}

// find sets the ways. Of the bundles to which the old catalog leads, the best is the one from which the new catalog leads
// furthest, then the one that is easiest to get to. The old catalog is not needed if the new one leads as far.
func (x *Precaution) find(before, after *Outlooks, q Package) {
	var reach *spot
	effort, from := 0, x.From
	if b, ok := q.Bundle(from.Name); ok {
		from = b.Node() // which may have been only a name before
	}
	if now := after.Of(from, "", []string{x.Channel}); now.Way != nil {
		x.After = now.Way
		reach = after.spot(now.Way.End())
	}
	for _, w := range before.Ways(x.From, "", []string{x.Channel}) {
		var follows []string
		if channel := w.Legs[len(w.Legs)-1].Channel; channel != "" {
			follows = []string{channel}
		}
		then := after.Of(w.End(), "", follows)
		if then.Way == nil && then.Kind != OutlookAtHead && then.Kind != OutlookStepsAway {
			continue
		}
		end, more := then.Reach()
		to, cost := after.spot(end), w.effort()+more
		if reach == nil || newer(to, reach) || x.Before != nil && cost < effort && !newer(reach, to) {
			x.Before, x.After, reach, effort = &w, then.Way, to, cost
		}
	}
}
