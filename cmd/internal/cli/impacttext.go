package cli

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
)

// An impactAnswer is a report with a method that prints it.
type impactAnswer impact.Report

// The numbers of changes of a class that are shown: those with a code, and safe ones in text and in
// Markdown, which has to fit into a comment.
const (
	mostCoded    = 50
	mostSafe     = 10
	mostSafeInMD = 50
)

// shown returns the lines about changes with a code and about safe ones, as many as are shown, and
// how many more changes there are.
func shown(lines []impact.Line, most int) (coded, safe []impact.Line, more, moreSafe int) {
	for _, x := range lines {
		switch {
		case x.Verdict != impact.Safe && len(coded) < mostCoded:
			coded = append(coded, x)
		case x.Verdict != impact.Safe:
			more += x.Changes
		case len(safe) < most:
			safe = append(safe, x)
		default:
			moreSafe += x.Changes
		}
	}
	return coded, safe, more, moreSafe
}

// bySeverity returns the classes with changes, the most serious verdict first.
func bySeverity(r *impact.Report) []impact.ClassReport {
	out := slices.DeleteFunc(slices.Clone(r.Classes), func(c impact.ClassReport) bool { return len(c.Changes) == 0 })
	slices.SortStableFunc(out, func(a, b impact.ClassReport) int {
		switch {
		case a.Verdict == b.Verdict:
			return 0
		case a.Verdict.AtLeast(b.Verdict):
			return -1
		}
		return 1
	})
	return out
}

func (a *impactAnswer) text(w io.Writer) error {
	out := proseWriter(w)
	out.Line(func(line string) string { return string(paint(w, bold, line)) }, a.title(), "", "  ")
	for _, c := range bySeverity((*impact.Report)(a)) {
		out.Blank()
		out.Line(paintEnd(w, verdictColor(c.Verdict), string(c.Verdict)), string(c.Class)+": "+string(c.Verdict), "", "")
		coded, safe, more, moreSafe := shown((*impact.Report)(a).Lines(c.Class), mostSafe)
		for _, x := range coded {
			code := "[" + string(x.Code) + "]"
			out.Line(paintEnd(w, verdictColor(x.Verdict), code), string(x.Verdict)+": "+x.String()+" "+code, "  ", "    ")
		}
		if more > 0 {
			out.Line(nil, "and "+phrase.Count(more, "more change")+" like these; -o json lists all", "  ", "    ")
		}
		for i, x := range safe {
			before := i > 0 && safe[i-1].Subject == x.Subject
			after := i+1 < len(safe) && safe[i+1].Subject == x.Subject
			switch {
			case x.Subject == "" || !before && !after:
				out.Line(nil, x.String(), "  ", "    ")
				continue
			case !before:
				out.Line(nil, x.Subject+":", "  ", "    ")
			}
			out.Line(nil, x.Text, "    ", "      ")
		}
		if moreSafe > 0 {
			out.Line(nil, "and "+phrase.Count(moreSafe, "more safe change")+"; -o json lists all", "  ", "    ")
		}
	}
	var same []string
	for _, c := range a.Classes {
		if len(c.Changes) == 0 {
			same = append(same, string(c.Class))
		}
	}
	if len(same) > 0 {
		out.Blank()
		out.Line(nil, "Unchanged: "+strings.Join(same, ", "), "", "  ")
	}
	_, err := io.WriteString(w, out.String())
	return err
}

// title states what is compared, and the verdict.
func (a *impactAnswer) title() string {
	where := ""
	if a.Namespace != "" {
		where = " in namespace " + a.Namespace
	}
	what := "Upgrade"
	old, err := semver.Parse(a.From.Version)
	if created, also := semver.Parse(a.To.Version); err == nil && also == nil && created.LT(old) {
		what = "Downgrade"
	}
	return fmt.Sprintf("%s of package %s%s from %s to %s with %s: %s", what, a.Package, where, a.From.Name, a.To.Name, olmTitle(a.OLM), a.Verdict)
}

// olmTitle returns the name of an OLM for readers.
func olmTitle(system string) string {
	if system == "classic" {
		return "classic OLM"
	}
	return "OLM v1"
}

func verdictColor(v impact.Verdict) string {
	switch v {
	case impact.Breaks:
		return red
	case impact.Look:
		return yellow
	}
	return green
}

// writeMarkdown prints a report for a comment on a pull request.
func writeMarkdown(w io.Writer, r *impact.Report) error {
	var b strings.Builder
	a := (*impactAnswer)(r)
	visible.Fprintf(&b, "## %s\n\n| Class | Verdict | Changes |\n|---|---|---|\n", markdown(a.title()))
	for _, c := range r.Classes {
		visible.Fprintf(&b, "| %s | %s | %d |\n", c.Class, c.Verdict, len(c.Changes))
	}
	for _, c := range bySeverity(r) {
		visible.Fprintf(&b, "\n### %s\n\n", c.Class)
		coded, safe, more, moreSafe := shown(r.Lines(c.Class), mostSafeInMD)
		for _, x := range coded {
			visible.Fprintf(&b, "- **%s**: %s ([%s](%s))\n", x.Verdict, markdown(x.String()), x.Code, codePageURL(x.Code))
		}
		if more > 0 {
			visible.Fprintf(&b, "- and %s like these\n", phrase.Count(more, "more change"))
		}
		if len(safe) == 0 {
			continue
		}
		if len(coded) > 0 {
			b.WriteByte('\n')
		}
		visible.Fprintf(&b, "<details><summary>%s</summary>\n\n", phrase.Count(changesOf(safe)+moreSafe, "safe change"))
		for _, x := range safe {
			visible.Fprintf(&b, "- %s\n", markdown(x.String()))
		}
		if moreSafe > 0 {
			visible.Fprintf(&b, "- and %d more\n", moreSafe)
		}
		b.WriteString("\n</details>\n")
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// changesOf returns how many changes lines state.
func changesOf(lines []impact.Line) (n int) {
	for _, x := range lines {
		n += x.Changes
	}
	return n
}

// codePageURL returns the address of the page of a code.
func codePageURL(code fbc.Code) string {
	return "https://github.com/olmkit/olmkit/blob/main/docs/codes/" + string(code) + ".md"
}

// markdown returns text on one line, with the characters that have a meaning in Markdown
// escaped.
func markdown(text string) string {
	var b strings.Builder
	for _, r := range visible.Line(text) {
		if strings.ContainsRune("\\`*_[]<>&|~#@", r) {
			b.WriteByte('\\')
		}
		b.WriteRune(r)
	}
	return b.String()
}
