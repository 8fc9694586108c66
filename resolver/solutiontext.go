package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
)

// String says in a few words why the operator is not upgraded.
func (s Stay) String() string {
	switch s.Reason {
	case AtHead:
		return "at the head of its channel"
	case Present:
		return "installed already, which is enough for a subscription without a catalog and a channel"
	case Blocked:
		var names []string
		for _, r := range s.Blocked {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
		return "blocked: " + strings.Join(names, ", ") + " would break a rule"
	}
	return "nothing in the channel follows it"
}

// Warnings tells what a person should know of a solution, a line each: the
// authors' deprecations of what is selected (D12), what was left out (H7), the
// catalogs that took no part (D19), and the rules that could not be evaluated (D7).
// What Refused and Differs state is not among them. The words of authors are on their
// line, with single spaces.
func (s *Solution) Warnings() []string {
	var out []string
	add := func(format string, args ...any) {
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
	}
	for _, x := range s.Selected {
		if x.Bundle == (graph.Bundle{}) {
			continue
		}
		pkg := x.Bundle.Package()
		if m, ok := pkg.Deprecation(); ok {
			add("package %s is deprecated: %s", x.Package, m)
		}
		if ch, ok := pkg.Channel(x.Channel); ok {
			if m, ok := ch.Deprecation(); ok {
				add("channel %s of package %s is deprecated: %s", x.Channel, x.Package, m)
			}
		}
		if m, ok := x.Bundle.Deprecation(); ok {
			add("bundle %s is deprecated: %s", x.Name, m)
		}
	}
	for _, x := range s.LeftOut {
		add("%s is left out: %s", x.Bundle, x.Reason)
	}
	for _, c := range s.Unseen {
		add("%s", s.r.u.p.WhyUnseen(c))
	}
	for _, f := range s.Faults {
		add("%s", f)
	}
	return out
}
