package resolver

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A WhyNot is the reason why a bundle is not part of a solution.
type WhyNot struct {
	Bundle Ref     `json:"bundle"`
	Pos    fbc.Pos `json:"-"`
	// Text is the reason without the name of the bundle.
	Text string `json:"text"`
	// Against derives why the bundle is not possible. It is nil if the bundle is possible.
	Against *fact.Step `json:"against,omitzero"`
	// Outlook is how far the installed operator gets, if the bundle is not its successor.
	Outlook *graph.Outlook `json:"outlook,omitzero"`
}

// String returns the bundle, its catalog and channel, and the reason.
func (w WhyNot) String() string {
	from := w.Bundle.Catalog.String()
	if w.Bundle.Channel != "" {
		from += ", channel " + w.Bundle.Channel
	}
	return fmt.Sprintf("%s (%s) %s", w.Bundle.Name, from, strings.TrimSpace(w.Text))
}

// WhyNots are the reasons why a bundle is not part of a solution, one for each catalog
// and channel that has it. See [Solution.WhyNot].
type WhyNots []WhyNot

// MarshalJSON returns a list, never null.
func (list WhyNots) MarshalJSON() ([]byte, error) { return json.Marshal([]WhyNot(list)) }

// Text returns the reasons. See [Report.Text] for width and style.
func (list WhyNots) Text(width int, style *Style) string {
	t := newWriter(width, style)
	for _, w := range list {
		t.Line(t.Style.Headline, w.String(), "", "")
		if w.Pos.IsValid() {
			t.Places([]fact.Place{*fact.PlaceOf(w.Bundle, w.Pos)}, "  ")
		}
		if w.Against != nil {
			t.Reasons(w.Against, "  ")
		}
	}
	return t.String()
}

// WhyNot returns why the solution does not contain a bundle, for each catalog and channel
// that has it, in the order of catalogs and channels. The error is the context's, or
// reports that no catalog has the bundle.
func (s *Solution) WhyNot(ctx context.Context, name string) (_ WhyNots, err error) {
	if err := s.r.lock(ctx); err != nil {
		return nil, err
	}
	defer s.r.unlock(ctx, &err)
	w, err := s.reasons(ctx)
	if err != nil {
		return nil, err
	}
	var out []WhyNot
	for _, src := range w.r.u.cats {
		for p := range src.Graph.Packages() {
			b, ok := p.Bundle(name)
			if !ok {
				continue
			}
			if len(slices.Collect(b.Entries())) == 0 {
				out = append(out, WhyNot{Bundle: Ref{Catalog: src.ID(), Package: p.Name(), Name: name}, Pos: b.Pos(), Text: "is not in any channel of package " + p.Name()})
			}
			for e := range b.Entries() {
				x, err := w.not(ctx, src.first+cand(e.Index()))
				if err != nil {
					return nil, err
				}
				out = append(out, x)
			}
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no catalog has a bundle %q", name)
	}
	return out, nil
}

// not returns why the solution does not contain a candidate.
func (w *why) not(ctx context.Context, c cand) (WhyNot, error) {
	u := w.r.u
	e, b := u.entry(c)
	out := WhyNot{Bundle: u.ref(c), Pos: b.Pos()}
	if w.has(c) {
		out.Text = "is part of the solution"
		return out, nil
	}
	if _, ok := e.Rank(); !ok {
		if _, reached := w.e.vars[c]; !reached {
			out.Text = "cannot be selected: " + hiddenEntry(e).Reason()
			if err := e.Channel().Err(); err != nil {
				out.Text = fmt.Sprintf("cannot be selected: its channel is broken: %v", err)
			}
			return out, nil
		}
	}
	if _, reached := w.e.vars[c]; !reached {
		out.Text = "is not needed: no request leads to it"
		if o, why := u.astray(ctx, w.r.needs, b, e); why != "" {
			out.Outlook, out.Text = o, why
		}
		if q, ok := u.policyBlocks(c).(*fact.PolicyBlocked); ok {
			out.Text += "; it is also blocked by a policy: " + q.Reason()
		}
		return out, nil
	}
	s, err := w.against(ctx, c, 0)
	if err != nil {
		return out, err
	}
	if s != nil {
		out.Text, out.Against = "cannot be part of any solution", w.e.narrator.Reject(s)
		return out, nil
	}
	// It is possible, so a preference decided against it.
	for _, got := range w.order {
		by := w.cause[got]
		mine, its := slices.Index(by.list, c), slices.Index(by.list, got)
		if mine < 0 {
			continue
		}
		asker := "the request"
		if by.sub != nil {
			asker = "subscription " + by.sub.Name
		} else if by.owner != noCand {
			asker = u.ref(by.owner).Name
		}
		if mine > its {
			out.Text = fmt.Sprintf("is possible, but %s prefers %s: %s", asker, u.ref(got).Name, w.preferred(got, c, by))
			return out, nil
		}
		s, err := w.against(ctx, c, by.before)
		if err != nil {
			return out, err
		}
		if s != nil {
			out.Text, out.Against = fmt.Sprintf("was preferred by %s, but conflicts with earlier choices", asker), w.e.narrator.Reject(s)
			return out, nil
		}
	}
	out.Text = "is possible, but nothing in the solution needs it"
	return out, nil
}
