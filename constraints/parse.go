package constraints

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/olmkit/olmkit/internal/jsonkind"
	"github.com/olmkit/olmkit/property"
)

// Parse parses the value of an olm.constraint property: an object with exactly
// one of gvk, package, cel, all, any and not, and optionally a failureMessage.
// The name of a package is spelled packageName, as in OLM, or name, as in its
// documentation.
//
// Parse is stricter than OLM. Unknown and repeated keys, keys in a different
// case, no kind or several kinds of constraint, empty lists and names, null,
// and text after the value are errors. CEL rules are compiled.
//
// The error is an [*Error] for the first error in the text. The tree does not
// share memory with raw.
func (c *Compiler) Parse(raw []byte) (Expr, error) {
	if len(raw) > c.limits.MaxSize {
		return nil, newError(property.TypeConstraint, "", c.sizeError(len(raw)))
	}
	if len(bytes.TrimSpace(raw)) == 0 {
		return nil, newError(property.TypeConstraint, "", errors.New("no value: want "+wantConstraint))
	}
	p := &parser{c: c, d: jsontext.NewDecoder(bytes.NewBuffer(raw))}
	x, err := p.constraint(1)
	if err == nil {
		err = p.end()
	}
	if err != nil {
		return nil, p.locate(err)
	}
	return x, nil
}

// sizeError is the error for a value that is too large to be parsed (D4).
func (c *Compiler) sizeError(size int) error {
	return limitErrorf("MaxSize", "the value has %d bytes; the limit is %d", size, c.limits.MaxSize)
}

// newError returns the *Error for a cause, which may be a *limitError.
func newError(typ, path string, fault error) *Error {
	e := &Error{Type: typ, Path: path, Err: fault}
	var limit *limitError
	if errors.As(fault, &limit) {
		e.Limit = limit.limit
	}
	return e
}

// A parser parses one constraint. Its methods return errors without a position;
// path is the current position.
type parser struct {
	c     *Compiler
	d     *jsontext.Decoder
	path  []string // names and indices from the root to the current element
	nodes int
}

func (p *parser) locate(fault error) error {
	var syn *jsontext.SyntacticError
	if errors.As(fault, &syn) {
		at := string(syn.JSONPointer)
		switch {
		case syn.Err == jsontext.ErrDuplicateName:
			fault = errors.New("repeated key")
		case errors.Is(syn, io.ErrUnexpectedEOF):
			fault = errEnds
		default:
			fault = fmt.Errorf("not JSON at byte %d: %w", syn.ByteOffset, syn.Err)
		}
		return newError(property.TypeConstraint, at, fault)
	}
	if fault == io.EOF || fault == io.ErrUnexpectedEOF {
		fault = errEnds
	}
	var at jsontext.Pointer
	for _, name := range p.path {
		at = at.AppendToken(name)
	}
	return newError(property.TypeConstraint, string(at), fault)
}

var (
	errEnds     = errors.New("the JSON text ends too early")
	errTrailing = errors.New("text after the JSON value")
)

func (p *parser) enter(name string) { p.path = append(p.path, name) }
func (p *parser) leave()            { p.path = p.path[:len(p.path)-1] }

// end returns an error unless only space is left (H20).
func (p *parser) end() error {
	if _, err := p.d.ReadToken(); err != io.EOF {
		return errTrailing
	}
	return nil
}

// open reads the delimiter that begins an object or a list.
func (p *parser) open(k jsontext.Kind, want string) error {
	if err := p.expect(k, want); err != nil {
		return err
	}
	_, err := p.d.ReadToken()
	return err
}

// expect returns an error unless the next token has the kind. Syntax errors are
// left to the code that reads the token.
func (p *parser) expect(k jsontext.Kind, want string) error {
	if got := p.d.PeekKind(); got != k && jsonkind.Name(got) != jsonkind.Nothing {
		return fmt.Errorf("want %s, found %s", want, jsonkind.Name(got))
	}
	return nil
}

// object reads an object and calls read for each key. read must consume the
// value. During the call, the path includes the key.
func (p *parser) object(want string, read func(key string) error) error {
	if err := p.open('{', want); err != nil {
		return err
	}
	for p.d.PeekKind() == '"' {
		t, err := p.d.ReadToken()
		if err != nil {
			return err
		}
		key := t.String()
		p.enter(key)
		if err := read(key); err != nil {
			return err
		}
		p.leave()
	}
	_, err := p.d.ReadToken()
	return err
}

func (p *parser) text() (string, error) {
	if err := p.expect('"', "a string"); err != nil {
		return "", err
	}
	t, err := p.d.ReadToken()
	if err != nil {
		return "", err
	}
	return t.String(), nil
}

var (
	kinds    = []string{"gvk", "package", "cel", "all", "any", "not"}
	keys     = []string{"failureMessage", "gvk", "package", "cel", "all", "any", "not"}
	kindList = "gvk, package, cel, all, any, not"

	wantConstraint = "an object with one of " + kindList
)

// constraint reads {"failureMessage": …, "<kind>": …}: exactly one kind (D3, H8), with
// keys in their own case (H20), and not too deep (D4).
func (p *parser) constraint(depth int) (Expr, error) {
	lim := &p.c.limits
	if depth > lim.MaxDepth {
		return nil, limitErrorf("MaxDepth", "constraints are nested more than %d deep", lim.MaxDepth)
	}
	if p.nodes++; p.nodes > lim.MaxNodes {
		return nil, limitErrorf("MaxNodes", "more than %d constraints", lim.MaxNodes)
	}
	var (
		message string
		kind    string
		x       Expr
	)
	err := p.object(wantConstraint, func(key string) (err error) {
		if key == "failureMessage" {
			message, err = p.text()
			return err
		}
		if !contains(kinds, key) {
			return unknownKey(key, keys)
		}
		if kind != "" {
			return fmt.Errorf(`more than one kind of constraint, found %q before; want exactly one of %s, or combine several with "all" or "any"`, kind, kindList)
		}
		kind = key
		x, err = p.kind(key, depth)
		return err
	})
	switch {
	case err != nil:
		return nil, err
	case kind == "":
		return nil, fmt.Errorf("the constraint is missing; use exactly one of %s", kindList)
	}
	setMessage(x, message)
	return x, nil
}

func setMessage(x Expr, m string) {
	switch x := x.(type) {
	case *All:
		x.FailureMessage = m
	case *Any:
		x.FailureMessage = m
	case *Not:
		x.FailureMessage = m
	case *GVK:
		x.FailureMessage = m
	case *Package:
		x.FailureMessage = m
	case *Label:
		x.FailureMessage = m
	case *CEL:
		x.FailureMessage = m
	}
}

func (p *parser) kind(kind string, depth int) (Expr, error) {
	switch kind {
	case "gvk":
		return p.gvk()
	case "package":
		return p.pkg()
	case "cel":
		return p.cel()
	}
	of, err := p.list(kind, depth)
	if err != nil {
		return nil, err
	}
	switch kind {
	case "all":
		return &All{Of: of}, nil
	case "any":
		return &Any{Of: of}, nil
	}
	return &Not{Of: of}, nil
}

// fields reads an object of strings. names holds the spellings of each key, the
// preferred one first. All keys are required and must not be empty.
func (p *parser) fields(want string, names [][]string) ([]string, error) {
	vals := make([]string, len(names))
	given := make([]string, len(names))
	err := p.object(want, func(key string) (err error) {
		for i, spellings := range names {
			if !contains(spellings, key) {
				continue
			}
			if given[i] != "" {
				return fmt.Errorf("%q and %q are two spellings of the same key; remove one", given[i], key)
			}
			given[i] = key
			if vals[i], err = p.text(); err == nil && vals[i] == "" {
				err = errors.New("want a non-empty string")
			}
			return err
		}
		var known []string
		for _, spellings := range names {
			known = append(known, spellings...)
		}
		return unknownKey(key, known)
	})
	if err != nil {
		return nil, err
	}
	for i, spellings := range names {
		if given[i] == "" {
			return nil, fmt.Errorf("missing key %q", spellings[0])
		}
	}
	return vals, nil
}

var (
	gvkKeys     = [][]string{{"group"}, {"version"}, {"kind"}}
	packageKeys = [][]string{{"packageName", "name"}, {"versionRange"}}
	celKeys     = [][]string{{"rule"}}
)

func (p *parser) gvk() (Expr, error) {
	v, err := p.fields(`an object with "group", "version" and "kind"`, gvkKeys)
	if err != nil {
		return nil, err
	}
	x := &GVK{GVK: property.GVK{Group: v[0], Version: v[1], Kind: v[2]}}
	if part, err := badPart(x.GVK); err != nil {
		p.enter(part)
		return nil, err
	}
	return x, nil
}

// badPart returns the first part of the GVK that is not a valid name.
func badPart(g property.GVK) (part string, err error) {
	err = g.Validate()
	var e *property.NameError
	if errors.As(err, &e) {
		return e.Part, e
	}
	return "", err
}

func (p *parser) pkg() (Expr, error) {
	v, err := p.fields(`an object with "packageName" and "versionRange"`, packageKeys)
	if err != nil {
		return nil, err
	}
	r, err := ParseRange(v[1])
	if err != nil {
		p.enter("versionRange")
		return nil, err
	}
	return &Package{Name: v[0], Range: r}, nil
}

func (p *parser) cel() (Expr, error) {
	v, err := p.fields(`an object with "rule"`, celKeys)
	if err != nil {
		return nil, err
	}
	x, err := p.c.Rule(v[0])
	if err != nil {
		p.enter("rule")
		return nil, err
	}
	return x, nil
}

// list reads {"constraints": […]}, which must not be empty (H8).
func (p *parser) list(kind string, depth int) (of []Expr, err error) {
	found := false
	err = p.object(`an object with "constraints"`, func(key string) error {
		if key != "constraints" {
			if contains(keys, key) {
				return fmt.Errorf(`unknown key: put it next to %q or in a constraint of the list`, kind)
			}
			return unknownKey(key, []string{"constraints"})
		}
		found = true
		if err := p.open('[', "a list of constraints"); err != nil {
			return err
		}
		for {
			switch p.d.PeekKind() {
			case ']':
				if len(of) == 0 {
					return errors.New("the list is empty; it must have at least one constraint")
				}
				_, err := p.d.ReadToken()
				return err
			case 0: // let the decoder report the syntax error
				_, err := p.d.ReadToken()
				return err
			}
			p.enter(strconv.Itoa(len(of)))
			x, err := p.constraint(depth + 1)
			if err != nil {
				return err
			}
			p.leave()
			of = append(of, x)
		}
	})
	if err == nil && !found {
		err = errors.New(`missing key "constraints"`)
	}
	return of, err
}

func contains(list []string, s string) bool {
	for _, v := range list {
		if v == s {
			return true
		}
	}
	return false
}

// unknownKey returns the error for an unknown key, with the known key that was
// probably meant, if any.
func unknownKey(key string, known []string) error {
	for _, k := range known {
		if strings.EqualFold(k, key) {
			return fmt.Errorf("unknown key: did you mean %q? Keys are case-sensitive", k)
		}
	}
	for _, k := range known {
		if near(key, k) {
			return fmt.Errorf("unknown key: did you mean %q?", k)
		}
	}
	return fmt.Errorf("unknown key: want %s", strings.Join(known, ", "))
}

// near reports whether a and b differ by at most one edit (an insertion,
// deletion, replacement or transposition), ignoring case.
func near(a, b string) bool {
	a, b = strings.ToLower(a), strings.ToLower(b)
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) < 2 || len(b)-len(a) > 1 {
		return false
	}
	i := 0
	for i < len(a) && a[i] == b[i] {
		i++
	}
	if len(a) < len(b) {
		return a[i:] == b[i+1:]
	}
	return i == len(a) || a[i+1:] == b[i+1:] ||
		i+1 < len(a) && a[i] == b[i+1] && a[i+1] == b[i] && a[i+2:] == b[i+2:]
}
