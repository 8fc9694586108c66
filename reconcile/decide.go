package reconcile

import (
	"context"
	"errors"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/cleanup"
	"github.com/olmkit/olmkit/reconcile/internal/component"
	"github.com/olmkit/olmkit/reconcile/internal/csv"
	"github.com/olmkit/olmkit/reconcile/internal/group"
	"github.com/olmkit/olmkit/reconcile/internal/installplan"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
)

// Decide returns what to do next in the namespace of a snapshot, with the reasons. It is
// a pure function: the same arguments give the same plan, to the byte, except for the
// keys of new certificates, which come from Options.NewKey. A plan without changes means
// that the namespace is in its desired state, or waits for something that the notes name.
//
// Content may be nil if no catalog is available, and opts may be nil. The error is the
// context's, is or wraps [ErrPending], or describes the part of the snapshot that cannot
// be read. An unsolvable namespace is not an error: it is reported in the plan and in the
// conditions of the subscriptions.
func Decide(ctx context.Context, s *Snapshot, content Content, opts *Options) (*Plan, error) { // E4, E34
	if err := s.validate(); err != nil {
		return nil, err
	}
	if opts == nil {
		opts = &Options{}
	}
	p := change.New(s.Now)
	seen := ActiveSightings(s.OLM, s.Now)
	if len(seen) > 0 && !opts.IgnoreOLM {
		p.Due = noteOLM(p, seen, true)
		plan := newPlan(s.Namespace, p, subscription.Outcome{})
		plan.Paused = seen
		return plan, nil
	}
	if content == nil {
		content = &Catalogs{} // without catalogs
	}
	w := s.world()
	var resolved subscription.Outcome
	var unjudged map[olm.Key]string // CSVs whose minKubeVersion was not checked
	for _, concern := range []func() error{
		func() error { return catalog.Unread(ctx, w, content) },
		func() error { return catalog.Missing(ctx, w, p, content) },
		func() error { return catalog.Templates(w, p) },
		func() error { return group.Keep(w, p, opts.RoleNaming) },
		func() error { return csv.Conditions(w, p) },
		func() error { return installplan.Execute(ctx, w, p, content, opts.installPlans()) },
		func() error { installplan.Attenuate(w, p); return nil },
		func() (err error) { unjudged, err = csv.Advance(ctx, w, p, opts.csvs()); return err },
		func() error { return group.Copy(ctx, w, p, opts.DisabledCopies) },
		func() (err error) {
			resolved, err = subscription.Follow(ctx, w, p, content, opts.resolutions())
			return err
		},
		func() error { cleanup.FailedPlans(w, p, resolved); return nil },
		func() error { return cleanup.Garbage(w, p, opts.RoleNaming) },
		func() error { return component.Label(w, p) },
		func() error { return component.Operators(w, p) },
		func() error { noteWaiting(w, p, refusal(resolved)); return nil },
		func() error { noteAdvice(w, p, opts); return nil },
	} {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := concern(); err != nil {
			return nil, err
		}
	}
	noteUnknown(w, p, unjudged)
	noteOLM(p, seen, false)
	return newPlan(s.Namespace, p, resolved), nil
}

// newPlan returns what was collected as a plan.
func newPlan(namespace string, p *change.Writer, resolved subscription.Outcome) *Plan {
	out := &Plan{
		Namespace: namespace, Changes: make([]Change, len(p.Changes)), Notes: notes(p), Due: p.Due,
		Problem: resolved.Problem, Solution: resolved.Solution, Refused: refusal(resolved),
	}
	for i, c := range p.Changes {
		out.Changes[i] = Change{Op: Op(c.Op), Object: c.Object, Reason: c.Reason, Rule: c.Rule, For: c.For}
		for _, v := range c.If {
			out.Changes[i].If = append(out.Changes[i].If, Version(v))
		}
		if e := c.Event; e != nil {
			typ := "Normal"
			if e.Warning {
				typ = "Warning"
			}
			out.Changes[i].Event = &Event{Object: c.For, Type: typ, Reason: e.Reason, Message: e.Message}
		}
	}
	return out
}

// refusal returns the reason why some subscriptions of the namespace cannot be satisfied, or
// nil.
func refusal(o subscription.Outcome) error {
	m := (*ManifestError)(o.Unusable)
	switch {
	case m == nil:
		return o.Refused
	case o.Refused == nil:
		return m
	}
	return errors.Join(o.Refused, m)
}

// notes returns the notes that were collected.
func notes(p *change.Writer) []Note {
	var list []Note
	for _, n := range p.Notes {
		list = append(list, Note{n.Object, n.Message, n.Rule, NoteCode(n.Code), n.Command})
	}
	return list
}
