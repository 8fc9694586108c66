package view

import (
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// maxFollowers limits the followers listed for a node, and maxDetours the detours of a package, so that ranges that
// cover everything cannot fill the page.
const (
	maxFollowers = 50
	maxDetours   = 200
)

// ways returns the data of the upgrades u, for all nodes of the package.
func (b *pkgBuilder) ways(u *graph.Upgrades) *waysData {
	d := &waysData{Heads: []int{}, Steps: [][]int{}}
	for _, h := range u.Heads() {
		d.Heads = append(d.Heads, b.number[h])
	}
	next := make([]int, len(b.nodes))
	for i, n := range b.nodes {
		next[i] = -1
		list := []int{i, -1, 0}
		for s := range u.Steps(n) {
			if list[2]++; list[2] <= maxFollowers {
				list = append(list, b.number[s.To], b.reasons.add(s.Why()))
			}
		}
		if list[2] == 0 {
			continue
		}
		if s, ok := u.Next(n); ok {
			next[i] = b.number[s.To]
			list[1] = next[i]
		}
		d.Steps = append(d.Steps, list)
	}
	arrives := arriving(next, d.Heads)
	for i, n := range b.nodes {
		if arrives[i] || len(d.Detours) == maxDetours {
			continue
		}
		if path, ok := u.PathToHead(n); ok && len(path) > 0 {
			detour := []int{i}
			for _, s := range path {
				detour = append(detour, b.number[s.To])
			}
			d.Detours = append(d.Detours, detour)
		}
	}
	b.around(d, u, next)
	return d
}

// around adds the ways around upgrades to avoid. next has the node that follows each node, or -1.
func (b *pkgBuilder) around(d *waysData, u *graph.Upgrades, next []int) {
	if len(b.excluded) == 0 {
		return
	}
	banned := map[[2]string]bool{}
	for _, x := range b.excluded {
		banned[[2]string{x.From, x.To}] = true
	}
	before := make([][]int, len(next))
	takes := make([]bool, len(next)) // whether OLM takes an upgrade to avoid from there on
	var queue []int
	for i, to := range next {
		if to < 0 {
			continue
		}
		before[to] = append(before[to], i)
		if takes[i] = banned[[2]string{b.nodes[i].Name, b.nodes[to].Name}]; takes[i] {
			queue = append(queue, i)
		}
	}
	for ; len(queue) > 0; queue = queue[1:] {
		for _, i := range before[queue[0]] {
			if !takes[i] {
				takes[i] = true
				queue = append(queue, i)
			}
		}
	}
	without := u.Without(b.excluded)
	for i, n := range b.nodes {
		path, ok := u.PathToHead(n)
		if !ok || !takes[i] && !slices.ContainsFunc(path, func(s graph.Step) bool { return banned[[2]string{s.From.Name, s.To.Name}] }) {
			continue
		}
		if path, ok = without.PathToHead(n); ok && len(d.Around) < maxDetours {
			way := []int{i}
			for _, s := range path {
				way = append(way, b.number[s.To])
			}
			d.Around = append(d.Around, way)
		} else if !ok && len(d.Blocked) < maxDetours {
			list := []int{i}
			for _, x := range without.Blocking(n, graph.Node{}) {
				list = append(list, b.named[x.From], b.named[x.To])
			}
			d.Blocked = append(d.Blocked, list)
		}
	}
}

// arriving reports, for each node, whether following next from node to node leads to a head.
func arriving(next, heads []int) []bool {
	const unknown, under, yes, no = 0, 1, 2, 3
	state := make([]int, len(next))
	for i := range next {
		var way []int
		at := i
		for at >= 0 && state[at] == unknown {
			state[at] = under
			way = append(way, at)
			at = next[at]
		}
		end := no // the path is a cycle
		switch {
		case at >= 0 && state[at] != under:
			end = state[at]
		case at < 0 && slices.Contains(heads, way[len(way)-1]):
			end = yes
		}
		for _, x := range way {
			state[x] = end
		}
	}
	out := make([]bool, len(next))
	for i, s := range state {
		out[i] = s == yes
	}
	return out
}
