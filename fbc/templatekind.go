package fbc

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/olmkit/olmkit/internal/yamlout"
)

// TemplateKind returns what kind of template a document of the schema is, such
// as "semver" for olm.semver and "basic" for olm.template.basic, and "" for a
// document that is not a template. A template describes a part of a catalog
// and is not one (A18).
func TemplateKind(schema string) string {
	switch schema {
	case "olm.semver":
		return "semver"
	case "olm.composite", "olm.composite.catalogs":
		return "composite"
	}
	kind, ok := strings.CutPrefix(schema, "olm.template.")
	if !ok {
		return ""
	}
	return kind
}

// DetectTemplate returns what kind of template a file holds, as its first
// document states it, and "" for a file of another kind. A composite recipe
// needs no schema: it has references. Keys are read whatever their case.
func DetectTemplate(ctx context.Context, data []byte, name string) string {
	return DetectTemplateReader(ctx, bytes.NewReader(data), name, nil)
}

// DetectTemplateReader is [DetectTemplate] for a stream, of which it reads the first
// document within the limits. The context is checked between reads.
func DetectTemplateReader(ctx context.Context, r io.Reader, name string, l *Limits) string {
	limits := l.WithDefaults()
	s := newSplitter(ctx, &limits)
	s.begin(r)
	b, err := s.next(batch{})
	if err != nil {
		return "" // loading the file reports it
	}
	d := newDecoder(&source{limits: &limits}, KeepAll)
	d.at = Meta{Pos: Pos{name, b.docs[0].line}}
	text, _, ok := d.read(ctx, b.docs[0].text)
	if !ok {
		return ""
	}
	if t := templateIn(text); t != nil {
		return t.Kind
	}
	return ""
}

// templateIn returns the error of a document that is a template, and nil for
// others.
func templateIn(text []byte) *TemplateError {
	n, err := yamlout.Parse(text)
	if err != nil {
		return nil
	}
	return templateOf(n)
}

// templateOf is templateIn for a document that was parsed.
func templateOf(n *yamlout.Node) *TemplateError {
	schema, ok := "", false
	t := &TemplateError{noSchema: true}
	recipe := false
	for _, m := range n.Members {
		switch key := strings.ToLower(m.Key); key {
		case "schema":
			if t.noSchema { // unless the field of this very name was there
				schema, ok = m.Value.Text, true
			}
			t.noSchema = t.noSchema && m.Key != key
		case "references", "components":
			recipe = true
			t.components = t.components || key == "components"
		}
	}
	if t.Kind = TemplateKind(schema); !ok && recipe {
		t.Kind = "composite"
	}
	t.components = t.components || schema == "olm.composite.catalogs"
	if t.Kind == "" {
		return nil
	}
	return t
}

// A TemplateError is the error of a template in the place of a catalog, or among
// the blobs of one (A18).
type TemplateError struct {
	Kind string // see [TemplateKind]
	// Shared reports that the file of the template holds other documents.
	Shared bool
	// InCatalog reports that there are blobs of a catalog, in any file.
	InCatalog bool

	noSchema   bool // the document has no field "schema"
	components bool // a composite template in the form that lists components
}

// Error states what the template is and how to render it.
func (e *TemplateError) Error() string {
	what := fmt.Sprintf("is a %s template, which describes a catalog and is not part of one", e.Kind)
	if e.noSchema {
		what = fmt.Sprintf("is missing; the document looks like a %s template, which describes a catalog and is not part of one", e.Kind)
	}
	place, render := "", "render it"
	switch {
	case e.Shared && e.InCatalog:
		place, render = "move it to a separate file outside the catalog, and ", "render that"
	case e.Shared:
		place, render = "move it to a separate file, and ", "render that"
	case e.InCatalog:
		place = "move its file out of the catalog, and "
	}
	with := "the tool that it was written for"
	switch {
	case e.components:
		return what + "; it has the form with components, which opm dropped and olmkit does not render; " + place + adviceComponents
	case e.Kind == "semver", e.Kind == "basic":
		with = `"olmkit render FILE --from IMAGE=DIRECTORY"`
	case e.Kind == "composite":
		with = `"olmkit render FILE --from IMAGE=CATALOG"`
	case e.Kind == "substitutes":
		with = `"opm alpha render-template substitutes", because olmkit cannot render it yet`
	default:
		what = fmt.Sprintf("is a template of the unknown kind %q, which is not part of a catalog", e.Kind)
	}
	return what + "; " + place + render + " with " + with
}

// adviceComponents is what to do about a composite template as older releases of
// opm had them.
const adviceComponents = `render the template of each component with "olmkit render" and put the results together with "olmkit merge"`
