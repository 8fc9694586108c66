package fbc

import (
	"bytes"
	"context"
	"errors"
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
	case "olm.composite":
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
	n, err := yamlout.Parse(text)
	if err != nil {
		return ""
	}
	references := false
	for _, m := range n.Members {
		if strings.EqualFold(m.Key, "schema") {
			return TemplateKind(m.Value.Text)
		}
		references = references || strings.EqualFold(m.Key, "references")
	}
	if references {
		return "composite"
	}
	return ""
}

// errTemplate says what a template is and how to render it.
func errTemplate(schema string) error {
	kind := TemplateKind(schema)
	switch kind {
	case "semver", "basic", "composite":
		return fmt.Errorf(`is a %s template, which describes a catalog and is not part of one; render it with "olmkit render FILE --from IMAGE=DIRECTORY"`, kind)
	case "substitutes":
		return errors.New(`is a substitutes template, which describes a catalog and is not part of one; olmkit cannot render it yet, "opm alpha render-template substitutes" can`)
	}
	return fmt.Errorf("is a template of the unknown kind %q, which is not part of a catalog; render it with the tool that it was written for", kind)
}
