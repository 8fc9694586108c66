package cli

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/olmkit/olmkit/cmd/internal/view"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/impact"
	"github.com/olmkit/olmkit/kube/permissions"
)

//go:embed reportpage.html
var reportPage string

// A reportCell is a value with the CSS class that colors it. Was is the value before, if it
// differs.
type reportCell struct{ Value, Was, Label, Class string }

// A reportRow is a package on the page.
type reportRow struct {
	*packageQuality
	ID    string
	Cells []reportCell // without the name
	Tags  []reportCell
}

// News returns what changed since an older catalog.
func (r reportRow) News() []string { return r.news() }

// Dates returns the dates of the package in a sentence.
func (r reportRow) Dates() string { return r.dates() }

// page prints the report as one self-contained HTML page.
func (q *quality) page(w io.Writer) error {
	t, err := template.New("report").Funcs(template.FuncMap{
		"line":  func(v any) string { return visible.Line(fmt.Sprint(v)) },
		"count": phrase.Count, "nodes": nodesText, "codeURL": codePageURL,
		"head": func(list any) any {
			v := reflect.ValueOf(list)
			return v.Slice(0, min(v.Len(), most)).Interface()
		},
		"more": func(list any) template.HTML {
			if n := reflect.ValueOf(list).Len() - most; n > 0 {
				return template.HTML("<li>and " + strconv.Itoa(n) + " more; <code>-o json</code> lists all</li>\n")
			}
			return ""
		},
		"risks": shownRisks,
		"findings": func(list fbc.Diagnostics) fbc.Diagnostics {
			shown, _ := shorten(list)
			return shown
		},
	}).Parse(reportPage)
	if err != nil {
		return err
	}
	data := struct {
		*quality
		Tiles []reportCell
		Rows  []reportRow
	}{quality: q, Tiles: q.tiles()}
	for i := range q.Packages {
		data.Rows = append(data.Rows, rowOf(&q.Packages[i]))
	}
	var body bytes.Buffer
	if err := t.Execute(&body, data); err != nil {
		return err
	}
	page, err := view.Document("Catalog "+q.Catalog+" – olmkit", "olmkit report", template.HTML(body.String()))
	if err != nil {
		return err
	}
	_, err = page.WriteTo(w)
	return err
}

// tiles returns the sums of the report.
func (q *quality) tiles() []reportCell {
	was := func(now int, before func(*qualityNumbers) int) string {
		if q.Before == nil || before(q.Before) == now {
			return ""
		}
		return "was " + strconv.Itoa(before(q.Before))
	}
	tile := func(label, class string, of func(*qualityNumbers) int) reportCell {
		n := of(&q.Total)
		if n == 0 {
			class = ""
		}
		return reportCell{strconv.Itoa(n), was(n, of), label, class}
	}
	list := []reportCell{
		{Value: strconv.Itoa(len(q.Packages)), Label: "packages"},
		tile("versions", "", func(n *qualityNumbers) int { return n.Versions }),
		tile("versions stranded in classic OLM", "bad", func(n *qualityNumbers) int { return n.Stranded }),
		tile("versions that never get to the newest one in OLM v1", "warn", func(n *qualityNumbers) int { return n.StrandedV1 }),
	}
	if q.Total.Compared > 0 {
		breaking := tile("of "+strconv.Itoa(q.Total.Compared)+" upgrades break with "+olmTitle(q.OLM), "bad", func(n *qualityNumbers) int { return n.Breaking })
		list = append(list, breaking)
	}
	return append(list,
		tile("unmet requirements", "warn", func(n *qualityNumbers) int { return n.Unmet }),
		tile("images without a digest", "warn", func(n *qualityNumbers) int { return n.Unpinned }),
		tile("heads that OLM v1 refuses", "warn", func(n *qualityNumbers) int { return n.Refused }),
		tile("errors", "bad", func(n *qualityNumbers) int { return n.Errors }),
		tile("warnings", "warn", func(n *qualityNumbers) int { return n.Warnings }),
	)
}

// rowOf returns a package for the page.
func rowOf(p *packageQuality) reportRow {
	r := reportRow{packageQuality: p, ID: "package-" + visible.Distinct(p.Package)}
	classes := map[string]string{"STRANDED": "bad", "STRANDED V1": "warn", "BREAKING": "bad", "UNMET": "warn", "UNPINNED": "warn", "RISKS": "warn", "ERRORS": "bad", "WARNINGS": "warn"}
	for i, text := range p.cells() {
		if i == 0 {
			continue
		}
		name := qualityHeader[i]
		c := reportCell{Value: text, Label: strings.ToLower(name)}
		if value, was, ok := strings.Cut(text, " ("); ok && i > 2 {
			c.Value, c.Was = value, strings.TrimSuffix(was, ")")
		}
		if c.Value == "" {
			c.Value = "–"
		}
		switch class, counted := classes[name]; {
		case name == "VERSIONS" || counted && (c.Value == "0" || c.Value == "?"):
			c.Class = "number"
		case counted:
			c.Class = "number " + class
			r.Tags = append(r.Tags, reportCell{Value: tagText(name, c.Value), Class: map[string]string{"bad": "bad", "warn": "changes"}[class]})
		case name == "HEAD" || name == "RELEASED":
			c.Class = "whole"
		case name == "OLM V1" && c.Value == verdictNo:
			r.Tags = append(r.Tags, reportCell{Value: "not for OLM v1", Class: "changes"})
		}
		r.Cells = append(r.Cells, c)
	}
	return r
}

// tagText returns a number of a column with its noun.
func tagText(column, value string) string {
	n, err := strconv.Atoi(value)
	if err != nil {
		return value
	}
	switch column {
	case "STRANDED":
		return value + " stranded"
	case "STRANDED V1":
		return value + " stranded in OLM v1"
	case "BREAKING":
		return phrase.Count(n, "breaking upgrade")
	case "UNMET":
		return phrase.Count(n, "unmet requirement")
	case "UNPINNED":
		return phrase.Count(n, "unpinned image")
	case "RISKS":
		return phrase.Count(n, "risk")
	case "ERRORS":
		return phrase.Count(n, "error")
	}
	return phrase.Count(n, "warning")
}

// shownRisks returns the risks that no other one includes.
func shownRisks(list []permissions.Risk) []permissions.Risk {
	return slices.DeleteFunc(slices.Clone(list), permissions.Risk.Included)
}

// columnTitle returns the header of a column in normal case.
func columnTitle(header string) string {
	return strings.Replace(header[:1]+strings.ToLower(header[1:]), "Olm", "OLM", 1)
}

// markdown prints the report for a repository or a pull request.
func (q *quality) markdown(w io.Writer) error {
	var b strings.Builder
	visible.Fprintf(&b, "# Catalog %s\n\n%s.\n", markdown(q.Catalog), markdown(q.summary()))
	if q.Base != "" {
		visible.Fprintf(&b, "\nCompared with %s.\n", markdown(q.Base))
	}
	for _, name := range q.Removed {
		visible.Fprintf(&b, "\nPackage %s is no longer in the catalog.\n", markdown(name))
	}
	b.WriteString("\n|")
	for _, h := range q.header() {
		b.WriteString(" " + columnTitle(h) + " |")
	}
	b.WriteString("\n|" + strings.Repeat("---|", len(qualityHeader)) + "\n")
	for i := range q.Packages {
		b.WriteByte('|')
		for _, c := range q.Packages[i].cells() {
			visible.Fprintf(&b, " %s |", markdown(c))
		}
		b.WriteByte('\n')
	}
	if len(q.Findings) > 0 {
		b.WriteString("\n## Findings outside of packages\n\n")
		markdownFindings(&b, q.Findings)
	}
	for i := range q.Packages {
		q.Packages[i].markdown(&b)
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func markdownFindings(b *strings.Builder, found fbc.Diagnostics) {
	shown, more := shorten(found)
	for _, d := range shown {
		visible.Fprintf(b, "- **%s**: %s ([%s](%s))\n", d.Severity, markdown(d.Error()), d.Code, codePageURL(d.Code))
	}
	if more > 0 {
		visible.Fprintf(b, "- and %d more\n", more)
	}
}

// markdown prints the details of a package, if there are any.
func (p *packageQuality) markdown(b *strings.Builder) {
	var parts strings.Builder
	list := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		visible.Fprintf(&parts, "\n%s:\n\n", title)
		shown, more := shorten(lines)
		for _, line := range shown {
			parts.WriteString("- " + line + "\n")
		}
		if more > 0 {
			visible.Fprintf(&parts, "- and %d more\n", more)
		}
	}
	plain := func(lines []string) (out []string) {
		for _, line := range lines {
			out = append(out, markdown(line))
		}
		return out
	}
	list("Changes", plain(p.news()))
	for _, ch := range p.Channels {
		if len(ch.Stranded) > 0 {
			list("Without a path to the head of "+markdown(ch.Name)+" in classic OLM", []string{markdown(nodesText(ch.Stranded))})
		}
	}
	if len(p.StrandedV1) > 0 {
		list("Never get to "+markdown(p.Newest)+", the newest version, in OLM v1", []string{markdown(nodesText(p.StrandedV1))})
	}
	var breaks, risks []string
	for _, e := range p.Upgrades {
		if e.Verdict == impact.Breaks {
			breaks = append(breaks, markdown(e.From+" → "+e.To+": "+e.verdictText()))
		}
	}
	for _, r := range shownRisks(p.Head.Risks) {
		risks = append(risks, fmt.Sprintf("%s ([%s](%s))", markdown(r.Message), r.Code, codePageURL(r.Code)))
	}
	list("Upgrades that break something", breaks)
	list("Dangerous permissions of the head", risks)
	list("Removed Kubernetes APIs in the head", plain(p.Head.APIs))
	list("Why OLM v1 does not install the head", plain(p.Head.Refused))
	list("Malformed images", plain(p.Malformed))
	list("Images without a digest", plain(p.Unpinned))
	if len(p.Findings) > 0 {
		parts.WriteString("\nFindings:\n\n")
		markdownFindings(&parts, p.Findings)
	}
	if parts.Len() == 0 {
		return
	}
	visible.Fprintf(b, "\n<details><summary>%s</summary>\n", markdown(p.Package))
	if text := p.dates(); text != "" {
		visible.Fprintf(b, "\n%s.\n", markdown(text))
	}
	b.WriteString(parts.String() + "\n</details>\n")
}
