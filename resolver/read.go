package resolver

import (
	"context"
	"errors"
	"fmt"
	"io"
	"iter"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// ReadProblems returns the problems of a stream of JSON documents: one document,
// several, or JSON Lines. Unknown and repeated fields are errors. The first
// error, a [*ProblemError], ends the sequence.
func ReadProblems(r io.Reader) iter.Seq2[Problem, error] {
	return readAll[Problem](r)
}

// readAll decodes the documents of a stream strictly.
func readAll[T any](r io.Reader) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		dec := jsontext.NewDecoder(r)
		for n := 1; ; n++ {
			var p T
			err := json.UnmarshalDecode(dec, &p, json.RejectUnknownMembers(true))
			if errors.Is(err, io.EOF) && dec.StackDepth() == 0 && !errors.Is(err, io.ErrUnexpectedEOF) {
				return
			}
			if err != nil {
				var none T
				yield(none, readError(n, err))
				return
			}
			if !yield(p, nil) {
				return
			}
		}
	}
}

// readError says which document of a stream is at fault, where, and why.
func readError(n int, err error) error {
	var sem *json.SemanticError
	var syn *jsontext.SyntacticError
	switch {
	case errors.As(err, &sem):
		cause := sem.Err
		switch {
		case errors.Is(err, json.ErrUnknownName):
			cause = errors.New("is no field of a problem")
		case cause == nil:
			cause = fmt.Errorf("cannot hold %s", kindName(sem.JSONKind))
		}
		return &ProblemError{Path: string(sem.JSONPointer), Err: fmt.Errorf("document %d: %w", n, cause)}
	case errors.As(err, &syn):
		cause := syn.Err
		if errors.Is(cause, io.ErrUnexpectedEOF) {
			cause = errors.New("the text ends inside the document")
		}
		return &ProblemError{Path: string(syn.JSONPointer), Err: fmt.Errorf("document %d, byte %d: invalid JSON: %w", n, syn.ByteOffset, cause)}
	}
	return err
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
	return "this"
}

// Open loads the catalogs of a problem that have a text or a directory and no
// Graph yet. dir opens a directory; it may return the same index for the same
// name every time. Errors are those of the load, in a [*ProblemError] that names
// the catalog.
func (p *Problem) Open(ctx context.Context, dir func(ctx context.Context, name string) (*graph.Catalog, error)) error {
	for i := range p.Catalogs {
		c := &p.Catalogs[i]
		if c.Graph != nil || c.Unhealthy != "" {
			continue
		}
		path := fmt.Sprintf("/catalogs/%d", i)
		var err error
		switch {
		case c.FBC != nil && c.Dir != "":
			return problemErrorf(path, "catalog %q has both fbc and dir; keep one", c.Name)
		case c.FBC != nil:
			c.Graph, err = graph.Parse(ctx, []byte(*c.FBC), c.Name, &graph.Options{Load: &fbc.LoadOptions{AllowEmpty: true}})
			path += "/fbc"
		case c.Dir != "" && dir != nil:
			c.Graph, err = dir(ctx, c.Dir)
			path += "/dir"
		case c.Dir != "":
			return problemErrorf(path+"/dir", "catalog %q is a directory, and no directories are open to this problem", c.Name)
		default:
			return problemErrorf(path, "catalog %q has neither fbc nor dir", c.Name)
		}
		if err != nil {
			return &ProblemError{Path: path, Err: fmt.Errorf("catalog %q: %w", c.Name, err)}
		}
		if c.Digest == "" {
			continue
		}
		if got := c.Graph.Digest(); c.Digest != got {
			return problemErrorf(fmt.Sprintf("/catalogs/%d/digest", i), "catalog %q has changed: its content hash is %s, the problem was written with %s", c.Name, got, c.Digest)
		}
	}
	return nil
}
