package operatorgroup

import (
	"fmt"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// A selector is the terms of a label selector, in order; all must hold.
type selector []term

// A term is true of labels where the key is among the values, or is there at
// all when there are no values, turned around by not.
type term struct {
	key    string
	values []string
	not    bool
}

// parseSelector returns nil for a selector without terms, which selects
// everything. Errors begin with the JSON pointer below the selector.
//
// Labels right below the selector, as 001 writes them (`selector: {cool.io/prod:
// "true"}`), count as matchLabels. An API server drops them, and the group then
// serves every namespace, which its author did not mean.
func parseSelector(s *olm.LabelSelector) (selector, error) {
	if s == nil {
		return nil, nil
	}
	labels := maps.Clone(s.MatchLabels)
	if len(s.Rest) > 0 {
		var direct map[string]string
		if err := olm.Unmarshal(s.Rest, &direct); err != nil {
			return nil, fmt.Errorf(": want matchLabels and matchExpressions, found %s", s.Rest)
		}
		if labels == nil {
			labels = direct
		} else {
			maps.Copy(labels, direct)
		}
	}
	var terms selector
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		terms = append(terms, term{key: key, values: []string{labels[key]}})
	}
	for i, x := range s.MatchExpressions {
		t := term{key: x.Key, values: x.Values}
		wantValues := true
		switch x.Operator {
		case "In":
		case "NotIn":
			t.not = true
		case "Exists":
			wantValues = false
		case "DoesNotExist":
			wantValues, t.not = false, true
		default:
			return nil, fmt.Errorf("/matchExpressions/%d/operator: unknown operator %q; want In, NotIn, Exists or DoesNotExist", i, x.Operator)
		}
		switch {
		case x.Key == "":
			return nil, fmt.Errorf("/matchExpressions/%d/key is empty: want the key of a label", i)
		case wantValues && len(x.Values) == 0:
			return nil, fmt.Errorf("/matchExpressions/%d/values is empty: %s wants at least one value", i, x.Operator)
		case !wantValues && len(x.Values) > 0:
			return nil, fmt.Errorf("/matchExpressions/%d/values: %s takes no values", i, x.Operator)
		}
		terms = append(terms, t)
	}
	return terms, nil
}

// matches reports whether all terms hold. As in Kubernetes, NotIn holds where
// the label is missing.
func (s selector) matches(labels map[string]string) bool {
	for _, t := range s {
		v, ok := labels[t.key]
		if ok && t.values != nil {
			ok = slices.Contains(t.values, v)
		}
		if ok == t.not {
			return false
		}
	}
	return true
}
