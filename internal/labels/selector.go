// Package labels matches labels against selectors exactly like Kubernetes'
// LabelSelectorAsSelector, and rejects selectors that an API server would
// reject. The meaning of a missing selector is left to callers.
package labels

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Selector is a list of requirements, all of which must hold. The empty
// Selector matches everything.
type Selector []Requirement

// A Requirement is a requirement on the label with a key.
type Requirement struct {
	Key string
	// Operator is In, NotIn, Exists or DoesNotExist.
	Operator string
	// Values must not be empty for In and NotIn and must be empty otherwise.
	Values []string
}

// The operators. NotIn also holds if the label is absent.
const (
	In           = "In"
	NotIn        = "NotIn"
	Exists       = "Exists"
	DoesNotExist = "DoesNotExist"
)

// New returns the selector for matchLabels and matchExpressions. An error
// begins with the JSON pointer of the first invalid requirement, where
// matchLabels come first in key order.
func New(matchLabels map[string]string, matchExpressions []Requirement) (Selector, error) {
	var s Selector
	for _, key := range slices.Sorted(maps.Keys(matchLabels)) {
		r := Requirement{Key: key, Operator: In, Values: []string{matchLabels[key]}}
		if _, err := r.Validate(); err != nil {
			return nil, fmt.Errorf("/matchLabels: %w", err)
		}
		s = append(s, r)
	}
	for i, r := range matchExpressions {
		if path, err := r.Validate(); err != nil {
			return nil, fmt.Errorf("/matchExpressions/%d%s: %w", i, path, err)
		}
		s = append(s, r)
	}
	return s, nil
}

// Matches reports whether labels satisfy all requirements. The requirements
// must be valid.
func (s Selector) Matches(labels map[string]string) bool {
	for _, r := range s {
		value, ok := labels[r.Key]
		switch r.Operator {
		case In:
			ok = ok && slices.Contains(r.Values, value)
		case NotIn:
			ok = !ok || !slices.Contains(r.Values, value)
		case DoesNotExist:
			ok = !ok
		}
		if !ok {
			return false
		}
	}
	return true
}

// Validate returns the first error in a requirement, and its JSON pointer
// relative to the requirement.
func (r Requirement) Validate() (path string, err error) {
	if err := validKey(r.Key); err != nil {
		return "/key", err
	}
	switch r.Operator {
	case In, NotIn:
		if len(r.Values) == 0 {
			return "/values", fmt.Errorf("operator %s needs at least one value", r.Operator)
		}
	case Exists, DoesNotExist:
		if len(r.Values) > 0 {
			return "/values", fmt.Errorf("operator %s takes no values", r.Operator)
		}
	default:
		return "/operator", fmt.Errorf("%q is not an operator; want In, NotIn, Exists or DoesNotExist", r.Operator)
	}
	for i, v := range r.Values {
		if v != "" && !isName(v) {
			return fmt.Sprintf("/values/%d", i), fmt.Errorf("label value %q: want %s", v, nameWant)
		}
	}
	return "", nil
}

// validKey checks a label key: a name, optionally preceded by a domain and a
// slash.
func validKey(key string) error {
	prefix, name, ok := strings.Cut(key, "/")
	if !ok {
		name = prefix
	} else if !isDomain(prefix) {
		return fmt.Errorf("label key %q: want a domain of lower-case words before the slash", key)
	}
	if !isName(name) {
		return fmt.Errorf("label key %q: want %s", key, nameWant)
	}
	return nil
}

const nameWant = "at most 63 letters, digits, -, _ and ., with a letter or digit at both ends"

func isName(s string) bool {
	return len(s) <= 63 && isWord(s, func(c byte) bool { return isLower(c) || 'A' <= c && c <= 'Z' }, "-_.")
}

func isDomain(s string) bool {
	for word := range strings.SplitSeq(s, ".") {
		if !isWord(word, isLower, "-") {
			return false
		}
	}
	return len(s) <= 253
}

// isWord reports whether s consists of alphanumerics and, in between,
// characters of others.
func isWord(s string, alphanumeric func(byte) bool, others string) bool {
	for i := range len(s) {
		if !alphanumeric(s[i]) && (i == 0 || i == len(s)-1 || strings.IndexByte(others, s[i]) < 0) {
			return false
		}
	}
	return s != ""
}

func isLower(c byte) bool { return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' }
