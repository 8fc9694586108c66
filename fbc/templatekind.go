package fbc

import (
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/yamlout"
)

// templateKind returns the kind of template that has the schema, such as "semver" for
// olm.semver and "basic" for olm.template.basic, and "" for other schemas (A18).
func templateKind(schema string) string {
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

// templateIn returns the error of a document that is a template, and nil for others.
func templateIn(text []byte) *TemplateError {
	n, err := yamlout.Parse(text)
	if err != nil {
		return nil
	}
	schema, ok := "", false
	t := &TemplateError{noSchema: true}
	recipe := false
	for _, m := range n.Members {
		switch key := strings.ToLower(m.Key); key {
		case "schema":
			if t.noSchema { // a field with exactly this name has precedence
				schema, ok = m.Value.Text, true
			}
			t.noSchema = t.noSchema && m.Key != key
		case "references", "components":
			recipe = true
			t.Components = t.Components || key == "components"
		}
	}
	if t.Kind = templateKind(schema); !ok && recipe {
		t.Kind = "composite"
	}
	t.Components = t.Components || schema == "olm.composite.catalogs"
	if t.Kind == "" {
		return nil
	}
	return t
}

// A TemplateError reports a template instead of a catalog, or among the blobs of one. A
// template describes a part of a catalog; package template renders it.
type TemplateError struct {
	// Kind is "semver" for the schema olm.semver, "composite" for a composite recipe,
	// which needs no schema, and KIND for olm.template.KIND.
	Kind string
	// Shared is true if the file contains other documents.
	Shared bool
	// InCatalog is true if any file contains blobs of a catalog.
	InCatalog bool
	// Components is true for a composite template that lists components. opm no longer
	// supports this form, and package template does not render it.
	Components bool

	noSchema bool // the document has no field "schema"
}

// Error describes the template and how to render it.
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
	case e.Components:
		return what + "; it lists components, a form that opm dropped and olmkit does not render; " + place + adviceComponents
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

// adviceComponents is the advice about a composite template of older releases of opm.
const adviceComponents = `render the template of each component with "olmkit render" and combine the results with "olmkit merge"`
