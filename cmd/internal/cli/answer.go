package cli

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// An answer is the answer to one problem: a solution, a conflict, or the reason why there
// is neither.
type answer struct {
	ID string `json:"id,omitempty"`
	// Namespace is the namespace of the problem, with --all-namespaces.
	Namespace string `json:"namespace,omitempty"`
	// OK reports whether there is a solution.
	OK       bool                `json:"ok"`
	Selected []resolver.Selected `json:"selected"`
	Stayed   []resolver.Stay     `json:"stayed,omitempty"`
	LeftOut  []resolver.LeftOut  `json:"leftOut,omitempty"`
	// Unseen lists the catalogs that the namespace does not see.
	Unseen []resolver.CatalogID `json:"unseen,omitempty"`
	// Differs lists the rules by which the running OLM's answer would differ.
	Differs []resolver.Difference `json:"differs,omitempty"`
	Faults  []resolver.Fault      `json:"faults,omitempty"`
	// Deprecated are the deprecations of selected bundles and of operators that stay, and of their packages and channels.
	Deprecated []string `json:"deprecated,omitempty"`
	// Advice explains why operators do not get a newer version.
	Advice resolver.AdviceList `json:"advice,omitempty"`
	// Obstacles are what keeps bundles from being installed or from running in the cluster.
	Obstacles []reconcile.Obstacle `json:"obstacles,omitempty"`
	// Deleted are operators that were deleted while their subscriptions stayed, and what is installed in
	// their place.
	Deleted []reconcile.DeletedOperator `json:"deleted,omitempty"`
	// Refused is the conflict that made a partial answer leave out parts of the problem.
	Refused  *resolver.Report `json:"refused,omitzero"`
	Conflict *resolver.Report `json:"conflict,omitzero"`
	// Error is the reason why the problem was not answered.
	Error string `json:"error,omitempty"`

	err      error // of Error
	problem  *resolver.Problem
	solution *resolver.Solution
	// reasons holds the reason for each of Selected.
	reasons []string
}

func newAnswer(p *resolver.Problem, sol *resolver.Solution) *answer {
	var deprecated []string
	for _, x := range sol.Selected {
		deprecated = append(deprecated, sol.Deprecations(x.Name)...)
	}
	for _, x := range sol.Stayed {
		deprecated = append(deprecated, sol.Deprecations(x.Name)...)
	}
	slices.Sort(deprecated)
	return &answer{ID: p.ID, OK: true, Deprecated: slices.Compact(deprecated), Selected: sol.Selected, Stayed: sol.Stayed, LeftOut: sol.LeftOut, Unseen: sol.Unseen, Differs: sol.Differs, Faults: sol.Faults, problem: p, solution: sol}
}

// isGone reports whether a bundle was deleted and is not installed again.
func (a *answer) isGone(bundle string) bool {
	return slices.ContainsFunc(a.Deleted, func(d reconcile.DeletedOperator) bool { return d.Deleted == bundle && d.Next == "" })
}

// unanswered returns an answer that consists of an error.
func unanswered(p *resolver.Problem, err error) *answer {
	return &answer{ID: p.ID, Error: err.Error(), err: err, problem: p}
}

func (a *answer) text(w io.Writer) error {
	switch {
	case a.Conflict != nil:
		return a.conflictText(w)
	case slices.ContainsFunc(a.Obstacles, unready) && a.err != nil:
		lines := proseWriter(w)
		for _, o := range slices.DeleteFunc(slices.Clone(a.Obstacles), func(o reconcile.Obstacle) bool { return !unready(o) }) {
			lines.Line(nil, "Not resolved: "+visible.Words(o.String()), "", "  ")
			for _, c := range o.Commands {
				lines.Verbatim(c, "  ")
			}
		}
		_, err := io.WriteString(w, lines.String())
		return err
	case a.err != nil:
		text := fmt.Sprintf("Not resolved: %s\n", bare(a.err))
		if sick := (*resolver.UnhealthyError)(nil); errors.As(a.err, &sick) {
			for _, c := range sick.Commands() {
				text += "  " + visible.Line(c) + "\n"
			}
		}
		_, err := visible.Fprintf(w, "%s", visible.Block(text))
		return err
	}
	t := table{header: []string{"ACTION", "PACKAGE", "FROM", "TO", "BUNDLE", "CHANNEL", "CATALOG", "WHY"}}
	left := map[string]*resolver.Installed{} // by name; never ranged over
	for i := range a.problem.Installed {
		in := &a.problem.Installed[i]
		left[in.Name] = in
	}
	for i, s := range a.Selected {
		action, from := "install", ""
		if in := left[s.Replaces]; in != nil {
			action, from = replacement(in, s), in.Version
			delete(left, s.Replaces)
		}
		if a.isGone(s.Name) {
			action = "deleted"
		}
		t.add(action, s.Package, from, s.Version, s.Name, s.Channel, a.catalog(s), a.reasons[i])
	}
	for _, s := range a.Stayed {
		version := ""
		if in := left[s.Name]; in != nil {
			version = in.Version
		}
		delete(left, s.Name)
		t.add("keep", s.Package, version, version, s.Name, a.channelOf(s.Name), "", s.String())
	}
	for _, in := range a.problem.Installed {
		if left[in.Name] != nil {
			t.add("keep", in.PackageName(), in.Version, in.Version, in.Name, "", "", cmp.Or(in.Held, "no subscription"))
		}
	}
	if !slices.ContainsFunc(a.Selected, func(s resolver.Selected) bool { return !followsItself(s) }) {
		if _, err := visible.Fprintf(w, "Nothing to install or upgrade in namespace %s.\n", a.problem.Namespace); err != nil {
			return err
		}
	}
	if len(t.rows) > 0 {
		if err := t.text(w); err != nil {
			return err
		}
	}
	lines := proseWriter(w)
	for _, line := range a.warnings() {
		lines.Line(nil, line, "", "  ")
	}
	for _, s := range a.Selected {
		if followsItself(s) {
			lines.Line(nil, "note: "+s.Name+" stays: its entry accepts an upgrade from itself, a mistake in the catalog that has no effect", "", "  ")
		}
	}
	for _, d := range a.Deleted {
		if d.Next != "" { // otherwise it is an obstacle
			lines.Line(nil, "note: "+visible.Words(d.Text), "", "  ")
		}
	}
	for i, x := range a.Advice {
		if len(x.HeldBy) > 0 && !x.NeedsAttention() { // policies do what they should
			lines.Line(nil, labeled("note", x.Kind, summary(a.Advice, i)), "", "  ")
		}
	}
	for _, x := range calm(a.Advice) {
		text := x.Summary()
		if x.Elsewhere != nil && len(x.Fixes) > 0 {
			text += "; to install it at once, " + x.Fixes[0].String()
		} else if leads := !x.Outlook.Fresh || x.Outlook.Way != nil; leads && len(x.Commands) > 0 || len(x.Fixes) > 0 { // else the summary states it
			text += `; "olmkit explain" shows how to get there`
		}
		lines.Line(nil, labeled("note", x.Kind, text), "", "  ")
	}
	if _, err := io.WriteString(w, lines.String()); err != nil {
		return err
	}
	return writeHelp(w, a.Obstacles, nil)
}

// channelOf returns the channel that the subscription of an operator names, or "".
func (a *answer) channelOf(operator string) string {
	for _, s := range a.problem.Subscriptions {
		if s.InstalledCSV == operator {
			return s.Channel
		}
	}
	return ""
}

// replacement names the change from an installed operator to a bundle (H2).
func replacement(in *resolver.Installed, s resolver.Selected) string {
	if followsItself(s) {
		return "keep"
	}
	from, err := semver.Parse(in.Version)
	to, err2 := semver.Parse(s.Version)
	if err != nil || err2 != nil || !to.LT(from) {
		return "upgrade"
	}
	if version.Rebuilds(to, from) {
		for e := range s.Bundle.Entries() {
			if e.Replaces() == in.Name {
				return "upgrade"
			}
		}
	}
	return "downgrade"
}

// followsItself reports whether an operator would be replaced with itself. OLM skips that, because its subscription
// has this version already (H2).
func followsItself(s resolver.Selected) bool { return s.Replaces == s.Name }

// calm returns the advice that needs no attention: several steps follow, only other channels lead
// further, or a subscription is not needed.
func calm(list resolver.AdviceList) []resolver.Advice {
	return slices.DeleteFunc(slices.Clone([]resolver.Advice(list)), func(a resolver.Advice) bool {
		return a.Kind != resolver.AdviceDuplicate && (a.NeedsAttention() || a.HeldBy != nil || isTrivial(a))
	})
}

// isTrivial reports whether an advice only states that one step leads to the head.
func isTrivial(a resolver.Advice) bool {
	return a.Kind == resolver.AdviceKind(graph.OutlookStepsAway) && a.HeldBy == nil && len(a.Outlook.Steps) < 2 && a.Outlook.Newest == nil && a.Elsewhere == nil
}

// catalog returns the name of a bundle's catalog, with its namespace if the name is
// ambiguous.
func (a *answer) catalog(s resolver.Selected) string {
	for _, c := range a.problem.Catalogs {
		if c.Name == s.Catalog && c.Namespace != s.CatalogNamespace {
			return s.CatalogNamespace + "/" + s.Catalog
		}
	}
	return s.Catalog
}

// conflictText writes the explanation of the conflict, with possible fixes.
func (a *answer) conflictText(w io.Writer) error {
	text := a.Conflict.Text(textWidth(w), styleFor(w))
	_, err := visible.Fprintf(w, "No solution in namespace %s:\n\n%s", a.problem.Namespace, visible.Block(text))
	return err
}

// reason returns a short text with all reasons for a selected bundle (D17).
func reason(ctx context.Context, sol *resolver.Solution, name string) (string, error) {
	all, err := sol.RequiredBy(ctx, name)
	if err != nil {
		return "", err
	}
	var asked, required []string
	seen := map[string]bool{}
	for _, r := range all {
		switch by := r.By.Name; {
		case r.Subscription != "":
			asked = append(asked, r.Subscription)
		case by != "" && !seen[by]:
			seen[by] = true
			required = append(required, by)
		}
	}
	var parts []string
	if len(asked) > 0 {
		parts = append(parts, "subscription "+strings.Join(asked, ", "))
	}
	if len(required) > 0 {
		parts = append(parts, "required by "+strings.Join(required, ", "))
	}
	return strings.Join(parts, "; "), nil
}

// summary returns an entry of advice with its first fix, and where to find more.
func summary(list resolver.AdviceList, i int) string {
	text, fix := list.SummaryWithFix(i)
	if fix != nil {
		return text + `; "olmkit explain" shows more`
	}
	return text + `; "olmkit explain" shows why, and what helps`
}

// labeled returns a line with its label and code.
func labeled[C ~string](label string, code C, text string) string {
	return label + " (" + string(code) + "): " + visible.Words(text)
}

// warnings returns lines with warnings about the answer. For a partial answer, they include what it
// leaves out.
func (a *answer) warnings() []string {
	var lines []string
	if a.Refused != nil {
		lines = append(lines, labeled("warning", a.Refused.Cores[0].Code, a.solution.Refused.Error()))
	}
	for _, line := range a.solution.Warnings() {
		lines = append(lines, "warning: "+line)
	}
	for i, x := range a.Advice {
		if x.NeedsAttention() {
			lines = append(lines, labeled("warning", x.Kind, summary(a.Advice, i)))
		}
	}
	for _, d := range a.Differs {
		if slices.ContainsFunc(a.Obstacles, differs) {
			break // they state it
		}
		lines = append(lines, "warning: "+visible.Words(d.String()))
	}
	return lines
}
