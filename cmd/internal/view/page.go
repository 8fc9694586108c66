package view

import (
	"bytes"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/base64"
	"fmt"
	"html"
	"io"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/resolver"
)

// An Input is what a page shows.
type Input struct {
	// Catalogs in the order in which they are listed. Their names must differ.
	Catalogs []Catalog
	// Problems are resolved; their catalogs are loaded.
	Problems []Problem
	// Old, if set, is compared with the first of Catalogs.
	Old *Catalog
}

// A Catalog is a catalog and its name.
type Catalog struct {
	Name  string
	Graph *graph.Catalog
	// Verdicts are what upgrades do to a cluster, by package, for the upgrades that were judged.
	Verdicts map[string][]Verdict
	// Avoids describes the upgrades to avoid, such as "an upgrade that breaks something". It is empty if there
	// are none.
	Avoids string
}

// A Verdict is what the upgrade from one bundle to another does to a cluster.
type Verdict struct {
	From, To string
	// Verdict is safe, look or breaks, or empty if the bundles could not be compared.
	Verdict string
	// Text is the verdict with its codes, or why there is none.
	Text string
	// Avoid is set for an upgrade to avoid. The page then shows ways around it.
	Avoid bool
}

// A Problem is a resolver.Problem with the name that the page shows for it.
type Problem struct {
	Name string
	resolver.Problem
}

// A Page is a self-contained document. It is immutable and safe for concurrent use.
type Page struct {
	text   []byte
	policy string
}

// New returns the page of an input. Equal inputs give equal pages. The error is the context's, or that of an invalid
// problem.
func New(ctx context.Context, in *Input) (*Page, error) {
	d, err := newData(ctx, in)
	if err != nil {
		return nil, err
	}
	return render(d)
}

// newData returns the data of a page.
func newData(ctx context.Context, in *Input) (*pageData, error) {
	d := &pageData{Title: "olmkit", Catalogs: []catalogData{}, Answers: []answerData{}}
	installed := map[string][]graph.Node{}
	for i := range in.Problems {
		p := &in.Problems[i]
		a, err := newAnswer(ctx, p.Name, &p.Problem)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", p.Name, err)
		}
		d.Answers = append(d.Answers, *a)
		for _, x := range p.Installed {
			pkg := packageOf(&p.Problem, &x)
			installed[pkg] = append(installed[pkg], graph.Node{Name: x.Name, Version: x.Version})
		}
	}
	d.Codes = codes(d.Answers)
	for i, c := range in.Catalogs {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		var added map[string]map[string]bool
		if i == 0 && in.Old != nil {
			added = addedBundles(in.Old.Graph, c.Graph)
		}
		one, err := newCatalog(ctx, c, installed, added)
		if err != nil {
			return nil, err
		}
		d.Catalogs = append(d.Catalogs, *one)
	}
	if len(in.Catalogs) > 0 {
		d.Title = in.Catalogs[0].Name + " – olmkit"
		if in.Old != nil {
			var err error
			if d.Diff, err = newDiff(ctx, *in.Old, in.Catalogs[0]); err != nil {
				return nil, err
			}
		}
	}
	return d, nil
}

// packageOf returns the package of an installed operator, or "" if it is unknown.
func packageOf(p *resolver.Problem, in *resolver.Installed) string {
	var owners []string
	for _, s := range p.Subscriptions {
		if s.InstalledCSV == in.Name {
			owners = append(owners, s.Package)
		}
	}
	inferred := in.Infer(owners...)
	return inferred.PackageName()
}

//go:embed app/*.js app/page.css app/document.css app/body.html lib/*.js lib/*.LICENSE lib/lib.txt
var files embed.FS

// scripts lists the parts of the page's own script, in order.
var scripts = []string{"text.js", "data.js", "ways.js", "list.js", "layout.js", "graph.js", "channel.js", "version.js", "package.js", "answer.js", "diff.js", "main.js"}

// A library is a line of lib/lib.txt.
type library struct{ pkg, version, file, licence, sum string }

// name is the base name of the library's files.
func (l library) name() string { return l.pkg[strings.LastIndexByte(l.pkg, '/')+1:] }

// libraries reads lib/lib.txt.
func libraries() ([]library, error) {
	text, err := files.ReadFile("lib/lib.txt")
	if err != nil {
		return nil, err
	}
	var out []library
	for line := range strings.Lines(string(text)) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" {
			continue
		}
		if len(f) != 5 {
			return nil, fmt.Errorf("lib/lib.txt: %q has %d fields, want 5", line, len(f))
		}
		out = append(out, library{f[0], f[1], f[2], f[3], f[4]})
	}
	return out, nil
}

// script returns the libraries with their licences, then the page's own parts.
func script() ([]byte, error) {
	libs, err := libraries()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	for _, l := range libs {
		licence, err := files.ReadFile("lib/" + l.name() + ".LICENSE")
		if err != nil {
			return nil, err
		}
		code, err := files.ReadFile("lib/" + l.name() + ".js")
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&b, "/*!\n%s*/\n%s\n", licence, code)
	}
	b.WriteString("(() => {\n\"use strict\";\n")
	for _, name := range scripts {
		code, err := files.ReadFile("app/" + name)
		if err != nil {
			return nil, err
		}
		b.Write(code)
	}
	b.WriteString("})();\n")
	return b.Bytes(), nil
}

// encode returns the data as JSON in which <, >, & and the line terminators of JavaScript are escaped, so that nothing
// in it can end the element. Characters that would reorder or hide text become visible, and different names stay
// different (S8).
func encode(d *pageData) ([]byte, error) {
	shown := json.MarshalToFunc(func(e *jsontext.Encoder, s string) error {
		return e.WriteToken(jsontext.String(visible.Distinct(s)))
	})
	return json.Marshal(d, jsonv1.DefaultOptionsV1(), json.WithMarshalers(shown))
}

// render returns the document.
func render(d *pageData) (*Page, error) {
	data, err := encode(d)
	if err != nil {
		return nil, err
	}
	code, err := script()
	if err != nil {
		return nil, err
	}
	style, err := files.ReadFile("app/page.css")
	if err != nil {
		return nil, err
	}
	body, err := files.ReadFile("app/body.html")
	if err != nil {
		return nil, err
	}
	body = fmt.Appendf(body, "<script type=\"application/json\" id=\"data\">%s</script>\n<script>%s</script>\n", data, code)
	return page(d.Title, "olmkit view", policy(code, style), style, body), nil
}

// page returns a page with the given style and body.
func page(title, generator, policy string, style, body []byte) *Page {
	var b bytes.Buffer
	fmt.Fprintf(&b, `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="%s">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="referrer" content="no-referrer">
<meta name="color-scheme" content="light dark">
<meta name="generator" content="%s">
<link rel="icon" href="data:,">
<title>%s</title>
<style>%s</style>
</head>
<body>
%s</body>
</html>
`, html.EscapeString(policy), html.EscapeString(generator), html.EscapeString(visible.Line(title)), style, body)
	return &Page{policy: policy, text: b.Bytes()}
}

// policy returns the content security policy of a page. It allows only the page's own script and style, and nothing
// that turns a string into markup or code.
func policy(script, style []byte) string {
	return strings.Join([]string{
		"default-src 'none'",
		"script-src '" + hash(script) + "'",
		"style-src '" + hash(style) + "'",
		"img-src data:",
		"base-uri 'none'",
		"form-action 'none'",
		"require-trusted-types-for 'script'",
		"trusted-types 'none'",
	}, "; ")
}

func hash(text []byte) string {
	sum := sha256.Sum256(text)
	return "sha256-" + base64.StdEncoding.EncodeToString(sum[:])
}

// WriteTo writes the page. It implements [io.WriterTo].
func (p *Page) WriteTo(w io.Writer) (int64, error) {
	n, err := w.Write(p.text)
	return int64(n), err
}
