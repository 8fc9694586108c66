package kube

import (
	"math/rand/v2"
	"time"

	"k8s.io/client-go/util/workqueue"
	ctrlreconcile "sigs.k8s.io/controller-runtime/pkg/reconcile"
)

// The delays after a failed run: they grow exponentially, but stay short enough
// to resume soon after an outage.
const (
	firstDelay = 100 * time.Millisecond
	lastDelay  = 30 * time.Second
)

// A limiter delays namespaces whose runs failed. It shortens each delay
// randomly by up to a quarter, so that namespaces that failed together do not
// retry together.
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
