package fbc

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/property"
)

// A decoder turns documents into blobs. It reuses its buffers and interns the
// strings it returns; one goroutine uses one decoder.
type decoder struct {
	source  *source
	limits  *Limits
	keepAll bool
	yaml    yamljson.Options
	dec     jsontext.Decoder
	buf     bytes.Buffer
	json    []byte // of a YAML document
	scratch []byte
	spans   []propertySpan
	reuse   *reuse // the memory of the batch at hand, where nobody keeps its blobs
	strings map[string]string
	values  map[string]json.RawMessage
	room    int64       // what the aliases of YAML may still add
	faults  Diagnostics // of the current document
	at      Meta        // what is known of it
}

func newDecoder(src *source, keepAll bool) *decoder {
	d := &decoder{source: src, limits: src.limits, keepAll: keepAll, room: src.limits.Expansion, strings: map[string]string{}, values: map[string]json.RawMessage{}}
	if !keepAll {
		d.yaml.SkipValue = func(typ []byte) bool { return property.IsHeavy(string(typ)) }
	}
	return d
}

// fields are the raw values of a blob's fields; nil where absent.
type fields struct {
	schema, pkg, name     []byte
	defaultChannel, image []byte
	properties, entries   []byte
	relatedImages, icon   []byte
	description           []byte

	members int  // how many fields there are, known ones or not
	regular bool // the decoder's spans are the properties, and nothing is wrong
}

func (f *fields) none() bool { return f.members == 0 }

// blob decodes one document of a file. If fatal is false, the blob is usable despite
// the faults. Otherwise it holds what could be read, or is nil.
func (d *decoder) blob(ctx context.Context, name string, doc document) (b Blob, faults Diagnostics, isFatal bool) {
	d.at, d.faults = Meta{Pos: Pos{File: name, Line: doc.line}, from: doc.at}, nil
	m := &d.at
	if d.source.open != nil {
		m.from.source, m.from.sum = d.source, maphash.Bytes(d.source.seed, doc.text)
	}
	if int64(len(doc.text)) > d.limits.DocumentSize {
		d.fault(codes.Limit, "", &LimitError{Limit: "DocumentSize", What: "document", Size: int64(len(doc.text)), Max: d.limits.DocumentSize})
	} else if text, f, ok := d.read(ctx, doc.text); ok {
		b = d.typed(text, &f)
	}
	for _, x := range d.faults {
		x.Schema, x.Package, x.Name = m.Schema, m.Package, m.Name
		isFatal = isFatal || fatal(x, b)
	}
	return b, d.faults, isFatal || b == nil
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

// read converts the document to JSON and finds its fields. With KeepAll, the JSON has
// separate memory, to be kept.
func (d *decoder) read(ctx context.Context, doc []byte) (text []byte, f fields, ok bool) {
	if err := checkText(doc); err != nil {
		if d.source.tree {
			err = fmt.Errorf("%w; %s", err, notCatalog)
		}
		d.fault(codes.Syntax, "", err)
		return nil, f, false
	}
	if first(doc) == '{' {
		own := doc
		if d.keepAll {
			own = bytes.Clone(doc)
		}
		if f, ok := d.scan(own); ok {
			return own, f, true
		}
		if err := depth(doc, d.limits.Depth); err != nil {
			d.syntax(nil, err)
			return nil, f, false
		}
		f, err := d.fields(own)
		if err == nil {
			return own, f, true
		}
		// A flow mapping is YAML too: {schema: olm.package}. Where that fails as
		// well, the author meant JSON, and the JSON error says more.
		if isSyntax(err) {
			before := len(d.faults)
			if out, yerr := d.slow(ctx, doc); yerr == nil {
				if f, yerr := d.fields(out); yerr == nil {
					return out, f, true
				}
			} else if errors.Is(yerr, errSecond) {
				err = yerr
			}
			d.faults = d.faults[:before]
		}
		d.syntax(doc, err)
		return nil, f, false
	}
	out, fast := d.convert(doc)
	if !fast {
		var err error
		if out, err = d.slow(ctx, doc); err != nil {
			d.syntax(nil, err)
			return nil, f, false
		}
	}
	if f, ok := d.scan(out); ok {
		return out, f, true
	}
	f, err := d.fields(out)
	if err == nil {
		err = depth(out, d.limits.Depth)
	}
	if err != nil {
		d.syntax(nil, err)
		return nil, f, false
	}
	return out, f, true
}

// convert converts regular YAML, into memory for as long as a blob is kept.
func (d *decoder) convert(doc []byte) (out []byte, ok bool) {
	switch {
	case d.keepAll:
		return yamljson.Convert(nil, doc, &d.yaml)
	case d.reuse != nil:
		if d.reuse.json == nil {
			d.reuse.json = make([]byte, 0, batchSize)
		}
		from := len(d.reuse.json)
		d.reuse.json, ok = yamljson.Convert(d.reuse.json, doc, &d.yaml)
		return slices.Clip(d.reuse.json[from:]), ok
	}
	d.json, ok = yamljson.Convert(d.json[:0], doc, &d.yaml)
	return d.json, ok
}

// checkText returns an error for text that is not UTF-8, because the YAML parser would
// guess its encoding.
func checkText(doc []byte) error {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(doc, []byte(mark)) {
			return errors.New("the text is UTF-16; it must be UTF-8")
		}
	}
	if i := bytes.IndexByte(doc, 0); i >= 0 {
		return fmt.Errorf("the file is not text (a zero byte at offset %d)", i)
	}
	if !utf8.Valid(doc) {
		i := 0
		for rest := doc; ; i++ {
			r, n := utf8.DecodeRune(rest)
			if r == utf8.RuneError && n <= 1 {
				break
			}
			rest, i = rest[n:], i+n-1
		}
		return fmt.Errorf("the text must be UTF-8, but byte %#02x at offset %d is not", doc[i], i)
	}
	return nil
}

// slow converts YAML with the full parser. A repeated key is a finding; its last value
// counts.
func (d *decoder) slow(ctx context.Context, doc []byte) ([]byte, error) {
	out, strict := yamljson.Slow(ctx, doc, &yamljson.Options{Strict: true, Expansion: &d.room, Nodes: d.limits.nodes()})
	if strict == nil {
		return out, nil
	}
	ye := new(yamljson.Error)
	if !errors.As(strict, &ye) {
		return nil, strict
	}
	out, err := yamljson.Slow(ctx, doc, &yamljson.Options{Expansion: &d.room, Nodes: d.limits.nodes()})
	if errors.Is(err, yamljson.ErrMore) {
		return nil, errSecond
	}
	if err != nil {
		return nil, err
	}
	d.fault(codes.RepeatedKey, "", fmt.Errorf("%w, and the last one counts; remove the others", plainYAML(strict)))
	d.faults[len(d.faults)-1].Pos.Line += max(ye.Line-1, 0)
	return out, nil
}

// errSecond is the error for text that the splitter took for one document (H19).
var errSecond = fmt.Errorf("%w; separate documents with a line \"---\"", yamljson.ErrMore)

var (
	errNotObject = errors.New(`a catalog document must be an object with a "schema" field`)
	errRepeated  = errors.New("appears twice in one object, and the last one counts; remove the others")
)

// reset points the decoder at a JSON text. It is UTF-8; a lone surrogate in an
// escape, which the decoder counts as invalid UTF-8, is let through as opm does.
func (d *decoder) reset(text []byte) *jsontext.Decoder {
	d.buf = *bytes.NewBuffer(text)
	d.dec.Reset(&d.buf, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &d.dec
}

// fields finds the fields of the object in text. It validates all of the text
// as JSON but decodes none of it.
func (d *decoder) fields(text []byte) (f fields, err error) {
	dec := d.reset(text)
	if k := dec.PeekKind(); k != '{' {
		if _, err := dec.ReadValue(); err != nil {
			return f, err
		}
		return f, fmt.Errorf("the document is %s; %w", jsonkind.Name(k), errNotObject)
	}
	if _, err := dec.ReadToken(); err != nil {
		return f, err
	}
	for dec.PeekKind() != '}' {
		key, err := d.value(text)
		if err != nil {
			return f, err
		}
		slot := f.slot(key)
		if slot == nil {
			if err := dec.SkipValue(); err != nil {
				return f, err
			}
			continue
		}
		if *slot != nil {
			d.fault(codes.RepeatedKey, "/"+string(bytes.Trim(key, `"`)), errRepeated)
		}
		if *slot, err = d.value(text); err != nil {
			return f, err
		}
	}
	if _, err := dec.ReadToken(); err != nil {
		return f, err
	}
	if _, err := dec.ReadToken(); err != io.EOF {
		return f, &jsontext.SyntacticError{ByteOffset: dec.InputOffset(), Err: errors.New("text after the end of the object")}
	}
	return f, nil
}

// value returns the next value as a part of text.
func (d *decoder) value(text []byte) ([]byte, error) {
	v, err := d.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(d.dec.InputOffset())
	return text[end-len(v) : end : end], nil
}

// slot returns where the field with the given quoted name goes, or nil.
func (f *fields) slot(key []byte) *[]byte {
	if bytes.IndexByte(key, '\\') >= 0 {
		plain, _ := jsontext.AppendUnquote(nil, key)
		key = append(append([]byte{'"'}, plain...), '"')
	}
	switch string(key) {
	case `"schema"`:
		return &f.schema
	case `"package"`:
		return &f.pkg
	case `"name"`:
		return &f.name
	case `"defaultChannel"`:
		return &f.defaultChannel
	case `"image"`:
		return &f.image
	case `"properties"`:
		return &f.properties
	case `"entries"`:
		return &f.entries
	case `"relatedImages"`:
		return &f.relatedImages
	case `"icon"`:
		return &f.icon
	case `"description"`:
		return &f.description
	}
	return nil
}

// depth checks the nesting of JSON, valid or not.
func depth(text []byte, limit int64) error {
	var n int64
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '{', '[':
			if n++; n > limit {
				return &LimitError{Limit: "Depth", What: "nesting of the document", Max: limit}
			}
		case '}', ']':
			n--
		case '"':
			for i++; ; i++ {
				n := bytes.IndexByte(text[i:], '"')
				if n < 0 {
					return nil
				}
				if i += n; !escaped(text, i) {
					break
				}
			}
		}
	}
	return nil
}

// typed builds the blob of the fields' schema.
func (d *decoder) typed(text []byte, f *fields) Blob {
	m := &d.at
	if f.schema == nil {
		if t := templateIn(text); t != nil {
			d.fault(codes.Required, "/schema", t)
			return nil
		}
	}
	var known bool
	if m.Schema, known = d.required("/schema", f.schema); !known {
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
	m.Name = d.optional("/name", f.name)
	m.Package = d.optional("/package", f.pkg)
	if !knownSchema(m.Schema) && string(f.pkg) == `""` {
		d.fault(codes.Meta, "/package", errors.New("is empty; remove it or name the package"))
	}
	if m.Schema == SchemaPackage {
		m.Package = m.Name
	}
	var regular bool
	if f.regular {
		m.Properties, regular = d.regular()
	}
	if !regular {
		m.Properties = d.properties(f.properties)
	}
	if d.keepAll {
		m.Raw = text
	}
	var b Blob
	switch m.Schema {
	case SchemaPackage:
		d.named("/name", f.name, m.Name)
		p := &Package{DefaultChannel: d.optional("/defaultChannel", f.defaultChannel)}
		d.optional("/description", f.description)
		d.icon(f.icon)
		p.Meta, b = *m, p
	case SchemaChannel:
		d.named("/name", f.name, m.Name)
		d.named("/package", f.pkg, m.Package)
		c := d.newChannel()
		c.Entries = d.entries(f.entries)
		c.Meta, b = *m, c
	case SchemaBundle:
		d.named("/name", f.name, m.Name)
		d.named("/package", f.pkg, m.Package)
		x := d.newBundle()
		x.Image = d.optional("/image", f.image)
		x.RelatedImages = d.relatedImages(f.relatedImages)
		x.Meta, b = *m, x
	case SchemaDeprecations:
		d.named("/package", f.pkg, m.Package)
		x := &Deprecations{Entries: d.deprecations(f.entries)}
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

// intern returns the string of a quoted JSON string, one copy for all equals.
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

// emptied returns an empty map: m itself unless it became so large that clearing
// it would cost every later user more than a new one.
func emptied[K comparable, V any](m map[K]V) map[K]V {
	if m == nil || len(m) > 1<<12 {
		return map[K]V{}
	}
	clear(m)
	return m
}

// first returns the first byte that is not white space, or 0.
func first(text []byte) byte {
	if t := bytes.TrimLeft(text, " \t\r\n"); len(t) > 0 {
		return t[0]
	}
	return 0
}
