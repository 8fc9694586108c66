package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"golang.org/x/term"
	"sigs.k8s.io/yaml"
)

// A format is what -o asks for.
type format string

const (
	formatText format = "text"
	formatJSON format = "json"
	formatYAML format = "yaml"
)

var formats = []string{string(formatText), string(formatJSON), string(formatYAML)}

// String, Set and Type implement pflag.Value.
func (f *format) String() string { return string(*f) }
func (f *format) Type() string   { return "format" }
func (f *format) Set(s string) error {
	if !slices.Contains(formats, s) {
		return fmt.Errorf("%q is not one of %s", s, strings.Join(formats, ", "))
	}
	*f = format(s)
	return nil
}

// addFormat adds the flag that every command has.
func addFormat(cmd *cobra.Command) *format {
	f := formatText
	cmd.Flags().VarP(&f, "output", "o", "how to print: text for people, json (one document a line) or yaml")
	complete(cmd, "output", formats...)
	return &f
}

// complete offers words for the value of a flag.
func complete(cmd *cobra.Command, flag string, words ...string) {
	err := cmd.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(words, cobra.ShellCompDirectiveNoFileComp))
	if err != nil {
		panic("internal error: " + err.Error()) // the flag was never defined
	}
}

// A document prints itself for people; its JSON is for machines.
type document interface {
	text(w io.Writer) error
}

// A printer writes documents in one format.
type printer struct {
	w      io.Writer
	format format
	count  int
}

// print writes a document in the format that was asked for.
func (p *printer) print(d document) error {
	if p.format == formatText {
		return d.text(p.w)
	}
	return p.encode(d)
}

// encode writes a value in one piece: a line of JSON, or a YAML document, with
// "---" between two.
func (p *printer) encode(v any) error {
	out, err := json.Marshal(v, json.Deterministic(true))
	if err != nil {
		return err
	}
	if p.format == formatYAML {
		if out, err = yaml.JSONToYAML(out); err != nil {
			return err
		}
		if p.count > 0 {
			out = append([]byte("---\n"), out...)
		}
	} else {
		out = append(out, '\n')
	}
	p.count++
	_, err = p.w.Write(out)
	return err
}

// defaultWidth is how wide prose is where no terminal tells.
const defaultWidth = 100

// textWidth returns how many characters a line of prose may have.
func textWidth(w io.Writer) int {
	if f, ok := w.(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil && width > 40 {
			return width
		}
	}
	return defaultWidth
}

// A table prints rows of text under a header, in columns as wide as needed.
type table struct {
	header []string
	rows   [][]string
}

func (t *table) add(cells ...string) {
	for i, c := range cells {
		if c == "" {
			cells[i] = "-"
		}
	}
	t.rows = append(t.rows, cells)
}

func (t *table) text(w io.Writer) error {
	tw := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	for _, row := range append([][]string{t.header}, t.rows...) {
		if _, err := fmt.Fprintln(tw, strings.Join(row, "\t")); err != nil {
			return err
		}
	}
	return tw.Flush()
}
