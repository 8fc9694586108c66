package reconcile

import (
	"github.com/olmkit/olmkit/internal/metric"
	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Metrics receives the measurements of a [Loop].
type Metrics interface {
	// Gauges replaces the gauges of a namespace: an earlier gauge that is not among the
	// samples is removed. A gauge counts the objects of that namespace, so the sum over all
	// namespaces is the count for the cluster. The catalogs of the global namespace are
	// counted only in that namespace.
	Gauges(namespace string, samples []Sample)
	// Add adds to a counter.
	Add(Sample)
	// Observe adds an observation, in seconds, to a summary.
	Observe(Sample)
}

// A Sample is a value of a metric.
type Sample struct {
	Name   string  // as in OLM: "csv_count", "subscription_sync_total"
	Labels []Label // in the order of OLM
	Value  float64
}

// A Label is a label of a metric.
type Label struct{ Name, Value string }

// Gauges returns the gauges of the namespace of a snapshot, in a fixed order.
func Gauges(s *Snapshot) []Sample { // E11
	var out []Sample
	gauge := func(name string, value float64, labels ...Label) {
		out = append(out, Sample{name, labels, value})
	}
	catalogs := 0
	for _, c := range s.CatalogSources {
		if c.Metadata.Namespace != s.Namespace {
			continue
		}
		catalogs++
		ready := 0.0
		if st := c.Status.ConnectionState; st != nil && st.LastObservedState == olm.ConnectionReady {
			ready = 1
		}
		gauge(metric.CatalogSourceReady, ready, Label{"namespace", s.Namespace}, Label{"name", c.Metadata.Name})
	}
	gauge(metric.CatalogSources, float64(catalogs))
	own := world.OwnCSVs(s.Namespace, s.CSVs)
	gauge(metric.CSVs, float64(len(own)))
	for _, c := range own {
		labels := []Label{{"namespace", s.Namespace}, {"name", c.Metadata.Name}, {"version", c.Spec.Version}}
		succeeded := 0.0
		if c.Status.Phase == olm.PhaseSucceeded {
			succeeded = 1
		} else {
			gauge(metric.CSVAbnormal, 1, append(labels[:3:3], Label{"phase", string(c.Status.Phase)}, Label{"reason", string(c.Status.Reason)})...)
		}
		gauge(metric.CSVSucceeded, succeeded, labels...)
	}
	gauge(metric.InstallPlans, float64(len(s.InstallPlans)))
	gauge(metric.Subscriptions, float64(len(s.Subscriptions)))
	return out
}

// counts returns the increments of counters for a change.
func counts(c Change, warnings []string) []Sample {
	var out []Sample
	switch {
	case c.Op == UpdateStatus && c.Object.Kind == olm.KindSubscription:
		if s, err := olm.As[olm.Subscription](c.Object); err == nil {
			out = append(out, Sample{metric.SubscriptionSyncs, []Label{
				{"name", s.Metadata.Name}, {"installed", s.Status.InstalledCSV}, {"channel", s.Spec.Channel}, {"package", s.Spec.Package},
			}, 1})
		}
	case c.Op == UpdateStatus && c.Event != nil && c.Event.Reason == reason.BeingReplaced:
		out = append(out, Sample{metric.CSVUpgrades, nil, 1})
	}
	if len(warnings) > 0 && c.For.Kind == olm.KindInstallPlan {
		out = append(out, Sample{metric.InstallPlanWarnings, nil, 1})
	}
	return out
}
