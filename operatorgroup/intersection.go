package operatorgroup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// An Action is what follows from the APIs of a CSV and of the groups around it.
type Action string

// The actions of the table in 000, 2.3.9. Their values are the names that the
// running OLM gives them.
const (
	// Continue: go on with the installation.
	Continue Action = "NoAPIConflict"
	// AddAPIs: the group's annotation gets the CSV's APIs; the CSV waits.
	AddAPIs Action = "AddAPIs"
	// RemoveAPIs: the group's annotation loses the CSV's APIs; the CSV waits.
	RemoveAPIs Action = "RemoveAPIs"
	// Conflict: another group provides one of the APIs in the same namespaces.
	Conflict Action = "APIConflict"
)

// A Decision says what to do with a CSV because of its APIs (F6).
type Decision struct {
	Action Action
	// Neighbours are the other groups that serve a namespace in common, as they
	// were given; Rivals those of them that list an API of the CSV.
	Neighbours, Rivals []*olm.OperatorGroup
	// APIs is what the annotation of the CSV's group should list.
	APIs APIs
	// Failure is nil, or why the CSV fails: InterOperatorGroupOwnerConflict, or
	// CannotModifyStaticOperatorGroupProvidedAPIs where the action would change
	// a static group. The deployments of such a CSV are deleted.
	Failure *Failure
}

// Decide decides on the sync of an active CSV that provides the given APIs in
// its group, beside the other groups of the cluster (F6):
//
//	others provide any?  all of them listed?  static group  other group
//	no                   yes                  Continue      Continue
//	no                   no                   fail          AddAPIs
//	yes                  no                   fail          fail
//	yes                  yes                  fail          RemoveAPIs
//
// Others are the groups with a target in common, each with its own namespace
// added to its targets unless it has none or all (H21).
//
// A group whose annotation would stay the same text, because it cannot express
// the APIs, goes on.
func Decide(apis APIs, group *olm.OperatorGroup, others []*olm.OperatorGroup) Decision {
	listed := Annotated(group)
	d := Decision{Action: Continue, APIs: listed}
	for _, o := range others {
		if isSame(o, group) || !intersects(surface(group), surface(o)) {
			continue
		}
		d.Neighbours = append(d.Neighbours, o)
		if len(apis.Intersect(Annotated(o))) > 0 {
			d.Rivals = append(d.Rivals, o)
		}
	}
	subset := listed.ContainsAll(apis)
	switch rivals := len(d.Rivals) > 0; {
	case rivals && !subset:
		d.Action = Conflict
		d.Failure = &Failure{olm.ReasonInterOperatorGroupOwnerConflict, conflictText(apis, group, d.Rivals)}
		return d
	case rivals:
		d.Action, d.APIs = RemoveAPIs, listed.Without(apis)
	case !subset && listed.Union(apis).String() != group.Metadata.Annotations[AnnotationProvidedAPIs]:
		d.Action, d.APIs = AddAPIs, listed.Union(apis)
	default:
		return d
	}
	if group.Spec.StaticProvidedAPIs {
		verb, remedy := "gain", "list it by hand"
		if d.Action == RemoveAPIs {
			verb, remedy = "lose", "remove it by hand"
		}
		d.Failure = &Failure{olm.ReasonCannotModifyStaticOperatorGroupAPIs,
			fmt.Sprintf("operator group %q has static provided APIs and would %s %s: %s (annotation %s), or let the list change with /spec/staticProvidedAPIs: false",
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
	return fmt.Sprintf("%s in namespaces that operator group %q serves, too: change the targets of one or remove one of the operators", strings.Join(parts, "; "), group.Metadata.Name)
}

func isSame(a, b *olm.OperatorGroup) bool {
	return a.Metadata.Name == b.Metadata.Name && a.Metadata.Namespace == b.Metadata.Namespace
}

// surface returns the namespaces of a group for the question of what it has in
// common with others: its targets and its own namespace (000, 2.3.9).
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

// isAll reports whether all elements are the empty name. It alone is
// everything; among others it is a namespace like any other (H21).
func isAll(targets []string) bool {
	return !slices.ContainsFunc(targets, func(ns string) bool { return ns != AllNamespaces })
}
