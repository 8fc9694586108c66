package main

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"syscall"
	"time"
)

// A job is a piece of work to measure.
type job func() error

// least is the minimum duration of a measurement. Short jobs are repeated.
const least = 3 * time.Millisecond

// once returns the milliseconds of one execution of a job.
func once(do job) (float64, error) {
	ms, _, err := measure(do)
	return ms, err
}

// measure returns the milliseconds of one execution of a job, in elapsed time and in processor time.
func measure(do job) (ms, cpu float64, err error) {
	for n := 1; ; n *= 4 {
		runtime.GC()
		start, used := time.Now(), processor()
		for range n {
			if err := do(); err != nil {
				return 0, 0, err
			}
		}
		d, used := time.Since(start), processor()-used
		if d >= least && used >= least || n > 1<<20 {
			return d.Seconds() * 1e3 / float64(n), used.Seconds() * 1e3 / float64(n), nil
		}
	}
}

// allocated returns a note on the memory that the jobs allocate. Unlike times, these figures do not depend on other
// load. theirs may be nil.
func allocated(ours, theirs job) (note string, err error) {
	one := func(do job) (text string, err error) {
		if err := do(); err != nil { // fill the caches
			return "", err
		}
		// The runtime allocates in the background now and then, so the least is counted.
		var count, size uint64 = math.MaxUint64, math.MaxUint64
		for range 5 {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			if err := do(); err != nil {
				return "", err
			}
			runtime.ReadMemStats(&after)
			count, size = min(count, after.Mallocs-before.Mallocs), min(size, after.TotalAlloc-before.TotalAlloc)
		}
		return fmt.Sprintf("%d allocations of %s KB", count, short(float64(size)/1e3)), nil
	}
	if note, err = one(ours); err != nil || theirs == nil {
		return note, err
	}
	peer, err := one(theirs)
	return note + ", peer " + peer, err
}

// processor returns the processor time that this process and its ended children have used.
func processor() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if err := syscall.Getrusage(who, &u); err != nil {
			return 0
		}
		sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
	}
	return sum
}

// pair runs two jobs alternately until the time is up, at least three times each, and adds a row for them. It compares
// the times pair by pair, so that other load on the machine affects both sides. The bound of the row, if any, takes its
// turn, too.
func (r *run) pair(ctx context.Context, row Row, ours, theirs job) error {
	row.Unit = "ms"
	var a, own, b, ratios, cpus, bounds, distances []float64
	for start := time.Now(); len(a) < 3 || time.Since(start) < r.budget && len(a) < 25; {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		x, xcpu, err := measure(ours)
		if err != nil {
			return err
		}
		a, own = append(a, x), append(own, xcpu)
		if row.bound != nil {
			least, _, err := measure(row.bound)
			if err != nil {
				return err
			}
			bounds, distances = append(bounds, least), append(distances, x/least)
		}
		if theirs == nil {
			continue
		}
		y, ycpu, err := measure(theirs)
		if err != nil {
			return err
		}
		b, ratios, cpus = append(b, y), append(ratios, y/x), append(cpus, ycpu/xcpu)
	}
	row.Ours, row.OurCPU, row.Theirs = median(a), median(own), median(b)
	row.Ratio, row.CPU, row.Pairs = median(ratios), median(cpus), len(ratios)
	row.Least, row.Distance = median(bounds), median(distances)
	if len(ratios) > 0 {
		row.Low, row.High = slices.Min(ratios), slices.Max(ratios)
	}
	r.add(row)
	return nil
}

// median returns the median of a list, or 0 for an empty list.
func median(list []float64) float64 {
	if len(list) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(list))
	m := s[len(s)/2]
	if len(s)%2 == 0 {
		m = (m + s[len(s)/2-1]) / 2
	}
	return math.Max(m, 1e-9)
}
