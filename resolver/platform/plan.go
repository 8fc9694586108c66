package platform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
)

// A Plan is an ordered upgrade of a platform and its operators.
type Plan struct {
	ID   string `json:"id,omitempty"`
	From string `json:"from"`
	To   string `json:"to"`
	// Reached is the version that the platform reaches. It is To if nothing blocks the
	// upgrade.
	Reached string `json:"reached"`
	// OK reports whether the platform can be upgraded to To.
	OK bool `json:"ok"`
	// Warnings state what was not checked: catalogs that are missing or could not be fully
	// read, by version of the platform, then installed bundles that are not in any
	// catalog, by package and name.
	Warnings []string `json:"warnings,omitempty"`
	// Unchecked has the data of each warning.
	Unchecked []Unchecked `json:"unchecked,omitempty"`
	// Steps are in order. At one version of the platform, operators are sorted by package
	// and name.
	Steps []Step `json:"steps"`
	// Blockers are sorted by operator, then version of the platform. They include those
	// that the plan resolves, and those that only leave an operator behind.
	Blockers []Blocker `json:"blockers"`
	// Operators are the installed operators, by package and name.
	Operators []OperatorPlan `json:"operators"`
}

// MarshalJSON returns the plan as an object. Lists that it always has are never null.
func (p Plan) MarshalJSON() ([]byte, error) {
	type plain Plan
	return json.Marshal(plain(p), json.Deterministic(true))
}

// An Unchecked is something that the plan did not check: a version of the platform without
// a catalog, a catalog that cannot be fully read, or an installed bundle that is not in any
// catalog.
type Unchecked struct {
	// Platform is the version of the platform, empty for a bundle.
	Platform string `json:"platform,omitempty"`
	// Catalog is the name of the catalog, or empty if there is none. Errors is the number
	// of errors in it that may concern an installed operator.
	Catalog string `json:"catalog,omitempty"`
	Errors  int    `json:"errors,omitzero"`
	// Package and Bundle are those of an installed operator.
	Package string      `json:"package,omitempty"`
	Bundle  *graph.Node `json:"bundle,omitzero"`
}

// String returns the warning.
func (u Unchecked) String() string {
	switch {
	case u.Bundle != nil:
		return fmt.Sprintf("no catalog has %s of package %s; not checked: whether it blocks the platform", u.Bundle, u.Package)
	case u.Errors > 0:
		return fmt.Sprintf("catalog %q for %s has %s; the parts with errors were not checked", u.Catalog, u.Platform, phrase.Count(u.Errors, "error"))
	}
	return fmt.Sprintf("no catalog was given for %s; operators were not checked at that version", u.Platform)
}

// A Step is one upgrade: of the platform when Operator is nil.
type Step struct {
	// Platform is the version of the platform at which the step is taken.
	Platform string `json:"platform"`
	// Next is the version that the platform is upgraded to.
	Next    string `json:"next,omitempty"`
	Package string `json:"package,omitempty"`
	Catalog string `json:"catalog,omitempty"`
	// Operator is the upgrade of an operator.
	Operator *graph.Step `json:"operator,omitzero"`
}

// A BlockerKind is a kind of blocker.
type BlockerKind string

const (
	// BlockerMaxOpenShift: olm.maxOpenShiftVersion of the bundle is below the next minor
	// version of the platform, or cannot be read.
	BlockerMaxOpenShift BlockerKind = "max-openshift-version"
	BlockerMinKube      BlockerKind = "min-kube-version" // the bundle needs a newer Kubernetes than the platform runs
	BlockerNoPackage    BlockerKind = "no-package"       // the catalog of that version does not have the package
	BlockerNoChannel    BlockerKind = "no-channel"       // the catalog of that version does not have the channel
	BlockerNoPath       BlockerKind = "no-path"          // there is no path from the installed bundle to the head of its channel
)

// A Blocker is a reason why the platform or an operator cannot be upgraded.
type Blocker struct {
	Package string      `json:"package"`
	Bundle  string      `json:"bundle"`
	Kind    BlockerKind `json:"kind"`
	// Platform is the version of the platform at which the blocker applies.
	Platform string `json:"platform"`
	// Fatal reports that the platform cannot continue. Otherwise the plan resolves the
	// blocker, or the blocker only leaves the operator behind.
	Fatal  bool   `json:"fatal"`
	Reason string `json:"reason"`
	// Lift lists upgrades of the operator that resolve the blocker. If the blocker is
	// fatal, they are not part of the plan, because they need another channel.
	Lift []graph.Step `json:"lift,omitempty"`
	// Channel is the channel that the upgrades in Lift need, if it is not the one that the
	// operator follows.
	Channel string `json:"channel,omitempty"`
	// Switch is a change of channels that prevents the operator from being left behind. It
	// is not part of the plan.
	Switch *Switch `json:"switch,omitzero"`
}

// An OperatorPlan is the result for an operator.
type OperatorPlan struct {
	Package string     `json:"package"`
	From    graph.Node `json:"from"`
	To      graph.Node `json:"to"`
	// AtHead is set if To is the head of its channel in the last catalog of the plan.
	AtHead bool `json:"atHead"`
	// LastSafe is the last version of the platform, at most the plan's To, that the
	// operator supports: the operator blocks no upgrade up to that version, and each
	// catalog up to that version has a path to the head of its channel. LastSafe is a
	// version with a catalog, or empty if there is none.
	LastSafe string `json:"lastSafe"`
	// Checked reports whether there is a catalog for any version that the operator
	// reaches. Without one, it is unknown where the operator is safe.
	Checked bool `json:"checked"`
	// LeftBehind reports whether the platform reaches a version that the operator
	// does not; see [Plan.LeftBehind].
	LeftBehind bool `json:"leftBehind"`
}

// LeftBehind returns the blockers that the platform passes and an operator does not: its
// package, channel or path is missing at some version. An operator that waits for a newer
// Kubernetes counts only if it does not reach its head.
func (p *Plan) LeftBehind() []Blocker {
	var out []Blocker
	for _, x := range p.Blockers {
		arrives := x.Kind == BlockerMinKube && !slices.ContainsFunc(p.Operators, func(o OperatorPlan) bool { return o.Package == x.Package && !o.AtHead })
		if !x.Fatal && len(x.Lift) == 0 && !arrives {
			out = append(out, x)
		}
	}
	return out
}

// String returns the plan as text.
func (p *Plan) String() string {
	var b strings.Builder
	platform, operators := 0, 0
	for _, s := range p.Steps {
		if s.Operator == nil {
			platform++
		} else {
			operators++
		}
	}
	switch {
	case p.OK && p.From == p.To:
		visible.Fprintf(&b, "Platform %s: %s.\n", p.From, phrase.Count(operators, "operator upgrade"))
	case p.OK:
		visible.Fprintf(&b, "Platform %s to %s: %s, %s.\n", p.From, p.To, phrase.Count(platform, "platform upgrade"), phrase.Count(operators, "operator upgrade"))
	default:
		visible.Fprintf(&b, "Platform %s to %s: blocked at %s.\n", p.From, p.To, p.Reached)
	}
	for _, w := range p.Warnings {
		visible.Fprintf(&b, "warning: %s\n", w)
	}
	if len(p.Steps) > 0 {
		b.WriteString("\n")
	}
	for i, s := range p.Steps {
		if s.Operator == nil {
			visible.Fprintf(&b, "%3d. on %s: upgrade the platform to %s\n", i+1, s.Platform, s.Next)
			continue
		}
		visible.Fprintf(&b, "%3d. on %s: %s: %s -> %s (%s)\n", i+1, s.Platform, s.Package, s.Operator.From, s.Operator.To, s.Operator.Why())
	}
	for _, part := range []struct {
		title string
		of    func(Blocker) bool
	}{
		{"Blocks the platform:", func(x Blocker) bool { return x.Fatal }},
		{"Leaves an operator behind or waiting:", func(x Blocker) bool { return !x.Fatal && len(x.Lift) == 0 }},
		{"Resolved by the plan:", func(x Blocker) bool { return !x.Fatal && len(x.Lift) > 0 }},
	} {
		title := part.title
		for _, x := range p.Blockers {
			if !part.of(x) {
				continue
			}
			if title != "" {
				visible.Fprintf(&b, "\n%s\n", title)
				title = ""
			}
			visible.Fprintf(&b, "  %s at %s: %s\n", x.Package, x.Platform, x.Reason)
		}
	}
	if len(p.Operators) > 0 {
		b.WriteString("\nOperators:\n")
	}
	for _, o := range p.Operators {
		visible.Fprintf(&b, "  %s: %s", o.Package, o.From)
		if o.To != o.From {
			visible.Fprintf(&b, " to %s", o.To)
		}
		if o.AtHead {
			b.WriteString(", at the head")
		}
		switch {
		case !o.Checked:
			b.WriteString("; safe versions were not checked\n")
		case o.LastSafe == "":
			b.WriteString("; not safe on any version\n")
		default:
			visible.Fprintf(&b, "; safe up to %s\n", o.LastSafe)
		}
	}
	return b.String()
}
