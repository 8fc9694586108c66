package report

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/visible"
)

// A Format is an output format.
type Format string

// The formats of Write.
const (
	Text   Format = "text"
	JSON   Format = "json"
	SARIF  Format = "sarif"
	GitHub Format = "github"
)

// Formats returns all formats.
func Formats() []Format { return []Format{Text, JSON, SARIF, GitHub} }

// Options adjust the output. A nil *Options means all defaults.
type Options struct {
	// Prefix is prepended to the names of files, which findings have relative to
	// the root of the catalog. Usually it is the catalog's directory in the
	// repository.
	Prefix string
	// Source, if set, is the source of the catalog. Findings then have the line of
	// their field (see [Locate]) instead of the first line of their blob. JSON has
	// both.
	Source fs.FS
	// ToolVersion is the version of the program, for SARIF.
	ToolVersion string
}

// Write prints the findings. It returns an error if the format is unknown, the writer
// fails or the context ends.
func Write(ctx context.Context, w io.Writer, f Format, found fbc.Diagnostics, opts *Options) error {
	var o Options
	if opts != nil {
		o = *opts
	}
	if opts = &o; o.Source != nil {
		found = Locate(ctx, o.Source, found)
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	out := bufio.NewWriter(w)
	shown := visible.NewWriter(out, nil)
	var err error
	switch f {
	case Text:
		text(shown, found, opts)
	case JSON:
		err = encode(out, jsonReport(found, opts))
	case SARIF:
		err = encode(out, sarifReport(found, opts))
	case GitHub:
		github(shown, found, opts)
	default:
		return fmt.Errorf("unknown format %q; use one of %v", f, Formats())
	}
	if err == nil {
		err = shown.Flush()
	}
	if err != nil {
		return err
	}
	return out.Flush()
}

func encode(w io.Writer, v any) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// exact returns the position of the finding's field if it is known, and of its blob
// otherwise.
func (o *Options) exact(d *fbc.Diagnostic) fbc.Pos {
	p := o.at(d.Pos)
	if d.FieldLine > 0 {
		p.Line = d.FieldLine
	}
	return p
}

// at returns the position with the prefix before the file.
func (o *Options) at(p fbc.Pos) fbc.Pos {
	if p.IsValid() && o.Prefix != "" {
		p.File = path.Join(o.Prefix, p.File)
	}
	return p
}

// text prints one finding per line, and a summary.
func text(w io.Writer, found fbc.Diagnostics, opts *Options) {
	for _, d := range found {
		visible.Fprintf(w, "%s: %s: %s [%s]\n", opts.exact(d), d.Severity, d.Text(), d.Code)
	}
	if len(found) > 0 {
		fmt.Fprintf(w, "%s, %s\n", phrase.Count(len(found.Errors()), "error"), phrase.Count(len(found.Warnings()), "warning"))
	}
}

// github prints workflow commands.
func github(w io.Writer, found fbc.Diagnostics, opts *Options) {
	data := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A")
	attr := strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A", ":", "%3A", ",", "%2C")
	for _, d := range found {
		at := opts.exact(d)
		fmt.Fprintf(w, "::%s ", d.Severity)
		if at.IsValid() {
			fmt.Fprintf(w, "file=%s,", attr.Replace(at.File))
		}
		if at.Line > 0 {
			fmt.Fprintf(w, "line=%d,", at.Line)
		}
		fmt.Fprintf(w, "title=%s::%s\n", attr.Replace(string(d.Code)), data.Replace(d.Text()))
	}
}

// protocolVersion is the version of the JSON output. It changes when a field is removed
// or changes its meaning, not when one is added.
const protocolVersion = 1

type jsonOut struct {
	Version  int             `json:"version"`
	Errors   int             `json:"errors"`
	Warnings int             `json:"warnings"`
	Findings fbc.Diagnostics `json:"findings"`
}

func jsonReport(found fbc.Diagnostics, opts *Options) jsonOut {
	out := jsonOut{Version: protocolVersion, Errors: len(found.Errors()), Warnings: len(found.Warnings())}
	for _, d := range found {
		shown := *d
		shown.Pos = opts.at(d.Pos)
		out.Findings = append(out.Findings, &shown)
	}
	return out
}
