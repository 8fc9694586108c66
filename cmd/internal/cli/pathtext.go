package cli

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
)

func (a *pathAnswer) text(w io.Writer) error {
	var b strings.Builder
	line := func(text, rest string) {
		t := proseWriter(w)
		t.Line(nil, text, "", rest)
		b.WriteString(t.String())
	}
	steps := func(list []graph.Step) {
		for i, s := range list {
			visible.Fprintf(&b, "%3d. %s -> %s (%s)%s\n", i+1, s.From, s.To, s.Why(), a.verdict(s))
		}
	}
	to := "the head"
	if a.To != nil {
		to = a.To.String()
	}
	without := ""
	if len(a.Avoided) > 0 {
		without = " without " + avoidText(a.avoid)
	}
	switch {
	case !a.OK && len(a.Blocking) > 0:
		visible.Fprintf(&b, "No path leads from %s to %s%s. Each path takes at least one of these upgrades, and may take more like them:\n", a.From, to, without)
		writeEdges(&b, a.Blocking)
	case !a.OK:
		in, where := "", ""
		if len(a.Channels) > 0 && a.To != nil {
			in = " in " + phrase.Plural(len(a.Channels), "channel") + " " + phrase.And(a.Channels)
		}
		switch {
		case a.Way != nil:
			where = ". " + prose.WayTo(a.Way, a.Reading, strings.Join(a.Channels, ","))
		case a.To == nil:
		case a.goesBack():
			where = ", which is older, " + a.back()
		default:
			where = "; no channel of the catalog leads there"
		}
		switch {
		case a.Outlook == nil || a.goesBack():
		case a.unreachable():
			if where += ". " + prose.Situation(a.Outlook); a.again != "" {
				where += ". To get there, " + a.jump()
			}
		case a.assumed:
			where += ". " + prose.Assumed(a.Outlook)
		default:
			where += ". " + prose.Outlook(a.Outlook)
		}
		if a.Certified != nil {
			where += ". To get to " + a.Certified.String() + " nevertheless, "
			if at := a.Outlook.End(); at != a.From {
				where += "once " + cmp.Or(at.Version, at.Name) + " is installed, "
			}
			where += "set upgradeConstraintPolicy to SelfCertified, and back afterwards" + riskOfJump
		}
		line(fmt.Sprintf("No path%s leads from %s to %s%s.", in, a.From, to, where), "")
		t := proseWriter(w)
		t.Legs(a.way(), a.Commands, "  ")
		b.WriteString(t.String())
		b.WriteString(resolver.Advice{Package: a.Package, Fixes: a.Fixes}.FixesText(textWidth(w), styleFor(w)))
	case len(a.Shortest) == 0:
		visible.Fprintf(&b, "%s is already there.\n", a.From)
	default:
		visible.Fprintf(&b, "The shortest path from %s to %s%s has %s:\n", a.From, to, without, phrase.Count(len(a.Shortest), "step"))
		steps(a.Shortest)
		if len(a.Avoided) > 0 {
			visible.Fprintf(&b, "Avoided:\n")
			writeEdges(&b, a.Avoided)
		}
	}
	if text := a.follows(); text != "" {
		line(text, "")
		t := proseWriter(w)
		t.Legs(nil, a.Commands, "  ")
		b.WriteString(t.String())
	} else if len(a.Walk.Steps) > 0 && (a.OK || len(a.Avoided) > 0) {
		visible.Fprintf(&b, "\n%s on its own takes %s", readerName(a.Reading), phrase.Count(len(a.Walk.Steps), "step"))
		switch {
		case a.Walk.Loops:
			b.WriteString(" and returns to where it started")
		case a.Walk.AtHead:
			b.WriteString(" and reaches the head")
		default:
			visible.Fprintf(&b, " and stays at %s", a.Walk.End)
		}
		b.WriteString(":\n")
		steps(a.Walk.Steps)
	}
	if a.Back != nil {
		line("warning: "+prose.Downgrade(a.Back), "  ")
	}
	a.migrations(&b, w)
	if list := a.unjudged(); len(list) > 0 {
		line(fmt.Sprintf("note: %s could not be judged: %s; name the directory of the bundles with --bundles, or a catalog that has their manifests",
			phrase.Count(len(list), "upgrade"), list[0].Error), "  ")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// follows states how far OLM takes the path on its own, or returns "" if it takes another one.
func (a *pathAnswer) follows() string {
	beyond, is := a.beyond()
	if !is {
		return ""
	}
	if stop := a.stop(); stop != "" {
		return readerName(a.Reading) + " " + stop + "."
	}
	own := readerName(a.Reading) + " takes this path on its own"
	if a.unchecked {
		own += " if its check of CRDs accepts the upgrades (--impact shows that)"
	}
	end, _ := a.stopsEarly()
	how := "set installPlanApproval to Manual, and approve nothing further"
	if len(a.Shortest) > 0 {
		how += " once it is installed"
	}
	if a.Reading == graph.V1 {
		how = "set the version to " + cmp.Or(end.Version, end.Name)
	}
	switch {
	case len(beyond) == 0 && len(a.Shortest) == 0:
		return ""
	case len(beyond) == 0:
		return own + "."
	case len(a.Shortest) == 0:
		return fmt.Sprintf("%s continues to %s in %s. To stay at %s, %s.", readerName(a.Reading), a.Walk.End, phrase.Count(len(beyond), "step"), end, how)
	}
	return fmt.Sprintf("%s, and continues to %s in %s. To stop at %s, %s.", own, a.Walk.End, phrase.Count(len(beyond), "more step"), end, how)
}

// jump states, as an infinitive clause, how to install a bundle to which no way leads, with the risk.
func (a *pathAnswer) jump() string {
	text := fmt.Sprintf("remove %s and install %s from channel %s, with installPlanApproval Manual", a.From.Name, a.To.Name, a.again)
	if a.Reading == graph.V1 {
		text = fmt.Sprintf("set the version to %s with upgradeConstraintPolicy SelfCertified", cmp.Or(a.To.Version, a.To.Name))
	}
	return text + riskOfJump
}

// riskOfJump is the risk of installing a bundle to which no way leads, after a full stop.
const riskOfJump = ". Risk: no upgrade leads there, so it may fail or lose data; back up its resources"

// back states how to get to an older version, as a clause.
func (a *pathAnswer) back() string {
	switch {
	case a.again == "":
		return "and no channel offers it"
	case a.Reading == graph.V1:
		return "and OLM v1 does not go back on its own. To go back, " + a.jump()
	}
	return "and no entry leads back. To go back, " + a.jump()
}

// stop returns where OLM stops on the path until someone acts, with the reason, as a predicate, or "".
func (a *pathAnswer) stop() string {
	as := func(at string) string {
		if at == a.From.Name {
			return "stays at " + at
		}
		return "takes this path as far as " + at
	}
	dead := ""
	if d := a.DeadEnd; d != nil && d.Because != "" {
		dead = fmt.Sprintf("%s: %s", as(d.At.Name), d.Because)
	} else if d != nil {
		dead = fmt.Sprintf("%s, unless an installed operator or another catalog satisfies what %s requires: %s", as(d.At.Name), d.Bundle, d.Requires)
	}
	for i := range a.Impact[:min(len(a.Impact), len(a.Shortest))] {
		switch e := &a.Impact[i]; {
		case a.DeadEnd != nil && e.From == a.DeadEnd.At.Name:
			return dead
		case a.Reading == graph.V1 && e.refused:
			return fmt.Sprintf("%s: unless its check of CRDs is off, it refuses the upgrade to %s", as(e.From), e.To)
		case len(e.Migrate) > 0:
			return fmt.Sprintf("%s; the upgrade to %s waits for the migration", as(e.From), e.To)
		}
	}
	return dead
}

// migrations writes what must be migrated before upgrades of the path.
func (a *pathAnswer) migrations(b *strings.Builder, w io.Writer) {
	for _, e := range a.Impact {
		for _, m := range e.Migrate {
			t := proseWriter(w)
			old := phrase.And(m.Stored)
			t.Line(nil, fmt.Sprintf("before the upgrade to %s: rewrite the resources of CRD %s, which may be stored as %s, and remove %s from status.storedVersions; otherwise the API server refuses the new CRD",
				e.To, m.CRD, old, old), "", "  ")
			t.Verbatim(kubectl.All(m.CRD)+" | kubectl replace -f -", "  ")
			t.Verbatim(kubectl.PatchStatus("crd", "", m.CRD, map[string]any{"storedVersions": m.Kept}), "  ")
			b.WriteString(t.String())
		}
	}
}

// verdict returns the verdict on a step, in brackets after a space, if it is known.
func (a *pathAnswer) verdict(s graph.Step) string {
	for _, e := range slices.Concat(a.Impact, a.Avoided) {
		switch {
		case e.From != s.From.Name || e.To != s.To.Name:
		case e.Error != "":
			return " [not judged]"
		default:
			text := e.verdictText()
			if len(e.Migrate) > 0 {
				text += "; fails before a migration, see below"
			}
			return " [" + text + "]"
		}
	}
	return ""
}

// readerName returns the name of the OLM version that uses a reading.
func readerName(r graph.Reading) string {
	if r == graph.V1 {
		return "OLM v1"
	}
	return "Classic OLM"
}
