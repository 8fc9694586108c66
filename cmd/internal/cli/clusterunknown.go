package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/memcluster"
	"github.com/olmkit/olmkit/resolver"
)

// standIns adds a catalog for each CatalogSource whose content is unknown here, unless its
// status states that it is unhealthy, so that the cluster has no content, either. It records
// the unknown ones, which resolvable looks up.
func (s *clusterState) standIns(ctx context.Context, c *memcluster.Cluster, catalogs *reconcile.Catalogs) error {
	s.unknown = map[resolver.CatalogID]bool{}
	isUsed := false
	for _, o := range c.List() {
		switch k := o.Key(); (olm.GroupKind{Group: k.Group, Kind: k.Kind}) {
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindCatalogSource}:
			src, err := olm.As[olm.CatalogSource](o)
			if err != nil {
				return err
			}
			id := resolver.CatalogID{Name: k.Name, Namespace: k.Namespace}
			if _, err := catalogs.Catalog(ctx, id); err == nil || !s.sees(id) || s.imitates && (s.wanted(s.cmd) || src.Status.ConnectionState == nil) || isUnhealthy(src) {
				continue
			}
			s.unknown[id] = true
			if err := catalogs.AddUnknown(ctx, id); err != nil {
				return err
			}
		case olm.GroupKind{Group: olm.Group, Kind: olm.KindSubscription}:
			if !s.all && k.Namespace != s.namespace {
				continue
			}
			sub, err := olm.As[olm.Subscription](o)
			if err != nil {
				return err
			}
			isUsed = true
			if id := catalogOf(sub); s.mayLack(c, id.Namespace) {
				if _, err := catalogs.Catalog(ctx, id); err != nil {
					s.unknown[id] = true
				}
			}
		}
	}
	if !isUsed {
		return nil // nothing depends on them
	}
	for _, id := range slices.SortedFunc(maps.Keys(s.unknown), compareCatalogs) {
		k := (&source{name: id.Name, namespace: id.Namespace}).object()
		if s.noteOf(k) == nil {
			s.noteContent(k, "was not read")
		}
	}
	return nil
}

// resolvable returns an error if a subscription of a namespace uses a catalog whose content is
// unknown.
func (s *clusterState) resolvable(c *memcluster.Cluster, namespace string) error {
	if len(s.unknown) == 0 {
		return nil
	}
	for _, o := range c.List() {
		if k := o.Key(); k.Group != olm.Group || k.Kind != olm.KindSubscription || k.Namespace != namespace {
			continue
		}
		sub, err := olm.As[olm.Subscription](o)
		if err != nil {
			return err
		}
		id := catalogOf(sub)
		if s.unknown[id] && (id.Namespace == s.global || id.Namespace == namespace) {
			note := s.noteOf((&source{name: id.Name, namespace: id.Namespace}).object())
			return fmt.Errorf("%s cannot be resolved: %s", sub.Key(), note)
		}
	}
	return nil
}

// isUnhealthy reports whether the status of a CatalogSource states that it serves no content.
func isUnhealthy(src *olm.CatalogSource) bool {
	state := src.Status.ConnectionState
	return state != nil && state.LastObservedState != olm.ConnectionReady || src.Status.Reason == "SpecInvalidError"
}

// noteOf returns the last note about an object, or nil.
func (s *clusterState) noteOf(k olm.Key) *reconcile.Note {
	for i := range slices.Backward(s.inferred) {
		if s.inferred[i].Object == k {
			return &s.inferred[i]
		}
	}
	return nil
}

// lacks reports whether objects of a kind in a namespace, or anywhere if its name is empty, could
// not be read.
func (s *clusterState) lacks(group, kind, namespace string) bool {
	return slices.ContainsFunc(s.missing, func(u unread) bool { return u.Group == group && u.Kind == kind && u.lacks(namespace) })
}

// mayLack reports whether a namespace may have CatalogSources that were not read.
func (s *clusterState) mayLack(c *memcluster.Cluster, namespace string) bool {
	return s.lacks(olm.Group, olm.KindCatalogSource, namespace) || !s.complete && !slices.Contains(c.Known, olm.GroupKind{Group: olm.Group, Kind: olm.KindCatalogSource})
}

// isLocal reports whether only objects of a kind that are in a namespace concern the namespace.
func isLocal(k olm.GroupKind) bool {
	return slices.Contains([]string{"Deployment", "Service", "ServiceAccount", olm.KindOperatorCondition}, k.Kind)
}

// unreadNotes returns notes about the kinds that could not be read. If only namespaces were read,
// it returns a single note.
func (s *clusterState) unreadNotes() (notes []reconcile.Note) {
	const advice = "; \"olmkit status --print-rbac\" prints the role that reads everything"
	var namespaces, kinds []string
	for _, u := range s.missing {
		namespaces = append(namespaces, u.Namespaces...)
		if len(u.Namespaces) == 0 {
			kinds = append(kinds, u.Kind)
		}
		notes = append(notes, reconcile.Note{
			Object:  olm.Key{Group: u.Group, Kind: u.Kind, Name: "*"},
			Message: u.Reason + ", so everything that depends on it is unknown",
		})
	}
	if len(namespaces) > 0 && s.namespace != "" {
		slices.Sort(namespaces)
		namespaces = slices.Compact(namespaces)
		text := "only " + phrase.Plural(len(namespaces), "namespace") + " " + phrase.And(namespaces) + " could be read"
		if len(kinds) > 0 {
			text += ", and no " + phrase.Or(kinds)
		}
		notes = []reconcile.Note{{Object: olm.Key{Kind: "Namespace", Name: s.namespace}, Message: text + "; what depends on anything else is unknown"}}
	}
	if len(notes) > 0 {
		notes[len(notes)-1].Message += advice
	}
	return notes
}
