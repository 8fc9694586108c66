package resolver

import (
	"context"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/sat"
	"github.com/olmkit/olmkit/resolver/fact"
)

// CheckCore reports whether the facts of a core contradict each other as clauses of the solver, and which of them are
// not needed.
func CheckCore(ctx context.Context, c *Core) (contradict bool, needless []fact.Fact, err error) {
	on := make([]sat.Lit, len(c.index))
	for n, i := range c.index {
		on[n] = c.e.on[i]
	}
	ok, err := c.e.s.Solve(ctx, on...)
	if err != nil || ok {
		return false, nil, err
	}
	for n := range on {
		ok, err := c.e.s.Solve(ctx, slices.Delete(slices.Clone(on), n, n+1)...)
		if err != nil {
			return false, nil, err
		}
		if !ok {
			needless = append(needless, c.Facts[n])
		}
	}
	return true, needless, nil
}

// DeriveWithin is Derive with a limit on the work.
func DeriveWithin(ctx context.Context, c *Core, work int) (*Derivation, error) {
	return c.deriveWithin(ctx, work)
}

// Apply returns a problem after a change.
func Apply(c Change, p Problem) Problem { return c.apply(p) }

// Says returns a requirement as explanations show it.
func Says(x constraints.Expr) string { return prose.Requirement(x) }

// Occupy blocks all other explanations of a conflict until the returned function is called.
func Occupy(c *Conflict) func() {
	r := c.Cores[0].e.r
	r.busy <- struct{}{}
	return func() { r.unlock(context.Background(), new(error)) }
}

// Sets returns the set that backtrack finds for a problem, and the one that the solver prefers, by name of the
// candidate. A set is nil if there is none. givenUp reports whether backtrack left the problem to the solver.
func Sets(ctx context.Context, p Problem) (found, preferred []string, givenUp bool, err error) {
	r, err := start(ctx, &p, nil)
	if err != nil || r.impossible() {
		return nil, nil, false, err
	}
	names := func(set []cand) []string {
		list := []string{}
		for _, c := range set {
			list = append(list, r.u.ref(c).String())
		}
		return list
	}
	if set, ok := r.backtrack(ctx, new(scratch)); set != nil {
		found = names(set)
	} else if !ok {
		return nil, nil, true, nil
	}
	e, err := r.encode(ctx)
	if err != nil {
		return nil, nil, false, err
	}
	set, ok, err := e.search(ctx, e.on, func(int) bool { return true })
	if ok {
		preferred = names(set)
	}
	return found, preferred, false, err
}

// CommandsText returns the commands of an advice as [Report.Text] prints them.
func (a Advice) CommandsText() string {
	t := newWriter(100, nil)
	a.writeCommands(t)
	return t.String()
}

// After returns the problem of the namespace once the solution is installed.
func (s *Solution) After() Problem { return s.after() }
