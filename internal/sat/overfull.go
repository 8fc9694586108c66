package sat

import (
	"cmp"
	"slices"
)

// Overfull looks for demands that cannot all be met because the limits leave too
// little room: each demand wants one of its items, and of the items of a limit at
// most one can be had. It returns the numbers of demands and of fewer limits, both
// ascending, such that no two of the demands share an item and every item of them
// is in one of the limits; nil when it finds none.
//
// A search needs exponential time for what counting sees at once. Counting is
// exact where each item is in one limit that matters, and never wrong where it is
// in more, though it may then find nothing.
func Overfull[T comparable](demands, limits [][]T) (over, by []int) {
	c := newCrowd(demands, limits)
	c.prune()
	return c.match()
}

// A crowd is the demands that are still of interest, with the limit by which each
// item is counted.
type crowd struct {
	demands [][]int // items of each demand, nil when it is of no interest
	limits  [][]int // items of each limit that some demand has
	of      []int   // the demand of each item
	in      [][]int // the limits of each item
	shared  []bool  // limits that more than one demand meets
}

func newCrowd[T comparable](demands, limits [][]T) *crowd {
	c := &crowd{demands: make([][]int, len(demands)), limits: make([][]int, len(limits)), shared: make([]bool, len(limits))}
	// Demands that share an item may be met by it together, so that one of them
	// has to step back. The smaller one says more.
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

// prune drops the demands that can be met without being in anybody's way: those
// with an item of which every limit is theirs alone.
func (c *crowd) prune() {
	for changed := true; changed; {
		changed = false
		for l, list := range c.limits {
			first := -1
			c.shared[l] = slices.ContainsFunc(list, func(i int) bool {
				d := c.of[i]
				if c.demands[d] == nil {
					return false
				}
				if first < 0 {
					first = d
				}
				return d != first
			})
		}
		for d, list := range c.demands {
			if slices.ContainsFunc(list, func(i int) bool {
				return !slices.ContainsFunc(c.in[i], func(l int) bool { return c.shared[l] })
			}) {
				c.demands[d] = nil
				changed = true
			}
		}
	}
}

// counted returns for each demand the limits that its items are counted by: of an
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

// match gives each demand a limit of its own, moving others where that helps. The
// first that gets none, together with all that would have had to move for it, is
// one more than the limits that they met (Hall's theorem).
func (c *crowd) match() (over, by []int) {
	edges := c.counted()
	holder := make([]int, len(c.limits)) // the demand that has a limit, or -1
	for l := range holder {
		holder[l] = -1
	}
	for d := range edges {
		if c.demands[d] == nil {
			continue
		}
		from := map[int]int{} // the demand that came to a limit
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
			had := slices.Index(holder, mover)
			holder[l] = mover
			if mover == d {
				break
			}
			l = had
		}
	}
	return nil, nil
}
