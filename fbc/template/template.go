// Package template renders catalog templates: semver and basic templates, and composite
// recipes.
//
// A template names images of bundles or catalogs. Expand asks the caller for their
// contents, because this package pulls no images.
package template

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/yamlout"
)

// Detect returns the kind of template in a file: "semver", "basic", "composite", or
// another one that this package does not render (see [fbc.TemplateError]). It returns ""
// for any other file, and for one that cannot be read. It reads the first document only,
// within the limits.
func Detect(ctx context.Context, r io.Reader, name string, limits *fbc.Limits) string {
	for doc, fault := range fbc.NewDocumentReader(limits).Read(ctx, r, name) {
		if fault != nil {
			break // loading the file reports it
		}
		if t := doc.Template(); t != nil {
			return t.Kind
		}
		break
	}
	return ""
}

// A template is the only document of a file.
type template struct {
	doc    fbc.Document
	n      *yamlout.Node
	faults fbc.Diagnostics
}

// read parses a template. Its keys must be known; they are not case-sensitive.
func read(ctx context.Context, data []byte, name string, known ...string) (*template, error) {
	t := &template{doc: fbc.Document{Pos: fbc.Pos{File: name}}}
	docs := 0
	for doc, fault := range fbc.NewDocumentReader(nil).Read(ctx, bytes.NewReader(data), name) {
		if fault != nil {
			t.faults = append(t.faults, fault)
			continue
		}
		if docs++; docs == 1 {
			t.doc = doc
		}
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if len(t.faults) == 0 && docs != 1 {
		t.doc.Pos.Line = 0
		t.fault(codes.Syntax, "", fmt.Errorf("contains %d documents; a template must be the only document of its file, so move the others to separate files", docs))
	}
	if len(t.faults) > 0 {
		return nil, t.err()
	}
	var err error
	if t.n, err = yamlout.Parse(t.doc.JSON); err != nil {
		t.fault(codes.Syntax, "", err)
		return nil, t.err()
	}
	for i, m := range t.n.Members {
		ok := false
		for _, k := range known {
			if strings.EqualFold(m.Key, k) {
				ok, t.n.Members[i].Key = true, k
			}
		}
		if !ok {
			t.fault(codes.Type, "/"+m.Key, fmt.Errorf("unknown key: want %s", strings.Join(known, ", ")))
		}
	}
	return t, nil
}

func (t *template) fault(code fbc.Code, path string, err error) {
	t.faults = append(t.faults, &fbc.Diagnostic{Code: code, Severity: fbc.Error, Pos: t.doc.Pos, Path: path, Err: err})
}

func (t *template) err() error {
	slices.SortStableFunc(t.faults, (*fbc.Diagnostic).Compare)
	return t.faults.Err()
}

// text returns the string at a key. It reports a value of another type.
func (t *template) text(key string) string {
	t.check(key, "a string", '"', 'n')
	return t.n.TextAt(key)
}

// bool returns the boolean at a key. It reports a value of another type.
func (t *template) bool(key string) bool {
	t.check(key, "a boolean", 't', 'f')
	n := t.n.Get(key)
	return n != nil && n.Kind == 't'
}

// list returns the list at a key. It reports a value of another type.
func (t *template) list(key string) []*yamlout.Node {
	t.check(key, "a list", '[', 'n')
	return t.n.ElemsAt(key)
}

// check reports a value that is not of one of the kinds.
func (t *template) check(key, want string, kinds ...byte) {
	if n := t.n.Get(key); n != nil && !slices.Contains(kinds, byte(n.Kind)) {
		t.fault(codes.Type, "/"+key, fmt.Errorf("must be %s, found %s", want, jsonkind.Name(n.Kind)))
	}
}
