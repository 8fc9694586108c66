package platform

import (
	"cmp"
	"context"
	"fmt"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
)

// A Switch is a change of channel that keeps an operator upgradable, or prevents it from blocking the platform.
type Switch struct {
	// Platform is the last version of the platform at which the change is possible.
	Platform string `json:"platform"`
	// Way lists the upgrades to make at that version. It is nil if the operator can stay as it is.
	Way *graph.Way `json:"way,omitzero"`
	// Channel is the channel to switch to. In the catalog for the version of the blocker, it has a
	// path to its head.
	Channel string `json:"channel"`
}

// outlooks returns the outlooks of the operator at a level, without bundles that need a newer Kubernetes.
func (r *road) outlooks(ctx context.Context, k int) (*graph.Outlooks, error) {
	l := &r.levels[k]
	var failed error
	o := graph.NewOutlooks(r.Reading, []graph.Source{{Catalog: l.catalog, Package: l.pkg}}, func(b graph.Bundle) bool {
		f, err := r.trip.facts.of(ctx, b)
		if err != nil {
			failed = cmp.Or(failed, err)
			return true
		}
		return f.tooNew(r.at(k))
	})
	return o, failed
}

// elsewhere returns a way through any channels to a bundle that does not block the platform, or nil.
func (r *road) elsewhere(ctx context.Context, k int, at graph.Node) (*graph.Way, error) {
	l := &r.levels[k]
	if l.u == nil {
		return nil, nil
	}
	o, err := r.outlooks(ctx, k)
	if err != nil {
		return nil, err
	}
	for _, w := range o.Ways(at, "", r.options(l.pkg).Channels) {
		blocks, err := r.blocked(ctx, l.pkg, w.End(), k, k+1)
		if err != nil {
			return nil, err
		}
		if !blocks {
			return &w, nil
		}
	}
	return nil, nil
}

// blocked reports whether a bundle keeps the platform from reaching any of the levels from+1 to to.
func (r *road) blocked(ctx context.Context, pkg graph.Package, n graph.Node, from, to int) (bool, error) {
	b, ok := pkg.Bundle(n.Name)
	if !ok {
		return false, nil
	}
	f, err := r.trip.facts.of(ctx, b)
	if err != nil {
		return false, err
	}
	for k := from + 1; k <= to; k++ {
		if f.blocks(r.at(k)) {
			return true, nil
		}
	}
	return false, nil
}

// inTime returns the last possible switch to a channel that has a path to its head at level k,
// where the current channel has none. It returns nil if there is no such switch.
func (r *road) inTime(ctx context.Context, k int) (*Switch, error) {
	here, err := r.outlooks(ctx, k)
	if err != nil {
		return nil, err
	}
	for j := k; j >= 0; j-- {
		l := &r.levels[j]
		if l.u == nil {
			continue
		}
		o := here
		if j < k {
			if o, err = r.outlooks(ctx, j); err != nil {
				return nil, err
			}
		}
		if ch := r.home(here, k, r.came[j]); ch != "" {
			return &Switch{Platform: r.at(j).String(), Channel: ch}, nil
		}
		for _, w := range o.Ways(r.came[j], "", r.options(l.pkg).Channels) {
			ch := r.home(here, k, w.End())
			if ch == "" {
				continue
			}
			blocks, err := r.blocked(ctx, l.pkg, w.End(), j, k)
			if err != nil {
				return nil, err
			}
			if !blocks {
				return &Switch{Platform: r.at(j).String(), Way: &w, Channel: ch}, nil
			}
		}
	}
	return nil, nil
}

// home returns a channel of a level that has a path from a node to its head: the default channel, or else the first by
// name. It returns "" if there is none.
func (r *road) home(o *graph.Outlooks, k int, n graph.Node) string {
	home := ""
	for ch := range r.levels[k].pkg.Channels() {
		switch o.Of(n, "", []string{ch.Name()}).Kind {
		case graph.OutlookAtHead, graph.OutlookStepsAway:
			if home == "" || ch.IsDefault() {
				home = ch.Name()
			}
		}
	}
	return home
}

// advice returns a switch as an instruction.
func (r *road) advice(s *Switch, k int) string {
	if s.Way == nil {
		return fmt.Sprintf("there, switch to channel %s", s.Channel)
	}
	at := r.at(k).String()
	if s.Platform == at {
		return "there, " + prose.Way(s.Way, r.Reading, r.levels[k].catalog, r.Channel)
	}
	channel := s.Way.Legs[len(s.Way.Legs)-1].Channel
	text := fmt.Sprintf("before the platform leaves %s, %s until %s is installed", s.Platform, prose.Way(s.Way, r.Reading, "", r.Channel), s.Way.End())
	if channel != s.Channel {
		text += fmt.Sprintf(", and on %s switch to channel %s", at, s.Channel)
	}
	return text
}
