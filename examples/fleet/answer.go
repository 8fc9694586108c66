package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"path/filepath"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// An answer is a line of an answer file, as "olmkit resolve --problem" writes it, but without
// advice.
type answer struct {
	ID       string              `json:"id"`
	OK       bool                `json:"ok"`
	Selected []resolver.Selected `json:"selected,omitempty"`
	Conflict *resolver.Conflict  `json:"conflict,omitempty"`
	Error    string              `json:"error,omitempty"`
}

// indexes opens the compiled indexes below a directory, each once.
type indexes struct {
	root   string
	opened map[string]*graph.Catalog
}

func (x *indexes) open(_ context.Context, name string) (*graph.Catalog, error) {
	if c := x.opened[name]; c != nil {
		return c, nil
	}
	c, err := graph.OpenIndex(filepath.Join(x.root, filepath.FromSlash(name)), nil)
	if err != nil {
		return nil, err
	}
	if x.opened == nil {
		x.opened = map[string]*graph.Catalog{}
	}
	x.opened[name] = c
	return c, nil
}

// answerAll writes one line for each document, in order, and uses all cores.
func (x *indexes) answerAll(ctx context.Context, documents []byte, w io.Writer) (total, error) {
	var answers []answer
	var problems []resolver.Problem // of the answers without an error
	for p, err := range document.Read[resolver.Problem](bytes.NewReader(documents)) {
		if err == nil {
			err = p.Open(ctx, x.open)
		}
		a := answer{ID: p.ID}
		if err != nil {
			a.Error = err.Error()
		} else {
			problems = append(problems, p)
		}
		answers = append(answers, a)
	}
	t := total{Files: 1}
	out := json.NewEncoder(w)
	next := 0
	for r := range resolver.ResolveAll(ctx, slices.Values(problems), nil) {
		for ; answers[next].Error != ""; next++ {
			if err := t.write(out, answers[next]); err != nil {
				return t, err
			}
		}
		if ctx.Err() != nil {
			return t, context.Cause(ctx)
		}
		a := answers[next]
		var conflict *resolver.Conflict
		switch {
		case r.Err == nil:
			a.OK, a.Selected = true, r.Solution.Selected
		case errors.As(r.Err, &conflict):
			a.Conflict = conflict
		default:
			a.Error = r.Err.Error()
		}
		if err := t.write(out, a); err != nil {
			return t, err
		}
		next++
	}
	for _, a := range answers[next:] {
		if err := t.write(out, a); err != nil {
			return t, err
		}
	}
	return t, nil
}
