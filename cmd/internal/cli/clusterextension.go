package cli

import (
	"context"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// labelCatalogName is the label that OLM adds to each ClusterCatalog; its value is the
// catalog's name.
const labelCatalogName = "olm.operatorframework.io/metadata.name"

// extension completes a request with the ClusterExtension of its package, and returns the catalogs
// that OLM v1 reads: those in given that are not unavailable on purpose, with the labels of the
// ClusterCatalogs that they replace and, unless the command line sets it, the priority, and the
// ClusterCatalogs that the command line does not give.
func (s *clusterState) extension(ctx context.Context, l *loader, r *olmv1.Request, given []source) ([]source, error) {
	c, err := s.read(ctx, l)
	if err != nil {
		return nil, err
	}
	s.inferred = slices.DeleteFunc(s.inferred, func(n reconcile.Note) bool { return n.Object.Kind == "Namespace" }) // the namespaces matter only for classic OLM
	if err := s.readable(groupV1); err != nil {
		return nil, err
	}
	found := false
	for _, o := range c.List() {
		k := o.Key()
		if k.Group != groupV1 || k.Kind != kindExtension {
			continue
		}
		x, err := asExtension(o)
		if err != nil {
			return nil, err
		}
		own := x.request()
		if own.Package != r.Package {
			continue
		}
		if found {
			return nil, usagef("several ClusterExtensions install package %s; use --problem for one of them", r.Package)
		}
		found = true
		changed := s.cmd.Flags().Changed
		if !changed("version") {
			r.Version = own.Version
		}
		if !changed("channel") {
			r.Channels = own.Channels
		}
		if !changed("selector") {
			r.Selector = own.Selector
		}
		if !changed("policy") {
			r.Policy = own.Policy
		}
		r.ID, r.Installed = own.ID, own.Installed
	}
	served, err := s.servedV1(c, given)
	if err != nil {
		return nil, err
	}
	list := append(s.withoutSwitchedOff(given), served...)
	return list, s.label(list)
}

// hasClusterCatalog reports whether the cluster has a ClusterCatalog of a name.
func (s *clusterState) hasClusterCatalog(name string) bool {
	_, err := s.cluster.Get(olm.Key{Group: groupV1, Kind: kindClusterCatalog, Name: name})
	return err == nil
}

// label adds to catalogs the labels of the ClusterCatalogs of their names and, unless the
// command line sets it, the priority.
func (s *clusterState) label(lists ...[]source) error {
	for _, list := range lists {
		for i := range list {
			src := &list[i]
			o, err := s.cluster.Get(olm.Key{Group: groupV1, Kind: kindClusterCatalog, Name: src.name})
			if err != nil {
				continue // not in the cluster
			}
			labels := maps.Clone(o.Metadata.Labels)
			if labels == nil {
				labels = map[string]string{}
			}
			labels[labelCatalogName] = src.name
			maps.Copy(labels, src.labels)
			src.labels = labels
			var spec struct{ Priority int }
			if err := into(o, "spec", &spec); err != nil {
				return err
			}
			if !src.hasPriority {
				src.priority = spec.Priority
			}
		}
	}
	return nil
}
