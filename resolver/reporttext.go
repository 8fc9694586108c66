package resolver

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver/fact"
)

// Text returns each core of the conflict with its derivation and fixes, then what can
// still be planned. See [Report.Text] for width and style. The error is the context's.
func (c *Conflict) Text(ctx context.Context, width int, style *Style) (string, error) {
	r, err := c.Report(ctx)
	if err != nil {
		return "", err
	}
	return r.Text(width, style), nil
}

// Text returns the report in lines of at most width characters, or unlimited if width is
// 0. Commands to paste are never wrapped. The text ends with a newline. A nil style adds no
// styling.
func (r *Report) Text(width int, style *Style) string {
	w := newWriter(width, style)
	if text := r.conflicts(); text != "" {
		w.Line(nil, text, "", "")
		w.Blank()
	}
	for i := range r.Cores {
		c := &r.Cores[i]
		if i > 0 {
			w.Blank()
		}
		w.Derivation(c.Conclusion)
		for _, n := range c.Notes {
			w.Line(nil, "note: "+n, "", "")
		}
		if len(c.Fixes) == 0 {
			w.Line(w.Style.Help, c.noFix(), "", "")
		}
		writeFixes(w, "", c.Fixes)
	}
	if line := r.plannedLine(); line != "" {
		w.Blank()
		w.Line(nil, line, "", "")
	}
	for i := range r.Advice {
		if a := &r.Advice[i]; a.NeedsAttention() {
			w.Line(nil, a.Text, "", "")
			a.writeCommands(w)
		}
	}
	w.Line(nil, r.more(), "", "")
	return w.String()
}

// more returns the command that explains the codes of the cores and of the advice.
func (r *Report) more() string {
	var codes []fact.Code
	for i := range r.Cores {
		codes = append(codes, r.Cores[i].Code)
	}
	for i := range r.Advice {
		if r.Advice[i].NeedsAttention() {
			codes = append(codes, fact.Code(r.Advice[i].Kind))
		}
	}
	return prose.More(codes...)
}

// Short returns the report in at most limit bytes, for a condition (32,768 bytes) or an event
// (1,024 bytes): the text if it fits, or else the headline and the first fix of each core. It
// ends with the command that explains the codes of the cores, if there is room.
func (r *Report) Short(limit int) string {
	end := r.more()
	if text := r.Text(0, nil); len(text) <= limit {
		return strings.TrimSuffix(text, "\n")
	}
	w := newWriter(0, nil)
	for i := range r.Cores {
		c := &r.Cores[i]
		w.Line(nil, c.Headline, "", "")
		if len(c.Fixes) == 0 {
			w.Line(nil, c.noFix(), "", "")
		} else {
			w.Line(nil, "possible fix: "+c.Fixes[0].String(), "", "")
		}
	}
	text := w.String()
	if len(text)+len(end) <= limit {
		return text + end
	}
	const cut = "…\n"
	room := limit - len(cut) - len(end)
	if room < 0 {
		end, room = "", max(0, limit-len(cut))
	}
	return strings.ToValidUTF8(text[:min(len(text), room)], "") + cut + end
}

// writeFixes writes fixes as a numbered list, or one in a line. The heading ends with of.
func writeFixes(w *prose.Writer, of string, fixes []*Fix) {
	switch len(fixes) {
	case 0:
	case 1:
		w.Line(w.Style.Help, "possible fix"+of+": "+fixes[0].String(), "", "  ")
		writeCommands(w, fixes[0], "  ")
	default:
		order := ", least disruptive first"
		if slices.ContainsFunc(fixes, func(f *Fix) bool { return f.futile() != nil }) {
			order = "" // those come last
		}
		w.Line(w.Style.Help, "possible fixes"+of+order+":", "", "")
		for n, f := range fixes {
			first := "  " + strconv.Itoa(n+1) + ". "
			indent := strings.Repeat(" ", len(first))
			w.Line(w.Style.Help, f.String(), first, indent)
			writeCommands(w, f, indent)
		}
	}
}

// writeCommands writes the places that a fix concerns, and its commands, each in one line, to
// paste.
func writeCommands(w *prose.Writer, f *Fix, indent string) {
	var places []fact.Place
	for _, c := range f.Changes {
		if c.Place != nil {
			places = append(places, *c.Place)
		}
	}
	w.Places(places, indent)
	for _, c := range f.Commands {
		w.Verbatim(c, indent)
	}
}

// FixesText returns fixes as lines of text. See [Report.Text] for width and style.
func FixesText(fixes []*Fix, width int, style *Style) string {
	w := newWriter(width, style)
	writeFixes(w, "", fixes)
	return w.String()
}

// FixesText returns the fixes as lines of text, or "" if there are none. See [Report.Text] for
// width and style.
func (a Advice) FixesText(width int, style *Style) string {
	w := newWriter(width, style)
	writeFixes(w, " for "+a.Package, a.Fixes)
	return w.String()
}

// Markdown returns the report as Markdown: a section for each core, with its steps as a
// nested list and its fixes as a numbered list. Text from catalogs is escaped. Of the style,
// only Places matters.
func (r *Report) Markdown(style *Style) string {
	places := style != nil && style.Places
	var b strings.Builder
	fmt.Fprintf(&b, "# No solution in namespace %s\n", prose.Escape(r.Namespace))
	if text := r.conflicts(); text != "" {
		fmt.Fprintf(&b, "\n%s\n", text)
	}
	for i := range r.Cores {
		c := &r.Cores[i]
		fmt.Fprintf(&b, "\n## %s\n\n%s", prose.Escape(c.Headline), prose.Markdown(c.Conclusion, places))
		for _, n := range c.Notes {
			fmt.Fprintf(&b, "\n> Note: %s\n", prose.Escape(n))
		}
		if len(c.Fixes) == 0 {
			fmt.Fprintf(&b, "\n**Possible fix:** %s\n", prose.Escape(c.noFix()))
			continue
		}
		b.WriteString("\n**Possible fixes**\n\n")
		for n, f := range c.Fixes {
			fmt.Fprintf(&b, "%d. %s\n", n+1, prose.Escape(f.String()))
			for _, c := range f.Commands {
				fmt.Fprintf(&b, "\n       %s\n", visible.Line(c))
			}
		}
	}
	if line := r.plannedLine(); line != "" {
		fmt.Fprintf(&b, "\n%s\n", prose.Escape(line))
	}
	for i := range r.Advice {
		if a := &r.Advice[i]; a.NeedsAttention() {
			fmt.Fprintf(&b, "\n%s\n", prose.Escape(a.Text))
			for _, c := range slices.Concat(a.Commands, a.Nearer) {
				fmt.Fprintf(&b, "\n    %s\n", visible.Line(c))
			}
		}
	}
	fmt.Fprintf(&b, "\n%s\n", prose.Escape(r.more()))
	return b.String()
}

// conflicts states that there are several conflicts, or returns "".
func (r *Report) conflicts() string {
	if len(r.Cores) < 2 {
		return ""
	}
	return phrase.Count(len(r.Cores), "conflict") + ". OLM installs nothing in the namespace until all are resolved, and each fix supposes that the others are."
}

// plannedLine returns the line about what can be planned without the conflict, or "" if nothing can.
func (r *Report) plannedLine() string {
	if len(r.Planned) == 0 {
		return ""
	}
	all := len(r.Planned) + len(r.Refused)
	text := strconv.Itoa(len(r.Planned)) + " of " + phrase.Count(all, "subscription") + " can be planned"
	if len(r.Refused) > 0 {
		text = "without " + phrase.And(r.Refused) + ", " + text
	}
	if len(r.Cores) < 2 {
		text = "OLM installs nothing in the namespace until this is resolved; " + text
	}
	if len(r.Plan) == 0 {
		return text + ": nothing to install or upgrade"
	}
	names := make([]string, len(r.Plan))
	for i, s := range r.Plan {
		names[i] = s.Name
	}
	return text + ": " + phrase.And(names)
}

// noFix returns the advice for a core that no combination of one or two changes resolves.
func (c *CoreReport) noFix() string {
	return "no combination of up to two changes resolves this; remove one of " + phrase.And(c.Requests) + " and resolve again"
}
