package resolver_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/testsize"
	"github.com/olmkit/olmkit/resolver"
)

// TestFixesOfAdvice applies each fix for an operator that is held back or passed over in
// generated problems (H40, D16): the plan is the one that it promises, the subscription gets
// another bundle, and the sentence names every operator that stays stuck.
func TestFixesOfAdvice(t *testing.T) {
	ctx := context.Background()
	advice, fixes := 0, 0
	check := func(seed uint64) string {
		p := open(t, randomProblem(seed))
		p.Options.Partial = false
		sol, err := resolver.Resolve(ctx, p)
		if err != nil {
			return ""
		}
		list, err := sol.Advice(ctx)
		if err != nil {
			return err.Error()
		}
		for _, a := range list {
			if len(a.Rejected) == 0 {
				continue
			}
			advice++
			found, err := sol.Fixes(ctx, &a, 0)
			if err != nil {
				return err.Error()
			}
			for _, f := range found {
				fixes++
				changed := p
				if f.Changes[0].Requirement != "" {
					changed = upstream(t, p, f.Changes)
				} else {
					for _, c := range f.Changes {
						changed = resolver.Apply(c, changed)
					}
				}
				after, err := resolver.Resolve(ctx, changed)
				var no *resolver.Conflict
				switch {
				case errors.As(err, &no):
					return fmt.Sprintf("fix %q for %q does not help: %v", f, a, err)
				case err != nil:
					return err.Error()
				case fmt.Sprint(names(known(after.Selected))) != fmt.Sprint(names(f.Selected)):
					return fmt.Sprintf("fix %q promises %v, and gives %v", f, names(f.Selected), names(known(after.Selected)))
				case fmt.Sprint(names(after.Selected), after.Stayed) == fmt.Sprint(names(sol.Selected), sol.Stayed):
					return fmt.Sprintf("fix %q for %q changes nothing", f, a)
				}
				rest, err := after.Advice(ctx)
				if err != nil {
					return err.Error()
				}
				for _, b := range rest {
					stays := slices.ContainsFunc(after.Stayed, func(s resolver.Stay) bool { return s.Subscription == b.Subscription })
					if stays && b.Outlook.EndsEarly() && !strings.Contains(f.String(), b.Bundle+" ") {
						return fmt.Sprintf("fix %q leaves an operator behind: %s", f, b)
					}
				}
			}
		}
		return ""
	}
	if *seed != 0 {
		if msg := check(*seed); msg != "" {
			t.Fatal(msg)
		}
		return
	}
	want := testsize.Of(100, 400, 5000)
	for s := uint64(1); advice < want; s++ {
		if msg := check(s); msg != "" {
			t.Fatalf("seed %d: %s\nreplay with: go test ./resolver -run '^%s$' -v -seed %d", s, msg, t.Name(), s)
		}
	}
	t.Logf("%d held back or passed over, %d fixes", advice, fixes)
	if fixes < advice/4 {
		t.Errorf("only %d fixes for %d", fixes, advice)
	}
}
