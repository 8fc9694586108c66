package kube

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// After an outage of any length, every namespace is reconciled within half a
// minute, and not all at the same time.
func TestLimiter(t *testing.T) {
	l := newLimiter()
	delays := map[time.Duration]bool{}
	for _, name := range []string{"a", "b", "c"} {
		r := ctrlreconcile.Request{NamespacedName: types.NamespacedName{Name: name}}
		if d := l.When(r); d > firstDelay || d < firstDelay/2 {
			t.Errorf("the first delay is %s", d)
		}
		var d time.Duration
		for range 1000 {
			if d = l.When(r); d > lastDelay {
				t.Fatalf("a delay of %s: want %s at most", d, lastDelay)
			}
		}
		if d < lastDelay/2 {
			t.Errorf("after 1000 failures the delay is %s", d)
		}
		delays[d] = true
		l.Forget(r)
		if d := l.When(r); d > firstDelay {
			t.Errorf("the first delay after a success is %s", d)
		}
	}
	if len(delays) != 3 {
		t.Errorf("three namespaces have the same delay: %v", delays)
	}
}
