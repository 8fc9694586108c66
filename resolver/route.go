package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/version"
)

// A route is what a subscription gets in another channel.
type route struct {
	outlook *graph.Outlook
	leads   bool   // the operator is upgraded there, and nothing else has to be done first
	stop    bool   // OLM must be kept from continuing to the end of the channel
	then    string // how to go on
	rank    int    // as in leaves
}

// routes returns the routes of the operator that a subscription owns, and sorts the channels by them: those that lead
// come first, and of these the one that leads furthest, then the one with the fewest changes of channel after it, then the
// default channel. Without an operator there are none.
func (u *universe) routes(s *subscription, channels []string) map[string]route {
	if s.current == nil {
		return nil
	}
	all, catalog, _ := u.outlooks(s, nil)
	routes := map[string]route{}
	in, _ := u.sourcesFor(s)
	for _, ch := range channels {
		o := all.Of(graph.Node{Name: s.current.Name, Version: s.current.version.String()}, catalog, []string{ch})
		r := route{outlook: o, leads: len(o.Steps) > 0 && o.Downgrade == nil && (o.Way == nil || o.Way.Legs[0].Stays), rank: 2}
		for _, src := range in {
			if p, ok := src.Graph.Package(s.Package); ok {
				r.rank = min(r.rank, s.leaves(p, ch))
			}
		}
		if r.leads {
			r.stop, r.then = o.Way != nil && o.Way.Legs[0].Stop, courseIn(o, ch)
		}
		routes[ch] = r
	}
	first := func(x, y bool) int {
		switch {
		case x == y:
			return 0
		case x:
			return -1
		}
		return 1
	}
	slices.SortStableFunc(channels, func(a, b string) int {
		x, y := routes[a], routes[b]
		if !x.leads || !y.leads {
			return cmp.Or(first(x.leads, y.leads), cmp.Compare(x.rank, y.rank))
		}
		far, effort := x.outlook.Reach()
		its, other := y.outlook.Reach()
		v, err := version.Parse(far.Version)
		w, failed := version.Parse(its.Version)
		if err != nil || failed != nil {
			return cmp.Compare(effort, other)
		}
		isDefault := func(r route) bool { return r.outlook.Head != nil && r.outlook.Head.Default && !r.stop }
		return cmp.Or(w.Compare(v), first(isDefault(x), isDefault(y)), cmp.Compare(effort, other), cmp.Compare(len(x.outlook.Steps), len(y.outlook.Steps)))
	})
	return routes
}

// courseIn returns how an operator continues in a channel and from its end, or "" if it stays after one upgrade.
func courseIn(o *graph.Outlook, channel string) string {
	n := len(o.Steps)
	w := o.Way
	if w != nil {
		n = len(w.Legs[0].Steps)
	}
	at := o.Steps[n-1].To
	text := ""
	if n > 1 {
		text = fmt.Sprintf("OLM upgrades it to %s on its own, in %s, unless installPlanApproval is Manual", cmp.Or(at.Version, at.Name), phrase.Count(n-1, "more step"))
	}
	if w == nil {
		return text
	}
	leg, end := w.Legs[0], w.End()
	if leg.Stop {
		text = fmt.Sprintf("approve the upgrades to %s, and nothing further", cmp.Or(at.Version, at.Name))
	}
	if len(w.Legs) == 1 {
		return text
	}
	if text != "" {
		text += "; "
	}
	return text + fmt.Sprintf("to get to %s, %s", cmp.Or(end.Version, end.Name), prose.Way(&graph.Way{Legs: w.Legs[1:]}, graph.Classic, leg.Catalog, channel))
}
