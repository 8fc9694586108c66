package resolver

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// BatchOptions adjust [ResolveAll]. A nil *BatchOptions means all defaults.
type BatchOptions struct {
	// Concurrency is how many problems are resolved at a time. Default
	// GOMAXPROCS. It never shows in the results.
	Concurrency int
	// Ahead is how many results may wait until they are asked for, which bounds
	// memory. Default 16 for each goroutine.
	Ahead int
}

// A Result is what [Resolve] returned for one problem of a batch.
type Result struct {
	Solution *Solution
	Err      error
}

// ResolveAll resolves problems on all cores, over catalogs that they may share,
// and yields the results in the order of the problems. It takes problems as it
// goes, so that neither they nor the results need to be in memory at once.
//
// The problems are asked for on another goroutine, which has ended when the
// iteration is over; if it panics, so does the iteration. A caller that stops early
// stops the work. When the context ends, each problem that is not yet resolved has
// its error as the result, so that results and problems stay in step; who has no
// use for that stops early.
func ResolveAll(ctx context.Context, problems iter.Seq[Problem], opts *BatchOptions) iter.Seq[Result] {
	var o BatchOptions
	if opts != nil {
		o = *opts
	}
	if o.Concurrency <= 0 {
		o.Concurrency = runtime.GOMAXPROCS(0)
	}
	if o.Ahead <= 0 {
		o.Ahead = 16 * o.Concurrency
	}
	type job struct {
		problem Problem
		done    chan Result
	}
	return func(yield func(Result) bool) {
		ctx, cancel := context.WithCancel(ctx)
		stopped := make(chan struct{})
		jobs, ordered := make(chan job), make(chan chan Result, o.Ahead)
		var all sync.WaitGroup
		var panicked any
		all.Go(func() {
			defer close(ordered)
			defer close(jobs)
			defer func() { panicked = recover() }()
			for p := range problems {
				j := job{p, make(chan Result, 1)}
				select {
				case ordered <- j.done:
				case <-stopped:
					return
				}
				select {
				case jobs <- j:
				case <-stopped:
					return
				}
			}
		})
		for range o.Concurrency {
			all.Go(func() {
				var s scratch
				for j := range jobs {
					var r Result
					if ctx.Err() != nil {
						r.Err = context.Cause(ctx)
					} else {
						r.Solution, r.Err = resolve(ctx, &j.problem, &s)
					}
					j.done <- r
				}
			})
		}
		defer func() {
			close(stopped)
			cancel()
			all.Wait()
			if panicked != nil {
				panic(panicked)
			}
		}()
		for done := range ordered {
			if !yield(<-done) {
				return
			}
		}
	}
}

// A scratch holds what a resolution needs while it runs and leaves behind empty,
// for the next one on the same goroutine.
type scratch struct{ attempt attempt }
