package resolver

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/resolver/fact"
)

// Reasons are a chain of reasons from [Solution.Why], or independent reasons from
// [Solution.RequiredBy].
type Reasons []Reason

// MarshalJSON returns a list, which is never null.
func (list Reasons) MarshalJSON() ([]byte, error) { return json.Marshal([]Reason(list)) }

// Text returns the reasons, each with the options that were preferred but not possible.
// See [Report.Text] for width and style.
func (list Reasons) Text(width int, style *Style) string {
	t := newWriter(width, style)
	for i, r := range list {
		text := r.String()
		if i == 0 {
			t.Line(t.Style.Headline, text, "", "")
		} else {
			t.Line(nil, text, "", "")
		}
		if r.Place != nil {
			t.Line(t.Style.Origin, "at "+r.Place.String(), "  ", "  ")
		}
		if text := r.preference(); text != "" {
			t.Line(nil, text, "  ", "  ")
		}
		for _, s := range r.Preferred {
			t.Line(nil, s.Shown().Text, "  - ", "    ")
			t.Reasons(s, "    ")
		}
	}
	return t.String()
}

// preference compares the bundle with the other options.
func (r *Reason) preference() string {
	switch n := len(r.Preferred); {
	case r.Options <= 1:
		return ""
	case n == 0:
		return fmt.Sprintf("it is the preferred one of %d options", r.Options)
	}
	return fmt.Sprintf("it is the best possible of %d options; these were preferred but not possible:", r.Options)
}

// WhyNots are the reasons why a bundle is not part of a solution, one for each catalog
// and channel that has it. See [Solution.WhyNot].
type WhyNots []WhyNot

// MarshalJSON returns a list, which is never null.
func (list WhyNots) MarshalJSON() ([]byte, error) { return json.Marshal([]WhyNot(list)) }

// Text returns the reasons. See [Report.Text] for width and style.
func (list WhyNots) Text(width int, style *Style) string {
	t := newWriter(width, style)
	for _, w := range list {
		from := w.Bundle.Catalog.String()
		if w.Bundle.Channel != "" {
			from += ", channel " + w.Bundle.Channel
		}
		t.Line(t.Style.Headline, fmt.Sprintf("%s (%s) %s", w.Bundle.Name, from, strings.TrimSpace(w.Text)), "", "")
		if w.Pos.IsValid() {
			t.Line(t.Style.Origin, "at "+fact.PlaceOf(w.Bundle, w.Pos).String(), "  ", "  ")
		}
		if w.Against != nil {
			t.Reasons(w.Against, "  ")
		}
	}
	return t.String()
}
