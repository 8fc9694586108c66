package resolver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
)

// String returns why the operator is not upgraded, in a few words.
func (s Stay) String() string {
	switch s.Reason {
	case StaysAtHead:
		return "at the head of its channel"
	case StaysPresent:
		return "already installed, which satisfies a subscription without a catalog or channel"
	case StaysBlocked:
		var names []string
		for _, r := range s.Blocked {
			if !slices.Contains(names, r.Name) {
				names = append(names, r.Name)
			}
		}
		return "held back: " + strings.Join(names, ", ") + " cannot be installed"
	}
	return "no successor in its channel"
}

// Warnings returns what users should know about a solution, one line each: deprecations
// of the selected bundles, bundles that were left out, catalogs that were ignored, and
// rules that could not be evaluated. It does not repeat Refused and Differs. Line breaks in
// authors' messages become spaces.
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
