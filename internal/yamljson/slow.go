package yamljson

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v2"

	"github.com/olmkit/olmkit/internal/lazyregexp"
)

// An Error states why the full parser did not accept a document.
type Error struct {
	Line int // line in the document, from 1, or 0 if the parser does not report it
	Err  error
}

func (e *Error) Error() string { return e.Err.Error() }
func (e *Error) Unwrap() error { return e.Err }

// Plain returns the first fault without the parser's prefixes and without the line, which is counted
// from the beginning of the document. It reads the text because the parser has no typed errors.
func (e *Error) Plain() string {
	text := e.Err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: ", "unmarshal errors:\n  "} {
		text = strings.TrimPrefix(text, prefix)
	}
	if rest, ok := strings.CutPrefix(text, "line "); ok {
		if digits, rest, ok := strings.Cut(rest, ": "); ok && strings.Trim(digits, "0123456789") == "" {
			text = rest
		}
	}
	text, _, _ = strings.Cut(text, "\n")
	if strings.HasPrefix(text, "invalid map key: ") {
		return "a key is a list or an object; keys must be strings"
	}
	return text
}

// Slow returns the JSON form of the YAML document doc, using the parser of
// sigs.k8s.io/yaml. The error is an *Error, a *[LimitError], the context's, or [ErrMore]
// if anything but empty documents follows the first one.
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
	if err := d.Decode(&v); err != nil && err != io.EOF { // an empty document is null
		return nil, syntaxError(err)
	}
	if more(d) {
		return nil, &Error{Err: ErrMore}
	}
	// A document that the two parsers read differently must not evade the limit.
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

// ErrMore reports text after the end of a document, which a parser would silently drop.
var ErrMore = errors.New("more text follows the end of the document")

// more reports whether a decoder has anything left but empty documents. It does not build their values.
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

// A content records whether a value other than null was decoded.
type content bool

// UnmarshalYAML implements yaml.Unmarshaler, which is not called for null.
func (c *content) UnmarshalYAML(func(any) error) error {
	*c = true
	return nil
}

// A reader returns an error once its context ends, which stops the parser that reads from it.
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

// parserDepth is the maximum nesting that the parsers allow.
const parserDepth = 10_000

func syntaxError(err error) error {
	// The parsers do not define types for these errors.
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

var linePattern = lazyregexp.New(`\bline (\d+): `)

func errorLine(err error) int {
	m := linePattern().FindStringSubmatch(err.Error())
	if m == nil {
		return 0
	}
	n, _ := strconv.Atoi(m[1]) // 0 if the number is out of range
	return n
}
