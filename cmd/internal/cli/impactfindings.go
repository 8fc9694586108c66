package cli

import (
	"cmp"
	"context"
	"io"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	fbcreport "github.com/olmkit/olmkit/fbc/report"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
)

// findings adds a finding for each code of the verdicts on the upgrades of a catalog, at the entry of its
// channel: the most serious ones, if there are more than code scanners show.
func (i *impactRun) findings(ctx context.Context, catalog string, t *impactTable) error {
	blobs, _, files, err := newLoader(i.env).check(ctx, catalog, false)
	if err != nil {
		return err
	}
	titles := codeTitles()
	n := &newEdges{blobs: blobs}
	for _, severity := range []fbc.Severity{fbc.Error, fbc.Warning} {
		for _, p := range t.Packages {
			for k, edge := range p.Edges {
				for _, code := range edge.Codes {
					switch {
					case code.Severity() != severity:
					case len(n.found) == mostFindings:
						i.dropped++
					default:
						n.finding(p.Package, p.steps[k], code, titles[code])
					}
				}
			}
		}
	}
	slices.SortStableFunc(n.found, func(a, b *fbc.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Pos.File, b.Pos.File), cmp.Compare(a.Pos.Line, b.Pos.Line))
	})
	if i.found = n.found; files != nil {
		i.found = fbcreport.Locate(ctx, files, n.found)
	}
	i.prefix = (&report{source: catalog}).dir()
	if all, missing := t.counts(); missing > 0 {
		visible.Fprintf(i.stderr, "note: %d of %s not compared; -o json has the reasons\n", missing, phrase.Count(all, "upgrade"))
	}
	return ctx.Err()
}

// codeTitles returns what each code means.
func codeTitles() map[fbc.Code]string {
	out := map[fbc.Code]string{}
	for _, x := range fbc.Explanations() {
		out[x.Code] = x.Title
	}
	return out
}

// counts returns the number of upgrades, and of those that were not compared.
func (t *impactTable) counts() (all, missing int) {
	for _, p := range t.Packages {
		all, missing = all+len(p.Edges), missing+p.Unavailable
	}
	return all, missing
}

// mostMarkdown is the size up to which the parts of a comment about a catalog are added. A comment on a
// pull request holds 65,536 characters.
const mostMarkdown = 50_000

// markdown prints the number of verdicts for each package, and the upgrades that are not safe.
func (t *impactTable) markdown(w io.Writer) error {
	var b strings.Builder
	all, missing := t.counts()
	breaks := 0
	for _, p := range t.Packages {
		breaks += p.Breaks
	}
	visible.Fprintf(&b, "## Upgrades with %s: ", olmTitle(t.OLM))
	if all > missing || all == 0 {
		visible.Fprintf(&b, "%d of %d break something", breaks, all-missing)
	}
	if missing > 0 && all > missing {
		b.WriteString(", ")
	}
	if missing > 0 {
		visible.Fprintf(&b, "%d not compared", missing)
	}
	b.WriteString("\n\n| Package | Upgrades | Safe | Look | Breaks | Not compared |\n|---|---|---|---|---|---|\n")
	rows := slices.Clone(t.Packages)
	slices.SortStableFunc(rows, func(x, y packageImpact) int { return cmp.Compare(x.rank(), y.rank()) })
	more := 0
	for _, p := range rows {
		if b.Len() > mostMarkdown/2 {
			more++
			continue
		}
		visible.Fprintf(&b, "| %s | %d | %d | %d | %d | %d |\n", markdown(p.Package), len(p.Edges), p.Safe, p.Look, p.Breaks, p.Unavailable)
	}
	if more > 0 {
		visible.Fprintf(&b, "\nand %s; -o json has all\n", phrase.Count(more, "more package"))
	}
	for _, verdict := range []impact.Verdict{impact.Breaks, impact.Look} {
		t.edges(&b, rows, verdict)
	}
	var used []fbc.Code
	for _, p := range rows {
		for _, e := range p.Edges {
			used = append(used, e.coded()...)
		}
	}
	slices.Sort(used)
	b.WriteByte('\n')
	for _, c := range slices.Compact(used) {
		visible.Fprintf(&b, "[%s]: %s\n", c, codePageURL(c))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// rank orders packages by the most serious of their verdicts.
func (p *packageImpact) rank() int {
	switch {
	case p.Breaks > 0:
		return 0
	case p.Look > 0:
		return 1
	case len(p.Edges) > 0:
		return 2
	}
	return 3
}

// edges adds the upgrades with a verdict, by package, as long as the comment is not too long.
func (t *impactTable) edges(b *strings.Builder, rows []packageImpact, verdict impact.Verdict) {
	title, left := "Upgrades that break something", 0
	if verdict == impact.Look {
		title = "Upgrades to read before approving them"
	}
	for _, p := range rows {
		var list []edgeImpact
		for _, e := range p.Edges {
			if e.Error == "" && e.Verdict == verdict {
				list = append(list, e)
			}
		}
		switch {
		case len(list) == 0:
			continue
		case b.Len() > mostMarkdown:
			left += len(list)
			continue
		case title != "":
			visible.Fprintf(b, "\n### %s\n\n", title)
			title = ""
		}
		visible.Fprintf(b, "<details><summary>%s: %d</summary>\n\n", markdown(p.Package), len(list))
		for n, e := range list {
			if b.Len() > mostMarkdown {
				visible.Fprintf(b, "- and %d more\n", len(list)-n)
				break
			}
			var links []string
			for _, c := range e.coded() {
				links = append(links, "["+string(c)+"]")
			}
			visible.Fprintf(b, "- %s to %s: %s\n", markdown(e.From), markdown(e.To), strings.Join(links, ", "))
		}
		b.WriteString("\n</details>\n")
	}
	switch {
	case left > 0 && title != "":
		visible.Fprintf(b, "\n### %s\n\n%s; -o json has them\n", title, phrase.Count(left, "upgrade"))
	case left > 0:
		visible.Fprintf(b, "\nand %s like these; -o json has all\n", phrase.Count(left, "more upgrade"))
	}
}
