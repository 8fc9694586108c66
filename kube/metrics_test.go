package kube_test

import (
	"slices"
	"testing"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/olmkit/olmkit/internal/metric"
	"github.com/olmkit/olmkit/kube"
	"github.com/olmkit/olmkit/reconcile"
)

// series returns the gathered metrics, each as a name and label values.
func series(t *testing.T, m *kube.Metrics) []string {
	t.Helper()
	registry := prometheus.NewRegistry()
	must(t, registry.Register(m))
	families, err := registry.Gather()
	must(t, err)
	var out []string
	for _, f := range families {
		for _, x := range f.Metric {
			text := f.GetName()
			for _, l := range x.Label {
				text += " " + l.GetValue()
			}
			out = append(out, text)
		}
	}
	slices.Sort(out)
	return out
}

// E11: a series is deleted with its subject, after any number of upgrades and
// subscriptions.
func TestSeriesEnd(t *testing.T) {
	m := kube.NewMetrics()
	sync := func(namespace, installed string) {
		m.Of(namespace).Add(reconcile.Sample{Name: metric.SubscriptionSyncs, Value: 1, Labels: []reconcile.Label{
			{Name: "name", Value: "etcd"}, {Name: "installed", Value: installed}, {Name: "channel", Value: "stable"}, {Name: "package", Value: "etcd"},
		}})
	}
	want := func(when string, list ...string) {
		t.Helper()
		if got := series(t, m); !slices.Equal(got, list) {
			t.Errorf("%s: %q; want %q", when, got, list)
		}
	}
	const one, two = "subscription_sync_total stable etcd.v1 etcd etcd", "subscription_sync_total stable etcd.v2 etcd etcd"
	sync("a", "etcd.v1")
	sync("b", "etcd.v1")
	want("two of the same", one)
	sync("a", "etcd.v2")
	want("one is upgraded", one, two)
	sync("b", "etcd.v2")
	want("both are upgraded", two)
	m.Keep("a", []string{"etcd"})
	m.Keep("b", nil)
	want("one is gone", two)
	m.Gauges("a", []reconcile.Sample{{Name: metric.CSVSucceeded, Value: 1, Labels: []reconcile.Label{{Name: "name", Value: "etcd.v2"}}}})
	want("with a gauge", "csv_succeeded etcd.v2", two)
	m.Forget("a")
	want("the namespace has left the shard")
}
