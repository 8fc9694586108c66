package cli

import (
	"context"
	"fmt"
	"io"
	"slices"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/rollout"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// An extensionStep is a write that was made in memory for a ClusterExtension.
type extensionStep struct {
	Extension string     `json:"extension"`
	Pass      int        `json:"pass"`
	Op        rollout.Op `json:"op"`
	// Revision is the revision that is written, or whose object is written, and Phase is the
	// phase of the object.
	Revision string   `json:"revision,omitempty"`
	Phase    string   `json:"phase,omitempty"`
	Object   *olm.Key `json:"object,omitzero"`
}

func (s *extensionStep) text(w io.Writer) error {
	what := "ClusterExtension " + s.Extension
	switch {
	case s.Object != nil && s.Phase != "":
		what = fmt.Sprintf("%s (revision %s, phase %s)", s.Object, s.Revision, s.Phase)
	case s.Object != nil:
		what = s.Object.String()
	case s.Revision != "" && (s.Op == rollout.CreateRevision || s.Op == rollout.UpdateRevision || s.Op == rollout.DeleteRevision):
		what = s.Revision // which the operation calls a revision
	case s.Revision != "":
		what = "revision " + s.Revision
	}
	_, err := visible.Fprintf(w, "%3d  %s %s\n", s.Pass, s.Op, what)
	return err
}

// An extensionEnd is the result of the simulation of a ClusterExtension.
type extensionEnd struct {
	Extension string `json:"extension"`
	Namespace string `json:"namespace"`
	// Passes is the number of rounds of writes.
	Passes int `json:"passes"`
	// Upgrades are the bundles that were installed, in order, and Installed is the bundle at
	// the end.
	Upgrades  []extensionBundle `json:"upgrades,omitempty"`
	Installed *extensionBundle  `json:"installed,omitzero"`
	// Revisions are the active revisions at the end.
	Revisions []string `json:"revisions,omitempty"`
	// Unread is the next bundle if its manifests could not be read. It is unknown what follows.
	Unread string `json:"unread,omitempty"`
	// Refused is why no bundle can be selected, Code its code if the selection refused, and Blocked
	// what a person has to fix first.
	Refused string            `json:"refused,omitempty"`
	Code    olmv1.RefusalCode `json:"code,omitempty"`
	Fixes   []*olmv1.Fix      `json:"fixes,omitempty"`
	Blocked []extensionBlock  `json:"blocked,omitempty"`
	Ways    []extensionWay    `json:"ways,omitempty"`
	// Lost are the CRDs that are deleted on the way, with all of their custom resources.
	Lost []string `json:"lost,omitempty"`
	// Needs lists what a person has to do, in order.
	Needs []simulationNeed `json:"needs,omitempty"`
	// Versions explains why the extension gets no newer version.
	Versions []olmv1.Note `json:"versions,omitempty"`
	// Waiting lists objects of the cluster that are not ready now, and counted as ready.
	Waiting []extensionWait  `json:"waiting,omitempty"`
	Notes   []reconcile.Note `json:"notes,omitempty"`
}

// negative reports whether a person has to act.
func (d *extensionEnd) negative() bool { return d.Refused != "" || len(d.Blocked) > 0 }

// maxUpgrades bounds the upgrades of a ClusterExtension in a simulation.
const maxUpgrades = 1000

// simulate rolls out one bundle after another in memory. It returns each write.
func (x *extensionState) simulate(ctx context.Context) (*extensionEnd, []*extensionStep, error) { // K240
	var made []*extensionStep
	d := &extensionEnd{Extension: x.extension.Name, Namespace: x.extension.Spec.Namespace}
	var target *extensionBundle
	for range maxUpgrades {
		p, err := x.plan(ctx)
		if err != nil {
			return nil, nil, err
		}
		if target = p.Target; p.unread {
			d.Unread = target.Name
		}
		d.Notes, d.Refused, d.Code, d.Fixes, d.Blocked, d.Ways, d.Versions = p.Notes, p.Refused, p.Code, p.Fixes, p.Blocked, p.Ways, p.Versions
		d.Lost = append(d.Lost, p.Lost...)
		if o := p.outlook; o != nil && o.Closes != nil && !p.refused() && o.Closes.To.Name == p.Target.Name { // G5
			a := adviceOf(p.Package, o, p.Versions, olmv1.NoteCloses)
			d.Needs = append(d.Needs, simulationNeed{
				Text: "at once, because OLM v1 needs no approval: " + prose.Summary(o) + ". " + prose.Onward(o), Commands: a.Commands, legs: &a,
			})
		}
		reached := p.reached(x.snapshot)
		if reached == x.snapshot {
			break
		}
		d.Waiting = append(d.Waiting, p.Waiting...)
		last := 0
		steps := p.rehearsal.Steps[:p.rehearsal.Unblocked]
		for i := range steps {
			step := &steps[i]
			last = step.Pass
			if step.Op == rollout.SetStatus || step.Op == rollout.Migrate {
				continue
			}
			s := &extensionStep{Extension: d.Extension, Pass: d.Passes + step.Pass, Op: step.Op, Revision: step.Revision, Phase: step.Phase}
			if step.Object != nil {
				s.Object = new(keyOf(step.Object))
			}
			made = append(made, s)
		}
		d.Passes += last
		before, _ := x.snapshot.Installed()
		x.change(x.snapshot, reached)
		x.snapshot = reached
		after, _ := x.snapshot.Installed()
		if after == nil || before != nil && before.Bundle.Name == after.Bundle.Name {
			break
		}
		d.Upgrades = append(d.Upgrades, extensionBundle{Name: after.Bundle.Name, Version: after.Bundle.Version, Image: after.Bundle.Image})
	}
	installed, rolling := x.snapshot.Installed()
	if installed != nil {
		d.Installed = &extensionBundle{Name: installed.Bundle.Name, Version: installed.Bundle.Version, Image: installed.Bundle.Image}
		d.Revisions = append(d.Revisions, installed.Name)
	}
	for _, r := range rolling {
		d.Revisions = append(d.Revisions, r.Name)
	}
	d.Notes = append(d.Notes, x.unreadNote()...)
	d.needs(target)
	return d, made, nil
}

// needs sets what a person has to do. target is the last bundle that OLM v1 selected, or nil.
func (d *extensionEnd) needs(target *extensionBundle) {
	add := func(text string, commands ...string) {
		d.Needs = append(d.Needs, simulationNeed{Text: text, Commands: commands})
	}
	for _, crd := range d.Lost {
		add("save the custom resources of CRD "+crd+" before OLM v1 deletes it, and all of them with it", kubectl.All(crd))
	}
	switch {
	case d.Refused != "":
		text := noneSelected(d.Code)
		if len(d.Ways) == 0 {
			add(text)
		}
		for _, x := range d.Ways {
			add(text+"; "+x.Text, x.Command)
		}
	case len(d.Blocked) > 0:
		of := ""
		if target != nil {
			of = " of " + target.Name
		}
		blocked := "the rollout" + of + " is blocked, see below"
		if len(d.Ways) == 0 {
			add(blocked)
		}
		for i, x := range d.Ways {
			text := x.Text
			if i == 0 && !x.gives {
				text = blocked + "; to let it go on, " + text
			}
			add(text, slices.DeleteFunc([]string{x.Command}, func(c string) bool { return c == "" })...)
		}
	}
}

func (d *extensionEnd) text(w io.Writer) error {
	line := func(format string, args ...any) { visible.Fprintf(w, format+"\n", args...) }
	if d.Unread != "" {
		line("ClusterExtension %s: what follows is unknown: OLM v1 selects %s, whose manifests cannot be read; give them with --bundles.", d.Extension, d.Unread)
	} else {
		line("ClusterExtension %s is stable after %s.", d.Extension, phrase.Count(d.Passes, "round"))
	}
	t := proseWriter(w)
	writeNeeds(t, d.Needs)
	io.WriteString(w, t.String())
	if d.Refused != "" {
		io.WriteString(w, refusedV1(w, d.Code, d.Refused, d.Fixes))
	}
	for _, u := range d.Upgrades {
		line("  installed %s", &u)
	}
	switch {
	case d.Installed != nil:
		line("%s is installed in namespace %s.", d.Installed, d.Namespace)
	default:
		line("No bundle is installed.")
	}
	writeBlocks(w, d.Blocked)
	writeWaits(w, d.Waiting)
	t = proseWriter(w)
	writeNotesV1(t, d.Versions)
	io.WriteString(w, t.String())
	for _, n := range d.Notes {
		line("note: %s", n)
	}
	return nil
}

// simulate simulates ClusterExtensions.
func (x *extensionFlags) simulate(ctx context.Context, l *loader, args []string, out *printer, writes bool) error {
	r, names, err := x.reader(ctx, l, args)
	if err != nil {
		return err
	}
	states, err := r.states(ctx, names)
	if err != nil {
		return err
	}
	ends, steps := map[string]*extensionEnd{}, map[string][]*extensionStep{}
	for _, s := range states {
		if err := s.refresh(ctx); err != nil {
			return err
		}
		name := s.extension.Name
		if ends[name], steps[name], err = s.simulate(ctx); err != nil {
			return err
		}
	}
	negative, isText := false, out.format == formatText
	for i, name := range names {
		d := ends[name]
		if i == 0 {
			d.Notes = slices.Concat(r.inferred, d.Notes)
		} else if isText {
			if _, err := visible.Fprintf(out.w, "\n"); err != nil {
				return err
			}
		}
		if isText { // the steps follow
			if err := out.print(d); err != nil {
				return err
			}
		}
		if writes || !isText {
			for _, step := range steps[name] {
				if err := out.print(step); err != nil {
					return err
				}
			}
		}
		if !isText {
			if err := out.print(d); err != nil {
				return err
			}
		}
		negative = negative || d.negative()
	}
	if negative {
		return errNegative
	}
	return nil
}
