package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver/platform"
)

// platform adds to a problem the version of a cluster, its operators, and the catalogs of that
// version, except for those that the command line gives.
func (s *clusterState) platform(ctx context.Context, l *loader, p *platform.Problem, given []string) error {
	r, err := s.readOperators(ctx, l)
	if err != nil {
		return err
	}
	if p.From == "" {
		p.From = r.census.version
	}
	if p.From == "" {
		return usagef("the version of the platform is unknown, because the cluster has no ClusterVersion; give it with --from")
	}
	version, err := property.ParseMinorVersion(p.From)
	if err != nil {
		return usagef("--from %q: %v", p.From, err)
	}
	names := map[string]bool{}
	versions := map[string]map[string]bool{} // the names of the catalogs for each version
	own := true
	for _, arg := range given {
		c, _, err := platformCatalog(arg)
		if err != nil {
			return err
		}
		names[c.Name] = true
		if versions[c.Platform] == nil {
			versions[c.Platform] = map[string]bool{}
		}
		versions[c.Platform][c.Name] = true
		if v, err := property.ParseMinorVersion(c.Platform); err == nil && v == version {
			own = false
		}
	}
	for _, o := range r.operators {
		if o.Installed == "" || o.Moves == movesUnmanaged {
			continue // nothing upgrades it
		}
		op := platform.Operator{
			Name: o.Installed, Version: o.Version, Package: o.Package, Channel: o.Channel,
			Objects: []platform.Object{{Namespace: o.Object.Namespace, Name: o.Object.Name}},
		}
		if o.isV1() {
			op.Reading, op.Versions = graph.V1, o.versions
			if len(o.channels) != 1 {
				op.Channel = "" // no channel means all
			}
		}
		if x, err := s.cluster.Get(o.Object); err == nil && !o.isV1() {
			op.Manual = text(x, "spec", "installPlanApproval") == string(olm.Manual)
		}
		if names[o.Catalog] {
			op.Catalog = o.Catalog
		}
		isSame := func(x platform.Operator) bool {
			return x.Name == op.Name && x.Channel == op.Channel && x.Catalog == op.Catalog && x.Versions == op.Versions && x.Reading == op.Reading && x.Manual == op.Manual
		}
		if i := slices.IndexFunc(p.Installed, isSame); i >= 0 { // in several namespaces; count it once
			p.Installed[i].Objects = append(p.Installed[i].Objects, op.Objects...)
			continue
		}
		if c := r.census.csvs[csvKey(o.Object.Namespace, o.Installed)]; c != nil {
			op.Annotations = maps.Clone(c.Metadata.Annotations)
			maps.DeleteFunc(op.Annotations, func(key, _ string) bool {
				return key != property.Annotation && key != property.ProjectedAnnotation
			})
		}
		p.Installed = append(p.Installed, op)
	}
	r.noteMissing(versions)
	if own {
		err = r.platformCatalogs(ctx, p, version.String())
	}
	r.notes()
	return err
}

// noteMissing notes the catalogs of operators that the command line does not give for a version
// although it gives others of the cluster: the operators are looked up in those.
func (r *clusterReader) noteMissing(versions map[string]map[string]bool) {
	users := map[olm.Key][]string{} // packages by catalog
	for _, o := range r.operators {
		if !o.isV1() {
			k := (&source{name: o.Catalog, namespace: o.catalogNamespace}).object()
			users[k] = append(users[k], o.Package)
		}
	}
	catalogs := slices.SortedFunc(maps.Keys(users), olm.Key.Compare)
	for _, v := range slices.Sorted(maps.Keys(versions)) {
		isGiven := func(k olm.Key) bool { return versions[v][k.Name] }
		if !slices.ContainsFunc(catalogs, isGiven) {
			continue
		}
		for _, k := range catalogs {
			if isGiven(k) {
				continue
			}
			r.inferred = append(r.inferred, reconcile.Note{
				Object:  k,
				Message: fmt.Sprintf("no catalog of this name was given for %s, so its operators (%s) are looked up in the others; give it with --catalog %[1]s=%[3]s:PATH", v, phrase.And(users[k]), k.Name),
			})
		}
	}
}

// platformCatalogs adds the catalogs of the cluster that its operators come from.
func (r *clusterReader) platformCatalogs(ctx context.Context, p *platform.Problem, version string) error {
	classic, err := r.catalogs(nil, false)
	if err != nil {
		return err
	}
	classic = slices.DeleteFunc(classic, func(src source) bool {
		return !slices.ContainsFunc(r.operators, func(o operatorStatus) bool {
			return !o.isV1() && o.Catalog == src.name && o.catalogNamespace == src.namespace
		})
	})
	list := classic
	if slices.ContainsFunc(r.operators, func(o operatorStatus) bool { return o.isV1() && o.Installed != "" }) {
		served, err := r.catalogs(nil, true)
		if err != nil {
			return err
		}
		list = append(list, served...)
	}
	r.loader.whole = true // minKubeVersion is not in the index
	taken := map[string]bool{}
	for _, src := range list {
		g, err := r.content(ctx, r.loader, src)
		if err != nil {
			return err
		}
		if g == nil {
			continue
		}
		name := src.name
		if taken[name] {
			name = strings.TrimPrefix(src.namespace+"/"+name, "/")
		}
		taken[name] = true
		p.Catalogs = append(p.Catalogs, platform.Catalog{Platform: version, Name: name, Graph: g})
	}
	return nil
}

// extensions returns the ClusterExtensions with some names that the cluster has.
func (s *clusterState) extensions(named ...platform.Object) (list []*api.ClusterExtension, err error) {
	if s.cluster == nil {
		return nil, nil
	}
	for _, x := range named {
		o, err := s.cluster.Get(olm.Key{Group: groupV1, Kind: kindExtension, Name: x.Name})
		if err != nil {
			continue // it is a Subscription, or not known
		}
		e := &api.ClusterExtension{}
		if err := asTyped(o, e); err != nil {
			return nil, err
		}
		list = append(list, e)
	}
	return list, nil
}
