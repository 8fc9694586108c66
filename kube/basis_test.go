package kube

import (
	"testing"
	"time"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// A version that was seen holds for a second, and is then forgotten.
func TestBasis(t *testing.T) {
	at := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	plan := reconcile.Version{Key: olm.Key{Group: olm.Group, Kind: olm.KindInstallPlan, Namespace: "ops", Name: "a"}, ResourceVersion: "1"}
	changed, elsewhere := plan, plan
	changed.ResourceVersion = "2"
	elsewhere.Key.Namespace = "other"
	var b basis
	b.add(plan, at)
	for _, tt := range []struct {
		v     reconcile.Version
		after time.Duration
		want  bool
	}{
		{plan, 0, true},
		{plan, basisLasts - 1, true},
		{plan, basisLasts, false},
		{plan, -time.Second, false}, // the clock was set back
		{changed, 0, false},
		{elsewhere, 0, false},
	} {
		if got := b.has(tt.v, at.Add(tt.after)); got != tt.want {
			t.Errorf("version %s in %s after %s: got %v, want %v", tt.v.ResourceVersion, tt.v.Key.Namespace, tt.after, got, tt.want)
		}
	}
	b.add(plan, at.Add(basisLasts/2))
	b.add(changed, at.Add(basisLasts)) // forgets the first time of plan only
	if !b.has(plan, at.Add(basisLasts)) {
		t.Error("a version that was seen again does not hold")
	}
	if b.add(elsewhere, at.Add(4*basisLasts)); len(b.seen) != 1 || len(b.order) != 1 {
		t.Errorf("%d versions are kept, want 1: %v", len(b.seen), b.order)
	}
}
