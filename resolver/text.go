package resolver

import (
	"context"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/visible"
)

// The methods named Text return lines of at most width characters, 0
// for no limit, through a styler, or plainly when it is nil.

// Text returns the derivation: the headline, then the steps behind it, indented under
// what they support. See [Report.Text] for width and style.
func (d *Derivation) Text(width int, style Styler) string {
	t := newTextWriter(width, style)
	t.derivation(d)
	return t.String()
}

// Text returns a whole conflict: each core with its derivation and fixes, then what
// can be planned all the same. See [Report.Text] for width and style. The error is
// the context's.
func (c *Conflict) Text(ctx context.Context, width int, style Styler) (string, error) {
	r, err := c.Report(ctx)
	if err != nil {
		return "", err
	}
	return r.Text(width, style), nil
}

// Text returns the report in lines of at most width characters, 0 for no limit,
// through a styler, or plainly when it is nil.
func (r *Report) Text(width int, style Styler) string {
	t := newTextWriter(width, style)
	for i := range r.Cores {
		c := &r.Cores[i]
		if i > 0 {
			t.WriteByte('\n')
		}
		t.told = map[toldStep]bool{}
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

// plannedLine returns the line about what can still be planned; "" when nothing can.
func (r *Report) plannedLine() string {
	if len(r.Planned) == 0 {
		return ""
	}
	all := len(r.Planned) + len(r.Refused)
	text := strconv.Itoa(len(r.Planned)) + " of " + plural(all, "subscription") + " can be planned "
	if len(r.Refused) == 0 {
		text += "all the same"
	} else {
		text += "without " + andList(r.Refused)
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

// noFix returns the advice for a core that no small change resolves.
func (c *CoreReport) noFix() string {
	return "no one or two changes resolve this: give up one of " + andList(c.Requests) + " and resolve again"
}

// A textWriter writes an explanation as indented lines.
type textWriter struct {
	strings.Builder
	width int
	style Styler
	told  map[toldStep]bool
}

// A toldStep identifies a step that was written before: its sentence, which names its bundles,
// and its likeness.
type toldStep struct {
	text string
	like int
}

func newTextWriter(width int, style Styler) *textWriter {
	if style == nil {
		style = plain{}
	}
	return &textWriter{width: width, style: style, told: map[toldStep]bool{}}
}

func (t *textWriter) fixes(c *CoreReport) {
	switch len(c.Fixes) {
	case 0:
		t.wrap(PartHelp, c.noFix(), "", "")
	case 1:
		t.wrap(PartHelp, "what would help: "+c.Fixes[0].String(), "", "  ")
	default:
		t.wrap(PartHelp, "what would help, the least disturbing first:", "", "")
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

// maxSteps is how many steps stand under one; the rest is counted.
const maxSteps = 12

// line returns the sentence of a step.
func (s *Step) line() string {
	if s.told != "" {
		return s.told
	}
	return s.Text
}

// folded returns the step whose places, messages and reasons stand under the
// sentence of s.
func (s *Step) folded() *Step {
	if s.under != nil {
		return s.under
	}
	return s
}

// behind writes what stands under the sentence of a step.
func (t *textWriter) behind(s *Step, indent string) {
	s = s.folded()
	t.notes(s, indent)
	for i, c := range s.Because {
		if i == maxSteps {
			t.wrap(PartPlain, "and "+plural(len(s.Because)-i, "more reason")+" of this kind", indent+"- ", indent+"  ")
			return
		}
		text := c.line()
		// What is said again for another reason, under what was supposed, is not
		// the same.
		key := toldStep{text, c.like}
		if len(c.Because) > 0 && t.told[key] {
			t.wrap(PartPlain, text+" (as said above)", indent+"- ", indent+"  ")
			continue
		}
		t.told[key] = true
		t.wrap(PartPlain, text, indent+"- ", indent+"  ")
		t.behind(c, indent+"  ")
	}
}

// notes writes the places in the catalog and the author's own words.
func (t *textWriter) notes(s *Step, indent string) {
	for _, m := range s.Messages {
		t.wrap(PartQuote, "the author says: "+m, indent, indent)
	}
	if at := s.placed(); at != "" {
		t.wrap(PartOrigin, at, indent, indent)
	}
}

// placed returns the place in the catalog; "" when there is none.
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

// wrap writes text in lines of at most t.width characters; a longer word gets a
// separate line.
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
