package kube

import "github.com/olmkit/olmkit/reconcile"

// metricsOf returns what measures the runs in a namespace. Metrics of the
// caller's own are taken as they are.
func (r *Reconciler) metricsOf(namespace string) reconcile.Metrics {
	if m, ok := r.Metrics.(*Metrics); ok {
		return m.Of(namespace)
	}
	return r.Metrics
}

// keep ends the series of subscriptions that are gone.
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

// forget ends what is measured of a namespace that is not of the shard.
func (r *Reconciler) forget(namespace string) {
	switch m := r.Metrics.(type) {
	case nil:
	case *Metrics:
		m.Forget(namespace)
	default:
		m.Gauges(namespace, nil)
	}
}
