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
// of the selected bundles and of the operators that stay, bundles that were left out, catalogs that were ignored, and
// rules that could not be evaluated. It does not repeat Refused and Differs. Line breaks in
// authors' messages become spaces.
func (s *Solution) Warnings() []string {
	var out []string
	add := func(format string, args ...any) {
		out = append(out, strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " "))
	}
	for _, x := range s.Selected {
		if x.Bundle != (graph.Bundle{}) {
			deprecations(x.Bundle, x.Channel, add)
		}
	}
	for _, x := range s.Stayed {
		for _, line := range s.Deprecations(x.Name) {
			if !slices.Contains(out, line) {
				out = append(out, line)
			}
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

// Deprecations returns the deprecations of a selected bundle or of an installed operator that a subscription owns, and of
// their package and channel, each as a line.
func (s *Solution) Deprecations(name string) (out []string) {
	add := func(format string, args ...any) {
		line := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
		if !slices.Contains(out, line) {
			out = append(out, line)
		}
	}
	for _, x := range s.Selected {
		if x.Name == name && x.Bundle != (graph.Bundle{}) {
			deprecations(x.Bundle, x.Channel, add)
		}
	}
	if s.r == nil {
		return out
	}
	for _, sub := range s.r.u.subs {
		if sub.current == nil || sub.current.Name != name && !slices.ContainsFunc(s.Selected, func(x Selected) bool { return x.Name == name && x.Replaces == sub.current.Name }) {
			continue
		}
		in, _ := s.r.u.sourcesFor(sub)
		for _, c := range in {
			if p, ok := c.Graph.Package(sub.Package); ok {
				if b, ok := p.Bundle(sub.current.Name); ok {
					deprecations(b, sub.Channel, add)
				}
			}
		}
	}
	return out
}

// deprecations adds the deprecations of a bundle, its package and a channel.
func deprecations(b graph.Bundle, channel string, add func(format string, args ...any)) {
	pkg := b.Package()
	if m, ok := pkg.Deprecation(); ok {
		add("package %s is deprecated: %s", pkg.Name(), m)
	}
	if ch, ok := pkg.Channel(channel); ok {
		if m, ok := ch.Deprecation(); ok {
			add("channel %s of package %s is deprecated: %s", channel, pkg.Name(), m)
		}
	}
	if m, ok := b.Deprecation(); ok {
		add("bundle %s is deprecated: %s", b.Name(), m)
	}
}
