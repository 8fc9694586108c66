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

// extension completes a request with the ClusterExtension of its package, and returns the
// ClusterCatalogs that the command line does not give. Catalogs in given get the labels of the
// ClusterCatalogs that they replace and, unless the command line sets it, the priority.
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
		var spec struct {
			Source struct {
				Catalog struct {
					PackageName, Version    string
					Channels                []string
					Selector                *olmv1.LabelSelector
					UpgradeConstraintPolicy olmv1.UpgradePolicy
				}
			}
		}
		if err := into(o, "spec", &spec); err != nil {
			return nil, err
		}
		from := &spec.Source.Catalog
		if from.PackageName != r.Package {
			continue
		}
		if found {
			return nil, usagef("several ClusterExtensions are about package %s; use --problem for one of them", r.Package)
		}
		found = true
		changed := s.cmd.Flags().Changed
		if !changed("version") {
			r.Version = from.Version
		}
		if !changed("channel") {
			r.Channels = from.Channels
		}
		if !changed("selector") {
			r.Selector = from.Selector
		}
		if !changed("policy") {
			r.Policy = from.UpgradeConstraintPolicy
		}
		if name := text(o, "status", "install", "bundle", "name"); name != "" {
			r.Installed = &olmv1.Installed{Name: name, Version: text(o, "status", "install", "bundle", "version")}
		}
	}
	served, err := s.servedV1(c, given)
	if err != nil {
		return nil, err
	}
	for _, list := range [][]source{given, served} {
		for i := range list {
			src := &list[i]
			o, err := c.Get(olm.Key{Group: groupV1, Kind: kindClusterCatalog, Name: src.name})
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
				return nil, err
			}
			if !src.hasPriority {
				src.priority = spec.Priority
			}
		}
	}
	return served, nil
}
