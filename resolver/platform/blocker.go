package platform

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// UpgradeBlockers returns the installed bundles that block the upgrade of a platform to the
// next minor version, by package and name: their olm.maxOpenShiftVersion is lower or
// cannot be read. Only major.minor of a version counts. It needs no catalogs; [Upgrade]
// also finds what resolves a blocker. The error is a [*document.Error].
//
// Package reconcile has a function of the same name for the
// ClusterServiceVersions of a cluster.
func UpgradeBlockers(installed []Operator, version string) ([]Blocker, error) { // C7
	p := Problem{From: version, To: version, Installed: installed}
	t, err := p.check()
	if err != nil {
		return nil, err
	}
	out := []Blocker{}
	for _, o := range t.installs {
		if f, _ := installedFacts(o); f.blocks(t.from.Next()) {
			out = append(out, Blocker{
				Package: o.Package, Bundle: o.Name, Kind: BlockerMaxOpenShift, Platform: t.from.String(), Fatal: true,
				Reason: f.maxText(o.Name, t.from.Next()),
			})
		}
	}
	return out, nil
}

// report adds to plan the blockers and the result of the operator, up to level end.
func (rt *route) report(ctx context.Context, end int, plan *Plan) error {
	for k := range end + 1 {
		for _, b := range rt.solved {
			if b.Platform == rt.at(k).String() {
				plan.Blockers = append(plan.Blockers, b)
			}
		}
		s := &rt.stays[k]
		if f := rt.nodes[s.at]; k < rt.end && f.blocks(rt.at(k+1)) && !slices.ContainsFunc(rt.solved, func(b Blocker) bool { return b.Platform == rt.at(k).String() }) {
			b := rt.blocker(k, true)
			b.Reason += fmt.Sprintf("; %s does not", s.end)
			for _, x := range s.steps {
				if x.Operator != nil {
					b.Lift = append(b.Lift, *x.Operator)
				}
			}
			plan.Blockers = append(plan.Blockers, b)
		} else if k == rt.end && k < rt.last() {
			b := rt.blocker(k, true)
			b.Fatal = true
			b.Action = fmt.Sprintf("request a version that supports %s from the author, or remove the operator", rt.at(k+1))
			if !rt.hasCatalog(rt.at(k)) {
				b.Action = fmt.Sprintf("give a catalog for %s; without it, nothing can resolve this", rt.at(k))
			}
			plan.Blockers = append(plan.Blockers, b)
		}
		switch u := rt.nodes[s.at].unserved(rt.at(k), false); {
		case u != nil:
			plan.Blockers = append(plan.Blockers, Blocker{
				Package: rt.Package, Bundle: s.at.Name, Platform: rt.at(k).String(), Kind: BlockerRemovedAPI,
				Reason: fmt.Sprintf("%s %s, and %s: it fails there", s.at, u, kubeText(rt.at(k))),
				Action: "upgrade it to a version that does not need this API, or remove it",
			})
		default:
			waits, err := s.road.waiting(ctx, k, s.then)
			if err != nil {
				return err
			}
			if b := s.road.left(k, s.then); b != nil && !(waits != nil && b.Kind == BlockerNoPath) {
				if err := rt.behind(ctx, b, k); err != nil {
					return err
				}
				plan.Blockers = append(plan.Blockers, *b)
			}
			if waits != nil {
				plan.Blockers = append(plan.Blockers, *waits)
			}
		}
		b, err := s.road.incompatible(ctx, k, s.end)
		if err != nil {
			return err
		}
		if b != nil {
			plan.Blockers = append(plan.Blockers, *b)
		}
	}
	o, err := rt.result(ctx, end)
	if err != nil {
		return err
	}
	plan.Operators = append(plan.Operators, o)
	return nil
}

// behind states in a blocker whether the operator is left behind for good at a level, and what a person can do then.
func (rt *route) behind(ctx context.Context, b *Blocker, k int) error {
	for n, s := range rt.stays[k+1:] {
		b.Temporary = b.Temporary || s.road.levels[k+1+n].u != nil && s.road.left(k+1+n, s.then) == nil
	}
	switch {
	case b.Temporary:
	case b.Kind == BlockerNoPackage:
		b.Action = fmt.Sprintf("give the catalog for %s that has package %s; if there is none, replace the operator, or accept that it gets no updates", b.Platform, rt.Package)
	case b.Kind == BlockerExcluded:
		b.Action = "prepare for one of these upgrades and allow it, or accept that the operator gets no updates"
	default:
		b.Reason += fmt.Sprintf(", and no other channel leads on from %s", rt.stays[k].then)
		what, err := rt.fresh(ctx, k)
		if err != nil {
			return err
		}
		b.Action = "replace the operator, or accept that it gets no updates"
		switch {
		case rt.Versions != "":
			b.Action = fmt.Sprintf("change the version range %q, or accept that the operator gets no updates", rt.Versions)
		case what != "":
			b.Action = fmt.Sprintf("remove the operator and install %s, or accept that it gets no updates", what)
		}
	}
	return nil
}

// fresh returns what to install at a level after the operator was removed: the head of the default
// channel if the level can run it, or else "".
func (rt *route) fresh(ctx context.Context, k int) (string, error) {
	if ch, ok := rt.stays[k].road.levels[k].pkg.DefaultChannel(); ok {
		if h, ok := ch.Head(); ok {
			b, ok := h.Bundle()
			without, failed := rt.without(ctx, k)
			if ok && !without(b) {
				return fmt.Sprintf("%s from channel %s on %s", h.Name(), ch.Name(), rt.at(k)), nil
			}
			if *failed != nil {
				return "", *failed
			}
		}
	}
	return "", nil
}

// result returns the result of the operator if the platform reaches level end.
func (rt *route) result(ctx context.Context, end int) (OperatorPlan, error) {
	last := &rt.stays[end]
	o := OperatorPlan{Package: rt.Package, Versions: rt.Versions, From: rt.stays[0].at, To: last.end}
	l := &last.road.levels[end]
	if o.Channel = last.road.Channel; l.u != nil && o.Channel == "" && rt.Reading == graph.Classic {
		o.Channel = l.pkg.DefaultChannelName()
	}
	if u := l.u; u != nil {
		o.AtHead = slices.Contains(u.Heads(), last.end)
	}
	if err := rt.outlook(ctx, &o, end); err != nil {
		return o, err
	}
	unsafe := false
	for k, s := range rt.stays {
		if !rt.hasCatalog(rt.at(k)) {
			continue
		}
		o.Checked = o.Checked || s.road.levels[k].u != nil // a given catalog has the package
		x, err := s.road.incompatible(ctx, k, s.end)
		if err != nil {
			return o, err
		}
		if s.road.levels[k].u == nil || s.road.left(k, s.then) != nil || x != nil {
			unsafe = true
			continue
		}
		o.SafeOn = append(o.SafeOn, rt.at(k).String())
		if !unsafe {
			o.LastSafe = rt.at(k).String()
		}
	}
	return o, rt.supports(ctx, &o, end)
}

// outlook sets how to get further than the plan, and which upgrades close the way to a newer version.
func (rt *route) outlook(ctx context.Context, o *OperatorPlan, end int) error { // H40
	of := func(k int, n graph.Node, channel string) (*graph.Outlook, error) {
		all, err := rt.stays[k].road.outlooks(ctx, k)
		if err != nil {
			return nil, err
		}
		var channels []string
		if channel != "" {
			channels = []string{channel}
		}
		return all.Of(n, "", channels), nil
	}
	for k, s := range rt.stays[:end+1] {
		if s.road.levels[k].u == nil {
			continue
		}
		x, err := of(k, s.then, s.road.Channel)
		if err != nil {
			return err
		}
		planned := func(u *graph.Step) bool {
			return u != nil && slices.ContainsFunc(s.steps, func(p Step) bool { return p.Operator != nil && p.Operator.From == u.From && p.Operator.To == u.To })
		}
		if planned(x.Closes) {
			o.Closes = append(o.Closes, Closing{rt.at(k).String(), x, rt.along(x.Way)})
		}
		if planned(x.Downgrade) {
			o.Downgrades = append(o.Downgrades, Closing{rt.at(k).String(), x, rt.keep(x)})
		}
	}
	if rt.stays[end].road.levels[end].u == nil {
		return nil
	}
	x, err := of(end, o.To, o.Channel)
	if x.Way != nil || x.Newest != nil {
		o.Outlook = x
	}
	return err
}
