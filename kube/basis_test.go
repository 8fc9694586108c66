package kube

import (
	"testing"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A version that was seen holds for a second, for the namespace whose plan saw it, until that
// is read again.
func TestBasis(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	plan := reconcile.Version{Key: olm.Key{Group: olm.Group, Kind: olm.KindInstallPlan, Namespace: "ops", Name: "a"}, ResourceVersion: "1"}
	changed := plan
	changed.ResourceVersion = "2"
	var b basis
	b.add("ops", plan, at)
	for _, tt := range []struct {
		namespace string
		v         reconcile.Version
		after     time.Duration
		want      bool
	}{
		{"ops", plan, 0, true},
		{"ops", plan, basisLasts - 1, true},
		{"ops", plan, basisLasts, false},
		{"ops", plan, -time.Second, false}, // the clock was set back
		{"ops", changed, 0, false},
		{"other", plan, 0, false},
	} {
		if got := b.has(tt.namespace, tt.v, at.Add(tt.after)); got != tt.want {
			t.Errorf("in %s, version %s after %s: got %v, want %v", tt.namespace, tt.v.ResourceVersion, tt.after, got, tt.want)
		}
	}
	if b.reset("ops"); b.has("ops", plan, at) {
		t.Error("the version holds after the namespace was read again")
	}
}
