package kube

import (
	"context"
	"slices"
	"sync"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// lastOfOLM returns the most recent managedFields entry by OLM in an object, without the
// list of fields, or nil if there is none. It looks only at OLM's resources, because other
// resources may have unrelated managers with the same names.
func lastOfOLM(o client.Object) []metav1.ManagedFieldsEntry {
	if o.GetObjectKind().GroupVersionKind().Group != olm.Group {
		return nil
	}
	var last []metav1.ManagedFieldsEntry
	for _, e := range o.GetManagedFields() {
		if e.Manager != "olm" && e.Manager != "catalog" || e.Time == nil || last != nil && !last[0].Time.Before(e.Time) {
			continue
		}
		last = []metav1.ManagedFieldsEntry{{Manager: e.Manager, Time: e.Time}}
	}
	return last
}

// A rewrite is the last time that OLM wrote an object that this process had written before.
// It is cleared when a deployment of OLM is found, which shows by itself that OLM runs. It
// is safe for concurrent use.
type rewrite struct {
	mu sync.Mutex
	reconcile.Sighting
}

// watchOLM records that OLM changed an object that this process had written, if an event
// shows that.
func (c *Cluster) watchOLM(old, new client.Object) {
	if !c.recent.precedes(new.GetUID(), new.GetResourceVersion()) {
		return
	}
	last := lastOfOLM(new)
	if last == nil || slices.EqualFunc(lastOfOLM(old), last, func(a, b metav1.ManagedFieldsEntry) bool { return a.Time.Equal(b.Time) }) {
		return
	}
	c.olm.mu.Lock()
	defer c.olm.mu.Unlock()
	c.olm.Sighting = reconcile.Sighting{Object: keyOf(new), Wrote: c.opts.Now().UTC().Truncate(time.Second)}
}

// sightings adds the evidence that OLM runs: its deployments, or else the last time that it
// wrote an object (E34).
func (r *reading) sightings() {
	var list []*olm.Deployment
	fill(r, &list, kindDeployment, selection{index: byOLM})
	for _, d := range list {
		if reconcile.IsOLM(d) {
			r.out.OLM = append(r.out.OLM, reconcile.Sighting{Object: d.Key()})
		}
	}
	c := r.cluster
	c.olm.mu.Lock()
	defer c.olm.mu.Unlock()
	if len(r.out.OLM) > 0 {
		c.olm.Sighting = reconcile.Sighting{} // once the deployments are gone, OLM has stopped
	} else if !c.olm.Wrote.IsZero() {
		r.out.OLM = append(r.out.OLM, c.olm.Sighting)
	}
}

// Writes reports whether this process writes objects of a namespace. It does if the
// namespace belongs to the shard, unless OLM was seen to run in the cluster and
// Options.IgnoreOLM is false.
func (r *Reconciler) Writes(ctx context.Context, namespace string) bool {
	if !r.owns(ctx, namespace) {
		return false
	}
	reading := &reading{ctx: ctx, cluster: r.Cluster, out: &reconcile.Snapshot{}}
	reading.sightings()
	return reading.err == nil && (r.Options.IgnoreOLM || len(reconcile.ActiveSightings(reading.out.OLM, r.Cluster.opts.Now())) == 0)
}

// report logs and records where OLM was seen, once until it is gone.
func (r *Reconciler) report(ctx context.Context, plan *reconcile.Plan) {
	if plan == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	logger := log.FromContext(ctx)
	if len(plan.Paused) == 0 {
		if r.paused {
			logger.Info("OLM has stopped; operators are managed again")
		}
		r.paused = false
		return
	}
	if r.paused {
		return
	}
	r.paused = true
	for _, n := range plan.Notes {
		logger.Info("OLM runs in the same cluster; nothing is written", "evidence", n.Object.String(), "reason", n.Message)
		r.event(&reconcile.Snapshot{}, reconcile.Event{Object: n.Object, Type: "Warning", Reason: "OLMRunning", Message: n.Message})
	}
}
