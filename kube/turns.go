package kube

import (
	"context"
	"sync"

	"github.com/olmkit/olmkit/olm"
)

// turns makes writes of the same object wait for each other, so that the namespaces that share
// an object do not send writes of which the API server would reject all but one. The zero value
// is ready to use. It is safe for concurrent use.
type turns struct {
	mu   sync.Mutex
	busy map[olm.Key]chan struct{}
}

// wait waits until no other write of an object is in progress. The caller must call done after
// its own.
func (t *turns) wait(ctx context.Context, k olm.Key) (done func(), err error) {
	for {
		t.mu.Lock()
		other, ok := t.busy[k]
		if !ok {
			if t.busy == nil {
				t.busy = map[olm.Key]chan struct{}{}
			}
			mine := make(chan struct{})
			t.busy[k] = mine
			t.mu.Unlock()
			return func() {
				t.mu.Lock()
				delete(t.busy, k)
				t.mu.Unlock()
				close(mine)
			}, nil
		}
		t.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}
