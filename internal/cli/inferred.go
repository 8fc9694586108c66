package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/reconcile/olm"
	"github.com/olmkit/olmkit/resolver"
)

// openShiftGlobalNamespace is the global namespace of OpenShift.
const openShiftGlobalNamespace = "openshift-marketplace"

// inferGlobal returns the global namespace of a cluster, with a note on how it is
// known when it is not the default. A well-known namespace comes first, as one
// subscription that names the wrong namespace must not make that one global. What
// subscriptions use, or where the only CatalogSources are, counts only without one.
func inferGlobal(c *memcluster.Cluster) (string, []reconcile.Note) {
	named, sources, exists := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, o := range c.List() {
		ns := o.Metadata.Namespace
		switch o.Kind {
		case "Namespace":
			exists[o.Metadata.Name] = true
		case olm.KindCatalogSource:
			sources[ns] = true
		case olm.KindSubscription:
			if s, err := olm.As[olm.Subscription](o); err == nil && s.Spec.SourceNamespace != "" && s.Spec.SourceNamespace != ns {
				named[s.Spec.SourceNamespace] = true
			}
		}
	}
	infer := func(ns, why string) (string, []reconcile.Note) {
		return ns, []reconcile.Note{{
			Object:  olm.Key{Kind: "Namespace", Name: ns},
			Message: fmt.Sprintf("assumed to be the global namespace (%s); name another one with --global-namespace", why),
		}}
	}
	for _, known := range []map[string]bool{sources, exists, named} {
		switch {
		case known[resolver.DefaultGlobalNamespace]:
			return resolver.DefaultGlobalNamespace, nil
		case known[openShiftGlobalNamespace]:
			return infer(openShiftGlobalNamespace, "OpenShift's default")
		}
	}
	used := maps.Clone(sources)
	maps.DeleteFunc(used, func(ns string, _ bool) bool { return !named[ns] })
	unknown := fmt.Sprintf("neither %s nor %s is in the files, and ", resolver.DefaultGlobalNamespace, openShiftGlobalNamespace)
	switch {
	case len(used) == 1:
		return infer(only(used), unknown+"subscriptions of other namespaces use its CatalogSources")
	case len(sources) == 1 && !hasSubscriptions(c, only(sources)):
		return infer(only(sources), unknown+"it has the only CatalogSources")
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
// CatalogSource of its name, or else into the global one, and notes the former. It
// also notes the CatalogSources of the same name that get no content.
func inferNamespaces(list []source, c *memcluster.Cluster, global, namespace string) (notes []reconcile.Note) {
	where := map[string][]string{}
	for _, o := range c.List() {
		if o.Kind == olm.KindCatalogSource {
			where[o.Metadata.Name] = append(where[o.Metadata.Name], o.Metadata.Namespace)
		}
	}
	note := func(ns, name, format string, args ...any) {
		notes = append(notes, reconcile.Note{
			Object:  olm.Key{Group: olm.Group, Kind: olm.KindCatalogSource, Namespace: ns, Name: name},
			Message: fmt.Sprintf(format, args...),
		})
	}
	given := map[[2]string]bool{}
	for i := range list {
		s := &list[i]
		if !s.hasNamespace {
			s.namespace = global
			if found := where[s.name]; len(found) == 1 && found[0] != global {
				s.namespace = found[0]
				note(s.namespace, s.name, "has the content of %s, as the only CatalogSource of that name; name another namespace with the option namespace=NS of --catalog", display(s.path))
			}
		}
		given[[2]string{s.namespace, s.name}] = true
	}
	noted := map[[2]string]bool{}
	for _, s := range list {
		for _, ns := range where[s.name] {
			at := [2]string{ns, s.name}
			if given[at] || noted[at] || ns != global && ns != namespace {
				continue
			}
			noted[at] = true
			note(ns, s.name, "no content was given for catalog %s/%s; --catalog %s=PATH,namespace=%s gives it", s.name, ns, s.name, ns)
		}
		if found := where[s.name]; s.hasNamespace && len(found) > 0 && !slices.Contains(found, s.namespace) {
			note(s.namespace, s.name, "is not in the files: the option namespace=%s of --catalog adds it, while the files have one of that name in namespace %s", s.namespace, strings.Join(slices.Sorted(slices.Values(found)), " and "))
		}
	}
	return notes
}
