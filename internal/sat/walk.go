package sat

import "context"

// Walk makes choices in order, breadth first. It skips a choice that is met, and calls
// choose for the others, which appends any resulting choices to the queue. Walk ends when
// the queue is empty, when choose returns false, or with the context's error, and reports
// whether the queue is empty.
func Walk[C any](ctx context.Context, queue []C, met func(C) bool, choose func(c C, queue []C) ([]C, bool)) (bool, error) {
	for len(queue) > 0 {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		c := queue[0]
		queue = queue[1:]
		if met(c) {
			continue
		}
		var ok bool
		if queue, ok = choose(c, queue); !ok {
			return false, nil
		}
	}
	return true, nil
}
