package kube

import (
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// How long a namespace waits after a run that failed: longer each time, and never
// so long that a cluster which is back after an outage is kept waiting.
const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// A limiter delays the namespaces whose runs failed. Each delay is shortened by
// up to a quarter, at random: those that failed together do not come back
// together.
type limiter struct {
	workqueue.TypedRateLimiter[ctrlreconcile.Request]
}

func newLimiter() limiter {
	return limiter{workqueue.NewTypedItemExponentialFailureRateLimiter[ctrlreconcile.Request](firstDelay, lastDelay)}
}

// When returns the next delay of a namespace.
func (l limiter) When(r ctrlreconcile.Request) time.Duration {
	d := l.TypedRateLimiter.When(r)
	return d - rand.N(d/4)
}
