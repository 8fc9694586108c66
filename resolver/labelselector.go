package resolver

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// A LabelSelector selects catalogs by their labels, as Kubernetes does. All its
// requirements must hold; the zero value selects everything.
type LabelSelector struct {
	MatchLabels      map[string]string  `json:"matchLabels,omitempty"`
	MatchExpressions []LabelRequirement `json:"matchExpressions,omitempty"`
}

// A LabelRequirement is one requirement on a label.
type LabelRequirement struct {
	Key      string        `json:"key"`
	Operator LabelOperator `json:"operator"`
	// Values are needed for In and NotIn, and not allowed otherwise.
	Values []string `json:"values,omitempty"`
}

// A LabelOperator relates a label to values.
type LabelOperator string

// The operators. NotIn also holds where the label is absent.
const (
	LabelIn           LabelOperator = "In"
	LabelNotIn        LabelOperator = "NotIn"
	LabelExists       LabelOperator = "Exists"
	LabelDoesNotExist LabelOperator = "DoesNotExist"
)

// Matches reports whether labels satisfy the selector, which must be valid.
func (s *LabelSelector) Matches(labels map[string]string) bool {
	if s == nil {
		return true
	}
	for k, v := range s.MatchLabels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	for _, r := range s.MatchExpressions {
		got, ok := labels[r.Key]
		switch r.Operator {
		case LabelIn:
			ok = ok && slices.Contains(r.Values, got)
		case LabelNotIn:
			ok = !ok || !slices.Contains(r.Values, got)
		case LabelDoesNotExist:
			ok = !ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// Validate returns what is wrong with the selector, first by JSON pointer.
func (s *LabelSelector) Validate() error {
	if s == nil {
		return nil
	}
	keys := make([]string, 0, len(s.MatchLabels))
	for k := range s.MatchLabels {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		if err := validKey(k); err != nil {
			return fmt.Errorf("/matchLabels: %w", err)
		}
		if err := validValue(s.MatchLabels[k]); err != nil {
			return fmt.Errorf("/matchLabels: %w", err)
		}
	}
	for i, r := range s.MatchExpressions {
		if path, err := r.validate(); err != nil {
			return fmt.Errorf("/matchExpressions/%d%s: %w", i, path, err)
		}
	}
	return nil
}

func (r *LabelRequirement) validate() (path string, err error) {
	if err := validKey(r.Key); err != nil {
		return "/key", err
	}
	switch r.Operator {
	case LabelIn, LabelNotIn:
		if len(r.Values) == 0 {
			return "/values", fmt.Errorf("operator %s needs at least one value", r.Operator)
		}
	case LabelExists, LabelDoesNotExist:
		if len(r.Values) > 0 {
			return "/values", fmt.Errorf("operator %s takes no values", r.Operator)
		}
	default:
		return "/operator", fmt.Errorf("%q is no operator; want In, NotIn, Exists or DoesNotExist", r.Operator)
	}
	for n, v := range r.Values {
		if err := validValue(v); err != nil {
			return fmt.Sprintf("/values/%d", n), err
		}
	}
	return "", nil
}

var (
	labelName   = regexp.MustCompile(`^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$`)
	labelPrefix = regexp.MustCompile(`^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`)
)

// validKey checks a label's key: a name, optionally after a domain and a slash.
func validKey(key string) error {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		name = prefix
	} else if len(prefix) > 253 || !labelPrefix.MatchString(prefix) {
		return fmt.Errorf("label key %q: want a domain of lower-case words before the slash", key)
	}
	if !labelName.MatchString(name) {
		return fmt.Errorf("label key %q: want at most 63 letters, digits, -, _ and ., a letter or digit at both ends", key)
	}
	return nil
}

func validValue(v string) error {
	if v != "" && !labelName.MatchString(v) {
		return fmt.Errorf("label value %q: want at most 63 letters, digits, -, _ and ., a letter or digit at both ends", v)
	}
	return nil
}

// ParseLabelSelector parses a selector as kubectl takes it: requirements
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
		if _, err := r.validate(); err != nil {
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
		r := LabelRequirement{Key: words[0], Operator: LabelIn}
		if words[1] == "notin" {
			r.Operator = LabelNotIn
		}
		for v := range strings.SplitSeq(list, ",") {
			r.Values = append(r.Values, strings.TrimSpace(v))
		}
		return r, nil
	}
	for _, op := range []struct {
		sign string
		is   LabelOperator
	}{{"!=", LabelNotIn}, {"==", LabelIn}, {"=", LabelIn}} {
		if key, value, ok := strings.Cut(text, op.sign); ok {
			return LabelRequirement{strings.TrimSpace(key), op.is, []string{strings.TrimSpace(value)}}, nil
		}
	}
	if strings.ContainsFunc(strings.TrimSpace(strings.TrimPrefix(text, "!")), unicode.IsSpace) {
		return LabelRequirement{}, fmt.Errorf("%q is no requirement; write key=value, key!=value, key, !key, key in (a,b) or key notin (a,b)", text)
	}
	if key, ok := strings.CutPrefix(text, "!"); ok {
		return LabelRequirement{Key: strings.TrimSpace(key), Operator: LabelDoesNotExist}, nil
	}
	return LabelRequirement{Key: text, Operator: LabelExists}, nil
}
