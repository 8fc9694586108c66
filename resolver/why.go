package resolver

import "context"

// A Chain is the result of [Solution.Why] for one bundle or operator.
type Chain struct {
	Bundle  string  `json:"bundle"`
	Reasons Reasons `json:"reasons"`
	// See is the bundle at which this chain stops, because an earlier chain has the reasons
	// for that bundle. It is "" if this chain is complete.
	See string `json:"see,omitempty"`
}

// Text returns the reasons as [Reasons.Text] does, and where they continue.
func (c Chain) Text(width int, style *Style) string {
	text := c.Reasons.Text(width, style)
	if c.See == "" {
		return text
	}
	t := newWriter(width, style)
	t.Line(nil, "the reasons for "+c.See+" are given above", "", "")
	return text + t.String()
}

// Why returns the chain of reasons for each of the named bundles or operators in the
// solution, in the order of names, from the bundle to the subscription. Each link has the options
// that were preferred and why they were not possible.
//
// A chain ends early, with a reference, where it would repeat more than a few reasons of an
// earlier one. Size and time therefore do not grow with the number of bundles times the
// length of the chains. A bundle's first reason is always included. The chains are computed
// on demand. The error is the context's, or reports that the solution does not contain a
// bundle.
func (s *Solution) Why(ctx context.Context, names ...string) (_ []Chain, err error) { // D17
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	w, err := s.reasons(ctx)
	if err != nil {
		return nil, err
	}
	out := make([]Chain, 0, len(names))
	given := map[cand]*Reason{}
	for _, name := range names {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		c, err := w.chain(ctx, name, given)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	return out, nil
}

// maxRepeated is how many reasons of an earlier chain are repeated at the end of another.
const maxRepeated = 4

// chain follows the decisions from a bundle to the request that led to it. given holds the
// links of earlier chains; chain adds those of this one.
func (w *why) chain(ctx context.Context, name string, given map[cand]*Reason) (Chain, error) {
	out := Chain{Bundle: name}
	start, err := w.named(name)
	if err != nil {
		return out, err
	}
	for c := start; c != noCand; c = w.because(c).owner {
		link := given[c]
		if link != nil && c != start && w.deep(c) {
			out.See = link.Bundle.Name
			break
		}
		if link == nil {
			made, err := w.link(ctx, c, w.because(c))
			if err != nil {
				return out, err
			}
			link = &made
			given[c] = link
		}
		out.Reasons = append(out.Reasons, *link)
	}
	return out, nil
}

// because returns the decision that brought a candidate into the solution. A candidate that
// no decision added has no owner.
func (w *why) because(c cand) cause {
	if by, ok := w.cause[c]; ok {
		return by
	}
	return cause{owner: noCand}
}

// deep reports whether the chain of a candidate has more than maxRepeated links.
func (w *why) deep(c cand) bool {
	n := 0
	for ; c != noCand && n <= maxRepeated; n++ {
		c = w.because(c).owner
	}
	return n > maxRepeated
}
