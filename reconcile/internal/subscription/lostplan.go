package subscription

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// An install plan may be deleted before all its steps are done, by a user who follows the
// advice for failed plans or by accident. A resolution would not install the rest, because
// it considers an operator installed when its CSV exists. So its bundles are planned again
// with all their steps. Steps that were done are recognized as done.

// installLost plans the lost bundles if the namespace cannot be resolved. They were decided
// on when their plan was created, so problems of the next resolution do not affect them.
func (p *planner) installLost(ctx context.Context, catalogs []catalog.Health, next []*olm.Subscription) error {
	lost := p.lost(catalogs)
	if len(lost) == 0 {
		return nil
	}
	return p.install(ctx, lost, next)
}

// lost returns the CSVs whose plan was deleted before it was done, in order, as a
// resolution would select them.
func (p *planner) lost(catalogs []catalog.Health) []resolver.Selected {
	names := p.Lost()
	remedy := "no catalog has the bundle any longer; if something is missing, delete the operator and its subscription, and subscribe again"
	if sick := unhealthy(catalogs); len(sick) > 0 {
		remedy = "no healthy catalog has the bundle: " + phrase.Join(sick, "and") + " may have it, once healthy"
	}
	var again []resolver.Selected
	for _, c := range p.Own() {
		if !names[c.Metadata.Name] || c.Metadata.IsDeleted() {
			continue
		}
		if s, ok := p.selectedAgain(c, catalogs); ok {
			again = append(again, s)
			continue
		}
		p.Note(c.Key(), "its install plan is gone, and not all of its steps are known to be done; they cannot be planned again, because %s", remedy)
	}
	return again
}

// unhealthy returns the names of the catalogs that cannot be read now.
func unhealthy(catalogs []catalog.Health) []string {
	var names []string
	for _, h := range catalogs {
		if h.Entry.Graph == nil {
			names = append(names, h.Entry.ID().String())
		}
	}
	return names
}

// selectedAgain returns a CSV as a resolution would have selected it, if a
// catalog still has its bundle: from the catalog and channel of its subscription, or
// else from the first catalog, and there from the default channel before others.
func (p *planner) selectedAgain(c *olm.ClusterServiceVersion, catalogs []catalog.Health) (resolver.Selected, bool) {
	var sub *olm.Subscription
	for _, s := range p.Followers(c.Metadata.Name) {
		if sub == nil && (s.Status.CurrentCSV == c.Metadata.Name || s.Status.InstalledCSV == c.Metadata.Name || s.Status.CurrentCSV == "" && s.Spec.StartingCSV == c.Metadata.Name) {
			sub = s
		}
	}
	pkg := ""
	if list, err := world.Properties(c); err == nil {
		pkg = world.PackageOf(list)
	}
	if sub != nil {
		pkg = sub.Spec.Package
	}
	for _, h := range catalogs {
		m := &h.Source.Metadata
		if h.Entry.Graph == nil || sub != nil && (sub.Spec.Source != m.Name || sub.Spec.SourceNamespace != m.Namespace) {
			continue
		}
		g, ok := h.Entry.Graph.Package(pkg)
		if !ok {
			continue
		}
		b, ok := g.Bundle(c.Metadata.Name)
		if !ok {
			continue
		}
		channel := ""
		if sub != nil && sub.Spec.Channel != "" {
			channel = sub.Spec.Channel
		} else if channel, ok = channelWith(g, b); !ok {
			continue
		}
		return resolver.Selected{
			Name: c.Metadata.Name, Package: pkg, Channel: channel, Catalog: m.Name, CatalogNamespace: m.Namespace,
			Replaces: c.Spec.Replaces, Version: b.Version().String(), Bundle: b,
		}, true
	}
	return resolver.Selected{}, false
}

// channelWith returns the channel of a package that contains a bundle: the default channel,
// or else the first one.
func channelWith(g graph.Package, b graph.Bundle) (string, bool) {
	if ch, ok := g.DefaultChannel(); ok {
		if _, ok := ch.Entry(b.Name()); ok {
			return ch.Name(), true
		}
	}
	for ch := range g.Channels() {
		if _, ok := ch.Entry(b.Name()); ok {
			return ch.Name(), true
		}
	}
	return "", false
}

// again returns the selected and the lost bundles without duplicates.
func again(selected, lost []resolver.Selected) []resolver.Selected {
	out := slices.Clip(selected)
	for _, s := range lost {
		if !slices.ContainsFunc(out, func(o resolver.Selected) bool { return o.Name == s.Name }) {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, resolver.Selected.Compare)
	return out
}
