package repo_test

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/property"
)

// TestHostileGrowth checks that input designed to be slow is read in nearly linear time: twice as much takes about
// twice as many statements.
func TestHostileGrowth(t *testing.T) {
	if testsize.Race {
		t.Skip("the counts are the same with the race detector; the run without it is enough")
	}
	c := newCounter(t)
	for _, shape := range []string{"members", "circle", "ranges", "newer"} {
		// Each workload runs several times, because hashes differ between loads.
		count := func(n int) uint64 { return c.count(t, fmt.Sprintf("hostile %s %d", shape, n), 8) }
		const n = 2000
		base, small, large := count(n), count(2*n), count(4*n)
		// The statements of most of the standard library are not counted, so the difference can be very small.
		more := func(a, b uint64) float64 { return max(float64(b)-float64(a), n) }
		growth := more(small, large) / more(base, small)
		t.Logf("%s: %d statements for %d, then %d and %d: %.2f times", shape, base, n, small, large, growth)
		if growth > maxGrowth {
			t.Errorf("%s: each doubling multiplies the additional statements by %.2f, want at most %.2f", shape, growth, maxGrowth)
		}
	}
}

// hostile returns the workload of TestHostileGrowth with this name, or nil if there is none.
func hostile(name string) []workload {
	var shape string
	var n int
	if _, err := fmt.Sscanf(name, "hostile %s %d", &shape, &n); err != nil {
		return nil
	}
	ctx := context.Background()
	switch shape {
	case "members":
		// Objects with very many members (A16).
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, `"k%d":0,`, i)
		}
		text := []byte(`{"schema":"x","properties":[{` + b.String() + `"type":"a","value":1}]}` +
			`{"schema":"olm.package","name":"p","icon":{` + b.String() + `"mediatype":"m","base64data":"YQ=="}}`)
		return []workload{{name, func() error { _, err := fbc.LoadReader(ctx, bytes.NewReader(text), "f", nil); return err }}}
	case "ranges", "newer":
		// Channels in which each entry has a skipRange that contains all older versions, or all others. The new
		// channel leaves versions of the old one behind.
		cat := &fbc.Catalog{Packages: []*fbc.Package{{Meta: fbc.Meta{Schema: fbc.SchemaPackage, Package: "p", Name: "p"}, DefaultChannel: "new"}}}
		for major, name := range []string{1: "old", 2: "new"} {
			if name == "" {
				continue
			}
			ch := &fbc.Channel{Meta: fbc.Meta{Schema: fbc.SchemaChannel, Package: "p", Name: name}}
			for i := range n {
				version := fmt.Sprintf("%d.0.%d", major, i)
				e := fbc.Entry{Name: "p.v" + version, Replaces: fmt.Sprintf("p.v%d.0.%d", major, i-1)}
				e.SkipRange = map[string]string{"ranges": fmt.Sprintf(">=%d.0.0 <%s", major, version), "newer": fmt.Sprintf(">=%d.0.0 !=%s", major, version)}[shape]
				if i == 0 {
					e.Replaces = "p.v1.0.1"
				}
				ch.Entries = append(ch.Entries, e)
				b := &fbc.Bundle{Meta: fbc.Meta{Schema: fbc.SchemaBundle, Package: "p", Name: e.Name}, Image: "q/p:1"}
				b.Properties = []property.Property{property.New(property.TypePackage, property.Package{PackageName: "p", Version: version})}
				cat.Bundles = append(cat.Bundles, b)
			}
			cat.Channels = append(cat.Channels, ch)
		}
		return []workload{{name, func() error { _, err := fbc.Validate(ctx, cat, nil); return err }}}
	case "circle":
		// A channel with a long chain that skips a long cycle.
		ch := &fbc.Channel{Meta: fbc.Meta{Schema: fbc.SchemaChannel, Package: "p", Name: "c"}}
		for i := range n {
			link := fbc.Entry{Name: fmt.Sprintf("chain%d", i), Skips: []string{fmt.Sprintf("circle%d", i)}}
			if i > 0 {
				link.Replaces = fmt.Sprintf("chain%d", i-1)
			}
			ch.Entries = append(ch.Entries, link, fbc.Entry{Name: link.Skips[0], Replaces: fmt.Sprintf("circle%d", (i+1)%n)})
		}
		return []workload{{name, func() error { _, err := graph.Build(ctx, &fbc.Catalog{Channels: []*fbc.Channel{ch}}, nil); return err }}}
	}
	return nil
}
