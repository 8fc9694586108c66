package cli

import (
	"fmt"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
)

// openShiftGlobalNamespace is the global namespace of OpenShift.
const openShiftGlobalNamespace = "openshift-marketplace"

// inferGlobal returns the global namespace of a cluster, with a note on how it is
// known when it is not the default: subscriptions of other namespaces use its
// CatalogSources, it is that of OpenShift, or only it has CatalogSources.
func inferGlobal(c *memcluster.Cluster) (string, []reconcile.Note) {
	named, sources, all := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, o := range c.List() {
		ns := o.Metadata.Namespace
		all[ns] = true
		switch o.Kind {
		case "Namespace":
			all[o.Metadata.Name] = true
		case olm.KindCatalogSource:
			sources[ns] = true
		case olm.KindSubscription:
			if s, err := olm.As[olm.Subscription](o); err == nil && s.Spec.SourceNamespace != "" && s.Spec.SourceNamespace != ns {
				named[s.Spec.SourceNamespace] = true
			}
		}
	}
	infer := func(ns, why string) (string, []reconcile.Note) {
		if ns == resolver.DefaultGlobalNamespace {
			return ns, nil
		}
		return ns, []reconcile.Note{{
			Object:  olm.Key{Kind: "Namespace", Name: ns},
			Message: fmt.Sprintf("is taken for the global namespace, as %s; name another one with --global-namespace", why),
		}}
	}
	used := maps.Clone(sources)
	maps.DeleteFunc(used, func(ns string, _ bool) bool { return !named[ns] })
	switch {
	case len(used) == 1:
		return infer(only(used), "subscriptions of other namespaces use its CatalogSources")
	case named[resolver.DefaultGlobalNamespace] || sources[resolver.DefaultGlobalNamespace]:
	case all[openShiftGlobalNamespace] || named[openShiftGlobalNamespace]:
		return infer(openShiftGlobalNamespace, "it is that of OpenShift")
	case len(sources) == 1 && !hasSubscriptions(c, only(sources)):
		return infer(only(sources), "it has the only CatalogSources")
	}
	return resolver.DefaultGlobalNamespace, nil
}

// only returns the key of a map that has one.
func only(m map[string]bool) string {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		return k
	}
	return ""
}

// hasSubscriptions reports whether a namespace has any: then its catalogs may be its
// own.
func hasSubscriptions(c *memcluster.Cluster, ns string) bool {
	return slices.ContainsFunc(c.List(), func(o olm.Object) bool {
		return o.Kind == olm.KindSubscription && o.Metadata.Namespace == ns
	})
}

// inferNamespaces puts each catalog that names no namespace into that of the only
// CatalogSource of its name, or else into the global one, and notes the former.
func inferNamespaces(list []source, c *memcluster.Cluster, global string) (notes []reconcile.Note) {
	where := map[string][]string{}
	for _, o := range c.List() {
		if o.Kind == olm.KindCatalogSource {
			where[o.Metadata.Name] = append(where[o.Metadata.Name], o.Metadata.Namespace)
		}
	}
	for i := range list {
		s := &list[i]
		if s.hasNamespace {
			continue
		}
		s.namespace = global
		if found := where[s.name]; len(found) == 1 && found[0] != global {
			s.namespace = found[0]
			notes = append(notes, reconcile.Note{
				Object:  olm.Key{Group: olm.Group, Kind: olm.KindCatalogSource, Namespace: s.namespace, Name: s.name},
				Message: fmt.Sprintf("has the content of %s, as the only CatalogSource of that name; name another namespace with the option namespace=NS of --catalog", display(s.path)),
			})
		}
	}
	return notes
}
