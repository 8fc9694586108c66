package resolver_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/resolver"
)

// TestPlannedParts checks that the plan that comes with a conflict equals the plan of the
// problem without the refused subscriptions (G1).
func TestPlannedParts(t *testing.T) {
	checked := 0
	seeds(t, func(t *testing.T, seed uint64) {
		p := randomProblem(seed)
		_, err := resolver.Resolve(context.Background(), open(t, p))
		var no *resolver.Conflict
		if !errors.As(err, &no) || no.Planned() == nil {
			return
		}
		_, refused := no.Subscriptions()
		less := p
		less.Subscriptions = nil
		for _, s := range p.Subscriptions {
			if !slices.Contains(refused, s.Name) {
				less.Subscriptions = append(less.Subscriptions, s)
			} else if slices.ContainsFunc(p.Installed, func(in resolver.Installed) bool { return in.Name == s.InstalledCSV }) {
				return // its operator would no longer be owned
			}
		}
		for _, c := range no.Cores {
			for _, f := range c.Facts {
				if f.Code() == "must-stay" {
					return // there is no solution even for the installed operators alone
				}
			}
		}
		alone := p
		alone.Subscriptions = nil
		if sol, err := resolver.Resolve(context.Background(), open(t, alone)); err != nil || len(sol.Selected) > 0 {
			return // operators that stay have requirements, and their part may be refused
		}
		checked++
		o := newOracle(t, open(t, less))
		if msg := o.judge(no.Planned(), nil); msg != "" {
			t.Errorf("seed %d: refused %q: %s", seed, refused, msg)
		}
	})
	t.Logf("%d plans", checked)
}
