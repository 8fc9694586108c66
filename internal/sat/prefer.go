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
	ok, err = s.Solve(ctx, hard...)
	if !ok || err != nil {
		return nil, false, err
	}
	assume := hard[:len(hard):len(hard)]
	took := make(map[Lit]bool, len(hard))
	for _, l := range hard {
		took[l] = true
	}
	has := func(l Lit) bool { return took[l] }
	for len(queue) > 0 {
		c := queue[0]
		queue = queue[1:]
		if c.Met == nil && slices.ContainsFunc(c.Options, has) || c.Met != nil && c.Met(has) {
			continue
		}
		for _, l := range c.Options {
			// A model that has the option already spares a search.
			if !s.Value(l) {
				ok, err := s.Solve(ctx, append(assume, l)...)
				if err != nil {
					return nil, false, err
				}
				if !ok {
					continue
				}
			}
			took[l] = true
			assume = append(assume, l)
			chosen = append(chosen, l)
			queue = append(queue, after(l)...)
			break
		}
	}
	return chosen, true, nil
}
