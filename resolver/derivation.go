package resolver

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/proof"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Derivation is a proof that a core cannot be satisfied.
type Derivation struct {
	// Conclusion is the contradiction. Its reasons lead back to the facts.
	Conclusion *fact.Step `json:"conclusion,omitzero"`
	// Incomplete reports whether the full derivation is too long. If so, Conclusion only
	// lists the facts.
	Incomplete bool `json:"incomplete,omitzero"`
}

// Derive returns the derivation of the core. An expensive one is computed on the first
// call. The error is the context's.
func (c *Core) Derive(ctx context.Context) (_ *Derivation, err error) {
	if c.derivation != nil {
		return c.derivation, nil
	}
	if err := c.e.r.lock(ctx); err != nil {
		return nil, err
	}
	defer c.e.r.unlock(ctx, &err)
	return c.deriveWithin(ctx, maxProof)
}

func (c *Core) deriveWithin(ctx context.Context, work int) (*Derivation, error) {
	q, end, err := c.e.prove(ctx, work, c.index, nil, noCand)
	switch {
	case errors.Is(err, proof.ErrTooLong):
		return c.flat(), nil
	case err != nil:
		return nil, err
	}
	if s := c.e.narrator.Derive(&q.Core, end); s != nil {
		if d, owner := c.duplicate(); d != nil {
			shown, failed := s.Shown(), failing("subscription "+d.Name)
			if rest, ok := strings.CutPrefix(shown.Text, failed); ok {
				shown.Text = fmt.Sprintf("subscription %s requests the same package as subscription %s, which owns %s, so it is not needed. It cannot be satisfied: %s",
					d.Name, owner.Name, owner.current.Name, rest)
			}
		}
		return &Derivation{Conclusion: s}, nil
	}
	return c.flat(), nil
}

// duplicate returns the subscription of the core if it is the only request and duplicates another one, which
// owns an operator. Otherwise, it returns nil.
func (c *Core) duplicate() (d, owner *subscription) {
	for n, f := range c.Facts {
		if !isRequest(f) {
			continue
		}
		if _, ok := f.(*fact.Subscribed); !ok || d != nil {
			return nil, nil
		}
		d = c.e.r.u.subs[c.index[n]]
	}
	if d != nil {
		owner = c.e.r.u.ownerOf(d)
	}
	if owner == nil {
		return nil, nil
	}
	return d, owner
}

// flat lists the facts of the core.
func (c *Core) flat() *Derivation {
	text := c.asked() + ": these " + phrase.Count(len(c.Facts), "fact") + " contradict each other in too many ways to list"
	return &Derivation{Conclusion: c.e.narrator.List(text, c.Facts, c.index), Incomplete: true}
}

// asked states that the requests of the core cannot be satisfied.
func (c *Core) asked() string {
	var subs, stay []string
	for _, f := range c.Facts {
		switch f := f.(type) {
		case *fact.Subscribed:
			subs = append(subs, f.Subscription.Name)
		case *fact.Unavailable:
			subs = append(subs, f.Subscription.Name)
		case *fact.MustStay:
			stay = append(stay, f.Operator.Name)
		}
	}
	var text string
	switch {
	case len(subs) == 0:
		text = "the installed " + phrase.And(stay)
	case len(stay) == 0:
		text = phrase.Plural(len(subs), "subscription") + " " + phrase.And(subs)
	default:
		text = phrase.Plural(len(subs), "subscription") + " " + phrase.And(subs) + " and the installed " + phrase.And(stay)
	}
	if len(subs)+len(stay) == 1 {
		return text + " cannot be satisfied"
	}
	return text + " cannot be satisfied together"
}

// failing begins the headline of a core with a single subscription.
func failing(subject string) string { return subject + " cannot be satisfied: " }

// Headline returns the conclusion in one line.
func (d *Derivation) Headline() string { return d.Conclusion.Shown().Text }

// Text returns the derivation: the headline, then each step below the one that it
// supports, indented. See [Report.Text] for width and style.
func (d *Derivation) Text(width int, style *Style) string {
	w := newWriter(width, style)
	w.Derivation(d.Conclusion)
	return w.String()
}
