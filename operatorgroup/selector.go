package operatorgroup

import (
	"fmt"
	"maps"

	"github.com/olmkit/olmkit/internal/labels"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// parseSelector returns an empty selector for one without requirements. Errors
// begin with the JSON pointer below the selector.
//
// Labels right below the selector, as 001 writes them (`selector: {cool.io/prod:
// "true"}`), count as matchLabels. An API server drops them, and the group then
// serves every namespace, which its author did not mean.
func parseSelector(s *olm.LabelSelector) (labels.Selector, error) {
	if s == nil {
		return nil, nil
	}
	match := maps.Clone(s.MatchLabels)
	if len(s.Rest) > 0 {
		var direct map[string]string
		if err := s.Rest.Decode(&direct); err != nil {
			return nil, fmt.Errorf(": want matchLabels and matchExpressions, found %s", s.Rest)
		}
		if match == nil {
			match = direct
		} else {
			maps.Copy(match, direct)
		}
	}
	var expressions []labels.Requirement
	for _, x := range s.MatchExpressions {
		expressions = append(expressions, labels.Requirement{Key: x.Key, Operator: x.Operator, Values: x.Values})
	}
	return labels.New(match, expressions)
}
