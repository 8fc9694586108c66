package cli

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/olmkit/olmkit/resolver"
)

// The forms of one requirement on a label, as kubectl writes them.
var (
	setRequirement = regexp.MustCompile(`^(\S+)\s+(in|notin)\s*\(([^()]*)\)$`)
	keyRequirement = regexp.MustCompile(`^(!?)\s*([^\s=!,()]+)$`)
	oneRequirement = regexp.MustCompile(`^([^\s=!,()]+)\s*(==|!=|=)\s*([^\s=!,()]*)$`)
)

// parseSelector reads a label selector as kubectl does: requirements with commas
// between. Nothing selects everything.
func parseSelector(text string) (*resolver.LabelSelector, error) {
	if strings.TrimSpace(text) == "" {
		return nil, nil
	}
	s := &resolver.LabelSelector{}
	for _, part := range splitSelector(text) {
		r := resolver.LabelRequirement{}
		if m := setRequirement.FindStringSubmatch(part); m != nil {
			r.Key, r.Operator = m[1], resolver.LabelIn
			if m[2] == "notin" {
				r.Operator = resolver.LabelNotIn
			}
			for v := range strings.SplitSeq(m[3], ",") {
				r.Values = append(r.Values, strings.TrimSpace(v))
			}
		} else if m := oneRequirement.FindStringSubmatch(part); m != nil {
			r.Key, r.Operator, r.Values = m[1], resolver.LabelIn, []string{m[3]}
			if m[2] == "!=" {
				r.Operator = resolver.LabelNotIn
			}
		} else if m := keyRequirement.FindStringSubmatch(part); m != nil {
			r.Key, r.Operator = m[2], resolver.LabelExists
			if m[1] == "!" {
				r.Operator = resolver.LabelDoesNotExist
			}
		} else {
			return nil, fmt.Errorf("%q is no requirement; write KEY=VALUE, KEY!=VALUE, KEY, !KEY, KEY in (A,B) or KEY notin (A,B)", part)
		}
		s.MatchExpressions = append(s.MatchExpressions, r)
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	return s, nil
}

// splitSelector splits at the commas outside of parentheses.
func splitSelector(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '(':
			depth++
		case ')':
			depth--
		case ',':
			if depth == 0 {
				parts = append(parts, strings.TrimSpace(text[from:i]))
				from = i + 1
			}
		}
	}
	return append(parts, strings.TrimSpace(text[from:]))
}
