package view

import (
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// A channelBuilder collects the data for drawing a channel.
type channelBuilder struct {
	*pkgBuilder
	ch   graph.Channel
	data *channelData
	row  map[int]bool // never ranged over
}

// addRows adds the nodes that the channel mentions, and installed nodes that
// have an upgrade into the channel.
func (c *channelBuilder) addRows(classic *graph.Upgrades) {
	below := map[string]bool{}
	mention := func(name string) {
		if i, ok := c.named[name]; ok {
			c.row[i] = true
		}
	}
	for e := range c.ch.Entries() {
		mention(e.Name())
		if e.Replaces() != "" {
			mention(e.Replaces())
			below[e.Replaces()] = below[e.Replaces()] || e.Replaces() != e.Name()
		}
		for s := range e.Skips() {
			mention(s)
			below[s] = below[s] || s != e.Name()
			if i, ok := c.named[s]; ok && !slices.Contains(c.data.Skipped, i) {
				c.data.Skipped = append(c.data.Skipped, i)
			}
		}
	}
	slices.Sort(c.data.Skipped)
	for _, n := range c.installed {
		if _, moves := classic.Next(n); moves {
			c.row[c.number[n]] = true
		}
	}
	for i, n := range c.nodes {
		if c.row[i] {
			c.data.Rows = append(c.data.Rows, i)
		}
		if _, ok := c.ch.Entry(n.Name); ok && c.named[n.Name] == i && !below[n.Name] {
			c.data.Heads = append(c.data.Heads, i)
		}
	}
}

// addEdges lists the edges to named entries, and the ranges.
func (c *channelBuilder) addEdges() {
	for _, to := range c.data.Rows {
		e, ok := c.ch.Entry(c.nodes[to].Name)
		if !ok || c.named[e.Name()] != to {
			continue
		}
		add := func(name string, kind int) {
			if from, ok := c.named[name]; ok {
				c.data.Edges = append(c.data.Edges, [3]int{from, to, kind})
			}
		}
		if e.Replaces() != "" {
			add(e.Replaces(), edgeReplaces)
		}
		for s := range e.Skips() {
			add(s, edgeSkips)
		}
		if e.SkipRange() != "" {
			c.data.Ranges = append(c.data.Ranges, rangeData{to, e.SkipRange()})
		}
	}
}

// addRails connects nodes whose only upgrade is by a skipRange, so that a range over a hundred versions is drawn as
// one line past all of them.
func (c *channelBuilder) addRails(readings ...*graph.Upgrades) {
	named := map[int]bool{} // has an edge by name
	for _, e := range c.data.Edges {
		named[e[0]] = named[e[0]] || e[0] != e[1]
	}
	lowest := map[int]int{} // of the rail that leads to a node
	for _, from := range c.data.Rows {
		if named[from] {
			continue
		}
		for _, u := range readings {
			s, ok := u.Next(c.nodes[from])
			to := c.number[s.To]
			if !ok || to == from || !c.row[to] {
				continue
			}
			above, ok := lowest[to]
			if !ok || above > from { // a range may lead to a lower version
				above = to
			}
			c.data.Edges = append(c.data.Edges, [3]int{from, above, edgeRange})
			lowest[to] = from
			break
		}
	}
}

// stranded returns the rows from which no sequence of upgrades leads to a head.
func (c *channelBuilder) stranded(u *graph.Upgrades) []int {
	if u.Err() != nil {
		return nil
	}
	var out []int
	for n := range u.Stranded() {
		if i := c.number[n]; c.row[i] {
			out = append(out, i)
		}
	}
	slices.Sort(out)
	return out
}
