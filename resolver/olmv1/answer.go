package olmv1

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/prose"
)

// Select returns the bundle that OLM v1 would install or upgrade to. It does not modify the
// request. Goroutines may share its catalogs. The answer does not depend on the order of
// catalogs.
//
// The error is a [*Refusal] if no bundle can be chosen, a [*document.Error] if the request
// is malformed or a selected catalog is not loaded, a [*graph.IndexError] if part of a
// catalog cannot be read, or the context's error.
func Select(ctx context.Context, r Request) (*Selection, error) { // G3
	sel, err := answer(ctx, &r)
	for i := range r.Catalogs {
		if c := r.Catalogs[i].Graph; c != nil && c.Err() != nil {
			return nil, c.Err()
		}
	}
	return sel, err
}

func answer(ctx context.Context, r *Request) (*Selection, error) {
	s, err := selectFor(ctx, r)
	if err != nil {
		return nil, err
	}
	return s.outcome(ctx)
}

// outcome returns the selection with its notes, or the refusal with its fixes.
func (s *selecting) outcome(ctx context.Context) (*Selection, error) {
	if s.refusal != nil {
		err := s.refuse(ctx)
		if r := s.refusal; err == error(r) && r.Code == RefusedTie && len(r.Fixes) == 0 {
			if failed := s.afterTie(ctx, r); failed != nil {
				return nil, failed
			}
		}
		return nil, err
	}
	held, err := s.heldBack(ctx)
	if err != nil {
		return nil, err
	}
	later, err := s.heldBackLater(ctx)
	if err != nil {
		return nil, err
	}
	tooNew, err := s.tooNew(ctx)
	if err != nil {
		return nil, err
	}
	sel := s.selection(append(tooNew, held...), later)
	if err := s.limited(ctx, sel); err != nil {
		return nil, err
	}
	return sel, s.uncertified(ctx, sel)
}

// limited adds to the note about a later upgrade that OLM v1 refuses the version range that ends the upgrades before it.
func (s *selecting) limited(ctx context.Context, sel *Selection) error {
	i := slices.IndexFunc(sel.Notes, func(n Note) bool { return n.Code == NoteMoreSteps && len(n.Commands) == 0 })
	if i < 0 || s.endsInRange() != "" || !s.isNext(s.left[0]) {
		return nil
	}
	x := s.refusedStep()
	if x == nil {
		return nil
	}
	f := Fix{Kind: FixVersion, Version: "<=" + x.From.Version}
	q := f.apply(*s.Request)
	after, err := selected(ctx, &q)
	if after == nil || err != nil {
		return err
	}
	c, err := s.course(ctx, after)
	if err == nil && c.End().Name == x.From.Name && c.Refusal == "" {
		n := &sel.Notes[i]
		n.Text += fmt.Sprintf(". To stay at %s without that error, set the version to %s", x.From.Version, f.Version)
		n.Commands = []Command{{Line: s.command(&f)}}
	}
	return err
}

// uncertified adds to the note about the bundle from which no upgrade leads on, the installed one or a later one, what
// OLM v1 would install over it without an edge.
func (s *selecting) uncertified(ctx context.Context, sel *Selection) error {
	o := sel.Outlook
	i := slices.IndexFunc(sel.Notes, func(n Note) bool {
		return len(n.Commands) == 0 && (n.Code == NoteStuck || n.Code == NoteMoreSteps && o.EndsEarly() && s.reachesEnd())
	})
	if i < 0 || o.Way != nil || s.Policy == SelfCertified || len(s.excluded) > 0 {
		return nil
	}
	if g := o.Gap; g != nil && g.Replaced {
		return nil // what has the higher version is older
	}
	f := Fix{Kind: FixUncertified, Policy: SelfCertified, Channels: s.Channels}
	q := f.apply(*s.Request)
	command, when := Command{Line: s.command(&f)}, ""
	if end := o.End(); sel.Notes[i].Code == NoteMoreSteps {
		q.Installed = &Installed{Name: end.Name, Version: end.Version}
		command.After, when = end, "once "+end.Version+" is installed, "
	}
	after, err := selected(ctx, &q)
	if after == nil || err != nil {
		return err
	}
	got := after.left[0]
	if jump := after.jump(got); jump != "" && got.version.Compare(after.release) > 0 {
		n := &sel.Notes[i]
		n.Text += ". To get to " + got.Name() + " nevertheless, " + when + "set upgradeConstraintPolicy to SelfCertified" + riskOf(jump) + ", and set the policy back afterwards"
		n.Commands = []Command{command}
	}
	return nil
}

// reachesEnd reports whether OLM v1 follows the steps of the outlook to their end: the version range allows all of them, and it
// refuses none.
func (s *selecting) reachesEnd() bool {
	return s.endsInRange() == "" && !slices.ContainsFunc(s.outlook().Steps, func(x graph.Step) bool { return s.isRefused(x.To) })
}

// afterTie completes a tie that no choice of a catalog resolves with why OLM v1 then still selects nothing, and with the
// fixes for that, each with the choice.
func (s *selecting) afterTie(ctx context.Context, r *Refusal) error {
	choice := s.drafts(r)[len(r.Tied)] // a priority, with which the other catalogs still satisfy dependencies
	q := choice.apply(*s.Request)
	_, err := answer(ctx, &q)
	var no *Refusal
	if !errors.As(err, &no) {
		return err
	}
	r.Message += ". Then OLM v1 still selects nothing: " + no.Message
	r.Dependencies, r.Fixes = no.Dependencies, no.Fixes
	for _, f := range r.Fixes {
		if f.Kind != FixClassic {
			f.Priority, f.Command = choice.Priority, s.command(choice)+" && "+f.Command
			f.Text = fmt.Sprintf("raise the priority of catalog %s to %d, which applies to all ClusterExtensions, and %s", choice.raised, choice.Priority, f.Text)
		}
	}
	return nil
}

// selection returns the only remaining candidate.
func (s *selecting) selection(held, later []Note) *Selection {
	c := s.left[0]
	s.note(c, held, later)
	return &Selection{
		ID: s.ID, OK: true, Catalog: c.source.Name, Bundle: c.Name(), Version: c.text(),
		Deprecated: s.deprecations(c), Notes: s.notes, Outlook: s.outlook(), Funnel: s.funnel, Graph: c.Bundle,
	}
}

// note adds notes about unexpected aspects of a selection, and about what holds it back now and later.
func (s *selecting) note(c candidate, held, later []Note) {
	add := func(code NoteCode, format string, args ...any) {
		s.notes = append(s.notes, Note{Code: code, Text: fmt.Sprintf(format, args...)})
	}
	var passed, pre []string
	for _, d := range s.funnel.Dropped {
		parsed, err := semver.Parse(d.Version)
		v := graph.ReadRelease(parsed)
		if err != nil || v.Compare(c.version) <= 0 {
			continue
		}
		switch {
		case d.Stage == StageDeprecation:
			passed = append(passed, d.Bundle)
		case d.Stage == StageRange && len(v.Version.Pre) > 0 && s.rng.Contains(final(v.Version)):
			pre = append(pre, d.Bundle)
		}
	}
	if len(passed) > 0 {
		add(NoteDeprecated, "newer bundles are deprecated and were passed over: %s", strings.Join(passed, ", "))
	}
	if len(pre) > 0 {
		add(NotePrereleases, "the range %q names no prerelease and leaves out newer ones: %s", s.rng, strings.Join(pre, ", "))
	}
	if !s.rng.IsZero() && s.rng.isVersion() && strings.Contains(s.Version, "+") && s.Version != c.text() {
		add(NotePin, "the version %q also allows %s: a version range ignores what follows the +", s.Version, c.text())
		held = slices.DeleteFunc(slices.Clone(held), func(n Note) bool { return n.Code == NoteHeldBack })
	}
	s.notes = append(s.notes, held...)
	if s.installed == nil {
		s.noteDeadEnd(c)
		return
	}
	if jump := s.jump(c); jump != "" {
		back := kubectl.Patch("clusterextension", "", s.object(), map[string]any{"source": map[string]any{"catalog": map[string]any{"upgradeConstraintPolicy": CatalogProvided}}})
		s.notes = append(s.notes, Note{
			Code:     NoteUncertified,
			Text:     jump + "; OLM v1 installs it because of the policy SelfCertified, but the operator may fail or lose data. Set the policy back afterwards",
			Commands: []Command{{After: c.Node(), Line: back}},
		})
	}
	stays := c.version.Compare(s.release) == 0 && c.Name() == s.Installed.Name
	switch d := c.version.Compare(s.release); {
	case d < 0:
		add(NoteDowngrade, "%s is a downgrade from %s", c.text(), s.installed)
	case stays && s.rng.IsZero() && s.passedOver() == "" && s.outlook().Kind == graph.OutlookDeprecated:
		s.noteOutlook(NoteStays)
	case d == 0 && len(passed) > 0:
		add(NoteStays, "%s stays installed: everything that could follow it is deprecated", s.node)
	case stays && s.Options.Semver == SemverInstead && len(held) == 0:
		add(NoteStays, "%s stays installed: no newer version is in ^%s, the only upgrades that version order allows", s.node, s.installed)
	case stays && s.rng.IsZero() && s.passedOver() == "" && s.outlook().Kind == graph.OutlookOutranked:
		s.noteOutlook(NoteStays)
	case stays && s.rng.IsZero() && s.passedOver() == "" && s.outlook().EndsEarly():
		s.noteOutlook(NoteStuck)
	case d > 0 && s.isNext(c):
		s.noteSteps(len(held) > 0, later)
	case stays && len(held) == 0 && s.outranked() != "":
		add(NoteStays, "%s stays installed: %s, which replaces it, has a lower version, and OLM v1 prefers the highest", s.node, s.outranked())
	case stays && len(held) == 0 && s.outlook().Kind == graph.OutlookAtHead && s.outlook().Newest == nil && !s.hasNewer():
		add(NoteStays, "%s stays installed: no given catalog has a newer bundle of the package", s.node)
	case stays && len(held) == 0 && s.passedOver() == "" && s.outlook().EndsEarly():
		add(NoteStuck, "%s", prose.Standing(s.outlook()))
	case stays && len(held) == 0:
		add(NoteStays, "%s stays installed: nothing better can follow it", s.node)
	}
}

// outranked returns the name of a bundle that replaces or skips the installed one but has a lower version,
// such as a prerelease of it, or "".
func (s *selecting) outranked() string {
	for _, c := range s.inRanges {
		if !c.known || c.version.Compare(s.release) >= 0 {
			continue
		}
		for e := range c.Entries() {
			if edge := e.Admits(s.Installed.Name, *s.installed); edge == graph.Replaces || edge == graph.Skips {
				return c.Name()
			}
		}
	}
	return ""
}

// hasNewer reports whether a bundle with a higher version than the installed one was left out.
func (s *selecting) hasNewer() bool {
	return slices.ContainsFunc(s.funnel.Dropped, func(d Dropped) bool {
		v, err := semver.Parse(d.Version)
		return err == nil && graph.ReadRelease(v).Compare(s.release) > 0
	})
}

// deprecations returns the messages that concern the choice (C5).
func (s *selecting) deprecations(c candidate) []Deprecated {
	out := []Deprecated{}
	p := c.Bundle.Package()
	if m, ok := p.Deprecation(); ok {
		out = append(out, Deprecated{"package", "", m})
	}
	for ch := range p.Channels() {
		if m, ok := ch.Deprecation(); ok && (len(s.Channels) == 0 || slices.Contains(s.Channels, ch.Name())) {
			out = append(out, Deprecated{"channel", ch.Name(), m})
		}
	}
	if m, ok := c.Deprecation(); ok {
		out = append(out, Deprecated{"bundle", c.Name(), m})
	}
	return out
}
