package operatorgroup

import (
	"fmt"
	"maps"

	"github.com/olmkit/olmkit/internal/labels"
	"github.com/olmkit/olmkit/olm"
)

// parseSelector converts a selector. Without requirements the result is empty.
// Errors begin with the JSON pointer below the selector.
//
// Labels directly below the selector, as OLM's documentation writes them
// (`selector: {cool.io/prod: "true"}`), are treated as matchLabels. An API
// server drops them, and the group would then select every namespace.
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
