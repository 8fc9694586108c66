package status_test

import (
	"testing"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/status"
)

func TestCondition(t *testing.T) {
	for want, c := range map[string]olm.Condition{
		"Why: what":   {Type: "Ready", Status: "False", Reason: "Why", Message: "what"},
		"what":        {Type: "Ready", Status: "False", Message: "what"},
		"Why":         {Type: "Ready", Status: "False", Reason: "Why"},
		"Ready=False": {Type: "Ready", Status: "False"},
	} {
		if got := status.Condition(c); got != want {
			t.Errorf("%+v: %q, want %q", c, got, want)
		}
	}
}

// TestPhase formats phases of CSVs and their causes.
func TestPhase(t *testing.T) {
	for _, c := range []struct {
		status       olm.CSVStatus
		phase, cause string
	}{
		{olm.CSVStatus{}, "new", "its status does not give the cause"},
		{olm.CSVStatus{Phase: olm.PhaseFailed, Reason: "ComponentFailed"}, "Failed", "ComponentFailed"},
		{olm.CSVStatus{Phase: olm.PhaseFailed, Reason: "ComponentFailed", Message: "it is late."}, "Failed, it is late", "it is late"},
	} {
		csv := &olm.ClusterServiceVersion{Status: c.status}
		if got := status.Phase(csv); got != c.phase {
			t.Errorf("phase %q, want %q", got, c.phase)
		}
		if got := status.Cause(csv); got != c.cause {
			t.Errorf("cause %q, want %q", got, c.cause)
		}
	}
}

func TestLeaving(t *testing.T) {
	for want, finalizers := range map[string][]string{
		"is being deleted": nil,
		"is being deleted, but stays until its finalizers are removed: a, b": {"a", "b"},
	} {
		if got := status.Leaving(&olm.Header{Metadata: olm.Metadata{Finalizers: finalizers}}); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
