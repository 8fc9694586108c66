package resolver

import (
	"context"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/proof"
)

// A Step is one sentence of a derivation and the steps that support it.
type Step struct {
	// Code is the code of the fact that the step applies, or one of "supposed",
	// "preferred", "unmet-part", "crowded" and "contradiction".
	Code Code `json:"code"`
	// Bundles are the subject of the step. Bundles that behave alike share a step.
	Bundles []Ref  `json:"bundles,omitempty"`
	Text    string `json:"text"`
	// Places are where the catalogs state it, for each of Bundles.
	Places []Place `json:"places,omitempty"`
	// Messages are the authors' messages: failureMessages and deprecations.
	Messages []string `json:"messages,omitempty"`
	Because  []*Step  `json:"because,omitempty"`
	// Fact is the fact that the step applies, the first one for merged steps.
	Fact Fact `json:"-"`

	// one and many are the text without its subject, for one bundle and for several.
	one, many string
	// like is equal for steps that state the same of different bundles.
	like int
	// either: one of the bundles, not each of them.
	either bool
	// sentence is Text combined with one of its reasons, or "". The children of under are
	// shown below that sentence.
	sentence string
	under    *Step
}

// Sentence returns the step as an English sentence, and the step whose places, messages
// and reasons belong below it: s itself, or the reason that the sentence includes.
func (s *Step) Sentence() (string, *Step) { return s.line(), s.folded() }

// A Place is a position in a catalog.
type Place struct {
	Catalog CatalogID `json:"catalog"`
	File    string    `json:"file"`
	Line    int       `json:"line"`
	// Property is the index of the property, or -1 for the whole blob.
	Property int `json:"property"`
}

// String returns "catalog file:line, property n".
func (p Place) String() string {
	at := p.Catalog.Name + " " + fbc.Pos{File: p.File, Line: p.Line}.String()
	if p.Property < 0 {
		return at
	}
	return fmt.Sprintf("%s, property %d", at, p.Property)
}

// A Derivation is a proof that a core cannot be satisfied.
type Derivation struct {
	// Conclusion is the contradiction. Its reasons lead back to the facts.
	Conclusion *Step `json:"conclusion"`
	// Incomplete reports that the full derivation is too long. Conclusion then only
	// lists the facts.
	Incomplete bool `json:"incomplete,omitzero"`
}

// Derive returns the derivation of the core. An expensive one is computed on the first
// call. The error is the context's.
func (c *Core) Derive(ctx context.Context) (*Derivation, error) {
	if c.derivation != nil {
		return c.derivation, nil
	}
	if err := c.e.r.lock(ctx); err != nil {
		return nil, err
	}
	defer c.e.r.unlock(ctx)
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
	if s := q.narrate(end); s != nil {
		return &Derivation{Conclusion: s}, nil
	}
	return c.flat(), nil
}

// flat lists the facts of the core.
func (c *Core) flat() *Derivation {
	s := &Step{
		Code: CodeContradiction,
		Text: c.asked() + ": these " + plural(len(c.Facts), "fact") + " contradict each other in too many ways to list",
	}
	for n, f := range c.Facts {
		s.Because = append(s.Because, &Step{Code: f.Code(), Text: f.String(), Fact: f, like: c.e.likenessNumber(fmt.Appendf(nil, "fact %d", c.index[n]))})
	}
	return &Derivation{Conclusion: s, Incomplete: true}
}

// asked states that the requests of the core cannot be satisfied.
func (c *Core) asked() string {
	var subs, stay []string
	for _, f := range c.Facts {
		switch f := f.(type) {
		case *Subscribed:
			subs = append(subs, f.Subscription.Name)
		case *Unavailable:
			subs = append(subs, f.Subscription.Name)
		case *MustStay:
			stay = append(stay, f.Operator.Name)
		}
	}
	var text string
	switch {
	case len(subs) == 0:
		text = "the installed " + andList(stay)
	case len(stay) == 0:
		text = pluralOf(len(subs), "subscription") + " " + andList(subs)
	default:
		text = pluralOf(len(subs), "subscription") + " " + andList(subs) + " and the installed " + andList(stay)
	}
	if len(subs)+len(stay) == 1 {
		return text + " cannot be satisfied"
	}
	return text + " cannot be satisfied together"
}

// Headline returns the conclusion in one line.
func (d *Derivation) Headline() string {
	if s := d.Conclusion; s.sentence != "" {
		return s.sentence
	}
	return d.Conclusion.Text
}
