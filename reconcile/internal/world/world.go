// Package world holds the part of a cluster's state that concerns one namespace, sorted and
// indexed. The packages that plan changes read it and do not modify it.
package world

import (
	"cmp"
	"slices"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/property"
)

// A State is the state of a cluster as it was read. Its fields are those of
// reconcile.Snapshot.
type State struct {
	Namespace       string
	GlobalNamespace string
	KubeVersion     string
	Now             time.Time

	Namespaces     []*olm.Namespace
	OperatorGroups []*olm.OperatorGroup
	CSVs           []*olm.ClusterServiceVersion
	CRDs           []*olm.CustomResourceDefinition
	OLMConfig      *olm.OLMConfig
	CatalogSources []*olm.CatalogSource

	Subscriptions      []*olm.Subscription
	InstallPlans       []*olm.InstallPlan // by generation, then by name
	OperatorConditions []*olm.OperatorCondition
	Deployments        []*olm.Deployment

	Objects []olm.Object
	Known   []olm.GroupKind
	Served  []property.GVK

	// Refusals holds the changes that the cluster refused in the last pass.
	Refusals []Refusal
}

// A Refusal is a change that the cluster refused.
type Refusal struct {
	Key olm.Key
	// For is the object that the change was made for.
	For     olm.Key
	Message string
	// Runs is set if the change concerned the objects that run an operator.
	Runs bool
	// Forbidden is set if a permission was missing.
	Forbidden bool
}

// Hindered reports whether the cluster refused a change to an object, or for it, in the last
// pass.
func (w *World) Hindered(k olm.Key) bool {
	return slices.ContainsFunc(w.Refusals, func(r Refusal) bool { return r.Key == k || r.For == k })
}

// A Version is a version of an object that was read. ResourceVersion is empty if the object
// did not exist.
type Version struct {
	Key             olm.Key
	ResourceVersion string
}

// VersionOf returns the version of an object that was read.
func VersionOf(r olm.Resource) Version {
	return Version{r.Head().Key(), r.Head().Metadata.ResourceVersion}
}

// A World is a state with an index. It is used for one plan and is not safe for concurrent
// use.
type World struct {
	State
	*index
	lineage *lineage
	// unread holds the names of objects that were looked up although their kinds were not
	// read.
	unread map[olm.GroupKind]map[string]bool
	// brought holds the objects that install plans may still create. It is computed on
	// first use.
	brought map[olm.Key]bool
	// grants has the permissions of the namespace's service accounts. It is computed on first use.
	grants grants
	// lost is what Lost returns. It is computed on first use.
	lost map[string]bool
}

// New returns the world of a state. It copies and sorts the lists.
func New(s State) *World {
	s.Namespaces, s.OperatorGroups = sorted(s.Namespaces), sorted(s.OperatorGroups)
	s.CSVs, s.CRDs = sorted(s.CSVs), sorted(s.CRDs)
	s.CatalogSources, s.Subscriptions = sorted(s.CatalogSources), sorted(s.Subscriptions)
	s.InstallPlans, s.OperatorConditions = sorted(s.InstallPlans), sorted(s.OperatorConditions)
	s.Deployments, s.Objects = sorted(s.Deployments), slices.Clone(s.Objects)
	SortObjects(s.Objects)
	slices.SortStableFunc(s.InstallPlans, func(a, b *olm.InstallPlan) int {
		return cmp.Compare(a.Spec.Generation, b.Spec.Generation)
	})
	w := &World{State: s, unread: map[olm.GroupKind]map[string]bool{}}
	w.index = newIndex(&w.State)
	w.lineage = newLineage(w.Own(), w.Subscriptions)
	return w
}

func sorted[R olm.Resource](list []R) []R {
	list = slices.Clone(list)
	Sort(list)
	return list
}

// Sort sorts resources by key.
func Sort[R olm.Resource](list []R) {
	slices.SortFunc(list, func(a, b R) int {
		x, y := a.Head(), b.Head()
		if x.APIVersion == y.APIVersion && x.Kind == y.Kind { // true for all elements of a list of one type
			return cmp.Or(cmp.Compare(x.Metadata.Namespace, y.Metadata.Namespace), cmp.Compare(x.Metadata.Name, y.Metadata.Name))
		}
		return x.Key().Compare(y.Key())
	})
}

// SortObjects sorts objects by key.
func SortObjects(list []olm.Object) {
	slices.SortFunc(list, func(a, b olm.Object) int { return a.Key().Compare(b.Key()) })
}
