package fbc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/fbc/internal/decode"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/jsonkind"
)

// A decoder turns documents into blobs. It reuses its buffers and interns the strings
// it returns. It must not be used by several goroutines at once.
type decoder struct {
	source  *source
	limits  *Limits
	keepAll bool
	check   bool // check what keepAll checks
	heavy   bool // keep the values of heavy properties until the memory is reused
	reader  *decode.Reader
	scratch []byte
	reuse   *reuse // the memory of the batch, if its blobs are not kept
	strings map[string]string
	values  map[string]json.RawMessage
	faults  Diagnostics // of the current document
	at      Meta        // what is known of the current document
}

func newDecoder(src *source, keepAll bool) *decoder {
	d := &decoder{
		source: src, limits: src.limits, keepAll: keepAll, reader: decode.NewReader(src.limits.ofDocuments(), keepAll),
		strings: map[string]string{}, values: map[string]json.RawMessage{},
	}
	if src.tree {
		d.reader.TextAdvice = notCatalog
	}
	return d
}

// reused sets the memory for the next blobs. r is nil if the blobs are kept.
func (d *decoder) reused(r *reuse) {
	if d.reuse = r; r != nil {
		d.strings = emptied(d.strings)
		d.reader.Buffer = &r.json
	}
}

// blob decodes one document of a file. If fatal is false, the blob is usable despite
// the faults. Otherwise it holds what could be read, or is nil.
func (d *decoder) blob(ctx context.Context, name string, doc decode.Document) (b Blob, faults Diagnostics, isFatal bool) {
	d.at, d.faults = Meta{Pos: Pos{File: name, Line: doc.Line}, from: Text{offset: doc.Offset, length: int64(len(doc.Text))}}, nil
	m := &d.at
	if d.source.open != nil {
		m.from.source, m.from.sum = d.source, maphash.Bytes(d.source.seed, doc.Text)
	}
	text, f, found, ok := d.reader.Read(ctx, doc)
	d.faults = diagnosed(m.Pos, found)
	if ok {
		b = d.typed(text, &f)
	}
	for _, x := range d.faults {
		x.Schema, x.Package, x.Name = m.Schema, m.Package, m.Name
		isFatal = isFatal || fatal(x, b)
	}
	return b, d.faults, isFatal || b == nil
}

// diagnosed returns the faults of a document at pos.
func diagnosed(pos Pos, faults []decode.Fault) Diagnostics {
	var list Diagnostics
	for _, f := range faults {
		list = append(list, &Diagnostic{
			Code: Code(f.Code), Severity: Code(f.Code).Severity(),
			Pos: Pos{pos.File, pos.Line + f.Line}, Path: f.Path, Err: limitError(f.Err),
		})
	}
	return list
}

// limitError returns a limit error of package decode as one of this package, and other
// errors unchanged.
func limitError(err error) error {
	if e, ok := err.(*decode.LimitError); ok {
		return (*LimitError)(e)
	}
	return err
}

func (d *decoder) fault(code Code, path string, err error) {
	d.faults = append(d.faults, &Diagnostic{Code: code, Severity: code.Severity(), Pos: d.at.Pos, Path: path, Err: err})
}

// fatal reports whether the fault makes the load fail. Other faults leave a usable
// blob, and validation reports them. A blob of an unknown schema never makes a load
// fail (A4).
func fatal(x *Diagnostic, b Blob) bool {
	switch x.Code {
	case codes.Property, codes.Meta, codes.RepeatedKey, codes.Icon, codes.Template:
		return false
	case codes.Type:
		_, other := b.(*Other)
		return !other || !strings.HasPrefix(x.Path, "/properties")
	}
	return true
}

// typed returns the blob that the schema in the fields determines.
func (d *decoder) typed(text []byte, f *decode.Fields) Blob {
	m := &d.at
	if f.Schema == nil {
		if t := templateIn(text); t != nil {
			d.fault(codes.Required, "/schema", t)
			return nil
		}
	}
	var known bool
	if m.Schema, known = d.required("/schema", f.Schema); !known {
		return nil
	}
	if kind := templateKind(m.Schema); kind != "" {
		t := templateIn(text)
		if t == nil {
			t = &TemplateError{Kind: kind} // another spelling of the key has another schema
		}
		d.fault(codes.Template, "/schema", t)
		if d.keepAll {
			m.Raw = text
		}
		return &Other{Meta: *m}
	}
	m.Name = d.optional("/name", f.Name)
	m.Package = d.optional("/package", f.Package)
	if !knownSchema(m.Schema) && string(f.Package) == `""` {
		d.fault(codes.Meta, "/package", errors.New("is empty; remove it or name the package"))
	}
	if m.Schema == SchemaPackage {
		m.Package = m.Name
	}
	var regular bool
	if f.Regular {
		m.Properties, regular = d.regular(f.Spans)
	}
	if !regular {
		m.Properties = d.properties(f.Properties)
	}
	if d.keepAll {
		m.Raw = text
	}
	var b Blob
	switch m.Schema {
	case SchemaPackage:
		d.named("/name", f.Name, m.Name)
		p := &Package{DefaultChannel: d.optional("/defaultChannel", f.DefaultChannel)}
		d.optional("/description", f.Description)
		d.icon(f.Icon)
		p.Meta, b = *m, p
	case SchemaChannel:
		d.named("/name", f.Name, m.Name)
		d.named("/package", f.Package, m.Package)
		c := d.newChannel()
		c.Entries = d.entries(f.Entries)
		c.Meta, b = *m, c
	case SchemaBundle:
		d.named("/name", f.Name, m.Name)
		d.named("/package", f.Package, m.Package)
		x := d.newBundle()
		x.Image = d.optional("/image", f.Image)
		x.RelatedImages = d.relatedImages(f.RelatedImages)
		x.Meta, b = *m, x
	case SchemaDeprecations:
		d.named("/package", f.Package, m.Package)
		x := &Deprecations{Entries: d.deprecations(f.Entries)}
		x.Meta, b = *m, x
	default:
		o := &Other{Meta: *m}
		b = o
	}
	d.controls(b)
	return b
}

func knownSchema(s string) bool {
	return s == SchemaPackage || s == SchemaChannel || s == SchemaBundle || s == SchemaDeprecations
}

// required decodes a string that must be present and not empty.
func (d *decoder) required(path string, raw []byte) (string, bool) {
	n := len(d.faults)
	s := d.optional(path, raw)
	if len(d.faults) == n {
		d.named(path, raw, s)
	}
	return s, len(d.faults) == n
}

// named reports a required string that is missing or empty.
func (d *decoder) named(path string, raw []byte, s string) {
	switch {
	case raw == nil:
		d.fault(codes.Required, path, errors.New("is missing"))
	case s == "" && raw[0] == '"':
		d.fault(codes.Required, path, errors.New("is empty"))
	}
}

// optional decodes a string, or reports another type.
func (d *decoder) optional(path string, raw []byte) string {
	if raw == nil {
		return ""
	}
	if raw[0] != '"' {
		d.fault(codes.Type, path, fmt.Errorf("must be a string, found %s", jsonkind.Name(jsontext.Value(raw).Kind())))
		return ""
	}
	return d.intern(raw)
}

// intern returns the string of a quoted JSON string. Equal strings share memory.
func (d *decoder) intern(raw []byte) string {
	s := raw[1 : len(raw)-1]
	if bytes.IndexByte(s, '\\') >= 0 {
		d.scratch, _ = jsontext.AppendUnquote(d.scratch[:0], raw)
		s = d.scratch
	}
	return d.internBytes(s)
}

func (d *decoder) internBytes(s []byte) string {
	if v, ok := d.strings[string(s)]; ok {
		return v
	}
	v := string(s)
	d.strings[v] = v
	return v
}

// emptied returns an empty map: m itself, unless it is so large that clearing it costs
// more than a new map.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > 1<<12 {
		return map[K]V{}
	}
	clear(m)
	return m
}
