package document

import (
	"context"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// An OpenDir opens the catalog in a directory that a document names. It may
// return the same index for the same name every time.
type OpenDir func(ctx context.Context, name string) (*graph.Catalog, error)

// A Catalog is a catalog in a document: its text or its directory.
type Catalog struct {
	Path string  // JSON pointer of the catalog
	Name string  // for errors
	FBC  *string // the catalog itself, as text, which may be empty
	Dir  string  // the name of its directory
}

// Open loads a catalog from its text with opts, or from its directory with dir.
// If dir is nil, directories are not allowed. The error is an [*Error].
func (c Catalog) Open(ctx context.Context, dir OpenDir, opts *graph.Options) (g *graph.Catalog, err error) {
	path := c.Path
	switch {
	case c.FBC != nil && c.Dir != "":
		return nil, Errorf(path, "catalog %q has both fbc and dir; keep one", c.Name)
	case c.FBC != nil:
		path += "/fbc"
		g, err = graph.LoadReader(ctx, strings.NewReader(*c.FBC), c.Name, opts)
	case c.Dir == "":
		return nil, Errorf(path, "catalog %q has neither fbc nor dir", c.Name)
	case dir == nil:
		return nil, Errorf(path+"/dir", "catalog %q is a directory, but this document may not refer to directories; use fbc", c.Name)
	default:
		path += "/dir"
		g, err = dir(ctx, c.Dir)
	}
	if err != nil {
		return nil, &Error{Path: path, Err: fmt.Errorf("catalog %q: %w", c.Name, err)}
	}
	return g, nil
}

// TextOptions are the options of catalogs in text form: they may be empty, and
// the limits may be nil.
func TextOptions(load *fbc.Limits, rules *constraints.Limits) *graph.Options {
	return &graph.Options{Load: &fbc.LoadOptions{AllowEmpty: true, Limits: load}, ConstraintLimits: rules}
}
