package resolver

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
)

// Open loads the catalogs of a problem that take part and have a text or a
// directory and no Graph yet, texts within the limits of its options. dir opens a directory; it may
// return the same index for the same name every time. Errors are those of the load,
// in a [*ProblemError] that names the catalog.
func (p *Problem) Open(ctx context.Context, dir func(ctx context.Context, name string) (*graph.Catalog, error)) error {
	for i := range p.Catalogs {
		c := &p.Catalogs[i]
		if c.Graph != nil || c.Unhealthy != "" || !p.Sees(c.ID()) {
			continue
		}
		var err error
		if c.Graph, err = openCatalog(ctx, i, c.Name, c.FBC, c.Dir, dir, textOptions(p.Options.LoadLimits, p.Options.ConstraintLimits)); err != nil {
			return err
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

// Open loads the catalogs of the request that take part and have a text or a
// directory and no Graph yet; catalogs that are unavailable or not selected are
// never read (C6). dir opens a directory; it may return the same index for the
// same name every time. The error is a [*ProblemError] that names the catalog.
func (r *SelectRequest) Open(ctx context.Context, dir func(ctx context.Context, name string) (*graph.Catalog, error)) error {
	if err := r.Selector.Validate(); err != nil {
		return &ProblemError{Path: "/selector", Err: err}
	}
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		if c.Graph != nil || c.Unavailable || !r.Selector.Matches(c.Labels) {
			continue
		}
		var err error
		if c.Graph, err = openCatalog(ctx, i, c.Name, c.FBC, c.Dir, dir, textOptions(r.Options.LoadLimits, r.Options.ConstraintLimits)); err != nil {
			return err
		}
	}
	return nil
}

// textOptions are for a catalog in text form.
func textOptions(load *fbc.Limits, rules *constraints.Limits) *graph.Options {
	return &graph.Options{Load: &fbc.LoadOptions{AllowEmpty: true, Limits: load}, ConstraintLimits: rules}
}

// openCatalog loads the i-th catalog of a document, from its text or from the
// directory that it names.
func openCatalog(ctx context.Context, i int, name string, text *string, dirName string, dir func(ctx context.Context, name string) (*graph.Catalog, error), opts *graph.Options) (c *graph.Catalog, err error) {
	path := fmt.Sprintf("/catalogs/%d", i)
	switch {
	case text != nil && dirName != "":
		return nil, problemErrorf(path, "catalog %q has both fbc and dir; keep one", name)
	case text != nil:
		c, err = graph.LoadBytes(ctx, []byte(*text), name, opts)
		path += "/fbc"
	case dirName != "" && dir != nil:
		c, err = dir(ctx, dirName)
		path += "/dir"
	case dirName != "":
		return nil, problemErrorf(path+"/dir", "catalog %q is a directory, and no directories are open to this document", name)
	default:
		return nil, problemErrorf(path, "catalog %q has neither fbc nor dir", name)
	}
	if err != nil {
		return nil, &ProblemError{Path: path, Err: fmt.Errorf("catalog %q: %w", name, err)}
	}
	return c, nil
}
