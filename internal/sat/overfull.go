package sat

import (
	"cmp"
	"slices"
)

// Overfull finds demands that cannot all be met because of limits. Each demand
// needs one of its items, and of the items of a limit at most one may be used.
// It returns the indices of demands and of fewer limits, both ascending, such
// that no two of these demands share an item and each of their items is in one
// of these limits. It returns nil if it finds none.
//
// A search takes exponential time to find what counting finds at once. Counting
// is exact if each item is in one relevant limit. If an item is in several,
// counting may find nothing but is never wrong.
func Overfull[T comparable](demands, limits [][]T) (over, by []int) {
	c := newCrowd(demands, limits)
	c.prune()
	return c.match()
}

// A crowd holds the relevant demands, and the limit that counts each item.
type crowd struct {
	demands [][]int // items of each demand, nil if it is irrelevant
	limits  [][]int // items of each limit that some demand has
	of      []int   // the demand of each item
	in      [][]int // the limits of each item
}

func newCrowd[T comparable](demands, limits [][]T) *crowd {
	c := &crowd{demands: make([][]int, len(demands)), limits: make([][]int, len(limits))}
	// One item may meet all demands that contain it, so of such demands only
	// one is kept. The smallest is the most restrictive.
	order := make([]int, len(demands))
	for d := range order {
		order[d] = d
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(len(demands[a]), len(demands[b])) })
	number := map[T]int{}
	for _, d := range order {
		if slices.ContainsFunc(demands[d], func(x T) bool { _, taken := number[x]; return taken }) {
			continue
		}
		c.demands[d] = make([]int, 0, len(demands[d]))
		for _, x := range demands[d] {
			if _, twice := number[x]; !twice {
				number[x] = len(c.of)
				c.demands[d] = append(c.demands[d], len(c.of))
				c.of = append(c.of, d)
			}
		}
	}
	c.in = make([][]int, len(c.of))
	for l, list := range limits {
		for _, x := range list {
			if i, ok := number[x]; ok {
				c.limits[l] = append(c.limits[l], i)
				c.in[i] = append(c.in[i], l)
			}
		}
	}
	return c
}

// prune removes the demands that can always be met without affecting others:
// those with an item whose limits contain no other demand's items. Each removal
// may allow another one.
func (c *crowd) prune() {
	meets := make([][]int, len(c.limits)) // the demands of each limit
	left := make([]int, len(c.limits))    // for each limit, how many of these demands remain
	shared := make([]int, len(c.of))      // for each item, how many of its limits more than one demand meets
	for l, list := range c.limits {
		for _, i := range list {
			meets[l] = append(meets[l], c.of[i])
		}
		slices.Sort(meets[l])
		meets[l] = slices.Compact(meets[l])
		if left[l] = len(meets[l]); left[l] > 1 {
			for _, i := range list {
				shared[i]++
			}
		}
	}
	var gone []int
	drop := func(i int) {
		if d := c.of[i]; shared[i] == 0 && c.demands[d] != nil {
			c.demands[d] = nil
			gone = append(gone, d)
		}
	}
	limits := make([][]int, len(c.demands))
	for l, list := range meets {
		for _, d := range list {
			limits[d] = append(limits[d], l)
		}
	}
	for i := range c.of {
		drop(i)
	}
	for ; len(gone) > 0; gone = gone[1:] {
		for _, l := range limits[gone[0]] {
			if left[l]--; left[l] != 1 {
				continue
			}
			for _, i := range c.limits[l] {
				shared[i]--
				drop(i)
			}
		}
	}
}

// counted returns, for each demand, the limits that count its items: for each
// item the limit that most demands meet, so that few limits count many items.
func (c *crowd) counted() [][]int {
	crowded := make([]int, len(c.limits))
	for l, list := range c.limits {
		last := -1 // the items of a demand have adjacent numbers
		for _, i := range slices.Sorted(slices.Values(list)) {
			if d := c.of[i]; d != last && c.demands[d] != nil {
				crowded[l]++
				last = d
			}
		}
	}
	out := make([][]int, len(c.demands))
	for d, list := range c.demands {
		for _, i := range list {
			best := slices.MaxFunc(c.in[i], func(a, b int) int { return cmp.Or(cmp.Compare(crowded[a], crowded[b]), cmp.Compare(b, a)) })
			out[d] = append(out[d], best)
		}
		slices.Sort(out[d])
		out[d] = slices.Compact(out[d])
	}
	return out
}

// match assigns a separate limit to each demand, reassigning others if that
// helps. If a demand gets none, it and all demands that would have to be
// reassigned outnumber the limits they meet (Hall's theorem).
func (c *crowd) match() (over, by []int) {
	edges := c.counted()
	holder := make([]int, len(c.limits)) // the demand that has a limit, or -1
	has := make([]int, len(c.demands))   // the limit that a demand has, or -1
	for l := range holder {
		holder[l] = -1
	}
	for d := range has {
		has[d] = -1
	}
	for d := range edges {
		if c.demands[d] == nil {
			continue
		}
		from := map[int]int{} // the demand from which a limit was reached
		queue, free := []int{d}, -1
		for n := 0; n < len(queue) && free < 0; n++ {
			for _, l := range edges[queue[n]] {
				if _, seen := from[l]; seen {
					continue
				}
				from[l] = queue[n]
				by = append(by, l)
				if holder[l] < 0 {
					free = l
					break
				}
				queue = append(queue, holder[l])
			}
		}
		if free < 0 {
			slices.Sort(queue)
			slices.Sort(by)
			return queue, by
		}
		by = by[:0]
		for l := free; ; {
			mover := from[l]
			had := has[mover]
			holder[l], has[mover] = mover, l
			if mover == d {
				break
			}
			l = had
		}
	}
	return nil, nil
}
