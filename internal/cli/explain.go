package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/fbc"
)

func newExplain(e *env) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "explain [CODE...]",
		Short: "Tell what a kind of finding means and how to mend it",
		Long: `Explain tells what the findings of "olmkit validate" mean, with an example and its
mend. Without a code it lists all codes.`,
		Example: `  olmkit explain
  olmkit explain stranded`,
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var words []string
			for _, x := range fbc.Explanations() {
				words = append(words, string(x.Code)+"\t"+x.Title)
			}
			return words, cobra.ShellCompDirectiveNoFileComp
		},
	}
	f := addFormat(cmd)
	cmd.RunE = func(_ *cobra.Command, args []string) error {
		p := &printer{w: e.stdout, format: *f}
		if len(args) == 0 {
			return p.print(listCodes())
		}
		var pages []fbc.Explanation
		for _, arg := range args {
			x, ok := fbc.Explain(fbc.Code(arg))
			if !ok {
				return usagef("no finding has the code %q; \"olmkit explain\" lists all", arg)
			}
			pages = append(pages, x)
		}
		for i, x := range pages {
			if i > 0 && *f == formatText {
				fmt.Fprintln(e.stdout)
			}
			if err := p.print(pageOf(x)); err != nil {
				return err
			}
		}
		return nil
	}
	return cmd
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
	return l
}

func (l codeList) text(w io.Writer) error {
	t := table{header: []string{"CODE", "SEVERITY", "MEANING"}}
	for _, x := range l.Codes {
		t.add(string(x.Code), x.Severity.String(), x.Title)
	}
	return t.text(w)
}

// A codePage explains one code.
type codePage struct {
	Code     fbc.Code     `json:"code"`
	Severity fbc.Severity `json:"severity"`
	Title    string       `json:"title"`
	Rules    string       `json:"rules"`
	Text     string       `json:"text"`
	Bad      string       `json:"bad,omitempty"`
	Good     string       `json:"good,omitempty"`
}

func pageOf(x fbc.Explanation) codePage {
	return codePage{x.Code, x.Severity, x.Title, x.Rules, x.Text, x.Bad, x.Good}
}

func (p codePage) text(w io.Writer) error {
	fmt.Fprintf(w, "%s (%s): %s\n\n%s\n", p.Code, p.Severity, p.Title, p.Text)
	if p.Bad != "" {
		fmt.Fprintf(w, "\nExample:\n\n%s\nMended:\n\n%s", indent(p.Bad), indent(p.Good))
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
