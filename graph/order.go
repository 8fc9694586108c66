package graph

import (
	"errors"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/fbc"
)

// order computes the classic order of a channel (B1, B3) and reports what
// breaks it (A7). The chain runs from the one head along replaces; names
// without a bundle are links of it but cannot be chosen (B6).
func (b *builder) order(i uint32) {
	c := b.c
	ch := Channel{c, i}
	r := ch.rec()
	n := r.entries.len()
	at := func(name sid) (int, bool) {
		if name == 0 {
			return 0, false
		}
		e, ok := ch.Entry(c.str(name))
		return int(e.i - r.entries.from), ok
	}
	covered, skipped := make([]bool, n), make([]bool, n)
	next := make([]int, n)
	for k, e := range in(c.entries, r.entries) {
		next[k] = -1
		if to, ok := at(e.replaces); ok {
			covered[to], next[k] = true, to
		}
		for _, s := range in(c.skips, e.skips) {
			if to, ok := at(s); ok {
				covered[to], skipped[to] = true, true
			}
		}
	}
	name := func(k int) string { return Entry{c, r.entries.from + uint32(k)}.Name() }
	names := func(list []int) string {
		out := make([]string, len(list))
		for i, k := range list {
			out[i] = name(k)
		}
		return strings.Join(out, ", ")
	}
	meta := fbc.Meta{Schema: fbc.SchemaChannel, Package: ch.Package().Name(), Name: ch.Name(), Pos: ch.Pos()}
	var heads []int
	for k := range n {
		if !covered[k] {
			heads = append(heads, k)
		}
	}
	switch {
	case n == 0:
		r.fault = b.problem(CodeHeads, &meta, "/entries", errors.New("has no entries; a channel needs at least one"))
		return
	case len(heads) == 0:
		r.fault = b.problem(CodeHeads, &meta, "/entries", errors.New("has no head: every entry is replaced or skipped by another; "+
			"let one entry be the newest"))
		return
	case len(heads) > 1:
		r.fault = b.problem(CodeHeads, &meta, "/entries", fmt.Errorf("has %d heads: %s; let the newest replace or skip the others", len(heads), names(heads)))
		return
	}
	r.head = r.entries.from + uint32(heads[0]) + 1
	reached := make([]bool, n)
	var chain []int
	for k := heads[0]; k >= 0; k = next[k] {
		if reached[k] {
			from := 0
			for chain[from] != k {
				from++
			}
			circle := append(chain[from:len(chain):len(chain)], k)
			r.fault = b.problem(CodeCycle, &meta, "/entries", fmt.Errorf("replaces run in a circle: %s", strings.ReplaceAll(names(circle), ", ", " -> ")))
			return
		}
		reached[k] = true
		chain = append(chain, k)
	}
	var stranded []int
	for k := range n {
		if !reached[k] && !skipped[k] {
			stranded = append(stranded, k)
		}
	}
	if len(stranded) > 0 {
		b.problem(CodeStranded, &meta, "/entries", fmt.Errorf("entries that the head %s does not lead to by replaces: %s; replace or skip them", name(heads[0]), names(stranded)))
	}
	r.order.from = uint32(len(c.order))
	for _, k := range chain {
		e := r.entries.from + uint32(k)
		if !skipped[k] && c.entries[e].bundle > 0 {
			c.order = append(c.order, e)
			c.entries[e].rank = uint32(len(c.order)) - r.order.from
		}
	}
	r.order.to = uint32(len(c.order))
}
