package sat

import (
	"context"
	"slices"
)

// A Choice is a list of literals of which one is to hold, the preferred first.
type Choice struct {
	Options []Lit
	// Met reports whether what was chosen so far decides the choice already. Nil
	// means: when one of Options was chosen.
	Met func(chosen func(Lit) bool) bool
}

// Prefer finds the model that is best by preference and returns the literals
// chosen, in the order in which they were chosen.
//
// The choices are made one after the other. A choice that is met already needs
// nothing: one of its options is in hard or was chosen, or its Met says so. Otherwise
// the first option that some model allows together with hard and all earlier
// choices is chosen, and the choices that follow from it, which after returns,
// are put at the end of the queue. A choice without a possible option is passed
// over: it then is no consequence of the clauses.
//
// A choice with a Met may choose a literal that was chosen before, when two
// formulas share it; the literal then stands twice in chosen, and after is asked
// again.
//
// ok is false when hard itself cannot hold.
func (s *Solver) Prefer(ctx context.Context, hard []Lit, queue []Choice, after func(Lit) []Choice) (chosen []Lit, ok bool, err error) {
	if ok, err = s.Solve(ctx, hard...); !ok || err != nil {
		return nil, false, err
	}
	// A search for each option would be exact, and take a model of everything each
	// time. Nearly always it is enough to follow what the choices force; one search
	// confirms all of them in the end. What it refutes is learned, and the choices
	// are made again.
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

// choose makes the choices as Prefer does, but takes each option that the clauses
// do not refute without a search.
func (s *Solver) choose(ctx context.Context, hard []Lit, queue []Choice, after func(Lit) []Choice) (chosen []Lit, err error) {
	p, ok := s.propagation()
	took := make(map[Lit]bool, len(hard))
	for _, l := range hard {
		took[l] = true
		ok = ok && p.hold(l)
	}
	has := func(l Lit) bool { return took[l] }
	// Choices that share their options are met together.
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
	for ; ok && len(queue) > 0; queue = queue[1:] {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c := queue[0]
		if isMet(c) {
			continue
		}
		for _, l := range c.Options {
			if p.value[l] < 0 {
				continue
			}
			before := len(p.forced)
			if !p.hold(l) {
				// The search finds out when the choices before are not possible either.
				p.undo(before)
				if ok = p.hold(l.Not()); !ok {
					break
				}
				continue
			}
			took[l] = true
			chosen = append(chosen, l)
			queue = append(queue, after(l)...)
			p.grow()
			break
		}
	}
	return chosen, nil
}

// firstImpossible returns a set of literals that cannot hold together, after a
// search that found this of hard and chosen: of hard, and of as few of the first
// of chosen as there is such a set of.
func (s *Solver) firstImpossible(ctx context.Context, hard, chosen []Lit) (core []Lit, err error) {
	at := make(map[Lit]int, len(chosen)) // how many there are up to each of chosen
	for i, l := range chosen {
		at[l] = i + 1
	}
	core = s.Core()
	// The first possible of chosen can hold, the first impossible of them cannot. It
	// is most often the last of a set that is in the way.
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
