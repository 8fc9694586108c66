package shrink

import (
	"context"
	"errors"
	"slices"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Keep reports whether a problem, whose catalogs are loaded, still has the property that it must keep. An error ends
// the shrinking.
type Keep func(ctx context.Context, p resolver.Problem) (bool, error)

// ErrNotKept reports that keep rejects the problem to shrink.
var ErrNotKept = errors.New("the problem does not have the property to keep")

// Shrink returns a problem that keep accepts, but rejects once any single part is removed. Its catalogs are inlined
// and loaded. The result is deterministic. The error is [ErrNotKept], that of keep, that of the problem, or
// the context's.
func Shrink(ctx context.Context, p resolver.Problem, keep Keep) (resolver.Problem, error) {
	whole, err := p.Inline(ctx)
	if err != nil {
		return p, err
	}
	m, err := newModel(whole)
	if err != nil {
		return p, err
	}
	s := &shrinker{keep: keep, m: m}
	ok, err := s.try(ctx, m)
	switch {
	case err != nil:
		return p, err
	case !ok:
		return p, ErrNotKept
	}
	for again := true; again; {
		again = false
		for _, level := range levels {
			did, err := s.level(ctx, level)
			if err != nil {
				return p, err
			}
			again = again || did
		}
	}
	return s.m.problem(ctx)
}

// SameConflict accepts problems with a conflict whose first core has the same kinds of facts
// as that of want, and no other unmet requirements. Removing a bundle must not cause a
// different conflict.
func SameConflict(want *resolver.Conflict) Keep {
	kinds, required := codes(want), requirements(want)
	return func(ctx context.Context, p resolver.Problem) (bool, error) {
		_, err := resolver.Resolve(ctx, p)
		var no *resolver.Conflict
		var bad *document.Error
		switch {
		case errors.As(err, &no):
			other := slices.ContainsFunc(requirements(no), func(r string) bool { return !slices.Contains(required, r) })
			return !other && slices.Equal(codes(no), kinds), nil
		case err == nil, errors.As(err, &bad):
			return false, nil
		}
		return false, err
	}
}

// codes returns the codes of the facts in the first core, without duplicates, in order. If the
// catalogs lack something that a subscription names, the code includes what is missing.
func codes(c *resolver.Conflict) []string {
	var out []string
	for _, f := range c.Cores[0].Facts {
		code := string(f.Code())
		if u, ok := f.(*fact.Unavailable); ok {
			code += " " + u.What
		}
		out = append(out, code)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// requirements returns the requirements in the facts of the first core as text, each with a mark if
// no bundle satisfies it.
func requirements(c *resolver.Conflict) []string {
	var out []string
	for _, f := range c.Cores[0].Facts {
		if q, ok := f.(*fact.Requires); ok {
			key := q.Requirement.String()
			if len(q.Candidates) == 0 {
				key += " (unsatisfied)"
			}
			out = append(out, key)
		}
	}
	return out
}

type shrinker struct {
	keep Keep
	m    *model
}

func (s *shrinker) try(ctx context.Context, m *model) (bool, error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	p, err := m.problem(ctx)
	if err != nil {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return false, nil // the remaining blobs are not a valid catalog
	}
	return s.keep(ctx, p)
}

// A level is a kind of part that can be removed.
type level struct {
	count  func(m *model) int
	remove func(m *model, gone func(i int) bool)
}

// level removes all parts of one kind that can be removed, trying large groups first.
func (s *shrinker) level(ctx context.Context, l level) (did bool, err error) {
	n := l.count(s.m)
	for size := n; size > 0; size /= 2 {
		for from := 0; from < l.count(s.m); {
			if ctx.Err() != nil {
				return did, context.Cause(ctx)
			}
			small := s.m.clone()
			l.remove(small, func(i int) bool { return i >= from && i < from+size })
			if small.size() >= s.m.size() {
				from += size
				continue
			}
			ok, err := s.try(ctx, small)
			if err != nil {
				return did, err
			}
			if !ok {
				from += size
				continue
			}
			s.m, did = small, true
		}
	}
	return did, nil
}
