package decode

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/yamljson"
)

func isSyntax(err error) bool {
	var se *jsontext.SyntacticError
	return errors.As(err, &se)
}

// syntax reports why the document cannot be read, on the line of the fault if it is
// known.
func (d *Reader) syntax(doc []byte, err error) {
	var (
		code = codes.Syntax
		line = 0
		se   *jsontext.SyntacticError
		ye   *yamljson.Error
		le   *LimitError
		yl   *yamljson.LimitError
	)
	if errors.As(err, &yl) {
		err, line = yamlLimit(yl, d.limits), max(yl.Line-1, 0)
	}
	if errors.As(err, &se) {
		if doc != nil {
			line = bytes.Count(doc[:min(int(se.ByteOffset), len(doc))], []byte("\n"))
		}
		err = fmt.Errorf("invalid JSON: %w", plainSyntax(se))
	} else if errors.As(err, &ye) {
		line = max(ye.Line-1, 0)
		err = fmt.Errorf("invalid YAML: %s", ye.Plain())
	} else if errors.Is(err, errNotObject) {
		code = codes.NotObject
	} else if errors.As(err, &le) {
		code = codes.Limit
	}
	d.fault(code, "", err)
	d.faults[len(d.faults)-1].Line += line
}

// ExpansionLimit returns the error for YAML whose aliases expand too much (S1).
func ExpansionLimit(limits Limits) *LimitError {
	return yamlLimit(&yamljson.LimitError{Kind: yamljson.Expansion}, limits)
}

// yamlLimit returns the limit that a document exceeded, by its name.
func yamlLimit(e *yamljson.LimitError, limits Limits) *LimitError {
	switch e.Kind {
	case yamljson.Nodes:
		return &LimitError{Limit: "Expansion", What: "number of YAML keys, values and list items, at 32 bytes each,", Max: limits.Expansion}
	case yamljson.Depth:
		return &LimitError{Limit: "Depth", What: "nesting of the document", Max: limits.Depth}
	}
	return &LimitError{Limit: "Expansion", What: "expansion of YAML aliases", Max: limits.Expansion}
}

// plainSyntax returns the cause of a syntax error without the decoder's own description
// of the place.
func plainSyntax(se *jsontext.SyntacticError) error {
	if se.Err == io.ErrUnexpectedEOF {
		return errors.New("the document ends inside a value")
	}
	if se.JSONPointer != "" {
		return fmt.Errorf("%w at %s", se.Err, se.JSONPointer)
	}
	return se.Err
}

// A Fault is an error in a document, and its place.
type Fault struct {
	Code string // one of package codes
	Path string // a JSON pointer
	Line int    // relative to the first line of the document
	Err  error
}

func (d *Reader) fault(code, path string, err error) {
	d.faults = append(d.faults, Fault{Code: code, Path: path, Err: err})
}
