package world

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/olm"
)

// TestLineage compares lineages with the result of following spec.replaces, on
// random chains, trees and cycles.
func TestLineage(t *testing.T) {
	draw := rand.New(rand.NewPCG(1, 2))
	circles, related := 0, 0
	for round := range 2000 {
		var csvs []*olm.ClusterServiceVersion
		byName := map[string]*olm.ClusterServiceVersion{}
		n := 1 + draw.IntN(8)
		for i := range n {
			c := &olm.ClusterServiceVersion{}
			c.Metadata.Name = fmt.Sprint("a.v", i)
			if r := draw.IntN(n + 2); r < n {
				c.Spec.Replaces = fmt.Sprint("a.v", r)
			} else if r == n {
				c.Spec.Replaces = "gone"
			}
			csvs, byName[c.Metadata.Name] = append(csvs, c), c
		}
		circle := func(c *olm.ClusterServiceVersion) []string {
			names := []string{c.Metadata.Name}
			for o := byName[c.Spec.Replaces]; o != nil; o = byName[o.Spec.Replaces] {
				if o == c {
					return names
				}
				if slices.Contains(names, o.Metadata.Name) {
					return nil
				}
				names = append(names, o.Metadata.Name)
			}
			return nil
		}
		replacesBy := func(newer, older *olm.ClusterServiceVersion) bool {
			for c := newer; c != nil; {
				if c.Spec.Replaces == older.Metadata.Name {
					return true
				}
				if c.Spec.Replaces == "" || circle(c) != nil {
					return false
				}
				c = byName[c.Spec.Replaces]
			}
			return false
		}
		l := newLineage(csvs, nil)
		for _, c := range csvs {
			want := circle(c)
			if got := l.circle(c); !slices.Equal(got, want) {
				t.Fatalf("round %d: cycle of %s is %v, want %v", round, c.Metadata.Name, got, want)
			}
			if want != nil {
				circles++
			}
			for _, o := range csvs {
				if o == c {
					continue
				}
				want := replacesBy(c, o)
				if got := l.replacesBy(c, o); got != want {
					t.Fatalf("round %d: %s replaces %s: %v, want %v", round, c.Metadata.Name, o.Metadata.Name, got, want)
				}
				if want {
					related++
				}
			}
		}
	}
	if circles == 0 || related == 0 {
		t.Errorf("only %d CSVs in cycles and %d pairs", circles, related)
	}
}
