package cli

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// The escape sequences of a terminal.
const (
	bold   = "\x1b[1m"
	dim    = "\x1b[2m"
	red    = "\x1b[31m"
	green  = "\x1b[32m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

// sequences lists all escape sequences.
var sequences = []string{bold, dim, red, green, yellow, reset}

// paint returns text in a color if the writer supports colors.
func paint(w io.Writer, color, text string) visible.Block {
	text = visible.Line(text)
	if colored(w) {
		text = color + text + reset
	}
	return visible.Block(text)
}

// paintEnd returns a style of lines that paints the end of a text in a color.
func paintEnd(w io.Writer, color, end string) func(line string) string {
	return func(line string) string {
		if text, ok := strings.CutSuffix(line, end); ok {
			return text + string(paint(w, color, end))
		}
		return line
	}
}

// proseWriter returns a writer of lines as wide as a screen allows.
func proseWriter(w io.Writer) *prose.Writer {
	return prose.NewWriter(textWidth(w), (*prose.Style)(styleFor(w)))
}

// writeNotes writes notes, each below the other, in lines as wide as a screen allows.
func writeNotes[T any](w io.Writer, prefix string, notes []T, text func(T) string) error {
	lines := proseWriter(w)
	for _, n := range notes {
		lines.Line(nil, prefix+visible.Words(text(n)), "", "  ")
	}
	_, err := io.WriteString(w, lines.String())
	return err
}

// writeClusterNotes writes notes about a cluster, with their commands.
func writeClusterNotes(w io.Writer, notes []reconcile.Note) error {
	lines := proseWriter(w)
	for _, n := range notes {
		lines.Line(nil, "note: "+visible.Words(n.String()), "", "  ")
		if n.Command != "" {
			lines.Verbatim(n.Command, "  ")
		}
	}
	_, err := io.WriteString(w, lines.String())
	return err
}

// writeHelp writes what keeps operators from newer versions and what helps, with commands to paste: first what the next
// upgrades close, then obstacles, with the approval, and then the other advice.
func writeHelp(w io.Writer, obstacles []reconcile.Obstacle, versions resolver.AdviceList) error {
	var before, after strings.Builder // the approval
	var risks []string
	for _, a := range versions {
		b := &after
		if r := risk(a.Package, a.Outlook); r != "" {
			b, risks = &before, append(risks, r)
		}
		lines := proseWriter(w)
		if !isTrivial(a) {
			lines.Line(nil, "note: "+visible.Words(fullAdvice(a)), "", "  ")
		}
		b.WriteString(lines.String() + adviceHelp(w, a))
	}
	lines := proseWriter(w)
	addObstacles(lines, risky(obstacles, risks), "")
	_, err := io.WriteString(w, before.String()+lines.String()+after.String())
	return err
}

// differencesText returns, as the first lines of an output, where the running OLM decides otherwise, and what the
// output shows. It returns "" if OLM decides alike.
func differencesText(w io.Writer, obstacles []reconcile.Obstacle, shown string) string {
	lines := proseWriter(w)
	if list := slices.DeleteFunc(slices.Clone(obstacles), func(o reconcile.Obstacle) bool { return !ofOLM(o) }); len(list) > 0 {
		last := &list[len(list)-1]
		end := &last.Reason
		if last.Remedy != "" {
			end = &last.Remedy
		}
		*end += ". " + shown
		addObstacles(lines, list, "")
	}
	return lines.String()
}

// risky adds what an install plan does that may not be wanted to obstacles that await its approval.
func risky(obstacles []reconcile.Obstacle, risks []string) []reconcile.Obstacle {
	obstacles = slices.Clone(obstacles)
	for i := range obstacles {
		if o := &obstacles[i]; o.By == resolver.HeldByApproval && len(risks) > 0 {
			o.Reason += "; the plan " + phrase.And(risks)
		}
	}
	return obstacles
}

// adapt completes advice by what the cluster knows: which bundles of fixes it refuses, and what abandon does. A fix that removes
// an operator for such a bundle is left out.
func adapt(ctx context.Context, list resolver.AdviceList, s *reconcile.Snapshot, created []olm.Key) error {
	for i := range list {
		a := &list[i]
		kept := a.Fixes[:0]
		for _, f := range a.Fixes {
			for _, x := range f.Selected {
				if x.Package != a.Package {
					continue
				}
				why, err := reconcile.Refusal(ctx, s, x)
				if err != nil {
					return err
				}
				if why != "" {
					f.Misfits = append(f.Misfits, resolver.Misfit{Bundle: x.Name, By: resolver.HeldByCRD, Why: why})
				}
			}
			refused := slices.ContainsFunc(f.Misfits, func(m resolver.Misfit) bool { return m.By == resolver.HeldByCRD })
			if !refused || f.Changes[0].Kind != resolver.Reinstall {
				kept = append(kept, f)
			}
		}
		a.Fixes = kept
	}
	abandon(list, s, created)
	return nil
}

// abandon completes ways that the approval of an install plan would close. OLM takes them only once
// the plan, if it waits already, is deleted. created are plans that do not exist yet.
func abandon(list resolver.AdviceList, s *reconcile.Snapshot, created []olm.Key) {
	plan := waitingPlan(s, created)
	if plan == nil {
		return
	}
	first, discard := reconcile.Discard(s.Subscriptions, plan)
	discarded := first + "delete install plan " + plan.Metadata.Name + ", for which OLM waits"
	for j := range list {
		a := &list[j]
		keeps := a.Kind == resolver.AdviceDowngrade && a.Outlook.Keep != nil && len(a.Commands) > 0
		if (a.Kind == resolver.AdviceCloses || keeps) && risk(a.Package, a.Outlook) != "" {
			if keeps {
				a.Text += ", and then " + discarded
			} else {
				a.Text += ". After the first change, " + discarded + ", and approve the one that OLM creates then"
			}
			a.Commands = slices.Insert(slices.Clone(a.Commands), min(1, len(a.Commands)), discard...)
		}
	}
}

// waitingPlan returns an install plan of the namespace that waits for approval, or nil.
func waitingPlan(s *reconcile.Snapshot, created []olm.Key) *olm.InstallPlan {
	for _, ip := range s.InstallPlans {
		if ip.Metadata.Namespace == s.Namespace && ip.Status.Phase == olm.PlanRequiresApproval && !ip.Spec.Approved && !slices.Contains(created, ip.Key()) {
			return ip
		}
	}
	return nil
}

// risk returns what the next upgrade of a package does that may not be wanted, or "".
func risk(of string, o *graph.Outlook) string {
	switch {
	case o == nil:
	case o.Closes != nil && o.Closes.From == o.From:
		end := o.Way.End()
		return "closes the way of " + of + " to " + cmp.Or(end.Version, end.Name)
	case o.Downgrade != nil && o.Downgrade.From == o.From:
		return "takes " + of + " back to " + cmp.Or(o.Downgrade.To.Version, o.Downgrade.To.Name)
	}
	return ""
}

// adviceHelp returns the commands that change the channel of an operator, and the fixes of an advice.
func adviceHelp(w io.Writer, a resolver.Advice) string {
	var b strings.Builder
	for i, c := range a.Commands {
		visible.Fprintf(&b, "%s: %s\n", commandLabel(a, i), c)
	}
	return b.String() + a.FixesText(textWidth(w), styleFor(w))
}

// commandLabel returns what a command of an advice does. Several are to be run one after the other, as
// its text states.
func commandLabel(a resolver.Advice, i int) string {
	switch n := len(a.Commands); {
	case a.Kind == resolver.AdviceDowngrade && a.Outlook.Way == nil:
		return "to keep " + a.Outlook.Downgrade.From.Name
	case n > 1:
		text := fmt.Sprintf("to upgrade %s, step %d of %d", a.Package, i+1, n)
		if first := installedBefore(a, i); first != "" {
			text += ", when " + first + " is installed"
		}
		return text
	case a.Outlook != nil && installedBefore(a, i) != "":
		return fmt.Sprintf("to upgrade %s, when %s is installed", a.Package, installedBefore(a, i))
	}
	if a.Outlook != nil && a.Outlook.Fresh {
		return "to get a newer version of " + a.Package
	}
	return "to upgrade " + a.Package
}

// installedBefore returns the version that must be installed before a command of an advice is run, or "".
func installedBefore(a resolver.Advice, i int) string {
	way, n := a.Outlook.Way, len(a.Commands)
	if way == nil || i <= n-len(way.Legs) { // another command may come before those of the legs
		return ""
	}
	end := way.Legs[i-1-n+len(way.Legs)].End()
	return cmp.Or(end.Version, end.Name)
}

// unsettled removes the commands that require approval for upgrades which wait for it anyway.
func unsettled(list resolver.AdviceList, obstacles []reconcile.Obstacle) {
	if !slices.ContainsFunc(obstacles, func(o reconcile.Obstacle) bool {
		return o.By == resolver.HeldByApproval || o.By == resolver.HeldByInstallPlan && o.InstallPlan != ""
	}) {
		return
	}
	for i := range list {
		if a := &list[i]; a.Kind == resolver.AdviceDowngrade && a.Outlook.Way == nil && a.Outlook.Keep == nil {
			a.Commands = nil
		}
	}
}

// holdsAlike reports whether two obstacles are one that holds back several bundles.
func holdsAlike(a, b reconcile.Obstacle) bool { return a.Reason == b.Reason && a.Remedy == b.Remedy }

// waits reports whether an obstacle is why an installed operator is not replaced yet.
func waits(o reconcile.Obstacle, operator string) bool {
	return o.By == resolver.HeldByUnready && o.Bundle == operator
}

// addObstacles adds what keeps operators from newer versions, with commands to paste. Why the operator waiting is not
// replaced yet is left out, because the lines before state it.
func addObstacles(lines *prose.Writer, obstacles []reconcile.Obstacle, waiting string) {
	for i, o := range obstacles {
		if slices.ContainsFunc(obstacles[:i], func(x reconcile.Obstacle) bool { return holdsAlike(x, o) }) {
			continue
		}
		if !waits(o, waiting) {
			lines.Line(nil, "held back: "+visible.Words(o.String()), "", "  ")
		}
		same := func(x reconcile.Obstacle) bool { return slices.Equal(x.Commands, o.Commands) }
		if slices.ContainsFunc(obstacles[:i], same) {
			continue // bundles that one command helps
		}
		for _, c := range o.Commands {
			lines.Verbatim(c, "  ")
		}
	}
}

// styleFor returns the style of explanations for a writer.
func styleFor(w io.Writer) *resolver.Style {
	s, ok := w.(*screen)
	places := ok && s.settings.places
	if !colored(w) {
		return &resolver.Style{Places: places}
	}
	in := func(color string) func(string) string {
		return func(line string) string { return color + line + reset }
	}
	return &resolver.Style{Headline: in(bold), Origin: in(dim), Quote: in(yellow), Help: in(green), Places: places}
}
