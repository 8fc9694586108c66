package operatorgroup

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// AllNamespaces is the only target of a group that selects every namespace.
const AllNamespaces = ""

// Targets returns the namespaces that a group selects, sorted and without
// duplicates: the target namespaces it names, or the given namespaces that
// match its selector, or [AllNamespaces]. If a selector matches nothing, the
// result is empty but not nil; nil means a status that has not been set.
//
// It returns an error for an empty target namespace, and for an invalid
// selector even if the group also names target namespaces: OLM gives such a
// group no targets.
func Targets(g *olm.OperatorGroup, namespaces []*olm.Namespace) ([]string, error) { // F1
	s, err := parseSelector(g.Spec.Selector)
	if err != nil {
		return nil, fmt.Errorf("%s: /spec/selector%w", g.Key(), err)
	}
	if list := g.Spec.TargetNamespaces; len(list) > 0 {
		for i, ns := range list {
			if ns == AllNamespaces {
				return nil, fmt.Errorf("%s: /spec/targetNamespaces/%d is empty; name a namespace, or remove targetNamespaces and selector to select all", g.Key(), i)
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

// joinTargets returns targets as the value of annotation olm.targetNamespaces:
// a sorted, comma-separated list.
func joinTargets(targets []string) string {
	list := slices.Clone(targets)
	slices.Sort(list)
	return strings.Join(list, ",")
}
