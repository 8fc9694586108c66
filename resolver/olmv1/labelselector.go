package olmv1

import (
	"errors"
	"fmt"
	"strings"
	"unicode"

	"github.com/olmkit/olmkit/internal/labels"
)

// A LabelSelector selects catalogs by their labels, as Kubernetes does. All its
// requirements must hold; the zero value selects everything.
type LabelSelector struct {
	MatchLabels      map[string]string  `json:"matchLabels,omitempty"`
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// A LabelRequirement is one requirement on a label.
type LabelRequirement struct {
	Key string `json:"key"`
	// Operator is In, NotIn, Exists or DoesNotExist. NotIn also holds where the label is
	// absent.
	Operator string `json:"operator"`
	// Values are needed for In and NotIn, and not allowed otherwise.
	Values []string `json:"values,omitempty"`
}

// Matches reports whether labels satisfy the selector. An invalid one matches
// nothing.
func (s *LabelSelector) Matches(set map[string]string) bool {
	compiled, err := s.compile()
	return err == nil && compiled.Matches(set)
}

// Validate returns the first fault of the selector, after its JSON pointer.
func (s *LabelSelector) Validate() error {
	_, err := s.compile()
	return err
}

func (s *LabelSelector) compile() (labels.Selector, error) {
	if s == nil {
		return nil, nil
	}
	var expressions []labels.Requirement
	for _, r := range s.MatchExpressions {
		expressions = append(expressions, r.requirement())
	}
	return labels.New(s.MatchLabels, expressions)
}

func (r LabelRequirement) requirement() labels.Requirement {
	return labels.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values}
}

// ParseLabelSelector parses a selector as kubectl does: requirements
// separated by commas, each "key=value", "key==value", "key!=value", "key in
// (a,b)", "key notin (a,b)", "key" or "!key". The empty text selects everything.
func ParseLabelSelector(text string) (*LabelSelector, error) {
	s := &LabelSelector{}
	fail := func(err error) (*LabelSelector, error) {
		return nil, fmt.Errorf("invalid label selector %q: %w", text, err)
	}
	if strings.TrimSpace(text) == "" {
		return s, nil
	}
	parts, err := splitRequirements(text)
	if err != nil {
		return fail(err)
	}
	for _, part := range parts {
		r, err := parseRequirement(strings.TrimSpace(part))
		if err != nil {
			return fail(err)
		}
		if _, err := r.requirement().Validate(); err != nil {
			return fail(err)
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	return s, nil
}

// splitRequirements splits at the commas outside parentheses.
func splitRequirements(text string) ([]string, error) {
	var parts []string
	open, from := false, 0
	for i := range len(text) {
		switch c := text[i]; {
		case c == '(' && !open:
			open = true
		case c == ')' && open:
			open = false
		case c == '(' || c == ')':
			return nil, errors.New("the parentheses do not match")
		case c == ',' && !open:
			parts = append(parts, text[from:i])
			from = i + 1
		}
	}
	if open {
		return nil, errors.New("the parentheses do not match")
	}
	return append(parts, text[from:]), nil
}

func parseRequirement(text string) (LabelRequirement, error) {
	if text == "" {
		return LabelRequirement{}, errors.New("a requirement is empty")
	}
	if head, list, ok := strings.Cut(text, "("); ok {
		words := strings.Fields(head)
		list, rest, _ := strings.Cut(list, ")")
		if len(words) != 2 || rest != "" || words[1] != "in" && words[1] != "notin" {
			return LabelRequirement{}, fmt.Errorf("%q: want key in (a,b) or key notin (a,b)", text)
		}
		r := LabelRequirement{Key: words[0], Operator: labels.In}
		if words[1] == "notin" {
			r.Operator = labels.NotIn
		}
		for v := range strings.SplitSeq(list, ",") {
			r.Values = append(r.Values, strings.TrimSpace(v))
		}
		return r, nil
	}
	for _, op := range []struct {
		sign string
		is   string
	}{{"!=", labels.NotIn}, {"==", labels.In}, {"=", labels.In}} {
		if key, value, ok := strings.Cut(text, op.sign); ok {
			return LabelRequirement{strings.TrimSpace(key), op.is, []string{strings.TrimSpace(value)}}, nil
		}
	}
	if strings.ContainsFunc(strings.TrimSpace(strings.TrimPrefix(text, "!")), unicode.IsSpace) {
		return LabelRequirement{}, fmt.Errorf("%q is not a requirement; write key=value, key!=value, key, !key, key in (a,b) or key notin (a,b)", text)
	}
	if key, ok := strings.CutPrefix(text, "!"); ok {
		return LabelRequirement{Key: strings.TrimSpace(key), Operator: labels.DoesNotExist}, nil
	}
	return LabelRequirement{Key: text, Operator: labels.Exists}, nil
}
