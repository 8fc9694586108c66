package reconcile

import (
	"fmt"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A Snapshot is the state of a cluster as far as it concerns one namespace. This package
// does not modify it.
//
// A zero field means that the cluster has no such objects, except for Namespace, KubeVersion,
// Known and Served.
type Snapshot struct {
	// Namespace is the namespace to reconcile.
	Namespace string
	// GlobalNamespace holds the catalogs that every namespace sees, such as
	// "olm" or "openshift-marketplace".
	GlobalNamespace string
	// KubeVersion is the version of the cluster, for minKubeVersion, catalog
	// image templates and CEL rules. If it is empty, it is unknown: minKubeVersion is not
	// checked, and everything else that needs it waits.
	KubeVersion string
	// Now is the time to write into statuses. If it is zero, no times are written and
	// nothing times out.
	Now time.Time

	// These are the objects of the whole cluster.
	Namespaces     []*olm.Namespace
	OperatorGroups []*olm.OperatorGroup
	CSVs           []*olm.ClusterServiceVersion
	CRDs           []*olm.CustomResourceDefinition
	OLMConfig      *olm.OLMConfig
	// CatalogSources are those of the namespace and of the global one.
	CatalogSources []*olm.CatalogSource

	// These are the objects of the namespace.
	Subscriptions      []*olm.Subscription
	InstallPlans       []*olm.InstallPlan
	OperatorConditions []*olm.OperatorCondition
	Deployments        []*olm.Deployment

	// Objects are all other relevant objects: service accounts, roles and bindings of any
	// namespace that OLM made, objects that install plans create, APIServices, and the
	// custom resources of CRDs that will be upgraded.
	Objects []olm.Object

	// Known are the kinds, including those of custom resources, for which the snapshot
	// has every object that concerns the namespace, or [AllKinds]. A missing object of
	// another kind may still exist: whatever depends on it keeps its recorded status,
	// and a note names it. The reason for the upgrade of a CRD states whether its
	// custom resources are known. Nil means [PlannedKinds].
	//
	// Subscriptions, CSVs, install plans, operator groups and catalog sources always count
	// as known: plans are about them.
	Known []olm.GroupKind

	// Served lists, in any order, the native APIs and required aggregated APIs of the
	// namespace's CSVs that the API server's discovery lists. Nil means that discovery
	// was not read. In that case, an API exists if there is a CRD or an APIService for
	// its version, or if its group is built in and there are no APIServices of built-in
	// groups.
	Served []property.GVK

	// OLM holds the signs that OLM runs in the cluster, if any.
	OLM []Sighting

	// Rejections are changes that the cluster refused in the last pass. Statuses, such as that
	// of the install plan whose step was refused, report them.
	Rejections []Rejection
}

// A Rejection is a change that the cluster refused for a reason other than a conflict: a
// missing permission, an invalid object, or the creation of an object that exists but is not
// in the snapshot.
type Rejection struct {
	Op  Op
	Key olm.Key
	// For is the object on whose behalf the change was made ([Change.For]), such as the
	// install plan whose step it was.
	For     olm.Key
	Message string
	// Runs is set if the change is about a workload or a permission of an operator. Other
	// changes, such as copies, roles for users and deletions, do not hold up anything.
	Runs bool
	// Forbidden is set if the error was [ErrForbidden].
	Forbidden bool
}

// NewSnapshot sorts the objects of a cluster into a snapshot for a namespace. It leaves out
// objects that do not concern the namespace: catalogs that the namespace does not see, and the
// subscriptions, plans, conditions and deployments of other namespaces, except deployments
// that run OLM. The result does not depend on the order of the objects. Errors name the
// object.
func NewSnapshot(namespace, globalNamespace string, objects []olm.Object) (*Snapshot, error) {
	return NewSnapshotFunc(namespace, globalNamespace, objects, Decode)
}

// NewSnapshotFunc is like NewSnapshot, but calls decode in place of [Decode]. It is for callers
// that make many snapshots of a cluster, of which little changes in between: decode may
// return the same value again for the same version of an object.
func NewSnapshotFunc(namespace, globalNamespace string, objects []olm.Object, decode func(olm.Object) (olm.Resource, error)) (*Snapshot, error) {
	s := &Snapshot{Namespace: namespace, GlobalNamespace: globalNamespace}
	for _, o := range objects {
		if !s.concerns(o.Key()) {
			continue
		}
		r, err := decode(o)
		if err != nil {
			return nil, err
		}
		s.add(r)
	}
	s.sort()
	return s, nil
}

// Decode returns an object as snapshots have it: as a pointer to the type of its kind, such as
// *olm.Subscription, or to an olm.Object.
func Decode(o olm.Object) (olm.Resource, error) {
	switch k := o.Key(); k.Group + "/" + k.Kind {
	case "/Namespace":
		return resource[olm.Namespace](o)
	case olm.Group + "/" + olm.KindOperatorGroup:
		return resource[olm.OperatorGroup](o)
	case olm.Group + "/" + olm.KindClusterServiceVersion:
		return resource[olm.ClusterServiceVersion](o)
	case olm.GroupCRD + "/" + olm.KindCRD:
		return resource[olm.CustomResourceDefinition](o)
	case olm.Group + "/" + olm.KindOLMConfig:
		return resource[olm.OLMConfig](o)
	case olm.Group + "/" + olm.KindCatalogSource:
		return resource[olm.CatalogSource](o)
	case olm.Group + "/" + olm.KindSubscription:
		return resource[olm.Subscription](o)
	case olm.Group + "/" + olm.KindInstallPlan:
		return resource[olm.InstallPlan](o)
	case olm.Group + "/" + olm.KindOperatorCondition:
		return resource[olm.OperatorCondition](o)
	case "apps/Deployment":
		return resource[olm.Deployment](o)
	}
	return &o, nil
}

func resource[T any, P interface {
	*T
	olm.Resource
}](o olm.Object) (olm.Resource, error) {
	v, err := olm.As[T, P](o)
	if err != nil {
		return nil, err
	}
	return P(v), nil
}

// concerns reports whether an object may concern the namespace.
func (s *Snapshot) concerns(k olm.Key) bool {
	switch (olm.GroupKind{Group: k.Group, Kind: k.Kind}) {
	case olm.GroupKind{Group: olm.Group, Kind: olm.KindCatalogSource}:
		return k.Namespace == s.Namespace || k.Namespace == s.GlobalNamespace
	case olm.GroupKind{Group: olm.Group, Kind: olm.KindSubscription},
		olm.GroupKind{Group: olm.Group, Kind: olm.KindInstallPlan},
		olm.GroupKind{Group: olm.Group, Kind: olm.KindOperatorCondition}:
		return k.Namespace == s.Namespace
	case olm.GroupKind{Group: "apps", Kind: "Deployment"}:
		return k.Namespace == s.Namespace || IsOLMName(k.Name)
	}
	return true
}

func (s *Snapshot) add(r olm.Resource) {
	switch r := r.(type) {
	case *olm.Namespace:
		s.Namespaces = append(s.Namespaces, r)
	case *olm.OperatorGroup:
		s.OperatorGroups = append(s.OperatorGroups, r)
	case *olm.ClusterServiceVersion:
		s.CSVs = append(s.CSVs, r)
	case *olm.CustomResourceDefinition:
		s.CRDs = append(s.CRDs, r)
	case *olm.OLMConfig:
		if s.OLMConfig == nil || r.Metadata.Name == "cluster" {
			s.OLMConfig = r
		}
	case *olm.CatalogSource:
		s.CatalogSources = append(s.CatalogSources, r)
	case *olm.Subscription:
		s.Subscriptions = append(s.Subscriptions, r)
	case *olm.InstallPlan:
		s.InstallPlans = append(s.InstallPlans, r)
	case *olm.OperatorCondition:
		s.OperatorConditions = append(s.OperatorConditions, r)
	case *olm.Deployment:
		if IsOLM(r) {
			s.OLM = append(s.OLM, Sighting{Object: r.Key()})
		}
		if r.Metadata.Namespace == s.Namespace {
			s.Deployments = append(s.Deployments, r)
		}
	case *olm.Object:
		s.Objects = append(s.Objects, *r)
	}
}

// sort puts every list into a canonical order.
func (s *Snapshot) sort() {
	world.Sort(s.Namespaces)
	world.Sort(s.OperatorGroups)
	world.Sort(s.CSVs)
	world.Sort(s.CRDs)
	world.Sort(s.CatalogSources)
	world.Sort(s.Subscriptions)
	world.Sort(s.InstallPlans)
	world.Sort(s.OperatorConditions)
	world.Sort(s.Deployments)
	world.SortObjects(s.Objects)
}

// world returns a sorted and indexed copy.
func (s *Snapshot) world() *world.World {
	refusals := make([]world.Refusal, len(s.Rejections))
	for i, r := range s.Rejections {
		refusals[i] = world.Refusal{Key: r.Key, For: r.For, Message: r.Message, Runs: r.Runs, Forbidden: r.Forbidden}
	}
	return world.New(world.State{
		Namespace: s.Namespace, GlobalNamespace: s.GlobalNamespace, KubeVersion: s.KubeVersion, Now: s.Now,
		Namespaces: s.Namespaces, OperatorGroups: s.OperatorGroups, CSVs: s.CSVs, CRDs: s.CRDs,
		OLMConfig: s.OLMConfig, CatalogSources: s.CatalogSources,
		Subscriptions: s.Subscriptions, InstallPlans: s.InstallPlans, OperatorConditions: s.OperatorConditions, Deployments: s.Deployments,
		Objects: s.Objects, Known: s.Known, Served: s.Served, Refusals: refusals,
	})
}

func (s *Snapshot) validate() error {
	if s.Namespace == "" {
		return fmt.Errorf("snapshot without a namespace: set Snapshot.Namespace")
	}
	return nil
}
