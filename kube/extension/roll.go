package extension

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

const (
	// soon is when a pass that has written is followed by another. Most writes cause an event,
	// but some change nothing.
	soon = time.Second
	// later is when writes that failed are made again.
	later = 10 * time.Second
)

// roll makes one pass over the revisions of an extension: it selects a bundle, makes the writes
// that are due, and reports.
func (r *Reconciler) roll(ctx context.Context, e *api.ClusterExtension) (reconcile.Result, error) { // K64
	x := r.Rollouts
	g, err := x.read(ctx, e, r.now())
	if err != nil {
		if ctx.Err() != nil {
			return reconcile.Result{}, context.Cause(ctx)
		}
		return reconcile.Result{}, errors.Join(err, r.report(ctx, e, Outcome{InstalledErr: err, Rollout: &Rollout{}}))
	}
	s := g.snapshot
	if s.Extension.Deleting && !s.Extension.Finalizer {
		x.forget(e.Name)
		return reconcile.Result{}, nil
	}
	if g.release != nil { // its bundle is installed once it is a revision
		writes, err := rollout.Next(s, *g.release)
		if err != nil {
			return reconcile.Result{}, errors.Join(err, r.report(ctx, e, Outcome{InstalledErr: err, Rollout: &Rollout{}}))
		}
		return x.pass(ctx, g, writes)
	}
	o := Outcome{Rollout: &Rollout{Recorded: s.Recorded}}
	o.Rollout.Installed, o.Rollout.Rolling = s.Installed()
	if i := o.Rollout.Installed; i != nil {
		o.Installed = &api.BundleMetadata{Name: i.Bundle.Name, Version: i.Bundle.Version}
	}
	var writes []rollout.Write
	busy := false
	if !s.Extension.Deleting {
		writes, err = r.next(ctx, e, s, &o)
		if busy = errors.Is(err, errBusy); err != nil && !busy {
			return reconcile.Result{}, err
		}
	}
	result, err := x.pass(ctx, g, writes)
	switch {
	case err != nil:
		return reconcile.Result{}, err
	case s.Extension.Deleting:
		return result, nil
	case busy: // what is installed was kept in line; the status stays until the image was read
		return reconcile.Result{RequeueAfter: soon}, nil
	}
	if err := r.report(ctx, e, o); err != nil {
		return reconcile.Result{}, err
	}
	if failed := o.InstallErr != nil || o.Decision != nil && o.Decision.Err != nil; failed && result.RequeueAfter == 0 {
		return result, retry(o)
	}
	return result, nil
}

// pass makes writes or, if there are none, those that are due for the revisions. It reports those
// that failed in the status of their revision.
func (x *Rollouts) pass(ctx context.Context, g *group, writes []rollout.Write) (result reconcile.Result, err error) {
	due, rejected := time.Time{}, map[string]error{}
	if len(writes) == 0 {
		p := rollout.Decide(g.snapshot)
		due = p.Due
		writes, rejected = x.trial(ctx, g, p.Writes)
	}
	failed := x.apply(ctx, g, writes)
	for name, err := range rejected {
		failed[name] = also(failed[name], err)
	}
	if ctx.Err() != nil {
		return reconcile.Result{}, context.Cause(ctx)
	}
	g.failed = map[string]string{}
	for name, err := range failed {
		g.failed[name] = err.Error()
	}
	if len(failed) > 0 {
		g.snapshot.Failed = g.failed
		again := slices.DeleteFunc(rollout.Decide(g.snapshot).Writes, func(w rollout.Write) bool { return w.Op != rollout.SetStatus || failed[w.Revision] == nil })
		x.apply(ctx, g, again)
		return reconcile.Result{RequeueAfter: later}, failed[""]
	}
	switch {
	case len(writes) > 0:
		result.RequeueAfter = soon
	case !due.IsZero():
		result.RequeueAfter = max(soon, due.Sub(g.snapshot.Now))
	}
	return result, nil
}

// next returns the writes that bring the latest revision to the bundle that is due. The error is
// the cause of the context's end, or errBusy.
func (r *Reconciler) next(ctx context.Context, e *api.ClusterExtension, s *rollout.Snapshot, o *Outcome) ([]rollout.Write, error) {
	x := r.Rollouts
	if len(o.Rollout.Rolling) == 0 { // K67
		var err error
		if o.Decision, err = r.decide(ctx, e, o.Installed); ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil { // K105: the catalogs cannot be listed; what is installed stays
			o.Decision = &desired.Decision{Err: err}
		}
	}
	b, err := desired.Target(o.Rollout.Installed, o.Rollout.Rolling, o.Decision)
	if err != nil {
		return nil, nil // it is in the decision
	}
	o.Rollout.Target = b
	want, err := x.want(ctx, e, b)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, errBusy):
		return nil, err
	case err != nil:
		var pull *unavailable
		if !errors.As(err, &pull) || o.Installed == nil || *o.Installed != (api.BundleMetadata{Name: b.Name, Version: b.Version}) { // K68, K69
			o.InstallErr = err
		}
		return nil, nil
	}
	writes, err := rollout.Next(s, *want)
	if err == nil && slices.ContainsFunc(writes, func(w rollout.Write) bool { return w.Op == rollout.CreateRevision }) {
		err = x.preflight(ctx, e, want.Phases) // K54
	}
	if err != nil {
		o.InstallErr = err
		return nil, cause(ctx)
	}
	return writes, nil
}

// rollSet makes one pass over an object set that belongs to no extension.
func (r *Reconciler) rollSet(ctx context.Context, req reconcile.Request) (reconcile.Result, error) { // K97
	x := r.Rollouts
	var set api.ClusterObjectSet
	if err := x.ObjectSets.Get(ctx, req.NamespacedName, &set); err != nil {
		if apierrors.IsNotFound(err) {
			x.forget(setKey(req.Name))
		}
		return reconcile.Result{}, client.IgnoreNotFound(err)
	}
	sets := []api.ClusterObjectSet{set}
	if name := set.Labels[desired.OwnerName]; name != "" {
		err := r.Client.Get(ctx, types.NamespacedName{Name: name}, &api.ClusterExtension{})
		if !apierrors.IsNotFound(err) {
			return reconcile.Result{}, err // the extension's own pass includes the set
		}
		var list api.ClusterObjectSetList
		if err := x.ObjectSets.List(ctx, &list, client.MatchingLabels{desired.OwnerName: name}); err != nil {
			return reconcile.Result{}, err
		}
		sets = slices.DeleteFunc(list.Items, func(s api.ClusterObjectSet) bool {
			c := metav1.GetControllerOf(&s)
			return c != nil && c.Kind == "ClusterExtension" // the garbage collector deletes it
		})
	}
	g := x.group(setKey(req.Name), r.now())
	if err := x.addSets(ctx, g, sets); err != nil {
		return reconcile.Result{}, err
	}
	if err := x.readObjects(ctx, g); err != nil {
		return reconcile.Result{}, err
	}
	return x.pass(ctx, g, nil)
}

// setKey returns what identifies an object set without an extension among extensions.
func setKey(name string) string { return "ClusterObjectSet/" + name }

// conditions returns the conditions that describe the revisions.
func (r *Rollout) conditions(e *api.ClusterExtension, o Outcome) (out []metav1.Condition) { // K100, K101, K102
	add := func(typ string, status metav1.ConditionStatus, reason, message string) {
		out = append(out, metav1.Condition{Type: typ, Status: status, Reason: reason, Message: message})
	}
	var latest *metav1.Condition
	if n := len(r.Rolling); n > 0 {
		latest = meta.FindStatusCondition(r.Rolling[n-1].Conditions, rollout.Progressing)
	}
	switch {
	case o.InstalledErr != nil:
		add(typeInstalled, metav1.ConditionUnknown, reasonFailed, message(o.InstalledErr))
	case r.Installed != nil:
		add(typeInstalled, metav1.ConditionTrue, reasonSucceeded, fmt.Sprintf("Installed bundle %s successfully", r.Installed.Bundle.Image))
	case terminal(o.InstallErr) && meta.FindStatusCondition(e.Status.Conditions, typeInstalled) != nil:
	case len(r.Rolling) == 0 && r.Target == nil, latest != nil && latest.Reason == reasonRetrying, o.InstallErr != nil:
		add(typeInstalled, metav1.ConditionFalse, reasonFailed, "No bundle installed")
	default:
		add(typeInstalled, metav1.ConditionFalse, reasonAbsent, "No bundle installed")
	}
	switch {
	case o.InstalledErr != nil:
		add(typeProgressing, metav1.ConditionTrue, reasonRetrying, message(o.InstalledErr))
	case o.InstallErr != nil:
		text := fmt.Sprintf("error for resolved bundle %q with version %q: ", r.Target.Name, r.Target.Version)
		var invalid *registryv1.Error
		switch {
		case !terminal(o.InstallErr):
			add(typeProgressing, metav1.ConditionTrue, reasonRetrying, text+message(o.InstallErr))
		case errors.As(o.InstallErr, &invalid) && invalid.Stage() == registryv1.StageConfig:
			var list []string // without positions: all are in the configuration
			for _, p := range invalid.Problems {
				list = append(list, visible.Line(p.Message))
			}
			add(typeProgressing, metav1.ConditionFalse, "InvalidConfiguration", text+"invalid ClusterExtension configuration: invalid configuration: "+strings.Join(list, "\n"))
		default:
			add(typeProgressing, metav1.ConditionFalse, reasonBlocked, text+message(o.InstallErr))
		}
	case r.Target == nil:
		if status, reason, message := progress(o); reason != reasonSucceeded {
			add(typeProgressing, status, reason, message)
		}
	case latest != nil:
		add(typeProgressing, latest.Status, latest.Reason, latest.Message)
	case len(r.Rolling) == 0 && r.Installed != nil && r.Installed.Bundle.Name == r.Target.Name:
		if c := meta.FindStatusCondition(r.Installed.Conditions, rollout.Progressing); c != nil {
			add(typeProgressing, c.Status, c.Reason, c.Message)
		}
	default:
		add(typeProgressing, metav1.ConditionTrue, "RollingOut", fmt.Sprintf("Revision %s is rolling out.", r.Target.Version))
	}
	if r.Installed != nil {
		if c := meta.FindStatusCondition(r.Installed.Conditions, rollout.Available); c != nil {
			add(rollout.Available, c.Status, c.Reason, c.Message)
		}
	}
	return out
}

// active returns the active revisions as the status of an extension lists them.
func (r *Rollout) active() (out []api.RevisionStatus) { // K102
	if r.Installed != nil {
		out = append(out, api.RevisionStatus{Name: r.Installed.Name})
	}
	for _, x := range r.Rolling {
		s := api.RevisionStatus{Name: x.Name}
		for _, c := range x.Conditions {
			if c.Type == rollout.Available || c.Type == rollout.Progressing {
				s.Conditions = append(s.Conditions, c)
			}
		}
		out = append(out, s)
	}
	return out
}
