package resolver

import (
	"context"
	"iter"
	"runtime"
	"sync"
)

// BatchOptions adjust [ResolveAll]. A nil *BatchOptions means all defaults.
type BatchOptions struct {
	// Concurrency is the number of problems that are resolved at a time. It does not affect
	// the results. Default: GOMAXPROCS.
	Concurrency int
	// Ahead is the number of results that may wait for the caller, which bounds memory.
	// Default: 16 for each goroutine.
	Ahead int
}

// A Result is what [Resolve] returned for one problem of a batch.
type Result struct {
	Solution *Solution
	Err      error
}

// ResolveAll resolves problems concurrently and yields the results in the order of the
// problems. Problems may share catalogs. It keeps only a bounded number of problems and
// results in memory.
//
// The problems are read on another goroutine, which ends with the iteration; its panics
// propagate. A caller that stops early stops the work. Once the context is done, the result
// of each unresolved problem is the context's error.
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
		jobs, ordered := make(chan job, o.Ahead), make(chan chan Result, o.Ahead)
		free := make(chan chan Result, o.Ahead) // those whose result was taken
		var all sync.WaitGroup
		var panicked any
		all.Go(func() {
			defer close(ordered)
			defer close(jobs)
			defer func() { panicked = recover() }()
			for p := range problems {
				j := job{problem: p}
				select {
				case j.done = <-free:
				default:
					j.done = make(chan Result, 1)
				}
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
				var taken []job
				var results []Result
				for j := range jobs {
					// Waking another goroutine takes about as long as resolving a small problem, so take a
					// share of the problems that wait.
					taken, results = append(taken[:0], j), results[:0]
					for range len(jobs) / (2 * o.Concurrency) {
						select {
						case j, ok := <-jobs:
							if ok {
								taken = append(taken, j)
							}
						default:
						}
					}
					for i := range taken {
						var r Result
						if ctx.Err() != nil {
							r.Err = context.Cause(ctx)
						} else {
							r.Solution, r.Err = resolve(ctx, &taken[i].problem, &s)
						}
						results = append(results, r)
					}
					for i, j := range taken {
						j.done <- results[i]
					}
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
			r := <-done
			select {
			case free <- done:
			default:
			}
			if !yield(r) {
				return
			}
		}
	}
}
