package cli

import (
	"io"

	"github.com/go-json-experiment/json"
	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"
)

// A format is a value of -o.
type format string

const (
	formatText format = "text"
	formatJSON format = "json"
	formatYAML format = "yaml"
)

// addFormat adds -o with the formats that every command supports.
func addFormat(cmd *cobra.Command) *format { return addFormats(cmd, "") }

// addFormats adds -o with additional formats.
func addFormats(cmd *cobra.Command, usage string, more ...string) *format {
	f := formatText
	if usage != "" {
		usage = "; " + usage
	}
	addChoice(cmd, (*string)(&f), "output", "o", "how to print: text for people, json (one document a line) or yaml"+usage,
		append([]string{string(formatText), string(formatJSON), string(formatYAML)}, more...)...)
	return &f
}

// A printable is a value with a text for people and JSON for programs.
type printable interface {
	text(w io.Writer) error
}

// A printer writes documents in one format.
type printer struct {
	w      io.Writer
	format format
	count  int
}

// print writes a document in the requested format.
func (p *printer) print(d printable) error {
	if p.format == formatText {
		return d.text(p.w)
	}
	return p.encode(d)
}

// encode writes a value in a single write: a line of JSON, or a YAML document,
// preceded by "---" unless it is the first.
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
	_, err = machine(p.w).Write(out)
	return err
}
