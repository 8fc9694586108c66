package kube

import "github.com/olmkit/olmkit/reconcile"

// metricsOf returns the metrics for runs in a namespace: Metrics.Of if
// r.Metrics is a *Metrics, or else r.Metrics itself.
func (r *Reconciler) metricsOf(namespace string) reconcile.Metrics {
	if m, ok := r.Metrics.(*Metrics); ok {
		return m.Of(namespace)
	}
	return r.Metrics
}

// keep deletes the series of deleted subscriptions.
func (r *Reconciler) keep(s *reconcile.Snapshot) {
	m, ok := r.Metrics.(*Metrics)
	if !ok || s == nil {
		return
	}
	var names []string
	for _, sub := range s.Subscriptions {
		names = append(names, sub.Metadata.Name)
	}
	m.Keep(s.Namespace, names)
}

// forget deletes the metrics of a namespace that is not in the shard.
func (r *Reconciler) forget(namespace string) {
	switch m := r.Metrics.(type) {
	case nil:
	case *Metrics:
		m.Forget(namespace)
	default:
		m.Gauges(namespace, nil)
	}
}
