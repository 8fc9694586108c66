package fbc

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io"
	"iter"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v2"

	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/property"
)

// A decoder turns documents into blobs. It reuses its buffers and interns the
// strings it returns; one goroutine uses one decoder.
type decoder struct {
	source  *source
	limits  *Limits
	keep    Keep
	yaml    yamljson.Options
	dec     jsontext.Decoder
	buf     bytes.Buffer
	json    []byte // of a YAML document
	scratch []byte
	spans   []propertySpan
	strings map[string]string
	values  map[string]json.RawMessage
	faults  Diagnostics // of the current document
	at      *Meta
}

func newDecoder(src *source, keep Keep) *decoder {
	d := &decoder{source: src, limits: src.limits, keep: keep, strings: map[string]string{}, values: map[string]json.RawMessage{}}
	if keep != KeepAll {
		d.yaml.SkipValue = func(typ []byte) bool { return property.IsHeavy(string(typ)) }
	}
	return d
}

// fields are the raw values of a blob's fields; nil where absent.
type fields struct {
	schema, pkg, name       []byte
	defaultChannel, image   []byte
	properties, entries     []byte
	relatedImages, icon     []byte
	description, deprecated []byte

	members int  // how many fields there are, known ones or not
	regular bool // the decoder's spans are the properties, and nothing is wrong
}

func (f *fields) none() bool { return f.members == 0 }

// blob decodes one document of file. Not fatal are the faults that leave a blob
// for use; otherwise the blob, if there is one, is what could be read.
func (d *decoder) blob(name string, doc document) (b Blob, faults Diagnostics, isFatal bool) {
	m := Meta{Pos: Pos{File: name, Line: doc.line}, from: doc.at}
	if d.source.open != nil {
		m.from.source, m.from.sum = d.source, maphash.Bytes(d.source.seed, doc.text)
	}
	d.at, d.faults = &m, nil
	if int64(len(doc.text)) > d.limits.DocumentSize {
		d.fault(CodeLimit, "", &LimitError{Limit: "DocumentSize", What: "document", Size: int64(len(doc.text)), Max: d.limits.DocumentSize})
	} else if text, f, ok := d.read(doc.text); ok {
		b = d.typed(text, &f)
	}
	for _, x := range d.faults {
		x.Schema, x.Package, x.Name = m.Schema, m.Package, m.Name
		isFatal = isFatal || fatal(x, b)
	}
	return b, d.faults, isFatal || b == nil
}

// fatal reports whether a load cannot go on with what has this fault. The
// other faults leave a blob that can be used; validation reports them. A blob of
// an unknown schema is no reason to refuse a catalog (A4).
func fatal(x *Diagnostic, b Blob) bool {
	switch x.Code {
	case CodeProperty, CodeMeta, CodeRepeated, CodeIcon:
		return false
	case CodeType:
		_, other := b.(*Other)
		return !other || !strings.HasPrefix(x.Path, "/properties")
	}
	return true
}

// read converts the document to JSON and finds its fields. With KeepAll, the
// JSON is in memory of its own, to be kept.
func (d *decoder) read(doc []byte) (text []byte, f fields, ok bool) {
	if err := checkText(doc); err != nil {
		d.fault(CodeSyntax, "", err)
		return nil, f, false
	}
	if first(doc) == '{' {
		own := doc
		if d.keep == KeepAll {
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
			if out, yerr := d.slow(doc); yerr == nil {
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
	var buf []byte
	if d.keep != KeepAll {
		buf = d.json[:0]
	}
	out, fast := yamljson.Convert(buf, doc, &d.yaml)
	if !fast {
		var err error
		if out, err = d.slow(doc); err != nil {
			d.syntax(nil, err)
			return nil, f, false
		}
	}
	if d.keep != KeepAll {
		d.json = out
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

// checkText refuses what is no UTF-8 text: the YAML parser would guess.
func checkText(doc []byte) error {
	for _, mark := range []string{"\xff\xfe", "\xfe\xff"} {
		if bytes.HasPrefix(doc, []byte(mark)) {
			return errors.New("the text is UTF-16; save the file as UTF-8")
		}
	}
	if i := bytes.IndexByte(doc, 0); i >= 0 {
		return fmt.Errorf("the file is not text (a zero byte after %d others); list it in %s if it does not belong to the catalog", i, IgnoreFile)
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
		return fmt.Errorf("the text is not UTF-8 (byte %#02x after %d others); save the file as UTF-8, or list it in %s if it does not belong to the catalog", doc[i], i, IgnoreFile)
	}
	return nil
}

// slow converts YAML with the full parser. A key that appears twice is a
// finding; its last value counts, as everywhere.
func (d *decoder) slow(doc []byte) ([]byte, error) {
	out, strict := yamljson.Slow(doc, &yamljson.Options{Strict: true})
	if strict == nil {
		return out, single(doc)
	}
	out, err := yamljson.Slow(doc, nil)
	if err != nil {
		return nil, err
	}
	d.fault(CodeRepeated, "", fmt.Errorf("%w; the last one counts, so drop the others", plainYAML(strict)))
	if ye := new(yamljson.Error); errors.As(strict, &ye) {
		d.faults[len(d.faults)-1].Pos.Line += max(ye.Line-1, 0)
	}
	return out, single(doc)
}

var errSecond = errors.New("more text follows the end of the document; put a line \"---\" between documents")

// single returns an error when more than one document is in text that the
// splitter took for one: the full parser would drop the rest in silence (H19).
// That takes a document in braces, or a line break other than "\n".
func single(doc []byte) error {
	if first(doc) != '{' && !bytes.ContainsAny(doc, "\r\u0085\u2028\u2029") {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(doc))
	var v yaml.MapSlice
	if err := dec.Decode(&v); err != nil {
		return nil // no mapping, which is another fault
	}
	if err := dec.Decode(&v); err != io.EOF {
		return errSecond
	}
	return nil
}

// plainYAML returns the cause of a YAML error without the parser's prefixes and
// without the line, which is counted from the beginning of the document.
func plainYAML(err error) error {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if digits, rest, ok := strings.Cut(rest, ": "); ok && strings.Trim(digits, "0123456789") == "" {
			text = rest
		}
	}
	text, _, _ = strings.Cut(text, "\n") // the first of several
	return errors.New(text)
}

func isSyntax(err error) bool {
	var se *jsontext.SyntacticError
	return errors.As(err, &se)
}

// syntax reports why the document cannot be read, on the line of the fault
// where that is known.
func (d *decoder) syntax(doc []byte, err error) {
	var (
		code = CodeSyntax
		line = 0
		se   *jsontext.SyntacticError
		ye   *yamljson.Error
		le   *LimitError
	)
	if errors.As(err, &se) {
		if doc != nil {
			line = bytes.Count(doc[:min(int(se.ByteOffset), len(doc))], []byte("\n"))
		}
		err = fmt.Errorf("invalid JSON: %w", plainSyntax(se))
	} else if errors.As(err, &ye) {
		line = max(ye.Line-1, 0)
		err = fmt.Errorf("invalid YAML: %w", plainYAML(ye.Err))
		for _, hostile := range []string{"excessive aliasing", "exceeded max depth"} {
			if strings.Contains(ye.Err.Error(), hostile) {
				code = CodeLimit
				err = errors.New("the YAML aliases of the document expand to too much, or it is nested too deeply; write the values out")
			}
		}
	} else if errors.Is(err, errNotObject) {
		code = CodeNotObject
	} else if errors.As(err, &le) {
		code = CodeLimit
	}
	d.fault(code, "", err)
	d.faults[len(d.faults)-1].Pos.Line += line
}

// plainSyntax returns the cause of a syntax error without the decoder's own
// words about places.
func plainSyntax(se *jsontext.SyntacticError) error {
	if se.Err == io.ErrUnexpectedEOF {
		return errors.New("the document ends inside a value")
	}
	if se.JSONPointer != "" {
		return fmt.Errorf("%w at %s", se.Err, se.JSONPointer)
	}
	return se.Err
}

var (
	errNotObject = errors.New(`a catalog document is an object with a "schema" field`)
	errRepeated  = errors.New("appears twice in one object; the last one counts, so drop the others")
)

func (d *decoder) fault(code Code, path string, err error) {
	d.faults = append(d.faults, &Diagnostic{
		Code: code, Severity: code.Severity(), Pos: d.at.Pos, Path: path, Err: err,
	})
}

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
		return f, fmt.Errorf("the document is %s; %w", kindName(k), errNotObject)
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
			d.fault(CodeRepeated, "/"+string(bytes.Trim(key, `"`)), errRepeated)
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
	m := d.at
	var known bool
	if m.Schema, known = d.required("/schema", f.schema); !known {
		return nil
	}
	m.Name = d.optional("/name", f.name)
	m.Package = d.optional("/package", f.pkg)
	if !knownSchema(m.Schema) && string(f.pkg) == `""` {
		d.fault(CodeMeta, "/package", errors.New("is empty; leave it out or name the package"))
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
	if d.keep == KeepAll {
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
		c := &Channel{Entries: d.entries(f.entries)}
		c.Meta, b = *m, c
	case SchemaBundle:
		d.named("/name", f.name, m.Name)
		d.named("/package", f.pkg, m.Package)
		x := &Bundle{Image: d.optional("/image", f.image)}
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
	return b
}

func knownSchema(s string) bool {
	return s == SchemaPackage || s == SchemaChannel || s == SchemaBundle || s == SchemaDeprecations
}

// required decodes a string that must be there and not be empty.
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
		d.fault(CodeRequired, path, errors.New("is missing"))
	case s == "" && raw[0] == '"':
		d.fault(CodeRequired, path, errors.New("is empty"))
	}
}

// optional decodes a string, or reports another type.
func (d *decoder) optional(path string, raw []byte) string {
	if raw == nil {
		return ""
	}
	if raw[0] != '"' {
		d.fault(CodeType, path, fmt.Errorf("must be a string, found %s", kindName(jsontext.Value(raw).Kind())))
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

// array calls each for the elements of a list, which may be absent or null.
func (d *decoder) array(path string, raw []byte, each func(i int, v []byte)) {
	if raw == nil || raw[0] == 'n' {
		return
	}
	if raw[0] != '[' {
		d.fault(CodeType, path, fmt.Errorf("must be a list, found %s", kindName(jsontext.Value(raw).Kind())))
		return
	}
	i := 0
	for v := range elements(raw) {
		each(i, v)
		i++
	}
}

// elements returns the elements of a list that was validated before.
func elements(raw []byte) iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		for i := skipSpace(raw, 1); i < len(raw) && raw[i] != ']'; {
			end, ok := skipValue(raw, i, maxDepth)
			if !ok || !yield(raw[i:end:end]) {
				return
			}
			if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
				i = skipSpace(raw, i+1)
			}
		}
	}
}

// object calls each for the members of an object with their names as quoted in
// the text; it reports another type, and a name that repeats.
func (d *decoder) object(path string, raw []byte, each func(key string, v []byte)) bool {
	if raw[0] != '{' {
		d.fault(CodeType, path, fmt.Errorf("must be an object, found %s", kindName(jsontext.Value(raw).Kind())))
		return false
	}
	type field struct {
		key string
		v   []byte
	}
	var stack [8]field
	members := stack[:0]
	for i := skipSpace(raw, 1); i < len(raw) && raw[i] != '}'; {
		key, from, ok := member(raw, i)
		if !ok {
			return false
		}
		end, ok := skipValue(raw, from, maxDepth)
		if !ok {
			return false
		}
		name := d.intern(key)
		for _, m := range members {
			if m.key == name {
				d.fault(CodeRepeated, path+"/"+name, errRepeated)
			}
		}
		members = append(members, field{name, raw[from:end:end]})
		if i = skipSpace(raw, end); i < len(raw) && raw[i] == ',' {
			i = skipSpace(raw, i+1)
		}
	}
	for _, m := range members {
		each(m.key, m.v)
	}
	return true
}

// properties decodes a list of {type, value}. Values that are not kept are nil.
func (d *decoder) properties(raw []byte) []property.Property {
	if raw == nil {
		return nil
	}
	var out []property.Property
	d.array("/properties", raw, func(i int, v []byte) {
		var typ, value []byte
		path := func() string { return "/properties/" + strconv.Itoa(i) }
		if v[0] == 'n' {
			d.fault(CodeProperty, path(), errors.New("is null; a property is an object with type and value"))
			out = append(out, property.Property{Value: jsonNull})
			return
		}
		if !d.object(path(), v, func(key string, v []byte) {
			switch key {
			case "type":
				typ = v
			case "value":
				value = v
			}
		}) {
			return
		}
		p := property.Property{Type: d.optional(path()+"/type", typ)}
		heavy := d.keep != KeepAll && property.IsHeavy(p.Type)
		switch {
		case typ != nil && typ[0] != '"':
		case p.Type == "":
			d.fault(CodeProperty, path()+"/type", errors.New("is missing or empty; a property needs a type"))
			p.Value = d.internValue(value)
		case value == nil:
			d.fault(CodeProperty, path()+"/value", errors.New("is missing; a property needs a value"))
			p.Value = jsonNull
		case heavy:
		case value[0] == 'n':
			d.fault(CodeProperty, path()+"/value", errors.New("is null; a property needs a value"))
			p.Value = jsonNull
		case int64(len(value)) > d.limits.PropertySize && !property.IsHeavy(p.Type):
			d.fault(CodeLimit, path()+"/value", &LimitError{Limit: "PropertySize", What: "property value", Size: int64(len(value)), Max: d.limits.PropertySize})
		case d.keep == KeepAll:
			p.Value = value // a part of Raw
		default:
			p.Value = d.internValue(value)
		}
		out = append(out, p)
	})
	return out
}

// regular returns the properties that scan found; false where there is something
// to report.
func (d *decoder) regular() ([]property.Property, bool) {
	if len(d.spans) == 0 {
		return nil, true
	}
	out := make([]property.Property, len(d.spans))
	for i, s := range d.spans {
		p := &out[i]
		p.Type = d.intern(s.typ)
		heavy := property.IsHeavy(p.Type)
		switch {
		case s.value[0] == 'n' && (d.keep == KeepAll || !heavy):
			return nil, false
		case d.keep == KeepAll && (heavy || int64(len(s.value)) <= d.limits.PropertySize):
			p.Value = s.value // a part of Raw
		case heavy:
		case int64(len(s.value)) > d.limits.PropertySize:
			return nil, false
		default:
			p.Value = d.internValue(s.value)
		}
	}
	return out, true
}

var jsonNull = json.RawMessage("null")

// internValue returns a copy of a small JSON value, shared between properties
// that say the same; nobody modifies them.
func (d *decoder) internValue(v []byte) json.RawMessage {
	if shared, ok := d.values[string(v)]; ok {
		return shared
	}
	own := json.RawMessage(bytes.Clone(v))
	d.values[string(own)] = own
	return own
}

// entries decodes the entries of a channel (A6).
func (d *decoder) entries(raw []byte) []Entry {
	var out []Entry
	d.array("/entries", raw, func(i int, v []byte) {
		path := "/entries/" + strconv.Itoa(i)
		var e Entry
		var name []byte
		if !d.object(path, v, func(key string, v []byte) {
			switch key {
			case "name":
				name, e.Name = v, d.optional(path+"/name", v)
			case "replaces":
				if v[0] != 'n' {
					e.Replaces = d.optional(path+"/replaces", v)
				}
			case "skipRange":
				if v[0] != 'n' {
					e.SkipRange = d.optional(path+"/skipRange", v)
				}
			case "skips":
				d.array(path+"/skips", v, func(j int, v []byte) {
					e.Skips = append(e.Skips, d.optional(path+"/skips/"+strconv.Itoa(j), v))
				})
			}
		}) {
			return
		}
		d.named(path+"/name", name, e.Name)
		out = append(out, e)
	})
	return out
}

// deprecations decodes the entries of an olm.deprecations blob (A9).
func (d *decoder) deprecations(raw []byte) []Deprecation {
	var out []Deprecation
	d.array("/entries", raw, func(i int, v []byte) {
		path := "/entries/" + strconv.Itoa(i)
		var e Deprecation
		if d.object(path, v, func(key string, v []byte) {
			switch key {
			case "message":
				e.Message = d.optional(path+"/message", v)
			case "reference":
				d.object(path+"/reference", v, func(key string, v []byte) {
					switch key {
					case "schema":
						e.Schema = d.optional(path+"/reference/schema", v)
					case "name":
						e.Name = d.optional(path+"/reference/name", v)
					}
				})
			}
		}) {
			out = append(out, e)
		}
	})
	return out
}

// relatedImages checks the images, and keeps them when everything is kept.
func (d *decoder) relatedImages(raw []byte) []RelatedImage {
	var out []RelatedImage
	d.array("/relatedImages", raw, func(i int, v []byte) {
		path := "/relatedImages/" + strconv.Itoa(i)
		var r RelatedImage
		if d.object(path, v, func(key string, v []byte) {
			switch key {
			case "name":
				r.Name = d.optional(path+"/name", v)
			case "image":
				r.Image = d.optional(path+"/image", v)
			}
		}) && d.keep == KeepAll {
			out = append(out, r)
		}
	})
	return out
}

// icon checks an icon; its bytes stay in the source.
func (d *decoder) icon(raw []byte) {
	if raw == nil || raw[0] == 'n' {
		return
	}
	var data, media string
	if !d.object("/icon", raw, func(key string, v []byte) {
		switch key {
		case "mediatype":
			media = d.optional("/icon/mediatype", v)
		case "base64data":
			if v[0] != '"' {
				d.optional("/icon/base64data", v)
				return
			}
			plain, _ := jsontext.AppendUnquote(nil, v)
			data = string(plain)
		}
	}) {
		return
	}
	switch {
	case data == "":
		d.fault(CodeIcon, "/icon/base64data", errors.New("is missing or empty; the icon cannot be shown"))
	case media == "":
		d.fault(CodeIcon, "/icon/mediatype", errors.New("is missing or empty; say what the data is, such as image/svg+xml"))
	}
	if _, err := base64.StdEncoding.DecodeString(data); err != nil {
		d.fault(CodeType, "/icon/base64data", fmt.Errorf("must be base64 text: %w", err))
	}
}

// first returns the first byte that is not white space, or 0.
func first(text []byte) byte {
	if t := bytes.TrimLeft(text, " \t\r\n"); len(t) > 0 {
		return t[0]
	}
	return 0
}

func kindName(k jsontext.Kind) string {
	switch k {
	case 'n':
		return "null"
	case 't', 'f':
		return "a boolean"
	case '"':
		return "a string"
	case '0':
		return "a number"
	case '{':
		return "an object"
	case '[':
		return "a list"
	}
	return "nothing"
}
