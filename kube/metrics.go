package kube

import (
	"maps"
	"slices"
	"sync"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/prometheus/client_golang/prometheus"
)

// Metrics are those of OLM, under its names (E11), for a Prometheus registry:
//
//	m := kube.NewMetrics()
//	metrics.Registry.MustRegister(m)
//
// It is safe for use by several goroutines.
//
// A series lives as long as what it is about: subscription_sync_total, which OLM
// labels with names and versions, ends when no subscription counts in it any more.
type Metrics struct {
	mu         sync.Mutex
	namespaces map[string][]reconcile.Sample
	// syncs are the labels of subscription_sync_total by namespace and name of the
	// subscription. They lack the namespace, as in OLM, so that subscriptions may
	// share a series.
	syncs     map[string]map[string][]reconcile.Label
	counters  map[string]*prometheus.CounterVec
	summaries map[string]*prometheus.SummaryVec
}

var (
	_ reconcile.Metrics    = (*Metrics)(nil)
	_ prometheus.Collector = (*Metrics)(nil)
)

// NewMetrics returns metrics that count from zero.
func NewMetrics() *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	return &Metrics{
		namespaces: map[string][]reconcile.Sample{},
		syncs:      map[string]map[string][]reconcile.Label{},
		counters: map[string]*prometheus.CounterVec{
			reconcile.MetricCSVUpgrades:         counter(reconcile.MetricCSVUpgrades, "Monotonic count of CSV upgrades"),
			reconcile.MetricInstallPlanWarnings: counter(reconcile.MetricInstallPlanWarnings, "Monotonic count of changes of install plans that the API server warned of"),
			reconcile.MetricSubscriptionSyncs:   counter(reconcile.MetricSubscriptionSyncs, "Monotonic count of subscription syncs", "name", "installed", "channel", "package"),
		},
		summaries: map[string]*prometheus.SummaryVec{
			reconcile.MetricResolutionDuration: prometheus.NewSummaryVec(prometheus.SummaryOpts{
				Name: reconcile.MetricResolutionDuration, Help: "The duration of a dependency resolution attempt",
				Objectives: map[float64]float64{0.95: 0.05, 0.9: 0.01, 0.99: 0.001},
			}, []string{"outcome"}),
		},
	}
}

// gauges returns the help of each gauge. Those without labels are counts, whose
// sum over the namespaces is shown.
func gauges() map[string]string {
	return map[string]string{
		reconcile.MetricCatalogSources:     "Number of catalog sources",
		reconcile.MetricCatalogSourceReady: "State of a CatalogSource. 1 indicates that the CatalogSource is in a READY state. 0 indicates CatalogSource is in a Non READY state.",
		reconcile.MetricCSVs:               "Number of CSVs successfully registered",
		reconcile.MetricCSVSucceeded:       "Successful CSV install",
		reconcile.MetricCSVAbnormal:        "CSV is not installed",
		reconcile.MetricInstallPlans:       "Number of install plans",
		reconcile.MetricSubscriptions:      "Number of subscriptions",
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

// Add adds to a counter. One that OLM does not have is ignored.
func (m *Metrics) Add(s reconcile.Sample) {
	if c, ok := m.counters[s.Name]; ok {
		c.With(labelsOf(s)).Add(s.Value)
	}
}

// Observe adds an observation. One that OLM does not have is ignored.
func (m *Metrics) Observe(s reconcile.Sample) {
	if v, ok := m.summaries[s.Name]; ok {
		v.With(labelsOf(s)).Observe(s.Value)
	}
}

// Of returns what receives the metrics of the runs in one namespace. Only what
// comes through it can be dropped when its subscription is gone.
func (m *Metrics) Of(namespace string) reconcile.Metrics { return ofNamespace{m, namespace} }

type ofNamespace struct {
	*Metrics
	namespace string
}

// Add adds to a counter. A subscription that has changed counts in another
// series than before, and no longer in that one.
func (o ofNamespace) Add(s reconcile.Sample) {
	m := o.Metrics
	if s.Name != reconcile.MetricSubscriptionSyncs || len(s.Labels) == 0 {
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

// Keep drops the series of the subscriptions of a namespace but for those with
// the given names.
func (m *Metrics) Keep(namespace string, subscriptions []string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for name := range m.syncs[namespace] {
		if !slices.Contains(subscriptions, name) {
			m.drop(namespace, name, nil)
		}
	}
}

// Forget drops all that is about a namespace: another replica looks after it now.
func (m *Metrics) Forget(namespace string) {
	m.Keep(namespace, nil)
	m.Gauges(namespace, nil)
}

// drop ends the series of a subscription, unless it goes on with it or another
// one counts in it.
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
	m.counters[reconcile.MetricSubscriptionSyncs].Delete(labelsOf(reconcile.Sample{Labels: was}))
}

func labelsOf(s reconcile.Sample) prometheus.Labels {
	l := prometheus.Labels{}
	for _, x := range s.Labels {
		l[x.Name] = x.Value
	}
	return l
}

// Describe describes nothing: the labels of gauges come with their samples.
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
