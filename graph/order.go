package graph

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/chain"
	"github.com/olmkit/olmkit/internal/codes"
)

// sortEntries computes the classic order of a channel (B1, B3) and reports its faults
// (A7). The chain runs from the head along replaces. Names without a bundle are part of the
// chain but cannot be chosen (B6).
func (b *builder) sortEntries(i uint32) {
	c := b.c
	ch := Channel{c, i}
	r := ch.rec()
	shape := chain.Of(b.edges(ch))
	b.checkShape(ch, &shape)
	if len(shape.Heads) != 1 {
		return
	}
	r.head = r.entries.from + uint32(shape.Heads[0]) + 1
	if r.fault != 0 {
		return
	}
	r.order.from = uint32(len(c.order))
	for _, k := range shape.Chain {
		e := r.entries.from + uint32(k)
		if !shape.Skipped[k] && c.entries[e].bundle > 0 {
			c.order = append(c.order, e)
			c.entries[e].rank = uint32(len(c.order)) - r.order.from
		}
	}
	r.order.to = uint32(len(c.order))
}

// edges returns the entries of a channel, numbered from 0 in order of name.
func (b *builder) edges(ch Channel) []chain.Entry {
	c, entries := b.c, in(b.c.entries, ch.rec().entries)
	for k := range slices.Backward(entries) { // the first of those with one name
		b.place[entries[k].name] = uint32(k) + 1
	}
	at := func(name sid) int {
		if name == 0 {
			return -1
		}
		return int(b.place[name]) - 1
	}
	// Reuse the memory of the last channel.
	out := slices.Grow(b.links[:0], len(entries))[:len(entries)]
	b.links = out
	for k, e := range entries {
		out[k].Replaces, out[k].Skips = at(e.replaces), out[k].Skips[:0]
		for _, s := range in(c.skips, e.skips) {
			if to := at(s); to >= 0 {
				out[k].Skips = append(out[k].Skips, to)
			}
		}
	}
	for _, e := range entries {
		b.place[e.name] = 0
	}
	return out
}

// checkShape reports the faults of a channel, and marks the channel if it has no order.
func (b *builder) checkShape(ch Channel, shape *chain.Shape) {
	r := ch.rec()
	meta := fbc.Meta{Schema: fbc.SchemaChannel, Package: ch.Package().Name(), Name: ch.Name(), Pos: ch.Pos()}
	report := func(code fbc.Code, err error) uint32 { return b.problem(code, &meta, "/entries", err) }
	names := func(list []int, sep string) string {
		out := make([]string, len(list))
		for i, k := range list {
			out[i] = Entry{b.c, r.entries.from + uint32(k)}.Name()
		}
		return strings.Join(out, sep)
	}
	switch n := len(shape.Heads); {
	case r.entries.len() == 0:
		r.fault = report(codes.Heads, errors.New("has no entries; a channel needs at least one"))
	case n == 0:
		r.fault = report(codes.Heads, errors.New("has no head: every entry is replaced or skipped by another; remove the edges to the newest entry"))
	case n > 1:
		r.fault = report(codes.Heads, fmt.Errorf("has %d heads: %s; let the newest replace or skip the others", n, names(shape.Heads, ", ")))
	}
	onChain := make([]bool, r.entries.len())
	for _, k := range shape.Chain {
		onChain[k] = true
	}
	for _, circle := range shape.Cycles {
		fault := report(codes.Cycle, fmt.Errorf("replaces form a cycle: %s; remove one of these edges", names(append(circle, circle[0]), " -> ")))
		// A cycle outside the chain, among skipped entries, does not affect the
		// order. Without exactly one head there is no chain, and the fault
		// about the heads stays.
		if slices.ContainsFunc(circle, func(k int) bool { return onChain[k] }) {
			r.fault = fault
		}
	}
	if len(shape.Stranded) > 0 && r.fault == 0 {
		report(codes.Stranded, fmt.Errorf("entries unreachable from the head %s by replaces: %s; replace or skip them",
			names(shape.Heads, ""), names(shape.Stranded, ", ")))
	}
}
