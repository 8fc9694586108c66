package kube

import (
	"maps"
	"slices"
	"sync"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/olmkit/olmkit/internal/metric"
	"github.com/olmkit/olmkit/reconcile"
)

// Metrics is a Prometheus collector of OLM's metrics, under OLM's names:
//
//	m := kube.NewMetrics()
//	metrics.Registry.MustRegister(m)
//
// It is safe for concurrent use.
//
// A series is deleted when its subject is gone. OLM labels
// subscription_sync_total with names and versions: such a series is deleted
// when no subscription has these labels any more.
type Metrics struct {
	mu         sync.Mutex
	namespaces map[string][]reconcile.Sample
	// syncs holds the labels of subscription_sync_total by namespace and name
	// of the subscription. As in OLM, the labels do not include the namespace,
	// so subscriptions may share a series.
	syncs     map[string]map[string][]reconcile.Label
	counters  map[string]*prometheus.CounterVec
	summaries map[string]*prometheus.SummaryVec
}

var (
	_ reconcile.Metrics    = (*Metrics)(nil)
	_ prometheus.Collector = (*Metrics)(nil)
)

// NewMetrics returns metrics with all counters at zero.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &Metrics{
		namespaces: map[string][]reconcile.Sample{},
		syncs:      map[string]map[string][]reconcile.Label{},
		counters: map[string]*prometheus.CounterVec{
			metric.CSVUpgrades:         counter(metric.CSVUpgrades, "Monotonic count of CSV upgrades"),
			metric.InstallPlanWarnings: counter(metric.InstallPlanWarnings, "Monotonic count of install plan changes that caused a warning of the API server"),
			metric.SubscriptionSyncs:   counter(metric.SubscriptionSyncs, "Monotonic count of subscription syncs", "name", "installed", "channel", "package"),
		},
		summaries: map[string]*prometheus.SummaryVec{
			metric.ResolutionDuration: prometheus.NewSummaryVec(prometheus.SummaryOpts{
				Name: metric.ResolutionDuration, Help: "The duration of a dependency resolution attempt",
				Objectives: map[float64]float64{0.95: 0.05, 0.9: 0.01, 0.99: 0.001},
			}, []string{"outcome"}),
		},
	}
}

// gauges returns the help texts of the gauges. Gauges without labels are sums
// over all namespaces.
func gauges() map[string]string {
	return map[string]string{
		metric.CatalogSources:     "Number of catalog sources",
		metric.CatalogSourceReady: "State of a CatalogSource. 1 indicates that the CatalogSource is in a READY state. 0 indicates CatalogSource is in a Non READY state.",
		metric.CSVs:               "Number of CSVs successfully registered",
		metric.CSVSucceeded:       "Successful CSV install",
		metric.CSVAbnormal:        "CSV is not installed",
		metric.InstallPlans:       "Number of install plans",
		metric.Subscriptions:      "Number of subscriptions",
	}
}

// Gauges sets the gauges of a namespace.
func (m *Metrics) Gauges(namespace string, samples []reconcile.Sample) {
	m.mu.Lock()
	defer m.mu.Unlock()
	empty := !slices.ContainsFunc(samples, func(s reconcile.Sample) bool { return s.Value != 0 || len(s.Labels) > 0 })
	if empty {
		delete(m.namespaces, namespace)
		return
	}
	m.namespaces[namespace] = samples
}

// Add adds the sample's value to its counter. Unknown counters are ignored.
func (m *Metrics) Add(s reconcile.Sample) {
	if c, ok := m.counters[s.Name]; ok {
		c.With(labelsOf(s)).Add(s.Value)
	}
}

// Observe records the sample's value in its summary. Unknown summaries are
// ignored.
func (m *Metrics) Observe(s reconcile.Sample) {
	if v, ok := m.summaries[s.Name]; ok {
		v.With(labelsOf(s)).Observe(s.Value)
	}
}

// Of returns the metrics for runs in one namespace. Only series that were
// counted through the returned value are deleted with their subscription.
func (m *Metrics) Of(namespace string) reconcile.Metrics { return ofNamespace{m, namespace} }

type ofNamespace struct {
	*Metrics
	namespace string
}

// Add adds to a counter. When the labels of a subscription change, its old
// series is deleted unless another subscription uses it.
func (o ofNamespace) Add(s reconcile.Sample) {
	m := o.Metrics
	if s.Name != metric.SubscriptionSyncs || len(s.Labels) == 0 {
		m.Add(s)
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	name := s.Labels[0].Value
	m.drop(o.namespace, name, s.Labels)
	if m.syncs[o.namespace] == nil {
		m.syncs[o.namespace] = map[string][]reconcile.Label{}
	}
	m.syncs[o.namespace][name] = s.Labels
	m.Add(s)
}

// Keep deletes the series of all subscriptions in a namespace except the given
// ones.
func (m *Metrics) Keep(namespace string, subscriptions []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.syncs[namespace] {
		if !slices.Contains(subscriptions, name) {
			m.drop(namespace, name, nil)
		}
	}
}

// Forget deletes everything about a namespace that this process no longer
// manages.
func (m *Metrics) Forget(namespace string) {
	m.Keep(namespace, nil)
	m.Gauges(namespace, nil)
}

// drop deletes the series of a subscription, unless its labels equal next or
// another subscription uses it.
func (m *Metrics) drop(namespace, name string, next []reconcile.Label) {
	was := m.syncs[namespace][name]
	if was == nil || slices.Equal(was, next) {
		return
	}
	delete(m.syncs[namespace], name)
	if len(m.syncs[namespace]) == 0 {
		delete(m.syncs, namespace)
	}
	for _, names := range m.syncs {
		if slices.Equal(names[name], was) {
			return
		}
	}
	m.counters[metric.SubscriptionSyncs].Delete(labelsOf(reconcile.Sample{Labels: was}))
}

func labelsOf(s reconcile.Sample) prometheus.Labels {
	l := prometheus.Labels{}
	for _, x := range s.Labels {
		l[x.Name] = x.Value
	}
	return l
}

// Describe sends nothing: gauges have dynamic labels.
func (m *Metrics) Describe(chan<- *prometheus.Desc) {}

// Collect sends all metrics.
func (m *Metrics) Collect(out chan<- prometheus.Metric) {
	for _, name := range slices.Sorted(maps.Keys(m.counters)) {
		m.counters[name].Collect(out)
	}
	for _, name := range slices.Sorted(maps.Keys(m.summaries)) {
		m.summaries[name].Collect(out)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	help := gauges()
	sums := map[string]float64{}
	for _, ns := range slices.Sorted(maps.Keys(m.namespaces)) {
		for _, s := range m.namespaces[ns] {
			if len(s.Labels) == 0 {
				sums[s.Name] += s.Value
				continue
			}
			names, values := make([]string, len(s.Labels)), make([]string, len(s.Labels))
			for i, l := range s.Labels {
				names[i], values[i] = l.Name, l.Value
			}
			gauge, err := prometheus.NewConstMetric(prometheus.NewDesc(s.Name, help[s.Name], names, nil), prometheus.GaugeValue, s.Value, values...)
			if err != nil {
				gauge = prometheus.NewInvalidMetric(prometheus.NewDesc(s.Name, help[s.Name], nil, nil), err)
			}
			out <- gauge
		}
	}
	for _, name := range slices.Sorted(maps.Keys(sums)) {
		out <- prometheus.MustNewConstMetric(prometheus.NewDesc(name, help[name], nil, nil), prometheus.GaugeValue, sums[name])
	}
}
