package conformance

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// Refused is the answer to a problem that has no solution.
const Refused = "no solution\n"

// Installs returns one line for each bundle that a resolution installs, in order.
func Installs(list []resolver.Selected) string {
	var b strings.Builder
	for _, s := range slices.SortedFunc(slices.Values(list), resolver.Selected.Compare) {
		fmt.Fprintf(&b, "install %s from %s/%s, channel %s", s.Name, s.Catalog, s.CatalogNamespace, s.Channel)
		if s.Replaces != "" {
			fmt.Fprintf(&b, " replaces %s", s.Replaces)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Kept returns one line for each operator that stays, with the reason.
func Kept(list []resolver.Stay) string {
	var b strings.Builder
	for _, s := range list {
		fmt.Fprintf(&b, "keep %s: %s", s.Name, s.Reason)
		for _, r := range s.Blocked {
			fmt.Fprintf(&b, " %s", r.Name)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Nothing is the answer of a resolution that changes nothing and in which every operator
// could be upgraded.
const Nothing = "nothing to do\n"

// Selected returns what a selection chooses, with the deprecations that concern it.
func Selected(s *olmv1.Selection) string {
	var b strings.Builder
	fmt.Fprintf(&b, "select %s (%s) from %s\n", s.Bundle, s.Version, s.Catalog)
	for _, d := range slices.SortedFunc(slices.Values(s.Deprecated), func(a, b olmv1.Deprecated) int {
		return cmp.Or(cmp.Compare(a.Scope, b.Scope), cmp.Compare(a.Name, b.Name))
	}) {
		fmt.Fprintf(&b, "deprecated %s %s: %s\n", d.Scope, d.Name, d.Message)
	}
	return b.String()
}

// Both returns the answers under the two semantics of constraints, or a single one if they agree.
func Both(documented, perBundle string) string {
	if documented == perBundle {
		return documented
	}
	return "documented:\n" + indent(documented) + "per-bundle:\n" + indent(perBundle)
}

func indent(text string) string {
	return "\t" + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n\t") + "\n"
}

// OLMGave reports whether installs, in the form of [Installs], is one of the answers recorded from OLM.
func (c *Case) OLMGave(installs string) bool {
	return slices.Contains(strings.Split(c.OLM, orLine), cmp.Or(installs, Nothing))
}

// AddOLM adds an answer of the running OLM, in the form of Installs.
func (c *Case) AddOLM(installs string) {
	if c.OLM != "" {
		c.OLM += orLine
	}
	c.OLM += cmp.Or(installs, Nothing)
}

const orLine = "or\n"
