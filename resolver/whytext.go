package resolver

import (
	"fmt"
	"strings"
)

// Reasons are a chain of reasons from [Solution.Why], or independent reasons from
// [Solution.RequiredBy].
type Reasons []Reason

// Text returns the reasons, each with the options that were preferred but not possible.
// See [Report.Text] for width and style.
func (list Reasons) Text(width int, style Styler) string {
	t := newTextWriter(width, style)
	for i, r := range list {
		text := r.String()
		if i == 0 {
			t.wrap(PartHeadline, text, "", "")
		} else {
			t.wrap(PartPlain, text, "", "")
		}
		if r.Place != nil {
			t.wrap(PartOrigin, "at "+r.Place.String(), "  ", "  ")
		}
		if text := r.preference(); text != "" {
			t.wrap(PartPlain, text, "  ", "  ")
		}
		for _, s := range r.Preferred {
			t.wrap(PartPlain, s.line(), "  - ", "    ")
			t.behind(s, "    ")
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

// Text returns the reasons. See [Report.Text] for width and style.
func (list WhyNots) Text(width int, style Styler) string {
	t := newTextWriter(width, style)
	for _, w := range list {
		from := w.Bundle.Catalog.String()
		if w.Bundle.Channel != "" {
			from += ", channel " + w.Bundle.Channel
		}
		t.wrap(PartHeadline, fmt.Sprintf("%s (%s) %s", w.Bundle.Name, from, strings.TrimSpace(w.Text)), "", "")
		if w.Pos.IsValid() {
			t.wrap(PartOrigin, "at "+Place{w.Bundle.Catalog, w.Pos.File, w.Pos.Line, -1}.String(), "  ", "  ")
		}
		if w.Against != nil {
			t.behind(w.Against, "  ")
		}
	}
	return t.String()
}
