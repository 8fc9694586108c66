package testcatalog_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testcatalog"
)

// TestSized checks that the catalogs are valid, deterministic, and of the documented size.
func TestSized(t *testing.T) {
	for _, times := range []int{1, 2} {
		fsys := testcatalog.Sized(times)
		c, err := graph.Load(context.Background(), fsys, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Findings()) > 0 {
			t.Errorf("%d times: %v", times, c.Findings())
		}
		heads := times * testcatalog.BlockPackages
		if got, want := c.Size().Bundles, times*testcatalog.Block+heads; got != want {
			t.Errorf("%d times: %d bundles, want %d", times, got, want)
		}
		for name, f := range testcatalog.Sized(times) {
			if !bytes.Equal(f.Data, fsys[name].Data) {
				t.Errorf("%s is not the same again", name)
			}
		}
		p, ok := c.Package(testcatalog.Name(times-1, 3))
		if !ok {
			t.Fatal("the last block is missing")
		}
		if order := slices.Collect(mustChannel(t, p, "stable").Order()); len(order) != testcatalog.Versions {
			t.Errorf("channel stable has %d entries in order, want %d", len(order), testcatalog.Versions)
		}
	}
}

func mustChannel(t *testing.T, p graph.Package, name string) graph.Channel {
	ch, ok := p.Channel(name)
	if !ok {
		t.Fatalf("package %s has no channel %s", p.Name(), name)
	}
	return ch
}

func TestPigeons(t *testing.T) {
	c, err := graph.LoadReader(context.Background(), strings.NewReader(testcatalog.Pigeons(3, 5)), "pigeons", nil)
	if err != nil || len(c.Findings()) > 0 || c.Size().Bundles != 20 {
		t.Fatalf("%v, %v", c.Findings(), err)
	}
}
