package sat

import (
	"context"
	"slices"
)

// A Choice is a list of literals of which one should hold, the preferred first.
type Choice struct {
	Options []Lit
	// Met reports whether the literals chosen so far already decide the choice.
	// Nil means that one of Options was chosen.
	Met func(chosen func(Lit) bool) bool
}

// Prefer finds the model that is best by preference and returns the chosen
// literals in the order in which they were chosen.
//
// Choices are processed in order. A choice that is already met is skipped: one
// of its options is in hard or was chosen, or its Met returns true. Otherwise
// Prefer chooses the first option that is possible together with hard and all
// earlier choices, and appends the choices returned by after to the queue. A
// choice without a possible option is skipped; the clauses then do not require
// it.
//
// A choice with a Met may choose the same literal again if two formulas share
// it. The literal then occurs twice in chosen, and after is called again.
//
// ok is false if hard itself cannot hold.
func (s *Solver) Prefer(ctx context.Context, hard []Lit, queue []Choice, after func(Lit) []Choice) (chosen []Lit, ok bool, err error) {
	if ok, err = s.Solve(ctx, hard...); !ok || err != nil {
		return nil, false, err
	}
	// Searching for each option would be exact but slow. Propagating the choices is
	// nearly always enough, and one search confirms all of them at the end. If that
	// search refutes them, the solver learns a clause, and the choices are made again.
	for {
		if chosen, err = s.choose(ctx, hard, queue, after); err != nil {
			return nil, false, err
		}
		if ok, err = s.Solve(ctx, slices.Concat(hard, chosen)...); ok || err != nil {
			return chosen, ok, err
		}
		core, err := s.firstImpossible(ctx, hard, chosen)
		if err != nil {
			return nil, false, err
		}
		for i, l := range core {
			core[i] = l.Not()
		}
		s.Clause(core...)
	}
}

// choose makes the choices like Prefer, but accepts every option that
// propagation does not refute.
func (s *Solver) choose(ctx context.Context, hard []Lit, queue []Choice, after func(Lit) []Choice) (chosen []Lit, err error) {
	p, ok := s.propagation()
	took := make(map[Lit]bool, len(hard))
	for _, l := range hard {
		took[l] = true
		ok = ok && p.hold(l)
	}
	has := func(l Lit) bool { return took[l] }
	// Choices that share their options slice are met together.
	met := map[*Lit]bool{}
	isMet := func(c Choice) bool {
		if c.Met != nil || len(c.Options) == 0 {
			return c.Met != nil && c.Met(has)
		}
		if !met[&c.Options[0]] {
			met[&c.Options[0]] = slices.ContainsFunc(c.Options, has)
		}
		return met[&c.Options[0]]
	}
	if !ok {
		return nil, nil
	}
	_, err = Walk(ctx, queue, isMet, func(c Choice, queue []Choice) ([]Choice, bool) {
		for _, l := range c.Options {
			if p.value[l] < 0 {
				continue
			}
			before := len(p.forced)
			if p.hold(l) {
				took[l] = true
				chosen = append(chosen, l)
				queue = append(queue, after(l)...)
				p.grow()
				break
			}
			// If the earlier choices are impossible too, the search finds out.
			p.undo(before)
			if !p.hold(l.Not()) {
				return nil, false
			}
		}
		return queue, true
	})
	return chosen, err
}

// firstImpossible returns a set of literals that cannot hold together, after a
// search that refuted hard and chosen. It consists of literals of hard and of
// the shortest prefix of chosen that contains such a set.
func (s *Solver) firstImpossible(ctx context.Context, hard, chosen []Lit) (core []Lit, err error) {
	at := make(map[Lit]int, len(chosen)) // the length of the prefix that ends with each literal
	for i, l := range chosen {
		at[l] = i + 1
	}
	core = s.Core()
	// The first possible literals of chosen can hold together, the first
	// impossible ones cannot. The culprit is usually near the end.
	for possible, step := 0, 1; ; step *= 2 {
		impossible := 0
		for _, l := range core {
			impossible = max(impossible, at[l])
		}
		if impossible <= possible+1 {
			return core, nil
		}
		try := max(impossible-step, (possible+impossible)/2)
		ok, err := s.Solve(ctx, slices.Concat(hard, chosen[:try])...)
		if err != nil {
			return nil, err
		}
		if ok {
			possible = try
		} else {
			core = s.Core()
		}
	}
}
