package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/reconcile/olm"
)

// F10: an operator that may not be run says so in its status and by an event, and
// runs once it may.
func TestRefusedDeployment(t *testing.T) {
	w := worldOf(t, "drift")
	refuse := true
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if refuse && c.Object.Kind == "Deployment" {
			return errors.New("deployments is forbidden")
		}
		return apply()
	}
	var events []reconcile.Event
	l := w.loop()
	l.Events = func(e reconcile.Event) { events = append(events, e) }
	if _, err := l.Run(t.Context(), testNamespace); err == nil {
		t.Fatal("what was refused is no error")
	}
	csv := func() *olm.ClusterServiceVersion {
		t.Helper()
		for _, o := range w.List() {
			if o.Kind == olm.KindClusterServiceVersion && o.Metadata.Namespace == testNamespace {
				c, err := olm.As[olm.ClusterServiceVersion](o)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
		}
		t.Fatal("there is no CSV")
		return nil
	}
	if c := csv(); c.Status.Reason != olm.ReasonComponentFailed || !strings.Contains(c.Status.Message, "deployments is forbidden") {
		t.Errorf("the CSV is %s, %s: %s", c.Status.Phase, c.Status.Reason, c.Status.Message)
	}
	told := 0
	for _, e := range events {
		if e.Reason == reconcile.ReasonRefused && e.Type == reconcile.Warning && strings.Contains(e.Message, "deployments is forbidden") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d events tell of the refusal: want 1", told)
	}
	refuse = false
	if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if c := csv(); c.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("the CSV is %s, %s: %s", c.Status.Phase, c.Status.Reason, c.Status.Message)
	}
}
