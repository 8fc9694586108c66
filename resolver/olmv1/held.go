package olmv1

import (
	"context"
	"fmt"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
)

// heldBack returns a note for each part of the request without which OLM v1 would select a newer
// bundle, the version order, the range and the channels, and for the priority of a catalog unless
// another bundle is upgraded: each was verified by selecting again (H40). If OLM v1 would refuse what it then selects, the
// note states that.
func (s *selecting) heldBack(ctx context.Context) (list []Note, err error) {
	c := s.left[0]
	if len(s.excluded) > 0 {
		q := *s.Request
		q.Options.Excluded = nil
		after, err := selected(ctx, &q)
		if err != nil {
			return nil, err
		}
		if after != nil && after.left[0].Name() != c.Name() {
			list = append(list, Note{Code: NoteHeldBack, Text: fmt.Sprintf("upgrades are excluded: %s; without that, %s is selected", s.exclusions(), after.left[0].Name())})
		}
	}
	if n := s.onWay(c); n != nil {
		return append(list, *n), nil
	}
	var refused []Note
	try := func(what, without string, fixes ...Fix) error {
		n, ok, err := s.without(ctx, what, without, fixes)
		if err == nil && ok {
			list = append(list, n)
		} else if n.Text != "" {
			refused = append(refused, n)
		}
		return err
	}
	if s.installed != nil && s.Options.Semver != semverOff {
		if err := try(fmt.Sprintf("version order, which allows only upgrades in ^%s, leaves", s.installed), "without it", Fix{}); err != nil {
			return nil, err
		}
	}
	if name := s.passedOver(); name != "" && (s.Installed == nil || c.Name() == s.Installed.Name) { // C6
		if err := try("the higher priority of catalog "+c.source.Name+" leaves", "without it", selectCatalog(name)); err != nil {
			return nil, err
		}
	}
	if !s.rng.IsZero() {
		if err := try(fmt.Sprintf("the version range %q leaves", s.Version), "without it", Fix{Kind: FixVersion}); err != nil {
			return nil, err
		}
	}
	if len(list) == 0 && !s.rng.IsZero() && s.installed != nil { // C6
		anyVersion := Fix{Kind: FixVersion}
		q := anyVersion.apply(*s.Request)
		after, err := selected(ctx, &q)
		if err != nil {
			return nil, err
		}
		if after != nil && after.left[0].Name() == c.Name() && after.passedOver() != "" {
			what := fmt.Sprintf("the version range %q and the higher priority of catalog %s leave", s.Version, after.left[0].source.Name)
			if err := try(what, "without them", anyVersion, selectCatalog(after.passedOver())); err != nil {
				return nil, err
			}
		}
	}
	n, ok, err := s.channelsHeld(ctx)
	if err != nil {
		return nil, err
	}
	if ok {
		list = append(list, n)
	} else if n.Text != "" {
		refused = append(refused, n)
	}
	if len(list) == 0 && len(refused) > 0 && s.Installed != nil && c.Name() == s.Installed.Name {
		list = refused[:1]
	}
	return list, nil
}

// without returns a note that a part of the request leaves out newer versions: without has what OLM v1 selects after the
// fixes. ok is false if that is not newer, or refused, which the note then states.
func (s *selecting) without(ctx context.Context, what, without string, fixes []Fix) (n Note, ok bool, err error) {
	q := *s.Request
	for _, f := range fixes {
		if q = f.apply(q); f.Kind == "" {
			q.Options.Semver = semverOff
		}
	}
	c := s.left[0]
	after, err := selectFor(ctx, &q)
	switch {
	case ctx.Err() != nil:
		return n, false, context.Cause(ctx)
	case err != nil:
		return n, false, nil
	}
	text := what + " out newer versions: " + without + ", "
	if r := after.refusal; r != nil {
		if r.Code == RefusedDependency && r.chosen.version.Compare(c.version) > 0 {
			n = Note{Code: NoteHeldBack, Text: text + "OLM v1 selects " + r.chosen.Name() + " and refuses it, because it declares dependencies"}
		}
		return n, false, nil
	}
	got := after.left[0]
	if got.version.Compare(c.version) <= 0 || after.jump(got) != "" { // only SelfCertified allows it
		return n, false, nil
	}
	course, err := s.course(ctx, after)
	if err != nil {
		return n, false, err
	}
	course.stays = false
	text += course.text("selected")
	text += course.ending()
	n = Note{Code: NoteHeldBack, Course: &course}
	for _, f := range fixes {
		switch f.Kind {
		case "":
			continue
		case FixCatalog:
			text += ". The command selects that catalog for this ClusterExtension only; a higher priority would apply to all"
		}
		n.Commands = append(n.Commands, Command{Line: s.command(&f)})
	}
	n.Text = text
	return n, true, nil
}

// channelsHeld returns the note that the requested channels leave out newer versions, see without. It names the channel to
// which the outlook leads, or else the default one if all channels together lead to a prerelease. There is none if
// another note has the way of the outlook.
func (s *selecting) channelsHeld(ctx context.Context) (n Note, ok bool, err error) {
	what, without := "the channel "+phrase.And(s.Channels)+" leaves", "without it"
	switch len(s.Channels) {
	case 0:
		return n, false, nil
	case 1:
	default:
		what, without = "the channels "+phrase.And(s.Channels)+" leave", "without them"
	}
	in := func(channel string) (Note, bool, error) {
		return s.without(ctx, what, "with channel "+channel, []Fix{{Kind: FixChannels, Channels: []string{channel}}})
	}
	if o := s.outlook(); o != nil {
		if o.EndsEarly() || o.Closes != nil && s.isNext(s.left[0]) && s.endsInRange() == "" {
			return n, false, nil
		}
		if o.Way != nil && len(o.Way.Legs) == 1 && o.Way.Legs[0].Channel != "" && !o.Way.Legs[0].Stop {
			if n, ok, err = in(o.Way.Legs[0].Channel); ok || err != nil {
				return n, ok, err
			}
		}
	}
	all, ok, err := s.without(ctx, what, without, []Fix{{Kind: FixChannels}})
	if !ok || err != nil || !all.Course.Prerelease {
		return all, ok, err
	}
	for _, p := range s.packages {
		n, ok, err := in(p.DefaultChannelName())
		switch {
		case err != nil:
			return n, false, err
		case ok && !n.Course.Prerelease:
			n.Text += ". With all channels, OLM v1 continues to the prerelease " + all.Course.End().Name
			return n, true, nil
		}
	}
	return all, true, nil
}

// onWay returns a note if the version range allows only the first bundle of the way of the outlook, which has a lower
// version and leads on, or nil.
func (s *selecting) onWay(c candidate) *Note {
	if s.installed == nil || s.rng.IsZero() || s.Policy == SelfCertified || c.version.Compare(s.release) >= 0 {
		return nil
	}
	o := s.outlook()
	if o.Way == nil || !o.Way.Legs[0].Stop || o.Way.Legs[0].End() != c.Node() {
		return nil
	}
	return &Note{
		Code: NoteMoreSteps, Text: fmt.Sprintf("the version range %q is the first part of a way. %s", s.rng, prose.Onward(o)), Commands: s.wayCommands(o)[1:],
	}
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
