package resolver

import (
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// outlook returns how far OLM upgrades a bundle of a subscription without intervention.
func (u *universe) outlook(s *subscription, from graph.Node) *graph.Outlook {
	o, catalog, channels := u.outlooks(s, nil)
	return o.Of(from, catalog, channels)
}

// outlooks returns the outlooks of the package of a subscription, and the catalog and the channels that
// the subscription follows, without some bundles.
func (u *universe) outlooks(s *subscription, without func(graph.Bundle) bool) (_ *graph.Outlooks, catalog string, channels []string) {
	if s.Channel != "" {
		channels = []string{s.Channel}
	}
	in, others := u.sourcesFor(s)
	if len(in) == 1 && s.Source() != (CatalogID{}) {
		catalog = u.catalogName(in[0])
	}
	var sources []graph.Source
	for _, c := range slices.Concat(in, others) {
		if p, ok := c.Graph.Package(s.Package); ok {
			sources = append(sources, graph.Source{Catalog: u.catalogName(c), Package: p})
		}
	}
	return graph.NewOutlooks(graph.Classic, sources, without), catalog, channels
}

// node returns the operator that a subscription owns or, if it owns none, the bundle that it gets.
func (u *universe) node(s *subscription, bundle Ref) graph.Node {
	if s.current != nil {
		return graph.Node{Name: s.current.Name, Version: s.current.version.String()}
	}
	return graph.Node{Name: bundle.Name, Version: u.Version(bundle).String()}
}
