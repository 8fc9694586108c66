package resolver

import (
	"context"

	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A conflict needs a fact if some set of candidates violates only that fact. Such sets are
// often neighbors: with one candidate more or less, the set violates only another fact,
// which is therefore also needed. Following neighbors saves a search for each fact, which
// matters for a chain of requirements, with as many facts as bundles.

// A rotation is a set of candidates that changes by one at a time, with the facts that it
// violates.
type rotation struct {
	e      *encoding
	facts  []stating
	in     map[cand]bool
	parts  map[*need]*tally
	mayOf  map[cand][]*tally // the needs that mention a candidate
	factOf map[cand][]int    // the facts that have a candidate as owner or in their list
	chosen []int             // for each fact with a list, how many of the list are in the set
	counts []bool            // for each fact, whether it is still in the conflict
	broken []bool
	many   int    // how many facts the set violates
	sum    int    // the sum of their indices: if many is 1, the index of the only one
	needed []bool // whether each fact was found to be needed
	work   int    // work left
}

// A tally counts how many of the candidates that a need mentions are in the set.
type tally struct {
	*need
	cands []cand
	count int
	held  bool
	facts []int // that state the need
}

// rotations limits the work of a rotation, counted in examined facts and candidates per
// mentioned candidate. Searches find the needed facts that a rotation misses.
const rotations = 30

func (e *encoding) newRotation(ctx context.Context, facts []stating) *rotation {
	r := &rotation{
		e: e, facts: facts, in: map[cand]bool{}, parts: map[*need]*tally{}, mayOf: map[cand][]*tally{}, factOf: map[cand][]int{},
		chosen: make([]int, len(facts)), counts: make([]bool, len(facts)), broken: make([]bool, len(facts)), needed: make([]bool, len(facts)),
	}
	for i, f := range facts {
		if f.owner != noCand {
			r.factOf[f.owner] = append(r.factOf[f.owner], i)
		}
		for _, c := range f.list {
			r.factOf[c] = append(r.factOf[c], i)
		}
		r.work += rotations * (2 + len(f.list))
		if f.need == nil {
			continue
		}
		t := r.parts[f.need]
		if t == nil {
			t = &tally{need: f.need}
			seen := map[cand]bool{}
			see := func(c cand) {
				if !seen[c] {
					seen[c] = true
					t.cands = append(t.cands, c)
					r.mayOf[c] = append(r.mayOf[c], t)
				}
			}
			f.need.each(see)
			e.eachForbidden(ctx, f.need, see)
			r.parts[f.need] = t
			r.work += rotations * len(t.cands)
		}
		t.facts = append(t.facts, i)
	}
	return r
}

// from finds needed facts of a core, given a model of all facts except i.
func (r *rotation) from(ctx context.Context, core []int, i int, model func(cand) bool) []int {
	clear(r.counts)
	for _, n := range core {
		r.counts[n] = true
	}
	r.start(ctx, model)
	if r.many != 1 || r.sum != i {
		return nil
	}
	r.needed[i] = true
	var found []int
	// A step has a fact that is the only violated one, and the candidates still to be
	// toggled.
	type step struct {
		fact  int
		cands []cand
		by    cand // the candidate that was toggled to get there, or noCand
	}
	path := []step{{i, r.cands(i), noCand}}
	for len(path) > 0 && r.work > 0 && ctx.Err() == nil {
		s := &path[len(path)-1]
		if len(s.cands) == 0 {
			if s.by != noCand {
				r.toggle(ctx, s.by)
			}
			path = path[:len(path)-1]
			continue
		}
		c := s.cands[0]
		s.cands = s.cands[1:]
		r.toggle(ctx, c)
		if r.many == 1 && !r.needed[r.sum] {
			r.needed[r.sum] = true
			found = append(found, r.sum)
			path = append(path, step{r.sum, r.cands(r.sum), c})
		} else {
			r.toggle(ctx, c)
		}
	}
	return found
}

// start makes the set consist of the candidates that are true in a model.
func (r *rotation) start(ctx context.Context, model func(cand) bool) {
	clear(r.in)
	for c := range r.factOf {
		r.in[c] = model(c)
	}
	for c := range r.mayOf {
		r.in[c] = model(c)
	}
	for _, t := range r.parts {
		t.count = 0
		for _, c := range t.cands {
			if r.in[c] {
				t.count++
			}
		}
		t.held = r.holds(ctx, t)
	}
	r.many, r.sum = 0, 0
	for i, f := range r.facts {
		r.chosen[i], r.broken[i] = 0, false
		for _, c := range f.list {
			if r.in[c] {
				r.chosen[i]++
			}
		}
		r.check(i)
	}
}

func (r *rotation) holds(ctx context.Context, t *tally) bool {
	if t.kind == proof.AnyOf {
		return t.count > 0
	}
	r.work -= len(t.cands)
	return t.heldBy(ctx, r.e.r.u, t.cands, func(c cand) bool { return r.in[c] })
}

// check updates whether a fact is violated.
func (r *rotation) check(i int) {
	r.work--
	f := &r.facts[i]
	var broken bool
	switch f.Fact.(type) {
	case *fact.Unavailable:
		broken = true
	case *fact.MustStay:
		broken = !r.in[f.owner]
	default:
		switch {
		case f.list != nil:
			broken = r.chosen[i] > 1
		case f.need != nil:
			broken = (f.owner == noCand || r.in[f.owner]) && !r.parts[f.need].held
		default:
			broken = r.in[f.owner]
		}
	}
	broken = broken && r.counts[i]
	if broken == r.broken[i] {
		return
	}
	r.broken[i] = broken
	if broken {
		r.many, r.sum = r.many+1, r.sum+i
	} else {
		r.many, r.sum = r.many-1, r.sum-i
	}
}

// toggle adds or removes a candidate.
func (r *rotation) toggle(ctx context.Context, c cand) {
	by := 1
	if r.in[c] {
		by = -1
	}
	r.in[c] = by > 0
	for _, i := range r.factOf[c] {
		if r.facts[i].list != nil {
			r.chosen[i] += by
		}
		r.check(i)
	}
	for _, t := range r.mayOf[c] {
		r.work--
		t.count += by
		if held := r.holds(ctx, t); held != t.held {
			t.held = held
			for _, i := range t.facts {
				r.check(i)
			}
		}
	}
}

// cands returns the candidates whose addition or removal may make the violated fact i
// hold.
func (r *rotation) cands(i int) []cand {
	f := &r.facts[i]
	var out []cand
	if f.owner != noCand {
		out = append(out, f.owner)
	}
	for _, c := range f.list {
		if r.in[c] {
			out = append(out, c)
		}
	}
	if f.need != nil {
		out = append(out, r.parts[f.need].cands...)
	}
	r.work -= len(out)
	return out
}
