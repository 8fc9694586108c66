package operatorgroup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// AllNamespaces is the one target of a group that serves every namespace.
const AllNamespaces = ""

// Targets returns the namespaces that a group selects, sorted and each once
// (F1): those it names; otherwise those whose labels its selector matches, of
// the given ones; otherwise [AllNamespaces] alone. The result may be empty,
// when a selector matches nothing, but is never nil, so that it can be told
// from a status that nobody filled in.
//
// It is an error to name the empty namespace. A selector that Kubernetes refuses is
// an error, too, even where the group names its namespaces: OLM gives such a group
// no targets.
func Targets(g *olm.OperatorGroup, namespaces []*olm.Namespace) ([]string, error) {
	s, err := parseSelector(g.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("%s: /spec/selector%w", g.Key(), err)
	}
	if list := g.Spec.TargetNamespaces; len(list) > 0 {
		for i, ns := range list {
			if ns == AllNamespaces {
				return nil, fmt.Errorf("%s: /spec/targetNamespaces/%d is empty: name a namespace, or leave out targetNamespaces and selector to select all of them", g.Key(), i)
			}
		}
		return set(list), nil
	}
	if len(s) == 0 {
		return []string{AllNamespaces}, nil
	}
	matched := []string{}
	for _, ns := range namespaces {
		if s.Matches(ns.Metadata.Labels) {
			matched = append(matched, ns.Metadata.Name)
		}
	}
	return set(matched), nil
}

// set returns a sorted copy of a list without duplicates.
func set(list []string) []string {
	out := slices.Clone(list)
	slices.Sort(out)
	return slices.Compact(out)
}

// IsGlobal reports whether targets select every namespace.
func IsGlobal(targets []string) bool { return len(targets) == 1 && targets[0] == AllNamespaces }

// SameTargets reports whether two lists hold the same targets, in any order.
// Targets that nobody determined, nil, differ from none.
func SameTargets(a, b []string) bool {
	return (a == nil) == (b == nil) && slices.Equal(set(a), set(b))
}

// JoinTargets returns targets as the annotation olm.targetNamespaces has them:
// a sorted comma list.
func JoinTargets(targets []string) string {
	list := slices.Clone(targets)
	slices.Sort(list)
	return strings.Join(list, ",")
}
