package property

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/internal/jsonkind"
)

// maxKeys is the maximum number of keys of a typed property.
const maxKeys = 3

// A shape describes a property whose value is a flat object of strings.
type shape struct {
	typ      string
	keys     []string
	required int // the number of required keys; they come before the optional ones
}

// fields holds the values of a shape's keys in order. Nil means absent.
type fields [maxKeys][]byte

// text returns the values as strings that share memory.
func (f *fields) text() (a, b, c string) {
	var buffer [128]byte
	text := string(append(append(append(buffer[:0], f[0]...), f[1]...), f[2]...))
	end, last := len(f[0]), len(f[0])+len(f[1])
	return text[:end], text[end:last], text[last:]
}

// decode decodes raw, which must be an object, into the shape's fields. The
// fields may share memory with raw.
//
// Nearly all properties in catalogs are objects of plain strings. scan decodes
// those in one pass without allocating. It leaves everything else, valid or
// not, to decodeSlow, which reports errors.
func (s *shape) decode(raw []byte) (fields, error) {
	f, ok := s.scan(raw)
	if !ok {
		var err error
		if f, err = s.decodeSlow(raw); err != nil {
			return fields{}, err
		}
	}
	for i, key := range s.keys[:s.required] {
		switch {
		case f[i] == nil:
			return fields{}, s.missing(raw, key)
		case len(f[i]) == 0:
			return fields{}, s.errorf("/"+key, "want a non-empty string")
		}
	}
	return f, nil
}

// scan decodes an object whose keys are all in the shape and whose values are
// all ASCII strings without escapes. It returns false for anything else.
func (s *shape) scan(raw []byte) (f fields, ok bool) {
	i := skipSpace(raw, 0)
	if i == len(raw) || raw[i] != '{' {
		return f, false
	}
	if i = skipSpace(raw, i+1); i == len(raw) || raw[i] == '}' {
		return f, false
	}
	for {
		key, next, ok := scanString(raw, i)
		if !ok {
			return f, false
		}
		if i = skipSpace(raw, next); i == len(raw) || raw[i] != ':' {
			return f, false
		}
		val, next, ok := scanString(raw, skipSpace(raw, i+1))
		if !ok {
			return f, false
		}
		k := s.index(key)
		if k < 0 || f[k] != nil { // left to decodeSlow
			return f, false
		}
		f[k] = val
		if i = skipSpace(raw, next); i == len(raw) {
			return f, false
		}
		switch raw[i] {
		case ',':
			i = skipSpace(raw, i+1)
		case '}':
			return f, skipSpace(raw, i+1) == len(raw)
		default:
			return f, false
		}
	}
}

func (s *shape) index(key []byte) int {
	for i, k := range s.keys {
		if string(key) == k {
			return i
		}
	}
	return -1
}

func skipSpace(b []byte, i int) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\n' || b[i] == '\t' || b[i] == '\r') {
		i++
	}
	return i
}

// scanString returns the contents of the plain string that starts at b[i], and
// the index after it. If ok, the contents are not nil.
func scanString(b []byte, i int) (s []byte, next int, ok bool) {
	if i >= len(b) || b[i] != '"' {
		return nil, 0, false
	}
	for j := i + 1; j < len(b); j++ {
		switch c := b[j]; {
		case c == '"':
			return b[i+1 : j : j], j + 1, true
		case c == '\\' || c < ' ' || c >= 0x80:
			return nil, 0, false
		}
	}
	return nil, 0, false
}

// decodeSlow decodes any JSON text and reports errors.
func (s *shape) decodeSlow(raw []byte) (f fields, err error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return f, s.errorf("", "no value; want an object with %s", s.wanted())
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if k := d.PeekKind(); k != '{' && k != 0 {
		if _, err := d.ReadValue(); err != nil {
			return f, s.syntax(err)
		}
		return f, s.errorf("", "want an object with %s, found %s", s.wanted(), jsonkind.Name(k))
	}
	if _, err := d.ReadToken(); err != nil {
		return f, s.syntax(err)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return f, s.syntax(err)
		}
		i := s.index([]byte(name.String()))
		if i < 0 {
			if err := d.SkipValue(); err != nil {
				return f, s.syntax(err)
			}
			continue
		}
		if k := d.PeekKind(); k != '"' && k != 0 {
			if _, err := d.ReadValue(); err != nil {
				return f, s.syntax(err)
			}
			return f, s.errorf("/"+s.keys[i], "want a string, found %s", jsonkind.Name(k))
		}
		val, err := d.ReadToken()
		if err != nil {
			return f, s.syntax(err)
		}
		f[i] = append([]byte{}, val.String()...)
	}
	if _, err := d.ReadToken(); err != nil {
		return f, s.syntax(err)
	}
	if err := atEnd(d); err != nil {
		return f, s.syntax(err)
	}
	return f, nil
}

var errTrailing = errors.New("text after the JSON value")

// atEnd returns an error unless only white space is left.
func atEnd(d *jsontext.Decoder) error {
	if _, err := d.ReadToken(); err != io.EOF {
		return errTrailing
	}
	return nil
}

// missing returns the error for a missing key. It mentions a key that differs
// only in case, which OLM would have accepted.
func (s *shape) missing(raw []byte, key string) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	if _, err := d.ReadToken(); err == nil {
		for d.PeekKind() == '"' {
			name, err := d.ReadToken()
			if err != nil {
				break
			}
			if n := name.String(); strings.EqualFold(n, key) {
				return s.errorf("", "missing key %q (found %q: case matters)", key, n)
			}
			if d.SkipValue() != nil {
				break
			}
		}
	}
	return s.errorf("", "missing key %q", key)
}

// wanted returns the required keys as text, such as `"packageName" and
// "version"`.
func (s *shape) wanted() string {
	var b strings.Builder
	for i, k := range s.keys[:s.required] {
		switch {
		case i > 0 && i == s.required-1:
			b.WriteString(" and ")
		case i > 0:
			b.WriteString(", ")
		}
		fmt.Fprintf(&b, "%q", k)
	}
	return b.String()
}

func (s *shape) errorf(path, format string, args ...any) error {
	return &Error{Type: s.typ, Path: path, Err: fmt.Errorf(format, args...)}
}

func (s *shape) syntax(err error) error { return syntaxError(s.typ, err) }

// syntaxError converts a decoder error to an *Error.
func syntaxError(typ string, err error) error {
	var syn *jsontext.SyntacticError
	if !errors.As(err, &syn) {
		if err == io.EOF || err == io.ErrUnexpectedEOF {
			err = errors.New("the JSON text ends too early")
		}
		return &Error{Type: typ, Err: err}
	}
	switch syn.Err {
	case jsontext.ErrDuplicateName:
		return &Error{typ, string(syn.JSONPointer), errors.New("repeated key")}
	case io.ErrUnexpectedEOF:
		return &Error{typ, string(syn.JSONPointer), errors.New("the JSON text ends too early")}
	}
	return &Error{typ, string(syn.JSONPointer), fmt.Errorf("not JSON at byte %d: %w", syn.ByteOffset, syn.Err)}
}
