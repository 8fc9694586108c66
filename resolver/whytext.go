package resolver

import (
	"fmt"
	"strings"
)

// ReasonsText tells a chain of reasons, as [Solution.Why] returns it, in lines of
// at most width characters, 0 for no limit: each link with the better options
// that there were and what stood against them. A nil styler colours nothing.
func ReasonsText(chain []Reason, width int, style Styler) string {
	if style == nil {
		style = plain{}
	}
	t := textWriter{width: width, style: style, told: map[string]bool{}}
	for i, r := range chain {
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

// WhyNotText tells why a bundle is not part of a solution, once for each place
// that offers it, in lines of at most width characters, 0 for no limit.
func WhyNotText(list []WhyNot, width int, style Styler) string {
	if style == nil {
		style = plain{}
	}
	t := textWriter{width: width, style: style, told: map[string]bool{}}
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
