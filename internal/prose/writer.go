package prose

import (
	"strings"
	"unicode/utf8"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Style styles lines of text by their role. A nil function adds no style.
type Style struct {
	Headline, Origin, Quote, Help func(line string) string
	// Places includes lines with positions in catalogs.
	Places bool
}

// A Writer writes an explanation as indented lines.
type Writer struct {
	Style Style
	b     strings.Builder
	width int
	shown shown
}

// NewWriter returns a writer of lines of at most width characters, or unlimited if width
// is 0. A nil style is plain.
func NewWriter(width int, style *Style) *Writer {
	w := &Writer{width: width, shown: shown{}}
	if style != nil {
		w.Style = *style
	}
	return w
}

// String returns what was written.
func (w *Writer) String() string { return w.b.String() }

// Blank writes an empty line.
func (w *Writer) Blank() { w.b.WriteByte('\n') }

// Derivation writes a headline and, below it, the steps that lead to it. Steps that were
// written for an earlier headline are written again.
func (w *Writer) Derivation(s *fact.Step) {
	w.shown = shown{}
	w.Line(w.Style.Headline, s.Shown().Text, "", "")
	w.Reasons(s, "  ")
}

// maxReasons is the number of reasons shown below a step. The others are only counted.
const maxReasons = 12

// Reasons writes the reasons of a step.
func (w *Writer) Reasons(s *fact.Step, indent string) {
	s = s.Shown()
	for _, m := range s.Messages {
		w.Line(w.Style.Quote, "author's message: "+m, indent, indent)
	}
	w.Places(s.Places, indent)
	for i, c := range s.Because {
		if i == maxReasons {
			w.Line(nil, more(s), indent+"- ", indent+"  ")
			return
		}
		if text := c.Shown().Text; w.shown.before(c) {
			w.Line(nil, text+" (see above)", indent+"- ", indent+"  ")
		} else {
			w.Line(nil, text, indent+"- ", indent+"  ")
			w.Reasons(c, indent+"  ")
		}
	}
}

// more counts the reasons of a step that are not shown.
func more(s *fact.Step) string {
	return "and " + phrase.Count(len(s.Because)-maxReasons, "similar reason")
}

// shown has the steps that were written. Steps with the same text can differ if they depend
// on different suppositions.
type shown map[shownStep]bool

type shownStep struct {
	text     string
	likeness int
}

// before reports whether a step with reasons has been written already, and records that it
// is written now.
func (list shown) before(s *fact.Step) bool {
	key := shownStep{s.Shown().Text, s.Likeness}
	if len(s.Because) > 0 && list[key] {
		return true
	}
	list[key] = true
	return false
}

// Places writes a line with positions in catalogs, if there are any and the style includes
// them.
func (w *Writer) Places(list []fact.Place, indent string) {
	if at := placed(list); at != "" && w.Style.Places {
		w.Line(w.Style.Origin, at, indent, indent)
	}
}

// placed returns the first place, and the number of the others, or "" without places.
func placed(list []fact.Place) string {
	if len(list) == 0 {
		return ""
	}
	at := "at " + list[0].String()
	if n := len(list) - 1; n > 0 {
		at += " and " + phrase.Count(n, "more place")
	}
	return at
}

// Line writes text in lines of at most the writer's width. The first line begins with
// first, and the others with indent. A word that is longer than a line is not broken. style
// may be nil.
func (w *Writer) Line(style func(string) string, text, first, indent string) {
	if style == nil {
		style = func(line string) string { return line }
	}
	w.b.WriteString(first)
	col := utf8.RuneCountInString(first)
	var line strings.Builder
	for word := range strings.FieldsSeq(text) {
		word = visible.Line(word)
		n := utf8.RuneCountInString(word)
		if line.Len() > 0 && w.width > 0 && col+1+n > w.width {
			w.b.WriteString(style(line.String()) + "\n" + indent)
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
	w.b.WriteString(style(line.String()) + "\n")
}

// Verbatim writes text in one line of any width.
func (w *Writer) Verbatim(text, indent string) {
	w.b.WriteString(indent + visible.Line(text) + "\n")
}
