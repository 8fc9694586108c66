package platform

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/shell"
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
				Package: o.Package, Instance: t.who[o].instance, Bundle: o.Name, Kind: BlockerMaxOpenShift, Platform: t.from.String(), Fatal: true,
				Reason: f.maxText(o.Name, t.from.Next()),
			})
		}
	}
	return out, nil
}

// report adds to plan the blockers and the result of the operator if the platform reaches level end. Beyond it, blockers
// are those that remain if nothing else blocks the platform.
func (rt *route) report(ctx context.Context, end int, plan *Plan) error {
	for k := range rt.end + 1 {
		add := func(b *Blocker) {
			if b != nil && (k <= end || !b.resolved()) {
				plan.Blockers = append(plan.Blockers, *b)
			}
		}
		switched := false
		for i := range rt.solved {
			if b := &rt.solved[i]; b.Platform == rt.at(k).String() {
				add(b)
				switched = switched || b.Kind == BlockerMaxOpenShift
			}
		}
		s, l := &rt.stays[k], &rt.levels[k]
		switch {
		case k < rt.end && l.facts[s.at].blocks(rt.at(k+1)) && !switched:
			b := rt.blocks(k, s.at)
			b.Reason += fmt.Sprintf("; %s does not", s.end)
			for _, x := range s.steps {
				if x.Operator != nil {
					b.Lift = append(b.Lift, *x.Operator)
				}
			}
			add(&b)
		case k == rt.end && k < rt.last():
			b := rt.blocks(k, s.end)
			b.Fatal = true
			if err := rt.removal(ctx, &b, k); err != nil {
				return err
			}
			add(&b)
		}
		if b := rt.lacksAPI(k, s.at); b != nil {
			add(b)
		} else if err := rt.behind(ctx, k, add); err != nil {
			return err
		}
		b, err := rt.incompatible(ctx, k, s.end)
		if err != nil {
			return err
		}
		if b != nil {
			if err := rt.leaves(ctx, b, k); err != nil {
				return err
			}
			add(b)
		}
	}
	o, err := rt.result(ctx, end)
	if err != nil {
		return err
	}
	plan.Operators = append(plan.Operators, o)
	return nil
}

// behind adds what leaves the operator behind at a level, whether that is for good, and what a person can do
// then.
func (rt *route) behind(ctx context.Context, k int, add func(*Blocker)) error {
	s := &rt.stays[k]
	waits, err := rt.waiting(ctx, k, s.channel, s.end)
	if err != nil {
		return err
	}
	if b := rt.left(k, s.channel, s.end); b != nil && !(waits != nil && b.Kind == BlockerNoPath) {
		for n, later := range rt.stays[k+1:] {
			if later.lane != nil && rt.left(k+1+n, later.channel, later.end) == nil {
				b.Temporary, b.Until = true, rt.at(k+1+n).String()
				break
			}
		}
		if !b.Temporary {
			if err := rt.advise(ctx, b, k); err != nil {
				return err
			}
		}
		add(b)
	}
	add(waits)
	return nil
}

// advise sets what a person can do about a blocker that leaves the operator behind for good.
func (rt *route) advise(ctx context.Context, b *Blocker, k int) error {
	switch {
	case b.Kind == BlockerNoPackage:
		b.Action = fmt.Sprintf("give the catalog for %s that has package %s; if there is none, replace the operator, or accept that it gets no updates", b.Platform, rt.Package)
		if others, names := rt.elsewhereIn(rt.at(k)); len(others) > 0 {
			b.Action = fmt.Sprintf("switch it to %s, or accept that it gets no updates", phrase.Or(names))
			if !slices.ContainsFunc(rt.catalogs[rt.at(k)], func(c *Catalog) bool { return c.Name == rt.Catalog }) {
				b.Action = fmt.Sprintf("if %s takes the place of catalog %s on %s, give it that name: %s", phrase.Or(names), rt.Catalog, b.Platform, rt.renamed(others))
			}
		}
	case b.Kind == BlockerExcluded:
		b.Action = "prepare for one of these upgrades and allow it, or accept that the operator gets no updates"
	case b.depends:
		b.Action = "accept that the operator gets no updates, or manage it with classic OLM, which installs dependencies"
	case b.Kind == BlockerRefused:
		rt.allow(b, k)
	default:
		b.Reason += fmt.Sprintf(", and no other channel leads on from %s", rt.stays[k].end)
		b.Action = "replace the operator, or accept that it gets no updates"
		fresh, err := rt.fresh(ctx, k, rt.stays[k].end)
		if err != nil {
			return err
		}
		home, err := rt.home(ctx, k)
		if err != nil {
			return err
		}
		switch {
		case home != "":
			b.there = true
			b.Action = fmt.Sprintf("switch to channel %s, whose head it is, to get its later versions", home)
			if fresh != nil && !older(node(fresh), rt.stays[k].end) {
				b.Action += fmt.Sprintf("; %s from channel %s can only be installed in its place, with a risk for its data", fresh.Name(), fresh.Channel().Name())
			}
			for _, o := range rt.objects() {
				b.commands = append(b.commands, o.Follow(home, nil))
			}
		case rt.Versions != "":
			b.Action = fmt.Sprintf("change the version range %q, or accept that the operator gets no updates", rt.Versions)
		case fresh != nil && !older(node(fresh), rt.stays[k].end):
			b.Action = "accept that it gets no updates"
			rt.replace(b, k, fresh)
		}
	}
	return nil
}

// home returns the channel other than the operator's whose head it is when it leaves a level, or "".
func (rt *route) home(ctx context.Context, k int) (string, error) {
	for _, name := range rt.levels[k].channels {
		a, err := rt.lane(ctx, k, name)
		if err != nil {
			return "", err
		}
		if name != "" && rt.stays[k].channel != "" && a.toHead(rt.stays[k].end) == 0 {
			return name, nil
		}
	}
	return "", nil
}

// allow sets what lets OLM v1 take the upgrades that it refuses, and where it gets then.
func (rt *route) allow(b *Blocker, k int) {
	s, refused, checked := &rt.stays[k], 0, false
	var actions []string
	var unsafe, stored []string // of those that are refused because of CRDs
	end, seen := s.end, map[graph.Node]bool{}
	for !seen[end] {
		seen[end] = true
		x, ok := s.lane.olm.Next(end)
		if !ok || rt.depends[x.To.Name] != "" {
			break
		}
		if i := slices.IndexFunc(rt.Refused, func(j Judgment) bool { return j.of(x) }); i >= 0 {
			if rt.Refused[i].Rejected {
				break
			}
			refused++
			switch j := &rt.Refused[i]; {
			case j.Action == "":
				checked = true
				stored = append(stored, j.Stored...)
				if !j.Harmless {
					unsafe = append(unsafe, x.To.Name)
				}
			case !slices.Contains(actions, j.Action):
				actions = append(actions, j.Action)
				b.commands = append(b.commands, j.Commands...)
			}
		}
		end = x.To
	}
	if refused == 0 {
		b.Action = "replace the operator, or accept that it gets no updates"
		return
	}
	then := fmt.Sprintf("; then OLM v1 upgrades it to %s", end)
	if refused > 1 {
		then += fmt.Sprintf(", by %d upgrades that it refuses otherwise", refused)
	}
	if unsafe != nil {
		actions = append(actions, "back up and prepare its custom resources")
	}
	if checked {
		actions = append(actions, "set crdUpgradeSafety to None")
		for _, o := range rt.objects() {
			b.commands = append(b.commands, o.AllowUnsafeCRDs())
		}
	}
	b.Action = phrase.And(actions) + then
	if unsafe == nil {
		if checked {
			b.Action += "; set crdUpgradeSafety back afterwards"
		}
		return
	}
	b.Action = "accept that the operator gets no updates, or " + b.Action
	if len(stored) > 0 {
		slices.Sort(stored)
		b.Action += fmt.Sprintf(". Before that, rewrite the resources of CRD %s, and remove the versions that it loses from its status.storedVersions: without this, the API server refuses the CRD", phrase.And(slices.Compact(stored)))
	}
	b.risk = fmt.Sprintf("custom resources that the CRDs of %s do not accept may be lost; set crdUpgradeSafety back afterwards", phrase.Or(unsafe))
}

// renamed returns the flag that gives one of some catalogs the name of the one that the operator follows.
func (o *Operator) renamed(list []*Catalog) string {
	path := "PATH"
	if len(list) == 1 {
		path = cmp.Or(list[0].Dir, path)
	}
	return "--catalog " + shell.Quote(list[0].Platform+"="+o.Catalog+":"+path)
}

// leaves completes the blocker of [ground.incompatible]. The plan takes the best way, so no upgrade leads to a
// compatible version at level k. At a later one, the operator may be compatible again.
func (rt *route) leaves(ctx context.Context, b *Blocker, k int) error {
	s := &rt.stays[k]
	b.Reason += fmt.Sprintf("; no upgrade leads from %s to a compatible version", s.at)
	b.Action = "accept that it is not supported there"
	for n := k + 1; n <= rt.end; n++ {
		bad, err := rt.unsupported(ctx, n, rt.stays[n].end)
		if err != nil {
			return err
		}
		if !bad {
			b.Action = fmt.Sprintf("accept that it is not supported before %s", rt.at(n))
			break
		}
	}
	fresh, err := rt.fresh(ctx, k, s.end)
	if fresh != nil {
		rt.replace(b, k, fresh)
	}
	return err
}

// removal sets what a person can do about an operator that blocks the platform at level k whatever OLM does.
func (rt *route) removal(ctx context.Context, b *Blocker, k int) error {
	if !rt.hasCatalog(rt.at(k)) {
		b.Action = fmt.Sprintf("give a catalog for %s; without it, nothing can resolve this", rt.at(k))
		return nil
	}
	end := rt.stays[k].end
	b.Action = fmt.Sprintf("request a version that supports %s from the author, or remove the operator", rt.at(k+1))
	b.risk = fmt.Sprintf("nothing manages the resources of %s from then on; back them up", end.Name)
	if rt.Reading == graph.V1 {
		b.risk = "this deletes its custom resources; back them up"
	}
	for _, o := range rt.objects() {
		b.commands = append(b.commands, o.Remove(end.Name)...)
	}
	for n := k + 1; n <= rt.last(); n++ {
		fresh, err := rt.fresh(ctx, n, end)
		if err != nil {
			return err
		}
		if fresh == nil {
			continue
		}
		x, _ := fresh.Bundle()
		b.Action += fmt.Sprintf("; %s can be installed from channel %s again on %s", fresh.Name(), fresh.Channel().Name(), rt.at(n))
		f, err := rt.trip.facts.of(ctx, x)
		if err == nil && n < rt.last() && f.blocks(rt.at(n+1)) {
			b.Action += fmt.Sprintf(", but it blocks %s", rt.at(n+1))
		}
		return err
	}
	return nil
}

// node returns the node of an entry.
func node(e *graph.Entry) graph.Node {
	b, _ := e.Bundle()
	return b.Node()
}

// replace adds to a blocker at a level that an entry can be put in the place of the operator there.
func (rt *route) replace(b *Blocker, k int, e *graph.Entry) {
	x, _ := e.Bundle()
	head, _ := e.Channel().Head()
	end := rt.stays[k].end
	b.there = true
	b.risk = fmt.Sprintf("no upgrade leads from %s to %s, so it may fail or lose data; back up its resources", end.Name, e.Name())
	b.Action += fmt.Sprintf(", or install %s from channel %s in its place", e.Name(), e.Channel().Name())
	for _, o := range rt.objects() {
		b.commands = append(b.commands, o.Reinstall(end.Name, e.Channel().Name(), x.Name(), x.Version().String(), head == *e)...)
	}
	if rt.Reading == graph.V1 {
		b.installs = e.Name()
		for _, o := range rt.objects() {
			b.restores = append(b.restores, o.Certified(rt.Versions))
		}
	}
}

// fresh returns what to install at a level in the place of a node: the newest entry of the operator's channel or, without
// that, of the default channel that the level can run and supports. It returns nil if there is none.
func (rt *route) fresh(ctx context.Context, k int, end graph.Node) (*graph.Entry, error) {
	_, pkg, ok := rt.source(rt.Operator, rt.at(k))
	if !ok {
		return nil, nil
	}
	without, failed := rt.without(ctx, k)
	var back *graph.Entry // an older one
	for _, name := range []string{rt.Channel, pkg.DefaultChannelName()} {
		ch, ok := pkg.Channel(name)
		if !ok {
			continue
		}
		for e := range ch.Order() {
			b, ok := e.Bundle()
			if !ok || b.Err() != nil || without(b) || b.Name() == end.Name {
				continue
			}
			bad, err := rt.unsupported(ctx, k, b.Node())
			if err != nil {
				return nil, err
			}
			f, err := rt.trip.facts.of(ctx, b)
			switch {
			case err != nil:
				return nil, err
			case f.tooNew(rt.at(k)): // OLM v1 installs it nevertheless
			case !bad && !older(b.Node(), end):
				return &e, nil
			case !bad && back == nil:
				back = &e
			}
		}
	}
	return back, *failed
}

// result returns the result of the operator if the platform reaches level end.
func (rt *route) result(ctx context.Context, end int) (OperatorPlan, error) {
	last, l := &rt.stays[end], &rt.levels[end]
	o := OperatorPlan{Package: rt.Package, Instance: rt.instance(), Versions: rt.Versions, From: rt.start, To: last.end, Channel: rt.named(end, last.channel)}
	if l.ok {
		o.AtHead = slices.Contains(last.lane.u.Heads(), last.end)
		all, err := rt.outlooks(ctx, end)
		if err != nil {
			return o, err
		}
		if x := all.Of(o.To, "", rt.follows(l, last.channel)); x.Way != nil || x.Newest != nil {
			o.Outlook = x
		}
	}
	unsafe := false
	for k, s := range rt.stays {
		if !rt.hasCatalog(rt.at(k)) {
			continue
		}
		o.Checked = o.Checked || rt.levels[k].ok // a given catalog has the package
		if k > end {                             // another operator blocks the platform, so this one stays as it is
			if s.at, s.end = last.end, last.end; rt.levels[k].ok {
				var err error
				if s.lane, err = rt.lane(ctx, k, last.channel); err != nil {
					return o, err
				}
			}
		}
		bad, err := rt.unsupported(ctx, k, s.end)
		if err != nil {
			return o, err
		}
		if s.lane.toHead(s.end) < 0 || bad || rt.lacksAPI(k, s.at) != nil {
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
