package olmv1

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
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
	return s.selection(held, later), nil
}

// afterTie completes a tie that no priority resolves with why OLM v1 then still selects nothing, and with the
// fixes for that.
func (s *selecting) afterTie(ctx context.Context, r *Refusal) error {
	q := s.drafts(r)[0].apply(*s.Request)
	_, err := answer(ctx, &q)
	var no *Refusal
	if errors.As(err, &no) {
		r.Message += ". Then OLM v1 still selects nothing: " + no.Message
		r.Dependencies, r.Fixes = no.Dependencies, no.Fixes
		return nil
	}
	return err
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
	s.notes = append(s.notes, held...)
	if s.installed == nil {
		s.noteDeadEnd(c)
		return
	}
	if jump := s.jump(c); jump != "" {
		add(NoteUncertified, "%s; OLM v1 installs it because of the policy SelfCertified, but the operator may fail or lose data", jump)
	}
	stays := c.version.Compare(s.release) == 0 && c.Name() == s.Installed.Name
	switch d := c.version.Compare(s.release); {
	case d < 0:
		add(NoteDowngrade, "%s is a downgrade from %s", c.text(), s.installed)
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

// heldBack returns a note for each part of the request without which OLM v1 would select a newer
// bundle, the version order, the range and the channels, and for the priority of a catalog unless
// another bundle is upgraded: each was verified by selecting again (H40).
func (s *selecting) heldBack(ctx context.Context) (list []Note, err error) {
	c := s.left[0]
	if len(s.excluded) > 0 {
		q := *s.Request
		q.Options.Excluded = nil
		after, err := selectFor(ctx, &q)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && after.refusal == nil && after.left[0].Name() != c.Name() {
			list = append(list, Note{Code: NoteHeldBack, Text: fmt.Sprintf("upgrades are excluded: %s; without that, %s is selected", s.exclusions(), after.left[0].Name())})
		}
	}
	try := func(what, it string, fixes ...Fix) error {
		q := *s.Request
		for _, f := range fixes {
			if q = f.apply(q); f.Kind == "" {
				q.Options.Semver = semverOff
			}
		}
		after, err := selectFor(ctx, &q)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err != nil || after.refusal != nil || after.left[0].version.Compare(c.version) <= 0 {
			return nil
		}
		got := after.left[0]
		text := fmt.Sprintf("%s out newer versions: without %s, %s is selected from catalog %s", what, it, got.Name(), got.source.Name)
		if after.jump(got) != "" {
			text += ", although no entry of the catalog allows it over " + s.node.String()
		}
		n := Note{Code: NoteHeldBack, Text: text}
		for _, f := range fixes {
			if f.Kind != "" {
				n.Commands = append(n.Commands, Command{Line: f.command(s.object())})
			}
		}
		list = append(list, n)
		return nil
	}
	if s.installed != nil && s.Options.Semver != semverOff {
		if err := try(fmt.Sprintf("version order, which allows only upgrades in ^%s, leaves", s.installed), "it", Fix{}); err != nil {
			return nil, err
		}
	}
	if name := s.passedOver(); name != "" && (s.Installed == nil || c.Name() == s.Installed.Name) { // C6
		f := Fix{Kind: FixPriority, Catalog: name, Priority: c.source.Priority + 1}
		if err := try("the higher priority of catalog "+c.source.Name+" leaves", "it", f); err != nil {
			return nil, err
		}
	}
	if !s.rng.IsZero() {
		if err := try(fmt.Sprintf("the version range %q leaves", s.Version), "it", Fix{Kind: FixVersion}); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 && !s.rng.IsZero() && s.installed != nil { // C6
		anyVersion := Fix{Kind: FixVersion}
		q := anyVersion.apply(*s.Request)
		after, err := selectFor(ctx, &q)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && after.refusal == nil && after.left[0].Name() == c.Name() && after.passedOver() != "" {
			f := Fix{Kind: FixPriority, Catalog: after.passedOver(), Priority: after.left[0].source.Priority + 1}
			what := fmt.Sprintf("the version range %q and the higher priority of catalog %s leave", s.Version, after.left[0].source.Name)
			if err := try(what, "them", anyVersion, f); err != nil {
				return nil, err
			}
		}
	}
	what, it := "the channel "+phrase.And(s.Channels)+" leaves", "it"
	switch n := len(s.Channels); {
	case n == 0, s.installed != nil && s.outlook().EndsEarly(): // the outlook has the way out
		return list, nil
	case n > 1:
		what, it = "the channels "+phrase.And(s.Channels)+" leave", "them"
	}
	if err := try(what, it, Fix{Kind: FixChannels}); err != nil {
		return nil, err
	}
	return list, nil
}

// heldBackLater returns the notes about the priority of a catalog that will hold back the last step of the outlook
// (C6).
func (s *selecting) heldBackLater(ctx context.Context) ([]Note, error) {
	if s.installed == nil || len(s.sources) < 2 || !s.isNext(s.left[0]) {
		return nil, nil
	}
	o := s.outlook()
	if o.Kind != graph.OutlookStepsAway || o.Newest == nil || o.Newest.Catalog == o.Head.Catalog {
		return nil, nil
	}
	at := o.End()
	q := *s.Request
	q.Installed = &Installed{Name: at.Name, Version: at.Version}
	after, err := selectFor(ctx, &q)
	if err != nil || after.refusal != nil || after.left[0].Name() != at.Name || after.passedOver() == "" {
		return nil, err
	}
	list, err := after.heldBack(ctx)
	for i := range list {
		list[i].Text = "once " + at.Version + " is installed, " + list[i].Text
	}
	return list, err
}

// hasNewer reports whether a bundle with a higher version than the installed one was left out.
func (s *selecting) hasNewer() bool {
	return slices.ContainsFunc(s.funnel.Dropped, func(d Dropped) bool {
		v, err := semver.Parse(d.Version)
		return err == nil && graph.ReadRelease(v).Compare(s.release) > 0
	})
}

// passedOver returns the catalog of the newest bundle that was left out because of its catalog's
// priority, or "".
func (s *selecting) passedOver() (catalog string) {
	var newest graph.VersionRelease
	for _, d := range s.funnel.Dropped {
		v, err := semver.Parse(d.Version)
		if r := graph.ReadRelease(v); d.Stage == StagePriority && err == nil && (catalog == "" || r.Compare(newest) > 0) {
			catalog, newest = d.Catalog, r
		}
	}
	return catalog
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
