package reconcile

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/olmkit/olmkit/internal/metric"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// A Cluster is the cluster that a [Loop] reads and writes. Package memcluster has an
// implementation in memory, and package clustertest tests implementations.
type Cluster interface {
	// Read returns the state of the cluster for a namespace.
	Read(ctx context.Context, namespace string) (*Snapshot, error)
	// Apply makes one change and returns the warnings of the cluster. It must return
	// [ErrConflict], wrapped or not, if the object does not have the resourceVersion
	// of the change, already exists when it should be created, or no longer exists, or
	// if the conditions of the change (Change.If) no longer hold. It must return
	// [ErrUnavailable] if the cluster could not be reached. Any other error counts as
	// permanent.
	Apply(ctx context.Context, c Change) (warnings []string, err error)
}

// A Loop applies the plans of [Decide]: it reads, decides and writes until there is nothing
// to do. It keeps no state. It may be stopped between any two writes, several may run at
// once, and others may write at the same time: the next pass continues from the state that
// it finds.
type Loop struct {
	Cluster Cluster
	Content Content
	Options Options
	// Metrics, if not nil, receives measurements. Events, if not nil, receives events for
	// users. Both are called by the goroutine that runs the loop.
	Metrics Metrics
	Events  func(Event)
	// Progress, if not nil, is called after each change, with the error if it failed.
	Progress func(pass int, c Change, err error)
	// MaxPasses bounds a run. Default: 1,000.
	MaxPasses int
}

// A Result is the outcome of a run.
type Result struct {
	// Passes counts how often the cluster was read, Changes the changes that were made, and
	// Conflicts the changes that another writer prevented.
	Passes, Changes, Conflicts int
	// Plan is the last plan, or nil if none was made. It has no changes unless the run
	// failed. Its notes name what the namespace waits for.
	Plan *Plan
	// Refused are the changes of the last pass that the cluster refused permanently,
	// in order.
	Refused []*RefusedError
}

// refusals returns the refusals joined to an error, which may be nil.
func (r *Result) refusals(err error) error {
	list := []error{err}
	for _, e := range r.Refused {
		list = append(list, e)
	}
	return errors.Join(list...)
}

// ErrUnsettled is the error of a run that did not end within MaxPasses passes, because
// something else reverts or refuses its changes each time. The last refusals are joined to it.
var ErrUnsettled = errors.New("it did not reach its desired state")

// Run reconciles a namespace until nothing is left to do, and returns the result, which
// is never nil. If the cluster permanently refuses changes, Run still makes the changes
// that do not depend on them, and returns the refusals joined, each as a
// *[RefusedError].
func (l *Loop) Run(ctx context.Context, namespace string) (*Result, error) {
	r := &Result{}
	limit := l.MaxPasses
	if limit == 0 {
		limit = 1000
	}
	var rejected []Rejection
	tries := newTries()
	for r.Passes < limit {
		s, err := l.Cluster.Read(ctx, namespace)
		if err != nil {
			return r, fmt.Errorf("reading namespace %q: %w", namespace, err)
		}
		told := *s // the cluster may retain what it is given
		told.Rejections = rejected
		r.Passes++
		plan, err := l.decide(ctx, &told)
		if err != nil {
			return r, err
		}
		r.Plan = plan
		if l.Metrics != nil {
			l.Metrics.Gauges(namespace, Gauges(s))
		}
		if len(r.Plan.Changes) == 0 {
			r.Refused = nil // no longer wanted
			return r, nil
		}
		p, err := l.pass(ctx, r, tries)
		if err != nil {
			return r, err
		}
		known := rejected
		rejected = tries.rejections(r.Refused)
		l.warn(tries, rejected)
		if p.done == 0 && p.conflict == nil && (slices.Equal(known, rejected) || tries.areOver(r.Refused)) {
			return r, r.refusals(nil) // the plan already took them into account, and nothing else is left to do
		}
	}
	return r, r.refusals(fmt.Errorf("namespace %q: %w after %d passes", namespace, ErrUnsettled, limit))
}

// decide calls Decide and measures the time of the resolution.
func (l *Loop) decide(ctx context.Context, s *Snapshot) (*Plan, error) {
	opts := l.Options
	if l.Metrics != nil {
		resolve := opts.Resolve
		if resolve == nil {
			resolve = resolver.Resolve
		}
		opts.Resolve = func(ctx context.Context, pr resolver.Problem) (*resolver.Solution, error) {
			start := time.Now()
			sol, err := resolve(ctx, pr)
			outcome := "succeeded"
			if err != nil {
				outcome = "failed"
			}
			l.Metrics.Observe(Sample{Name: metric.ResolutionDuration, Labels: []Label{{"outcome", outcome}}, Value: time.Since(start).Seconds()})
			return sol, err
		}
	}
	return Decide(ctx, s, l.Content, &opts)
}

// An outcome is the result of applying a plan.
type outcome struct {
	done int
	// conflict ended the pass, unless it is nil.
	conflict error
}

// pass applies a plan. After a conflict the rest is left to the next pass, because it may
// depend on outdated state. After a refusal, only other changes for the same object are
// skipped.
func (l *Loop) pass(ctx context.Context, r *Result, tries *tries) (outcome, error) {
	var p outcome
	r.Refused = nil
	tries.forget(r.Plan)
	stopped := map[olm.Key]bool{}
	for _, c := range r.Plan.Changes {
		if stopped[c.For] {
			continue
		}
		if err := ctx.Err(); err != nil {
			return p, context.Cause(ctx)
		}
		warnings, err := l.Cluster.Apply(ctx, c)
		if l.Progress != nil {
			l.Progress(r.Passes, c, err)
		}
		switch {
		case err == nil:
			p.done++
			r.Changes++
			l.report(c, warnings)
			continue
		case ctx.Err() != nil:
			return p, context.Cause(ctx)
		case errors.Is(err, ErrUnavailable):
			return p, fmt.Errorf("%s %s: %w", c.Op, c.Key(), err)
		case errors.Is(err, ErrConflict):
			r.Conflicts++
			if !tries.unseen(c) {
				p.conflict = err
				return p, nil
			}
			err = fmt.Errorf("it exists, although reading the cluster did not return it: %w", err)
		}
		stopped[c.For] = true
		r.Refused = append(r.Refused, &RefusedError{c, err})
	}
	return p, nil
}

// warn reports each refusal to users once per run.
func (l *Loop) warn(tries *tries, rejected []Rejection) {
	if l.Events == nil {
		return
	}
	for _, r := range rejected {
		if !tries.warned[r] {
			tries.warned[r] = true
			l.Events(Event{Object: r.For, Type: "Warning", Reason: "ChangeRefused", Message: fmt.Sprintf("%s %s: %s", r.Op, r.Key, r.Message)})
		}
	}
}

// report updates the metrics and emits the events of a change that was made.
func (l *Loop) report(c Change, warnings []string) {
	if l.Events != nil {
		if c.Event != nil {
			l.Events(*c.Event)
		}
		for _, w := range warnings {
			l.Events(Event{Object: c.For, Type: "Warning", Reason: "AppliedWithWarnings", Message: c.Key().String() + ": " + w})
		}
	}
	if l.Metrics != nil {
		for _, s := range counts(c, warnings) {
			l.Metrics.Add(s)
		}
	}
}
