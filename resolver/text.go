package resolver

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/visible"
)

// Text returns the derivation: the headline, then each step below the one that it
// supports, indented. See [Report.Text] for width and style.
func (d *Derivation) Text(width int, style Styler) string {
	t := newTextWriter(width, style)
	t.derivation(d)
	return t.String()
}

// Text returns each core of the conflict with its derivation and fixes, then what can
// still be planned. See [Report.Text] for width and style. The error is the context's.
func (c *Conflict) Text(ctx context.Context, width int, style Styler) (string, error) {
	r, err := c.Report(ctx)
	if err != nil {
		return "", err
	}
	return r.Text(width, style), nil
}

// Text returns the report in lines of at most width characters, or unlimited if width is
// 0. A nil style adds no styling.
func (r *Report) Text(width int, style Styler) string {
	t := newTextWriter(width, style)
	for i := range r.Cores {
		c := &r.Cores[i]
		if i > 0 {
			t.WriteByte('\n')
		}
		t.shown = map[shownStep]bool{}
		t.derivation(c.Derivation)
		for _, n := range c.Notes {
			t.wrap(PartPlain, "note: "+n, "", "")
		}
		t.fixes(c)
	}
	if line := r.plannedLine(); line != "" {
		t.WriteByte('\n')
		t.wrap(PartPlain, line, "", "")
	}
	return t.String()
}

// plannedLine returns the line about what can still be planned, or "" if nothing can.
func (r *Report) plannedLine() string {
	if len(r.Planned) == 0 {
		return ""
	}
	all := len(r.Planned) + len(r.Refused)
	text := strconv.Itoa(len(r.Planned)) + " of " + plural(all, "subscription") + " can still be planned"
	if len(r.Refused) > 0 {
		text += " without " + andList(r.Refused)
	}
	if len(r.Plan) == 0 {
		return text + ": nothing to install or upgrade"
	}
	names := make([]string, len(r.Plan))
	for i, s := range r.Plan {
		names[i] = s.Name
	}
	return text + ": " + andList(names)
}

// noFix returns the advice for a core that no one or two changes resolve.
func (c *CoreReport) noFix() string {
	return "no combination of up to two changes resolves this; remove one of " + andList(c.Requests) + " and resolve again"
}

// A textWriter writes an explanation as indented lines.
type textWriter struct {
	strings.Builder
	width int
	style Styler
	shown map[shownStep]bool
}

// A shownStep identifies a step that was written before, by its sentence and likeness.
type shownStep struct {
	text string
	like int
}

func newTextWriter(width int, style Styler) *textWriter {
	if style == nil {
		style = plain{}
	}
	return &textWriter{width: width, style: style, shown: map[shownStep]bool{}}
}

func (t *textWriter) fixes(c *CoreReport) {
	switch len(c.Fixes) {
	case 0:
		t.wrap(PartHelp, c.noFix(), "", "")
	case 1:
		t.wrap(PartHelp, "possible fix: "+c.Fixes[0].String(), "", "  ")
	default:
		t.wrap(PartHelp, "possible fixes, least disruptive first:", "", "")
		for n, f := range c.Fixes {
			first := "  " + strconv.Itoa(n+1) + ". "
			t.wrap(PartHelp, f.String(), first, strings.Repeat(" ", len(first)))
		}
	}
}

func (t *textWriter) derivation(d *Derivation) {
	t.wrap(PartHeadline, d.Headline(), "", "")
	t.behind(d.Conclusion, "  ")
}

// maxSteps is the number of steps shown below another. The rest is counted.
const maxSteps = 12

// line returns the sentence of a step.
func (s *Step) line() string {
	if s.sentence != "" {
		return s.sentence
	}
	return s.Text
}

// folded returns the step whose places, messages and reasons are shown below the sentence
// of s.
func (s *Step) folded() *Step {
	if s.under != nil {
		return s.under
	}
	return s
}

// behind writes the reasons of a step.
func (t *textWriter) behind(s *Step, indent string) {
	s = s.folded()
	t.notes(s, indent)
	for i, c := range s.Because {
		if i == maxSteps {
			t.wrap(PartPlain, "and "+plural(len(s.Because)-i, "similar reason"), indent+"- ", indent+"  ")
			return
		}
		text := c.line()
		// Under different suppositions, steps with the same text can differ.
		key := shownStep{text, c.like}
		if len(c.Because) > 0 && t.shown[key] {
			t.wrap(PartPlain, text+" (see above)", indent+"- ", indent+"  ")
			continue
		}
		t.shown[key] = true
		t.wrap(PartPlain, text, indent+"- ", indent+"  ")
		t.behind(c, indent+"  ")
	}
}

// notes writes the authors' messages and the place in the catalog.
func (t *textWriter) notes(s *Step, indent string) {
	for _, m := range s.Messages {
		t.wrap(PartQuote, "author's message: "+m, indent, indent)
	}
	if at := s.placed(); at != "" {
		t.wrap(PartOrigin, at, indent, indent)
	}
}

// placed returns the place in the catalog, or "".
func (s *Step) placed() string {
	if len(s.Places) == 0 {
		return ""
	}
	at := "at " + s.Places[0].String()
	if n := len(s.Places) - 1; n > 0 {
		at += " and " + plural(n, "more place")
	}
	return at
}

// wrap writes text in lines of at most t.width characters. A longer word is not broken.
func (t *textWriter) wrap(part Part, text, first, indent string) {
	t.WriteString(first)
	col := utf8.RuneCountInString(first)
	var line strings.Builder
	for word := range strings.FieldsSeq(text) {
		word = visible.Line(word)
		n := utf8.RuneCountInString(word)
		if line.Len() > 0 && t.width > 0 && col+1+n > t.width {
			t.WriteString(t.style.Style(part, line.String()) + "\n" + indent)
			line.Reset()
			col = utf8.RuneCountInString(indent)
		}
		if line.Len() > 0 {
			line.WriteByte(' ')
			col++
		}
		line.WriteString(word)
		col += n
	}
	t.WriteString(t.style.Style(part, line.String()) + "\n")
}
