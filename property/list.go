package property

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/internal/jsonkind"
)

// ParseList parses a JSON list of properties, such as annotation olm.properties
// of an installed CSV, in list order. Each element must have a non-empty type
// and a value other than null; other keys are ignored. The values do not share
// memory with raw.
//
// The error is an [*Error] whose Path begins with the index of the element and
// whose Type is "olm.properties".
func ParseList(raw []byte) ([]Property, error) {
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, listErrorf("", "no value; want a list of {type, value}")
	}
	d := jsontext.NewDecoder(bytes.NewBuffer(raw))
	switch k := d.PeekKind(); k {
	case '[', 0:
	default:
		if _, err := d.ReadValue(); err != nil {
			return nil, syntaxError(Annotation, err)
		}
		return nil, listErrorf("", "want a list of {type, value}, found %s", jsonkind.Name(k))
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, syntaxError(Annotation, err)
	}
	var ps []Property
	for d.PeekKind() != ']' {
		p, err := parseElement(d, "/"+strconv.Itoa(len(ps)))
		if err != nil {
			return nil, err
		}
		ps = append(ps, p)
	}
	if _, err := d.ReadToken(); err != nil {
		return nil, syntaxError(Annotation, err)
	}
	if err := atEnd(d); err != nil {
		return nil, syntaxError(Annotation, err)
	}
	return ps, nil
}

// The annotations in which an installed ClusterServiceVersion stores the
// properties of its bundle.
const (
	// Annotation holds a JSON list of properties.
	Annotation = "olm.properties"
	// ProjectedAnnotation is what OLM v0.45 writes instead: an object with the
	// list in "properties".
	ProjectedAnnotation = "operatorframework.io/properties"
)

// ParseProjected parses the value of [ProjectedAnnotation] as OLM does: an
// object without a list has no properties, and elements without a type or value
// are ignored. The list is never nil. Errors in the list are those of
// [ParseList].
func ParseProjected(raw []byte) ([]Property, error) {
	var v struct {
		Properties []Property `json:"properties"`
	}
	if err := json.Unmarshal(raw, &v); err != nil {
		return nil, projectedError(raw, err)
	}
	list := []Property{}
	for _, p := range v.Properties {
		if p.Type != "" && len(p.Value) > 0 && string(p.Value) != "null" {
			list = append(list, p)
		}
	}
	return list, nil
}

// projectedError returns the error of [ParseList] for the list in raw, or err if
// there is none.
func projectedError(raw []byte, err error) error {
	var v struct {
		Properties json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(raw, &v) != nil {
		return err
	}
	if _, wrong := ParseList(v.Properties); wrong != nil {
		return wrong
	}
	return err
}

// LowestMaxOpenShift returns the newest OpenShift version that a bundle with
// these properties supports: the lowest olm.maxOpenShiftVersion, because all of
// them apply. If there is none, ok is false. The error is that of the first
// invalid value. Never treat it as no limit.
func LowestMaxOpenShift(list iter.Seq[Property]) (lowest MinorVersion, ok bool, err error) {
	for p := range list {
		if p.Type != TypeMaxOpenShiftVersion {
			continue
		}
		v, err := ParseMaxOpenShiftVersion(p.Value)
		if err != nil {
			return MinorVersion{}, false, err
		}
		if !ok || v.Compare(lowest) < 0 {
			lowest, ok = v, true
		}
	}
	return lowest, ok, nil
}

func listErrorf(path, format string, args ...any) error {
	return &Error{Type: Annotation, Path: path, Err: fmt.Errorf(format, args...)}
}

func parseElement(d *jsontext.Decoder, path string) (p Property, err error) {
	if k := d.PeekKind(); k != '{' && k != 0 {
		if _, err := d.ReadValue(); err != nil {
			return p, syntaxError(Annotation, err)
		}
		return p, listErrorf(path, "want {type, value}, found %s", jsonkind.Name(k))
	}
	if _, err := d.ReadToken(); err != nil {
		return p, listSyntax(err)
	}
	for d.PeekKind() == '"' {
		name, err := d.ReadToken()
		if err != nil {
			return p, listSyntax(err)
		}
		switch key := name.String(); key {
		case "type":
			if k := d.PeekKind(); k != '"' && k != 0 {
				if _, err := d.ReadValue(); err != nil {
					return p, listSyntax(err)
				}
				return p, listErrorf(path+"/type", "want a string, found %s", jsonkind.Name(k))
			}
			t, err := d.ReadToken()
			if err != nil {
				return p, listSyntax(err)
			}
			p.Type = t.String()
			if p.Type == "" {
				return p, listErrorf(path+"/type", "want a non-empty string")
			}
		case "value":
			k := d.PeekKind()
			v, err := d.ReadValue()
			if err != nil {
				return p, listSyntax(err)
			}
			if k == 'n' {
				return p, listErrorf(path+"/value", "want a value, found null")
			}
			p.Value = json.RawMessage(v.Clone())
		default:
			if err := d.SkipValue(); err != nil {
				return p, listSyntax(err)
			}
		}
	}
	if _, err := d.ReadToken(); err != nil {
		return p, listSyntax(err)
	}
	switch {
	case p.Type == "":
		return p, listErrorf(path, "missing key %q", "type")
	case p.Value == nil:
		return p, listErrorf(path, "missing key %q", "value")
	}
	return p, nil
}

// listSyntax is syntaxError for errors inside the list, where the end of the
// text is always an error.
func listSyntax(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return syntaxError(Annotation, err)
}
