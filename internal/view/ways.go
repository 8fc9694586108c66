package view

import (
	"strings"

	"github.com/olmkit/olmkit/graph"
)

// ways returns what follows what. The upgrades know all nodes of the package.
func (b *pkgBuilder) ways(u *graph.Upgrades) *waysData {
	d := &waysData{Heads: []int{}, Steps: [][]int{}}
	for _, h := range u.Heads() {
		d.Heads = append(d.Heads, b.number[h])
	}
	for i, n := range b.nodes {
		list := []int{i, -1}
		if s, ok := u.Next(n); ok {
			list[1] = b.number[s.To]
		}
		for s := range u.Steps(n) {
			list = append(list, b.number[s.To], b.reasons.add(reasonsText(s)))
		}
		if len(list) == 2 {
			continue
		}
		d.Steps = append(d.Steps, list)
		if u.Walk(n).AtHead {
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
	return d
}

// reasonsText tells the edges of a step.
func reasonsText(s graph.Step) string {
	var words []string
	for _, r := range s.Reasons {
		words = append(words, strings.TrimSpace(r.Edge.String()+" "+r.Channel))
	}
	return strings.Join(words, ", ")
}
