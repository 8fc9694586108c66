package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// served returns the catalogs of a cluster that the command line does not give, each at the
// digest that it serves now: those of the CatalogSources for which isWanted returns true. Notes name catalogs whose digest is unknown, unless the cluster is in files without
// Pods.
func (s *clusterState) served(c *memcluster.Cluster, given []source, isWanted func(resolver.CatalogID) bool) ([]source, error) {
	var pods []olm.Object
	var sources []*olm.CatalogSource
	for _, o := range c.List() {
		switch k := o.Key(); {
		case k.Group == "" && k.Kind == "Pod":
			pods = append(pods, o)
		case k.Group == olm.Group && k.Kind == olm.KindCatalogSource && isWanted(resolver.CatalogID{Name: k.Name, Namespace: k.Namespace}):
			src, err := olm.As[olm.CatalogSource](o)
			if err != nil {
				return nil, err
			}
			sources = append(sources, src)
		}
	}
	pod := olm.GroupKind{Kind: "Pod"}
	i := slices.IndexFunc(s.missing, func(u unread) bool { return u.Kind == pod.Kind && u.Group == pod.Group })
	if i < 0 && !slices.Contains(c.Known, pod) {
		return nil, nil
	}
	var list []source
	for _, src := range sources {
		m := &src.Metadata
		if slices.ContainsFunc(given, func(g source) bool { return g.name == m.Name && g.namespace == m.Namespace }) {
			continue
		}
		image := registryImage(pods, src)
		if image == "" {
			why := "has no registry pod that runs"
			if i >= 0 && s.missing[i].lacks(m.Namespace) {
				why = "serves an unknown image (" + s.missing[i].String() + ")"
			}
			s.noteContent(src.Key(), why)
			continue
		}
		list = append(list, source{name: m.Name, namespace: m.Namespace, hasNamespace: true, path: registryScheme + image, priority: src.Spec.Priority, served: true})
	}
	return list, nil
}

// servedV1 returns the ClusterCatalogs that the command line does not give, each at the
// digest that it serves now. A ClusterCatalog that is unavailable on purpose is left out.
func (s *clusterState) servedV1(c *memcluster.Cluster, given []source) ([]source, error) {
	var list []source
	for _, o := range c.List() {
		k := o.Key()
		if k.Group != groupV1 || k.Kind != kindClusterCatalog || slices.ContainsFunc(given, func(g source) bool { return g.name == k.Name }) {
			continue
		}
		var spec struct{ Priority int }
		if err := into(o, "spec", &spec); err != nil {
			return nil, err
		}
		if isSwitchedOff(o) {
			continue
		}
		image := text(o, "status", "resolvedSource", "image", "ref")
		if !strings.Contains(image, "@") {
			s.noteContent(k, "has no resolved image")
			continue
		}
		list = append(list, source{name: k.Name, path: registryScheme + image, priority: spec.Priority, hasPriority: true, labels: o.Metadata.Labels, served: true})
	}
	return list, nil
}

// isSwitchedOff reports whether a ClusterCatalog is unavailable on purpose. OLM v1 ignores it (C6).
func isSwitchedOff(catalog olm.Object) bool {
	return text(catalog, "spec", "availabilityMode") == "Unavailable"
}

// withoutSwitchedOff returns the catalogs whose ClusterCatalogs, if any, OLM v1 reads.
func (s *clusterState) withoutSwitchedOff(list []source) []source {
	return slices.DeleteFunc(slices.Clone(list), func(src source) bool {
		o, err := s.cluster.Get(olm.Key{Group: groupV1, Kind: kindClusterCatalog, Name: src.name})
		if err != nil || !isSwitchedOff(o) {
			return false
		}
		s.inferred = append(s.inferred, reconcile.Note{Object: o.Key(), Message: "its availabilityMode is Unavailable, so OLM v1 ignores it"})
		return true
	})
}

// knownV1 returns the given catalogs without those that OLM v1 does not know, because the cluster has ClusterCatalogs, but none
// of their names.
func (s *clusterState) knownV1(given []source) []source {
	served := slices.ContainsFunc(s.cluster.List(), func(o olm.Object) bool { return o.Key().Group == groupV1 && o.Key().Kind == kindClusterCatalog })
	return slices.DeleteFunc(slices.Clone(given), func(src source) bool {
		if !served || s.hasClusterCatalog(src.name) {
			return false
		}
		if !slices.ContainsFunc(s.cluster.List(), func(o olm.Object) bool { return o.Key().Kind == olm.KindCatalogSource && o.Metadata.Name == src.name }) {
			k := olm.Key{Group: groupV1, Kind: kindClusterCatalog, Name: src.name}
			s.inferred = append(s.inferred, reconcile.Note{Object: k, Message: "the cluster has none of this name, so OLM v1 does not select from the given catalog"})
		}
		return true
	})
}

// noteContent notes why the content of a catalog is unknown.
func (s *clusterState) noteContent(k olm.Key, why string) {
	namespace := ""
	if k.Namespace != "" && k.Namespace != s.global {
		namespace = ",namespace=" + k.Namespace
	}
	s.inferred = append(s.inferred, reconcile.Note{
		Object:  k,
		Message: fmt.Sprintf("%s, so its content is unknown; give it with --catalog %s=PATH%s", why, k.Name, namespace),
	})
}

// content returns the index of a catalog. If the cluster serves the catalog but it cannot be
// read from here, content adds a note and returns nil without an error.
func (s *clusterState) content(ctx context.Context, l *loader, src source) (*graph.Catalog, error) {
	g, err := l.indexOf(ctx, src)
	if err == nil || !src.served || ctx.Err() != nil {
		return g, err
	}
	s.noteContent(src.object(), "cannot be read from here: "+err.Error())
	return nil, nil
}

// object returns the key of the catalog's object: a CatalogSource, or a ClusterCatalog if the
// source has no namespace.
func (s *source) object() olm.Key {
	if s.namespace == "" {
		return olm.Key{Group: groupV1, Kind: kindClusterCatalog, Name: s.name}
	}
	return olm.Key{Group: olm.Group, Kind: olm.KindCatalogSource, Namespace: s.namespace, Name: s.name}
}

// compareCatalogs orders catalogs by namespace and name.
func compareCatalogs(a, b resolver.CatalogID) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}

// registryImage returns the image of a CatalogSource that its registry pod serves, with the
// digest that the kubelet reports, or "". In some pods, the image is that of an init
// container, which copies the files for a separate server.
func registryImage(pods []olm.Object, s *olm.CatalogSource) string {
	for _, p := range pods {
		if p.Metadata.Namespace != s.Metadata.Namespace || p.Metadata.Labels[labelCatalogPod] != s.Metadata.Name || text(p, "status", "phase") != "Running" {
			continue
		}
		for _, from := range [][2]string{{"initContainerStatuses", "extract-content"}, {"containerStatuses", "registry-server"}} {
			var containers []struct{ Name, ImageID string }
			if v, ok := p.Get("status", from[0]); !ok || json.Unmarshal(v, &containers) != nil {
				continue
			}
			i := slices.IndexFunc(containers, func(c struct{ Name, ImageID string }) bool { return c.Name == from[1] })
			if i < 0 {
				continue
			}
			if !strings.Contains(containers[i].ImageID, "@sha256:") {
				break // do not look at the other container, which has a different image
			}
			return strings.TrimPrefix(containers[i].ImageID, "docker-pullable://")
		}
	}
	return ""
}
