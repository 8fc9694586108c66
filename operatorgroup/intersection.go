package operatorgroup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
)

// An Action is the result of comparing the APIs of a CSV with those of operator
// groups.
type Action string

// The actions. Their values are OLM's names for them.
const (
	// Continue continues the installation.
	Continue Action = "NoAPIConflict"
	// AddAPIs adds the CSV's APIs to the group's annotation; the CSV waits.
	AddAPIs Action = "AddAPIs"
	// RemoveAPIs removes the CSV's APIs from the group's annotation; the CSV
	// waits.
	RemoveAPIs Action = "RemoveAPIs"
	// APIConflict means that another group provides one of the APIs in the same
	// namespaces.
	APIConflict Action = "APIConflict"
)

// A Decision is the result of [Decide].
type Decision struct {
	Action Action
	// Neighbors are the other groups that share a target namespace, in the
	// given order. Rivals are the neighbors that list an API of the CSV.
	Neighbors, Rivals []*olm.OperatorGroup
	// APIs are the APIs that the annotation of the CSV's group should list.
	APIs APIs
	// Failure, if not nil, is why the CSV fails:
	// InterOperatorGroupOwnerConflict, or
	// CannotModifyStaticOperatorGroupProvidedAPIs if the action would change a
	// group with static provided APIs. The deployments of a failed CSV are
	// deleted.
	Failure *Failure
}

// Decide returns what to do when an active CSV that provides the given APIs is synced, given
// the other groups of the cluster:
//
//	others provide any?  all of them listed?  static group  other group
//	no                   yes                  Continue      Continue
//	no                   no                   fail          AddAPIs
//	yes                  no                   fail          fail
//	yes                  yes                  fail          RemoveAPIs
//
// Here, the others are the groups that share a target with group. The namespace of a group
// also counts as its target, unless the group has no targets or targets all namespaces.
//
// If the annotation cannot express the APIs, so that its text would not change, the action is
// Continue.
func Decide(apis APIs, group *olm.OperatorGroup, others []*olm.OperatorGroup) Decision { // F6
	listed := Annotated(group)
	d := Decision{Action: Continue, APIs: listed}
	for _, o := range others {
		if isSame(o, group) || !intersects(surface(group), surface(o)) {
			continue
		}
		d.Neighbors = append(d.Neighbors, o)
		if len(apis.Intersect(Annotated(o))) > 0 {
			d.Rivals = append(d.Rivals, o)
		}
	}
	subset := listed.ContainsAll(apis)
	switch rivals := len(d.Rivals) > 0; {
	case rivals && !subset:
		d.Action = APIConflict
		d.Failure = &Failure{reason.InterOperatorGroupOwnerConflict, conflictText(apis, group, d.Rivals)}
		return d
	case rivals:
		d.Action, d.APIs = RemoveAPIs, listed.Without(apis)
	case !subset && listed.Union(apis).String() != group.Metadata.Annotations[AnnotationProvidedAPIs]:
		d.Action, d.APIs = AddAPIs, listed.Union(apis)
	default:
		return d
	}
	if group.Spec.StaticProvidedAPIs {
		verb, remedy := "gain", "add it to"
		if d.Action == RemoveAPIs {
			verb, remedy = "lose", "remove it from"
		}
		d.Failure = &Failure{reason.CannotModifyStaticOperatorGroupAPIs,
			fmt.Sprintf("operator group %q has static provided APIs but would %s %s; %s annotation %s, or set spec.staticProvidedAPIs to false",
				group.Metadata.Name, verb, changed(listed, d.APIs), remedy, AnnotationProvidedAPIs)}
		d.APIs = listed
	}
	return d
}

func changed(a, b APIs) APIs { return a.Without(b).Union(b.Without(a)) }

func conflictText(apis APIs, group *olm.OperatorGroup, rivals []*olm.OperatorGroup) string {
	var parts []string
	for _, o := range rivals {
		parts = append(parts, fmt.Sprintf("operator group %s/%s provides %s", o.Metadata.Namespace, o.Metadata.Name, apis.Intersect(Annotated(o))))
	}
	slices.Sort(parts)
	return fmt.Sprintf("%s in namespaces that operator group %q also serves; change the targets of one group or remove one of the operators", strings.Join(parts, "; "), group.Metadata.Name)
}

func isSame(a, b *olm.OperatorGroup) bool {
	return a.Metadata.Name == b.Metadata.Name && a.Metadata.Namespace == b.Metadata.Namespace
}

// surface returns the namespaces of a group for finding intersections: its
// targets and its own namespace.
func surface(g *olm.OperatorGroup) []string {
	targets := g.Status.Namespaces
	if len(targets) > 0 && targets[0] != AllNamespaces {
		targets = append(slices.Clip(targets), g.Metadata.Namespace)
	}
	return targets
}

func intersects(a, b []string) bool {
	switch {
	case len(a) == 0 || len(b) == 0:
		return false
	case isAll(a) || isAll(b):
		return true
	}
	return slices.ContainsFunc(a, func(ns string) bool { return slices.Contains(b, ns) })
}

// isAll reports whether all elements are the empty name. The empty name means
// all namespaces only if there is no other name (H21).
func isAll(targets []string) bool {
	return !slices.ContainsFunc(targets, func(ns string) bool { return ns != AllNamespaces })
}
