package graph_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// TestHostileChannel builds a channel with a long chain and a long cycle of
// skipped entries. Looking up each element of one in the other would take
// minutes.
func TestHostileChannel(t *testing.T) {
	const n = 250_000
	ch := &fbc.Channel{Meta: fbc.Meta{Schema: fbc.SchemaChannel, Package: "p", Name: "c"}}
	for i := range n {
		link := fbc.Entry{Name: fmt.Sprintf("chain%d", i)}
		round := fbc.Entry{Name: fmt.Sprintf("circle%d", i), Replaces: fmt.Sprintf("circle%d", (i+1)%n)}
		if i > 0 {
			link.Replaces, link.Skips = fmt.Sprintf("chain%d", i-1), []string{round.Name}
		} else {
			link.Skips = []string{round.Name}
		}
		ch.Entries = append(ch.Entries, link, round)
	}
	c, err := graph.Build(context.Background(), &fbc.Catalog{Channels: []*fbc.Channel{ch}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, _ := c.Package("p")
	got, _ := p.Channel("c")
	if h, ok := got.Head(); !ok || h.Name() != fmt.Sprintf("chain%d", n-1) || got.Err() != nil {
		t.Errorf("the head is %v, %v, the fault %v; a circle in addition to the chain breaks no order", h.Name(), ok, got.Err())
	}
}
