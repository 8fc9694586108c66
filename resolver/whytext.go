package resolver

import (
	"fmt"
	"strings"
)

// Reasons are a chain of reasons, as [Solution.Why] returns it, or several, as
// [Solution.WhoAsks] does.
type Reasons []Reason

// Text tells the reasons: each with the better options that there were and what
// stood against them. See [Report.Text] for width and style.
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

// preference says how the bundle compares with the other options.
func (r *Reason) preference() string {
	switch n := len(r.Preferred); {
	case r.Options <= 1:
		return ""
	case n == 0:
		return fmt.Sprintf("it is the first preference of %d options", r.Options)
	}
	return fmt.Sprintf("it is the best of %d options that can be had; better would be:", r.Options)
}

// WhyNots say of a bundle why it is not part of a solution, once for each place
// that offers it, as [Solution.WhyNot] returns them.
type WhyNots []WhyNot

// Text tells them. See [Report.Text] for width and style.
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
