package memcluster

import (
	"context"
	"sync"

	"github.com/olmkit/olmkit/olm"
)

// An Event is a write to the cluster. For a deletion, Object is the last state.
type Event struct {
	Type   string // ADDED, MODIFIED or DELETED, as in a watch of Kubernetes
	Object olm.Object
}

// A watcher queues events, so that a slow reader never holds up a writer.
type watcher struct {
	mu    sync.Mutex
	queue []Event
	more  chan struct{} // has room for one signal
}

// Watch returns a channel of the events from now on, in order. It is closed when
// the context ends.
func (c *Cluster) Watch(ctx context.Context) <-chan Event {
	w := &watcher{more: make(chan struct{}, 1)}
	c.mu.Lock()
	if c.watchers == nil {
		c.watchers = map[*watcher]struct{}{}
	}
	c.watchers[w] = struct{}{}
	c.mu.Unlock()
	out := make(chan Event)
	go func() {
		defer close(out)
		defer func() {
			c.mu.Lock()
			delete(c.watchers, w)
			c.mu.Unlock()
		}()
		for {
			w.mu.Lock()
			queue := w.queue
			w.queue = nil
			w.mu.Unlock()
			for _, e := range queue {
				select {
				case out <- e:
				case <-ctx.Done():
					return
				}
			}
			if len(queue) > 0 {
				continue
			}
			select {
			case <-w.more:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

func (c *Cluster) notify(e Event) {
	for w := range c.watchers {
		w.mu.Lock()
		w.queue = append(w.queue, e)
		w.mu.Unlock()
		select {
		case w.more <- struct{}{}:
		default:
		}
	}
}
