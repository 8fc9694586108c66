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
	// Bundles are what the step is about. Bundles that behave alike share one
	// step.
	Bundles []Ref  `json:"bundles,omitempty"`
	Text    string `json:"text"`
	// Places are where the catalogs say so, for each of Bundles.
	Places []Place `json:"places,omitempty"`
	// Messages are the authors' own words for this case: failureMessages and
	// deprecations.
	Messages []string `json:"messages,omitempty"`
	Because  []*Step  `json:"because,omitempty"`
	// Fact is the fact that the step applies; of merged steps the first.
	Fact Fact `json:"-"`

	// predicate is the text without the bundles, for one and for several.
	one, many string
	// like is equal for steps that say the same of different bundles.
	like int
	// either: one of the bundles, not each of them.
	either bool
	// told is Text with one of its reasons in one sentence, if they make one, and
	// under is what stands under that sentence.
	told  string
	under *Step
}

// Told returns the sentence that tells the step to people, and the step whose
// places, messages and reasons stand under that sentence: s itself, or one of its
// reasons when the sentence tells that too.
func (s *Step) Told() (string, *Step) { return s.line(), s.folded() }

// A Place is where a catalog says something.
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

// A Derivation leads from what was asked for to the contradiction, the
// conclusion first.
type Derivation struct {
	// Conclusion is the contradiction; its Because leads back to the facts.
	Conclusion *Step `json:"conclusion"`
	// Incomplete reports that the full derivation is longer than anybody would
	// read; Conclusion then lists the facts as they are.
	Incomplete bool `json:"incomplete,omitzero"`
}

// Derive returns the derivation of the core. One that takes long to find is found
// when it is asked for. The error is the context's.
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
		Text: c.asked() + ": these " + plural(len(c.Facts), "fact") + " contradict each other in too many ways to tell one by one",
	}
	for n, f := range c.Facts {
		s.Because = append(s.Because, &Step{Code: f.Code(), Text: f.String(), Fact: f, like: c.e.likenessNumber(fmt.Sprintf("fact %d", c.index[n]))})
	}
	return &Derivation{Conclusion: s, Incomplete: true}
}

// asked says that what the core asks for cannot be had.
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
		return text + " cannot be had"
	}
	return text + " cannot be had together"
}

// Headline returns one line that says what is wrong.
func (d *Derivation) Headline() string {
	if s := d.Conclusion; s.told != "" {
		return s.told
	}
	return d.Conclusion.Text
}
