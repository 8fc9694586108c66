package resolver_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testcatalog"
	"github.com/olmkit/olmkit/resolver"
)

// TestWhySeveral checks that the chains of all bundles together repeat each reason at most a few times, however long
// they are (D17, D21), and that each chain equals that of its bundle alone up to its reference to another chain.
func TestWhySeveral(t *testing.T) {
	const n = 60
	sol, err := resolver.Resolve(t.Context(), shaped(t, testcatalog.Case{Shape: "chain", Outcome: testcatalog.FirstTry}, n))
	if err != nil {
		t.Fatal(err)
	}
	var forward []string
	for _, s := range sol.Selected {
		forward = append(forward, s.Name)
	}
	backward := slices.Clone(forward)
	slices.Reverse(backward)
	for _, names := range [][]string{forward, backward} {
		chains, err := sol.Why(t.Context(), names...)
		if err != nil {
			t.Fatal(err)
		}
		links := 0
		for i, c := range chains {
			if c.Bundle != names[i] {
				t.Fatalf("chain %d is of %s, want %s", i, c.Bundle, names[i])
			}
			links += len(c.Reasons)
			refers := strings.Contains(c.Text(80, nil), "the reasons for "+c.See+" are given above")
			if refers != (c.See != "") {
				t.Errorf("%s: see is %q, and the text is:\n%s", c.Bundle, c.See, c.Text(80, nil))
			}
		}
		if links < n || links > 6*n {
			t.Errorf("%d chains have %d reasons", n, links)
		}
		for i, name := range names {
			alone, err := sol.Why(t.Context(), name)
			if err != nil {
				t.Fatal(err)
			}
			why := alone[0].Reasons
			c := chains[i]
			if len(c.Reasons) > len(why) || c.See == "" && len(c.Reasons) != len(why) || c.See != "" && why[len(c.Reasons)].Bundle.Name != c.See {
				t.Errorf("%s has %d reasons and refers to %q; Why returns %d", name, len(c.Reasons), c.See, len(why))
			}
			for k, r := range c.Reasons {
				if r.String() != why[k].String() {
					t.Errorf("%s, reason %d: got %q, want %q", name, k, r, why[k])
				}
			}
		}
	}
	if _, err := sol.Why(t.Context(), forward[0], "nowhere.v1"); err == nil {
		t.Error("no error for an unknown bundle")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := sol.Why(ctx, forward...); !errors.Is(err, context.Canceled) {
		t.Errorf("got the error %v, want the context's", err)
	}
}
