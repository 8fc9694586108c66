package decode

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/internal/jsonscan"
	"github.com/olmkit/olmkit/internal/yamljson"
	"github.com/olmkit/olmkit/property"
)

// A Document is the text of a document and where it is in its file.
type Document struct {
	Text   []byte
	Offset int64
	Line   int

	scanned bool // the scanner accepts the text and has found the fields
	fields  Fields
	guessed bool // where the text ends is a guess, which is right if the scanner accepts it
}

// A Reader reads documents one after another and reuses its buffers. It must not be
// used by several goroutines at once.
type Reader struct {
	// Room is the number of bytes that the aliases of YAML may still add.
	Room int64
	// Buffer, if not nil, is the buffer to which the JSON of YAML documents is appended, so
	// that it stays valid. If Buffer is nil, the next document overwrites the JSON. With
	// keepAll, each document has separate memory.
	Buffer *[]byte
	// TextAdvice, if not empty, is the advice in the error for a file that is not text.
	TextAdvice string

	limits  Limits
	keepAll bool
	yaml    yamljson.Options
	dec     jsontext.Decoder
	buf     bytes.Buffer
	json    []byte // of a YAML document
	scanner scanner
	faults  []Fault // of the document
	wrong   bool
}

// Wrong reports whether a splitter guessed wrong where the last document ends. Nothing that
// Read returned for it counts.
func (d *Reader) Wrong() bool { return d.wrong }

// NewReader returns a reader. If keepAll is false, it skips heavy values in YAML.
func NewReader(limits Limits, keepAll bool) *Reader {
	d := &Reader{Room: limits.Expansion, limits: limits, keepAll: keepAll, scanner: scanner{depth: limits.Depth}}
	if !keepAll {
		d.yaml.SkipValue = func(typ []byte) bool { return property.IsHeavy(string(typ)) }
	}
	return d
}

// KeepHeavy makes the reader convert heavy values in YAML.
func (d *Reader) KeepHeavy() { d.yaml.SkipValue = nil }

// Read converts a document to JSON and finds its fields. With keepAll, the JSON has
// separate memory. ok is false if the faults are so severe that the document cannot be
// used. The faults are valid until the next call.
func (d *Reader) Read(ctx context.Context, doc Document) (text []byte, f Fields, faults []Fault, ok bool) {
	d.faults, d.wrong = d.faults[:0], false
	if size := int64(len(doc.Text)); size > d.limits.DocumentSize {
		d.fault(codes.Limit, "", &LimitError{Limit: "DocumentSize", What: "document", Size: size, Max: d.limits.DocumentSize})
	} else {
		text, f, ok = d.read(ctx, doc)
	}
	d.wrong = d.wrong || doc.guessed && len(d.faults) > 0
	return text, f, d.faults, ok
}

func (d *Reader) read(ctx context.Context, document Document) (text []byte, f Fields, ok bool) {
	doc := document.Text
	if err := yamljson.CheckText(doc); err != nil {
		if d.TextAdvice != "" {
			err = fmt.Errorf("%w; %s", err, d.TextAdvice)
		}
		d.fault(codes.Syntax, "", err)
		return nil, f, false
	}
	if first(doc) == '{' {
		if document.scanned && !d.keepAll {
			return doc, document.fields, true
		}
		own := doc
		if d.keepAll {
			own = bytes.Clone(doc)
		}
		if f, ok := d.scan(own); ok {
			return own, f, true
		}
		if document.guessed {
			d.wrong = true
			return nil, f, false
		}
		if err := depth(doc, d.limits.Depth); err != nil {
			d.syntax(nil, err)
			return nil, f, false
		}
		f, err := d.fields(own)
		if err == nil {
			return own, f, true
		}
		// A flow mapping is YAML too: {schema: olm.package}. If that fails as well,
		// the author meant JSON, and the JSON error is clearer.
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

// scan finds the fields of the object in text, as [scanner.object] does.
func (d *Reader) scan(text []byte) (Fields, bool) {
	d.scanner.spans = d.scanner.spans[:0]
	f, end, ok := d.scanner.object(text, jsonscan.Space(text, 0))
	return f, ok && jsonscan.Space(text, end) == len(text)
}

// convert converts a document with [yamljson.Convert], into memory as described for Buffer.
func (d *Reader) convert(doc []byte) (out []byte, ok bool) {
	switch {
	case d.keepAll:
		return yamljson.Convert(nil, doc, &d.yaml)
	case d.Buffer != nil:
		if *d.Buffer == nil {
			*d.Buffer = make([]byte, 0, BatchSize)
		}
		from := len(*d.Buffer)
		*d.Buffer, ok = yamljson.Convert(*d.Buffer, doc, &d.yaml)
		return slices.Clip((*d.Buffer)[from:]), ok
	}
	d.json, ok = yamljson.Convert(d.json[:0], doc, &d.yaml)
	return d.json, ok
}

// slow converts YAML with the full parser. A repeated key is a finding; its last value
// counts.
func (d *Reader) slow(ctx context.Context, doc []byte) ([]byte, error) {
	out, strict := yamljson.Slow(ctx, doc, &yamljson.Options{Strict: true, Expansion: &d.Room, Nodes: d.limits.nodes()})
	if strict == nil {
		return out, nil
	}
	ye := new(yamljson.Error)
	if !errors.As(strict, &ye) {
		return nil, strict
	}
	out, err := yamljson.Slow(ctx, doc, &yamljson.Options{Expansion: &d.Room, Nodes: d.limits.nodes()})
	if errors.Is(err, yamljson.ErrMore) {
		return nil, errSecond
	}
	if err != nil {
		return nil, err
	}
	d.fault(codes.RepeatedKey, "", fmt.Errorf("%s, and the last one counts; remove the others", ye.Plain()))
	d.faults[len(d.faults)-1].Line += max(ye.Line-1, 0)
	return out, nil
}

// errSecond is the error for text that the splitter took for one document (H19).
var errSecond = fmt.Errorf("%w; separate documents with a line \"---\"", yamljson.ErrMore)

var errNotObject = errors.New(`a catalog document must be an object with a "schema" field`)

// ErrRepeated is the error for a name that an object repeats.
var ErrRepeated = errors.New("appears twice in one object, and the last one counts; remove the others")

// reset points the decoder at a JSON text. It is UTF-8; a lone surrogate in an
// escape, which the decoder counts as invalid UTF-8, is accepted, as in opm.
func (d *Reader) reset(text []byte) *jsontext.Decoder {
	d.buf = *bytes.NewBuffer(text)
	d.dec.Reset(&d.buf, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	return &d.dec
}

// fields finds the fields of the object in text. It validates all of the text
// as JSON but decodes none of it.
func (d *Reader) fields(text []byte) (f Fields, err error) {
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
			d.fault(codes.RepeatedKey, "/"+string(bytes.Trim(key, `"`)), ErrRepeated)
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
func (d *Reader) value(text []byte) ([]byte, error) {
	v, err := d.dec.ReadValue()
	if err != nil {
		return nil, err
	}
	end := int(d.dec.InputOffset())
	return text[end-len(v) : end : end], nil
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

// first returns the first byte that is not white space, or 0.
func first(text []byte) byte {
	if t := bytes.TrimLeft(text, " \t\r\n"); len(t) > 0 {
		return t[0]
	}
	return 0
}
