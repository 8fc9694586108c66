package olmv1

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/prose"
)

// object returns the name of the ClusterExtension that makes the request.
func (s *selecting) object() string { return cmp.Or(s.ID, s.Package) }

// isNext reports whether a candidate is the first step of the outlook.
func (s *selecting) isNext(c candidate) bool {
	o := s.outlook()
	return len(o.Steps) > 0 && o.Steps[0].To.Name == c.Name()
}

// noteOutlook adds the outlook of the installed bundle as a note, with the commands of its way.
func (s *selecting) noteOutlook(code NoteCode) {
	o := s.outlook()
	s.notes = append(s.notes, Note{Code: code, Text: prose.Outlook(o), Commands: s.wayCommands(o)})
}

// noteSteps adds a note about what follows the next upgrade, or keeps more from following it: later has what holds
// back the last of the steps. held reports whether something holds back a newer version now.
func (s *selecting) noteSteps(held bool, later []Note) {
	o := s.outlook()
	end := s.endsInRange()
	x := s.refusedStep()
	switch {
	case end == "" && x != nil:
		s.notes = append(s.notes, Note{Code: NoteMoreSteps, Text: fmt.Sprintf("%s is upgraded only to %s: then OLM v1 selects %s and refuses it, because it declares dependencies", s.node, x.From, x.To)})
	case end != "" && (len(o.Steps) > 1 || o.EndsEarly() || o.Closes != nil):
		s.notes = append(s.notes, Note{Code: NoteMoreSteps, Text: fmt.Sprintf("%s; the version range %q ends them at %s", prose.Summary(o), s.rng, end)})
	case end != "":
	case o.Closes != nil:
		s.noteOutlook(NoteCloses)
	case len(later) > 0:
		if len(o.Steps) > 1 {
			steps := graph.Outlook{Kind: o.Kind, Reading: o.Reading, From: o.From, Catalog: o.Head.Catalog, Channels: o.Channels, Head: o.Head, Steps: o.Steps}
			s.notes = append(s.notes, Note{Code: NoteMoreSteps, Text: prose.Outlook(&steps)})
		}
		s.notes = append(s.notes, later...)
	case !held && (len(o.Steps) > 1 || o.EndsEarly() || o.Newest != nil):
		s.noteOutlook(NoteMoreSteps)
	case len(o.Steps) > 1 || o.EndsEarly(): // the commands of what holds it back lead on
		s.notes = append(s.notes, Note{Code: NoteMoreSteps, Text: prose.Outlook(o)})
	}
}

// refusedStep returns the first step of the outlook after the next one to a bundle that OLM v1 refuses, or nil.
func (s *selecting) refusedStep() *graph.Step {
	list := s.outlook().Steps
	i := slices.IndexFunc(list, func(x graph.Step) bool { return s.isRefused(x.To) })
	if i <= 0 {
		return nil
	}
	return &list[i]
}

// noteDeadEnd adds a note if no upgrade leads from a bundle that is installed afresh to the newest version.
func (s *selecting) noteDeadEnd(c candidate) {
	if !c.known {
		return
	}
	o := s.outlookOf(c.Node(), s.Channels)
	if o.Newest == nil || o.Way != nil && !o.Way.Strands && o.Way.AtHead {
		return
	}
	text := fmt.Sprintf("once %s is installed, no upgrade leads on to %s", c.text(), o.Newest.Version)
	if end, _ := o.Reach(); end.Name != c.Name() {
		text += ", only as far as " + end.Version
	}
	s.notes = append(s.notes, Note{Code: NoteDeadEnd, Text: text + "; a newer version then needs the policy SelfCertified, or a new installation"})
}

// wayCommands returns the commands with which a ClusterExtension takes the way of an outlook, if it has one.
func (s *selecting) wayCommands(o *graph.Outlook) (out []Command) {
	if o.Way == nil {
		return nil
	}
	x := kubectl.Operator{V1: true, Name: s.object()}
	var after graph.Node
	catalog, channel, pinned := "", strings.Join(s.Channels, ","), !s.requested(o.Way.End())
	if o.Head != nil {
		catalog = o.Head.Catalog
	}
	for _, l := range o.Way.Legs {
		more := map[string]any{}
		switch {
		case l.Stop:
			more["version"] = l.End().Version
		case pinned:
			more["version"] = nil
		}
		if l.Catalog != "" && l.Catalog != catalog && catalog != "" {
			more["selector"] = s.onlyCatalog(l.Catalog)
		}
		switch {
		case !l.Stays && l.Channel != channel:
			out = append(out, Command{after, x.Follow(l.Channel, more)})
			channel = l.Channel
		case len(more) > 0:
			out = append(out, Command{after, x.Set(more)})
		}
		pinned, after = l.Stop, l.End()
		catalog = cmp.Or(l.Catalog, catalog)
	}
	if o.Returns(o.Way) {
		more := map[string]any{}
		if pinned {
			more["version"] = nil
		}
		out = append(out, Command{after, x.Follow(o.Channels[0], more)})
	}
	return out
}
