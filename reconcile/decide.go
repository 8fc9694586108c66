package reconcile

import (
	"context"
	"fmt"
	"time"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/olm"
)

// Decide returns what to do next in the namespace of a snapshot, with the
// reasons. It is a pure function: the same arguments give the same plan, to the
// byte, except for the keys of new certificates, which come from Options.NewKey. A plan without changes means that the namespace is as it should be or waits
// for something, which the notes name.
//
// Content may be nil if no catalog is available, and opts may be nil. The error is
// the cause of the context, is or wraps [ErrPending], or describes what of the
// snapshot cannot be read. An unsolvable namespace is not an error: it is reported in
// the plan and in the conditions of the subscriptions.
func Decide(ctx context.Context, s *Snapshot, content Content, opts *Options) (*Plan, error) { // E4
	if err := s.validate(); err != nil {
		return nil, err
	}
	if opts == nil {
		opts = &Options{}
	}
	if content == nil {
		content = &Catalogs{} // without catalogs
	}
	p := newPlanner(s, content, opts)
	for _, concern := range []func(context.Context) error{
		p.unread,
		p.catalogTemplates,
		p.operatorGroups,
		p.operatorConditions,
		p.executePlans,
		p.attenuation,
		p.installations,
		p.copies,
		p.subscriptions,
		p.failedPlans,
		p.garbage,
		p.waiting,
		p.advise,
	} {
		if err := ctx.Err(); err != nil {
			return nil, context.Cause(ctx)
		}
		if err := concern(ctx); err != nil {
			return nil, err
		}
	}
	p.noteUnknown()
	return p.plan, nil
}

// A planner collects the changes of one plan. Its methods are the concerns, each in a
// separate file. From what others planned they read whether an object is spoken for,
// the new install plan and the subscriptions that move to it (created, moved), and, to
// explain a plan without changes, its notes and refusals.
type planner struct {
	*Snapshot
	content Content
	opts    *Options
	plan    *Plan
	touched map[olm.Key]bool
	// unknown are the objects that were looked up and are of kinds that were not
	// read.
	unknown map[GroupKind]map[string]bool
	// unjudged are the CSVs whose minKubeVersion could not be judged.
	unjudged map[olm.Key]string
	lineage  *lineage
	// brought is what install plans that may still run bring, once it is needed;
	// see coming.
	brought map[olm.Key]bool
	// created is the install plan that is created now, or nil; moved are the
	// subscriptions that refer to it next, or to one that has no steps yet.
	created *olm.InstallPlan
	moved   map[*olm.Subscription]bool
	// basis is what changes of other objects rest on for the time being, or nil.
	basis []Version
}

// restOn has changes rest on objects, until the function that it returns is
// called. An object's own change carries its version anyway.
func (p *planner) restOn(list ...Version) (done func()) {
	p.basis = list
	return func() { p.basis = nil }
}

// as returns the version of an object that was read.
func as(r olm.Resource) Version { return Version{r.Head().Key(), r.Head().Metadata.ResourceVersion} }

// newPlanner returns a planner that has planned nothing.
func newPlanner(s *Snapshot, content Content, opts *Options) *planner {
	p := &planner{
		Snapshot: s.clone(), content: content, opts: opts,
		plan:    &Plan{Namespace: s.Namespace, Changes: []Change{}},
		touched: map[olm.Key]bool{}, unknown: map[GroupKind]map[string]bool{}, unjudged: map[olm.Key]string{},
		moved: map[*olm.Subscription]bool{},
	}
	p.lineage = newLineage(p.own(), p.Subscriptions)
	return p
}

// emit plans a change, unless the plan already has one for the same object, which
// then waits for the next plan, or the object to delete is already being deleted.
func (p *planner) emit(op Op, r olm.Resource, forKey olm.Key, event *Event, format string, args ...any) error {
	key := r.Head().Key()
	if p.touched[key] || op == Delete && r.Head().Metadata.IsDeleted() {
		return nil
	}
	o, err := olm.ToObject(r)
	if err != nil {
		return err
	}
	if op == Delete {
		o.Rest = nil
	}
	if event != nil {
		event.Object = forKey
	}
	p.touched[key] = true
	c := Change{Op: op, Object: o, Reason: fmt.Sprintf(format, args...), For: forKey, Event: event}
	for _, v := range p.basis {
		if !p.touched[v.Key] { // what the plan itself writes carries its version there
			c.If = append(c.If, v)
		}
	}
	p.plan.Changes = append(p.plan.Changes, c)
	return nil
}

func (p *planner) note(key olm.Key, format string, args ...any) {
	p.plan.Notes = append(p.plan.Notes, Note{Object: key, Message: fmt.Sprintf(format, args...)})
}

// setCondition puts a condition into a copy of a list, replacing the one of the
// same type, and reports whether it changed. The time of transition
// stays while the status does. The message shows what it repeats (S8).
func (p *planner) setCondition(list *[]olm.Condition, c olm.Condition) bool {
	c.Message = visible.Lines(c.Message)
	out := append([]olm.Condition(nil), *list...)
	for i, old := range out {
		if old.Type != c.Type {
			continue
		}
		if old.Status == c.Status && old.Reason == c.Reason && old.Message == c.Message && old.ObservedGeneration == c.ObservedGeneration {
			return false
		}
		c.LastTransitionTime, c.Rest = old.LastTransitionTime, old.Rest
		if old.Status != c.Status {
			c.LastTransitionTime = p.Now
		}
		out[i], *list = c, out
		return true
	}
	c.LastTransitionTime = p.Now
	*list = append(out, c)
	return true
}

// clearCondition removes a condition from a copy of a list and reports whether
// there was one.
func clearCondition(list *[]olm.Condition, typ string) bool {
	var out []olm.Condition
	for _, c := range *list {
		if c.Type != typ {
			out = append(out, c)
		}
	}
	found := len(out) < len(*list)
	if found {
		*list = out
	}
	return found
}

// past reports whether more than d passed since t. If not, the plan is due again
// when it has. Without a clock nothing passes.
func (p *planner) past(t time.Time, d time.Duration) bool {
	if p.Now.IsZero() || t.IsZero() {
		return false
	}
	due := t.Add(d)
	if !p.Now.Before(due) {
		return true
	}
	if p.plan.Due.IsZero() || due.Before(p.plan.Due) {
		p.plan.Due = due
	}
	return false
}
