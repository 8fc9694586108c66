package cli

import (
	"cmp"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/page"
	"github.com/olmkit/olmkit/resolver/fact"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// explainCodes prints the pages of codes, or a list of all codes if none is given.
func explainCodes(e *env, codes []string, out format) error {
	p := &printer{w: e.stdout, format: out}
	all := listCodes()
	if len(codes) == 0 {
		return p.print(all)
	}
	var pages []codePage
	for _, code := range codes {
		found := all.pages(code)
		if len(found) == 0 {
			if _, err := os.Stat(code); err == nil {
				return usagef("%s is a catalog, not a code; name packages with --package, and installed bundles with --installed", code)
			}
			return usagef("unknown code %q%s", code, cmp.Or(hint(code, all.codes()), "; \"olmkit explain\" lists all"))
		}
		pages = append(pages, found...)
	}
	for i, x := range pages {
		if out == formatMarkdown {
			if _, err := fmt.Fprint(e.stdout, x.markdown); err != nil {
				return err
			}
			continue
		}
		if i > 0 && out == formatText {
			fmt.Fprintln(e.stdout)
		}
		if err := p.print(x); err != nil {
			return err
		}
	}
	return nil
}

// completeCodes completes codes and shows their titles.
func completeCodes() []string {
	var words []string
	for _, x := range listCodes().Codes {
		words = append(words, x.Code+"\t"+x.Title)
	}
	return words
}

// A codeList is the list of all codes.
type codeList struct {
	Codes []codePage `json:"codes"`
}

func listCodes() codeList {
	var l codeList
	for _, x := range fbc.Explanations() {
		l.Codes = append(l.Codes, pageOf(x))
	}
	for _, x := range fact.Explanations() {
		l.Codes = append(l.Codes, pageOfFact(x))
	}
	for _, x := range olmv1.Explanations() {
		l.Codes = append(l.Codes, codePage{
			Code: string(x.Code), Severity: "refusal", Title: x.Title, Rules: x.Rules, Text: x.Text,
			Example: x.Example, Fix: x.Fix, markdown: x.Markdown(),
		})
	}
	for _, k := range []struct{ dir, severity string }{{"advice", "advice"}, {"fixes", "fix"}} {
		for _, x := range page.Explanations(k.dir) {
			l.Codes = append(l.Codes, codePage{
				Code: x.Code, Severity: k.severity, Title: x.Title, Rules: x.Rules, Text: x.Text,
				Example: x.Example, Fix: x.Fix, markdown: x.Markdown,
			})
		}
	}
	return l
}

// pages returns the pages of a code: a finding, a refusal and advice may have the same one. Advice comes first,
// because answers refer to it.
func (l codeList) pages(code string) []codePage {
	var out []codePage
	for _, x := range l.Codes {
		if x.Code == code {
			if x.Severity == "advice" {
				return append([]codePage{x}, out...)
			}
			out = append(out, x)
		}
	}
	return out
}

// codes returns all codes.
func (l codeList) codes() []string {
	var list []string
	for _, x := range l.Codes {
		list = append(list, x.Code)
	}
	return list
}

func (l codeList) text(w io.Writer) error {
	t := table{header: []string{"CODE", "SEVERITY", "MEANING"}}
	for _, x := range l.Codes {
		t.add(x.Code, x.Severity, x.Title)
	}
	return t.text(w)
}

// A codePage explains one code.
type codePage struct {
	Code string `json:"code"`
	// Severity is that of a finding, or "fact", "refusal", "advice" or "fix".
	Severity string `json:"severity"`
	Title    string `json:"title"`
	Rules    string `json:"rules"`
	Text     string `json:"text"`
	Bad      string `json:"bad,omitempty"`
	Good     string `json:"good,omitempty"`
	// Example and Fix are those of a fact, refusal or advice. A fix has no Fix.
	Example string `json:"example,omitempty"`
	Fix     string `json:"fix,omitempty"`

	markdown string
}

func pageOf(x fbc.Explanation) codePage {
	return codePage{
		Code: string(x.Code), Severity: x.Severity.String(), Title: x.Title, Rules: x.Rules, Text: x.Text,
		Bad: x.Bad, Good: x.Good, markdown: x.Markdown(),
	}
}

func pageOfFact(x fact.Explanation) codePage {
	return codePage{
		Code: string(x.Code), Severity: "fact", Title: x.Title, Rules: x.Rules, Text: x.Text,
		Example: x.Example, Fix: x.Fix, markdown: x.Markdown(),
	}
}

func (p codePage) text(w io.Writer) error {
	fmt.Fprintf(w, "%s (%s): %s\n\n%s\n", p.Code, p.Severity, p.Title, p.Text)
	if p.Bad != "" {
		fmt.Fprintf(w, "\nExample:\n\n%s\nFix:\n\n%s", indent(p.Bad), indent(p.Good))
	}
	if p.Example != "" {
		fmt.Fprintf(w, "\nExample:\n\n%s", indent(p.Example+"\n"))
	}
	if p.Fix != "" {
		fmt.Fprintf(w, "\nUsual fix:\n\n%s\n", p.Fix)
	}
	_, err := fmt.Fprintf(w, "\nRules: %s\n", p.Rules)
	return err
}

func indent(text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString("    " + line)
	}
	return b.String()
}
