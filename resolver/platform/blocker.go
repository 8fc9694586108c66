package platform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/property"
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

// maxText returns why a bundle blocks the platform.
func (f *facts) maxText(name string, next property.MinorVersion) string {
	if f.maxErr != nil {
		return fmt.Sprintf("%s blocks %s: its maximum version cannot be read: %v", name, next, f.maxErr)
	}
	return fmt.Sprintf("%s blocks %s: its olm.maxOpenShiftVersion is %s", name, next, f.max)
}

// report adds to plan the blockers of the operator at level k, where it arrives with node at
// and takes the given steps.
func (r *road) report(ctx context.Context, plan *Plan, k int, at graph.Node, steps []graph.Step) error {
	l := &r.levels[k]
	add := func(b Blocker) {
		b.Package, b.Platform = r.Package, r.at(k).String()
		if b.Bundle == "" {
			b.Bundle = at.Name
		}
		plan.Blockers = append(plan.Blockers, b)
	}
	then := at
	if len(steps) > 0 {
		then = steps[len(steps)-1].To
	}
	stuck := k == r.end && r.at(k) != r.to
	if last := r.at(k) == r.to; !last && l.facts[at].blocks(r.at(k+1)) || stuck {
		b := Blocker{Kind: BlockerMaxOpenShift, Fatal: stuck, Lift: steps}
		if stuck {
			b.Bundle, b.Lift = then.Name, nil
			b.Reason = l.facts[then].maxText(then.String(), r.at(k+1))
			way, err := r.elsewhere(ctx, k, then)
			if err != nil {
				return err
			}
			if way != nil {
				for _, l := range way.Legs {
					b.Lift, b.Channel = append(b.Lift, l.Steps...), l.Channel
				}
				b.Reason += fmt.Sprintf("; %s does not: %s", way.End(), prose.Way(way, r.Reading, l.catalog, r.Channel))
			} else if !r.hasCatalog(r.at(k)) {
				b.Reason += fmt.Sprintf("; without a catalog for %s, nothing can resolve that", r.at(k))
			} else {
				b.Reason += "; no upgrade in the catalog resolves that; request one from the author, or remove the operator first"
			}
		} else {
			b.Reason = fmt.Sprintf("%s; %s does not", l.facts[at].maxText(at.String(), r.at(k+1)), then)
		}
		add(b)
	}
	if b := r.left(k, at); b != nil {
		if l.u != nil {
			sw, err := r.inTime(ctx, k)
			if err != nil {
				return err
			}
			if sw != nil {
				b.Switch = sw
				b.Reason += "; " + r.advice(sw, k)
			}
		}
		add(*b)
	}
	b, err := r.waiting(ctx, k, at)
	if b != nil && err == nil {
		add(*b)
	}
	return err
}

// left returns the blocker that leaves the operator behind at level k: node at has no path
// to the head there. It returns nil if there is a path, or no catalog for the level.
func (r *road) left(k int, at graph.Node) *Blocker {
	l := &r.levels[k]
	v := r.at(k)
	switch {
	case !r.hasCatalog(v):
		return nil
	case l.u == nil:
		return &Blocker{Kind: BlockerNoPackage, Reason: fmt.Sprintf("the catalog for %s has no package %s: %s gets no updates there", v, r.Package, at)}
	}
	for _, name := range r.options(l.pkg).Channels {
		if ch, ok := l.pkg.Channel(name); !ok {
			var names []string
			for c := range l.pkg.Channels() {
				names = append(names, c.Name())
			}
			return &Blocker{Kind: BlockerNoChannel, Reason: fmt.Sprintf("the catalog for %s has no channel %q of package %s, only %s: %s gets no updates there until its channel is changed",
				v, name, r.Package, strings.Join(names, ", "), at)}
		} else if err := ch.Err(); err != nil && r.Reading == graph.Classic {
			return &Blocker{Kind: BlockerNoPath, Reason: fmt.Sprintf("the catalog for %s cannot be used: %v", v, err)}
		}
	}
	if _, ok := l.u.PathToHead(at); ok {
		return nil
	}
	var heads []string
	for _, h := range l.u.Heads() {
		heads = append(heads, h.String())
	}
	text := fmt.Sprintf("the catalog for %s has no upgrade path from %s", v, at)
	switch len(heads) {
	case 0:
		text += ", and no bundle to upgrade to"
	case 1:
		text += " to the head " + heads[0]
	default:
		text += " to any of the heads " + strings.Join(heads, ", ")
	}
	return &Blocker{Kind: BlockerNoPath, Reason: text}
}

// waiting returns the blocker for a head that the operator would reach at level k if not for
// the minKubeVersion of the head, or nil.
func (r *road) waiting(ctx context.Context, k int, at graph.Node) (*Blocker, error) {
	l := &r.levels[k]
	if l.u == nil {
		return nil, nil
	}
	o := r.options(l.pkg)
	o.Installed = []graph.Node{at}
	free := l.pkg.Upgrades(r.Reading, o)
	for _, h := range free.Heads() {
		b, ok := free.Bundle(h)
		if !ok || slices.Contains(l.u.Heads(), h) {
			continue
		}
		if _, ok := free.Path(at, h); !ok {
			continue
		}
		f, err := r.trip.facts.of(ctx, b)
		if err != nil {
			return nil, err
		}
		reason := fmt.Sprintf("%s requires Kubernetes %s, but %s", h, f.min, kubeText(r.at(k)))
		if f.minErr != nil {
			reason = fmt.Sprintf("%s has an invalid minKubeVersion: %v", h, f.minErr)
		}
		return &Blocker{Kind: BlockerMinKube, Bundle: h.Name, Reason: reason}, nil
	}
	return nil, nil
}
