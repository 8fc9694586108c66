package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// openShiftGlobalNamespace is the global namespace of OpenShift.
const openShiftGlobalNamespace = "openshift-marketplace"

// inferGlobal returns the global namespace of a cluster, and a note with the reason. It returns no note if OLM's own
// deployment names the namespace, or if it is the default and nothing contradicts that. On OpenShift, which has a
// ClusterVersion, it is OpenShift's global namespace. Otherwise the well-known namespaces, OLM's default and
// OpenShift's, take precedence: a subscription that names the wrong namespace must not make that one global. If both
// have CatalogSources, subscriptions decide. If neither exists, it is the namespace whose
// CatalogSources subscriptions use, or the only one with CatalogSources. If partial is true,
// CatalogSources may be missing, so a namespace that subscriptions name may have some.
func inferGlobal(c *memcluster.Cluster, partial bool) (string, []reconcile.Note) {
	const standard, openShift = resolver.DefaultGlobalNamespace, openShiftGlobalNamespace
	if ns := runningGlobal(c); ns != "" {
		return ns, nil
	}
	named, sources, exists := map[string]bool{}, map[string]bool{}, map[string]bool{}
	onOpenShift := false
	for _, o := range c.List() {
		ns := o.Metadata.Namespace
		switch o.Kind {
		case "ClusterVersion":
			onOpenShift = onOpenShift || o.Key().Group == "config.openshift.io"
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
	used := maps.Clone(sources)
	if partial {
		maps.Copy(used, named)
	}
	maps.DeleteFunc(used, func(ns string, _ bool) bool { return !named[ns] })
	infer := func(ns, why string) (string, []reconcile.Note) {
		return ns, []reconcile.Note{{
			Object:  olm.Key{Kind: "Namespace", Name: ns},
			Message: fmt.Sprintf("assumed to be the global namespace (%s); name another one with --global-namespace", why),
		}}
	}
	byDefault := func() (string, []reconcile.Note) {
		others := slices.DeleteFunc(slices.Sorted(maps.Keys(used)), func(ns string) bool { return ns == standard })
		if len(others) == 0 {
			return standard, nil
		}
		return infer(standard, "the default, although subscriptions of other namespaces use the CatalogSources of "+strings.Join(others, " and "))
	}
	if onOpenShift {
		return infer(openShift, "OpenShift's default, because the cluster has a ClusterVersion")
	}
	if sources[standard] && sources[openShift] {
		both := fmt.Sprintf("%s and %s have CatalogSources, and ", standard, openShift)
		switch {
		case named[standard] == named[openShift]:
			return infer(standard, both+"subscriptions do not decide between them")
		case named[openShift]:
			return infer(openShift, both+"subscriptions of other namespaces use those of the latter")
		}
		return infer(standard, both+"subscriptions of other namespaces use those of the former")
	}
	for _, known := range []map[string]bool{sources, exists, named} {
		switch {
		case known[standard]:
			return byDefault()
		case known[openShift]:
			return infer(openShift, "OpenShift's default")
		}
	}
	unknown := fmt.Sprintf("neither %s nor %s was found, and ", standard, openShift)
	switch {
	case len(used) == 1:
		return infer(only(used), unknown+"subscriptions of other namespaces use its CatalogSources")
	case len(sources) == 1 && !hasSubscriptions(c, only(sources)):
		return infer(only(sources), unknown+"it has the only CatalogSources")
	}
	return byDefault()
}

// runningGlobal returns the global namespace that OLM runs with: the value of --namespace in
// its catalog-operator. It returns "" if there is not exactly one.
func runningGlobal(c *memcluster.Cluster) string {
	found := map[string]bool{}
	for _, o := range c.List() {
		if o.Kind != "Deployment" || o.Metadata.Name != "catalog-operator" {
			continue
		}
		d, err := olm.As[olm.Deployment](o)
		if err != nil || !reconcile.IsOLM(d) {
			continue
		}
		var spec struct {
			Template struct {
				Spec struct {
					Containers []struct{ Command, Args []string }
				}
			}
		}
		if json.Unmarshal(d.Spec, &spec) != nil {
			continue
		}
		for _, container := range spec.Template.Spec.Containers {
			if ns := flagValue(append(container.Command, container.Args...), "namespace"); ns != "" && !strings.Contains(ns, "$(") {
				found[ns] = true
			}
		}
	}
	if len(found) != 1 {
		return ""
	}
	return only(found)
}

// flagValue returns the value of a flag in arguments, with one or two dashes, or "".
func flagValue(args []string, name string) string {
	for i, a := range args {
		flag, value, ok := strings.Cut(a, "=")
		switch {
		case flag != "-"+name && flag != "--"+name:
		case ok:
			return value
		case i+1 < len(args):
			return args[i+1]
		}
	}
	return ""
}

// only returns the only key of a map.
func only(m map[string]bool) string {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		return k
	}
	return ""
}

// hasSubscriptions reports whether a namespace has subscriptions. The catalogs of such a namespace may be private to
// it.
func hasSubscriptions(c *memcluster.Cluster, ns string) bool {
	return slices.ContainsFunc(c.List(), func(o olm.Object) bool {
		return o.Kind == olm.KindSubscription && o.Metadata.Namespace == ns
	})
}

// inferNamespaces sets the namespace of catalogs without one: that of the only
// CatalogSource of the same name, with a note, or else the global one. It also adds notes
// about CatalogSources of the same name that have no content.
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
			note(s.namespace, s.name, "was not found: the option namespace=%s of --catalog adds it, while there is one of that name in namespace %s", s.namespace, strings.Join(slices.Sorted(slices.Values(found)), " and "))
		}
	}
	return notes
}
