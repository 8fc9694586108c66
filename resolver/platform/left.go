package platform

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
)

// left returns the blocker that leaves the operator behind at level k: node at has no path
// to the head there. It returns nil if there is a path, or no catalog for the level.
func (g *ground) left(k int, channel string, at graph.Node) *Blocker {
	l := &g.levels[k]
	v := g.at(k)
	b := &Blocker{Package: g.Package, Instance: g.instance(), Bundle: at.Name, Platform: v.String(), Kind: BlockerNoPath}
	if !g.hasCatalog(v) {
		return nil
	}
	if !l.ok {
		b.Kind = BlockerNoPackage
		b.Reason = fmt.Sprintf("no given catalog for %s has package %s, so %s gets no updates there", v, g.Package, at)
		if _, names := g.elsewhereIn(v); len(names) > 0 {
			b.Reason = fmt.Sprintf("the operator follows catalog %s; for %s, package %s is only in %s, so %s gets no updates there", g.Catalog, v, g.Package, phrase.And(names), at)
		}
		return b
	}
	for _, name := range g.follows(l, channel) {
		if ch, ok := l.pkg.Channel(name); !ok {
			var names []string
			for c := range l.pkg.Channels() {
				names = append(names, c.Name())
			}
			b.Kind = BlockerNoChannel
			b.Reason = fmt.Sprintf("the catalog for %s has no channel %q of package %s, only %s", v, name, g.Package, strings.Join(names, ", "))
			if !slices.ContainsFunc(g.levels, func(l level) bool { return slices.Contains(l.channels, name) }) {
				b.Reason = fmt.Sprintf("no given catalog has a channel %q of package %s; that for %s has %s", name, g.Package, v, strings.Join(names, ", "))
			}
			return b
		} else if err := ch.Err(); err != nil && g.Reading == graph.Classic {
			b.Reason = fmt.Sprintf("the catalog for %s cannot be used: %v", v, err)
			return b
		}
	}
	a := l.lanes[channel]
	if a.toHead(at) >= 0 {
		return nil
	}
	if s, ok := a.olm.Next(at); ok && g.refused[[2]string{at.Name, s.To.Name}] {
		b.Kind = BlockerRefused
		if typ := g.depends[s.To.Name]; typ != "" {
			b.depends = true
			b.Reason = fmt.Sprintf("%s declares dependencies (%s), so OLM v1 refuses the upgrade to it", s.To, typ)
			return b
		}
		i := slices.IndexFunc(g.Refused, func(x Judgment) bool { return x.From == at.Name && x.To == s.To.Name })
		does := "refuses"
		if g.Refused[i].Rejected {
			does = "cannot complete"
		}
		b.Reason = "OLM v1 " + does + " the upgrade " + exclusionText(&g.Refused[i].Exclusion)
		return b
	}
	if list := a.u.Blocking(at, graph.Node{}); len(list) > 0 {
		var texts []string
		for i := range list {
			texts = append(texts, exclusionText(&list[i]))
		}
		b.Kind = BlockerExcluded
		b.Reason = fmt.Sprintf("each upgrade path from %s in the catalog for %s takes an excluded upgrade: %s", at, v, phrase.Or(texts))
		return b
	}
	var heads []string
	for _, h := range a.u.Heads() {
		heads = append(heads, h.String())
	}
	b.Reason = fmt.Sprintf("the catalog for %s has no upgrade path from %s", v, at)
	switch {
	case len(heads) == 0 && g.Versions != "":
		b.Reason += fmt.Sprintf(", and no bundle in the version range %q can be installed on %s", g.Versions, v)
	case len(heads) == 0:
		b.Reason += fmt.Sprintf(", and no bundle of its channels can be installed on %s", v)
	case len(heads) == 1:
		b.Reason += " to the head " + heads[0]
		if older(a.u.Heads()[0], at) {
			b.Reason += ", which is older"
		}
	default:
		b.Reason += " to any of the heads " + strings.Join(heads, ", ")
	}
	return b
}

// waiting returns the blocker for the first bundle on the way to a head that the operator would reach at level k
// if not for the minKubeVersion of that bundle or an API that it uses, or nil.
func (g *ground) waiting(ctx context.Context, k int, channel string, at graph.Node) (*Blocker, error) {
	l := &g.levels[k]
	if !l.ok {
		return nil, nil
	}
	o := &graph.UpgradeOptions{Channels: g.follows(l, channel), Installed: []graph.Node{at}, Without: g.outside}
	free := l.pkg.Upgrades(g.Reading, o)
	for _, h := range free.Heads() {
		path, ok := free.Path(at, h)
		if ok && len(path) == 0 {
			path = []graph.Step{{From: at, To: h}}
		}
		f, n, err := g.firstUnfit(ctx, k, free, path)
		if err != nil {
			return nil, err
		}
		if f == nil {
			continue
		}
		out := &Blocker{Package: g.Package, Instance: g.instance(), Platform: g.at(k).String(), Kind: BlockerMinKube, Bundle: n.Name}
		switch u := f.unserved(g.at(k), true); {
		case f.minErr != nil && g.Reading == graph.Classic:
			out.Reason = fmt.Sprintf("%s has an invalid minKubeVersion: %v", n, f.minErr)
		case f.tooNew(g.at(k)) && g.Reading == graph.Classic || u == nil:
			out.Reason = fmt.Sprintf("%s requires Kubernetes %s, but %s", n, f.min, kubeText(g.at(k)))
		default:
			out.Kind = BlockerRemovedAPI
			out.Reason = fmt.Sprintf("%s %s; %s", n, u, kubeText(g.at(k)))
			out.Action = "request a version without it from the author"
			if u.Instead != "" {
				out.Action = fmt.Sprintf("request a version that uses %s from the author", u.Instead)
			}
			out.there = true
		}
		return out, nil
	}
	return nil, nil
}

// firstUnfit returns the first bundle on a path that cannot be installed at a level, with its facts, or nil.
func (g *ground) firstUnfit(ctx context.Context, k int, u *graph.Upgrades, path []graph.Step) (*facts, graph.Node, error) {
	for _, s := range path {
		b, ok := u.Bundle(s.To)
		if !ok {
			continue
		}
		f, err := g.trip.facts.of(ctx, b)
		if err != nil || f.unfit(g.Reading, g.at(k)) {
			return f, s.To, err
		}
	}
	return nil, graph.Node{}, nil
}

// named returns the name of the channel that an operator follows at a level.
func (g *ground) named(k int, channel string) string {
	if l := &g.levels[k]; channel == "" && l.ok && g.Reading == graph.Classic {
		return l.pkg.DefaultChannelName()
	}
	return channel
}

// blocks returns the blocker for a node with which the platform cannot leave a level.
func (g *ground) blocks(k int, n graph.Node) Blocker {
	return Blocker{
		Package: g.Package, Instance: g.instance(), Bundle: n.Name, Platform: g.at(k).String(), Kind: BlockerMaxOpenShift,
		Reason: g.levels[k].facts[n].maxText(n.String(), g.at(k+1)),
	}
}

// fails returns the blocker for a node that a level, or the next one, does not support.
func (g *ground) fails(ctx context.Context, k int, n graph.Node) (*Blocker, error) {
	if b, err := g.incompatible(ctx, k, n); b != nil || err != nil {
		return b, err
	}
	return g.lacksAPI(k+1, n), nil
}

// lacksAPI returns the blocker for a node that needs an API that the platform of a level does not serve, or nil.
func (g *ground) lacksAPI(k int, n graph.Node) *Blocker {
	u := g.factsAt(k, n).unserved(g.at(k), false)
	if u == nil {
		return nil
	}
	return &Blocker{
		Package: g.Package, Instance: g.instance(), Bundle: n.Name, Platform: g.at(k).String(), Kind: BlockerRemovedAPI,
		Reason: fmt.Sprintf("%s %s, and %s: it fails there", n, u, kubeText(g.at(k))),
		Action: "upgrade it to a version that does not need this API, or remove it",
	}
}

func exclusionText(x *graph.Exclusion) string {
	text := x.From + " -> " + x.To
	if x.Reason != "" {
		text += " (" + x.Reason + ")"
	}
	return text
}
