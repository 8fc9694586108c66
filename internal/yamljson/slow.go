package yamljson

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"
)

// An Error is why the full parser did not accept a document.
type Error struct {
	Line int // line in the document, from 1, as the parser gives it; 0 if it gives none
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Slow returns the JSON form of the YAML document doc, made by the parser of sigs.k8s.io/yaml. The error is an *Error, a
// *[LimitError], or the cause of the context's end.
//
// The error is [ErrMore] when more follows the first document than empty ones.
func Slow(ctx context.Context, doc []byte, opts *Options) (out []byte, err error) {
	defer func() {
		if r := recover(); r != nil { // the parser panics on a few malformed inputs
			out, err = nil, &Error{Err: fmt.Errorf("yaml: %v", r)}
		}
		if ctx.Err() != nil {
			out, err = nil, context.Cause(ctx)
		}
	}()
	if opts == nil {
		opts = &Options{}
	}
	room := int64(DefaultExpansion)
	if opts.Expansion != nil {
		room = *opts.Expansion
	}
	added, err := expansion(ctx, doc, room, cmp.Or(opts.Nodes, DefaultNodes))
	if err != nil {
		return nil, err
	}
	d := yaml.NewDecoder(&reader{ctx, doc})
	d.SetStrict(opts.Strict)
	var v any
	if err := d.Decode(&v); err != nil && err != io.EOF { // nothing is null
		return nil, syntaxError(err)
	}
	if more(d) {
		return nil, &Error{Err: ErrMore}
	}
	// A document that the two parsers read differently must not get around the limit.
	if mayRepeat(doc) && sizeOf(v) > plus(room, int64(len(doc))*maxSource) {
		return nil, &LimitError{Kind: Expansion, Max: room}
	}
	if out, err = appendValue(nil, v); err != nil {
		return nil, syntaxError(err)
	}
	if opts.Expansion != nil {
		*opts.Expansion -= added
	}
	return out, nil
}

// ErrMore is the cause of the error for text after the end of a document, which a parser would drop in silence.
var ErrMore = errors.New("more text follows the end of the document")

// more reports whether a decoder has text left other than empty documents. It makes no values of it.
func more(d *yaml.Decoder) bool {
	for {
		var left content
		if err := d.Decode(&left); err == io.EOF {
			return false
		} else if err != nil || bool(left) {
			return true
		}
	}
}

// A content notes whether it was decoded from something other than null.
type content bool

// UnmarshalYAML implements yaml.Unmarshaler, to which nulls are not passed.
func (c *content) UnmarshalYAML(func(any) error) error {
	*c = true
	return nil
}

// A reader ends with its context, so that a parser of its text does.
type reader struct {
	ctx  context.Context // of one call of a parser
	rest []byte
}

func (r *reader) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest)
	r.rest = r.rest[n:]
	return n, nil
}

// parserDepth is how deep the parsers let nodes be nested.
const parserDepth = 10_000

func syntaxError(err error) error {
	// The parsers have no types for these.
	switch text := err.Error(); {
	case strings.Contains(text, "exceeded max depth"):
		return &LimitError{Depth, parserDepth, errorLine(err)}
	case strings.Contains(text, "excessive aliasing"):
		return &LimitError{Expansion, DefaultExpansion, errorLine(err)}
	}
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	return &Error{Line: errorLine(err), Err: err}
}

var linePattern = regexp.MustCompile(`\bline (\d+): `)

func errorLine(err error) int {
	m := linePattern.FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // at worst 0, for a number that does not fit
	return n
}
