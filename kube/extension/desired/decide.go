package desired

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/olmv1"
)

// An Opener opens the catalogs that take part in a selection. It must be safe
// for concurrent use.
type Opener interface {
	Open(ctx context.Context, c *api.ClusterCatalog) (*graph.Catalog, error)
}

// A CatalogError reports a catalog that takes part but cannot be read.
type CatalogError struct {
	Catalog string
	Err     error
}

// Error returns `catalog "name": cause`.
func (e *CatalogError) Error() string { return fmt.Sprintf("catalog %q: %v", e.Catalog, e.Err) }

// Unwrap returns the cause.
func (e *CatalogError) Unwrap() error { return e.Err }

// A Decision is the result of a selection for an extension.
type Decision struct {
	// Selection is the selected bundle. If it is nil, Err is the reason: a
	// *olmv1.Refusal, a *SpecError or a *CatalogError (several may be joined).
	Selection *olmv1.Selection
	Err       error

	// Request is what was selected for. If the specification is invalid, it is empty.
	Request olmv1.Request
	// Catalogs are those that have the package, the selected one or else that of the highest
	// priority first.
	Catalogs []olmv1.Catalog
}

// Bundle returns the selected bundle, or nil.
func (d *Decision) Bundle() *api.BundleMetadata {
	if d.Selection == nil {
		return nil
	}
	return &api.BundleMetadata{Name: d.Selection.Bundle, Version: d.Selection.Version}
}

// Decide selects a bundle for an extension. Installed is the installed bundle,
// or nil. Catalogs are the ClusterCatalogs of the cluster in any order. Opts
// may be nil. The error is the cause of the context's end; any other failure is
// in the Decision.
func Decide(ctx context.Context, e *api.ClusterExtension, installed *api.BundleMetadata, catalogs []api.ClusterCatalog, open Opener, opts *olmv1.Options) (*Decision, error) {
	d := &Decision{}
	catalogs = slices.Clone(catalogs)
	slices.SortFunc(catalogs, func(a, b api.ClusterCatalog) int { return cmp.Compare(a.Name, b.Name) })
	r, err := Request(e, installed, catalogs)
	if err != nil {
		d.Err = err
		return d, nil
	}
	if opts != nil {
		r.Options = *opts
	}
	d.Request = r
	for i := range r.Catalogs {
		c := &r.Catalogs[i]
		if c.Unavailable || !r.Selector.Matches(c.Labels) {
			continue
		}
		c.Graph, err = open.Open(ctx, &catalogs[i])
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			d.Err = errors.Join(d.Err, &CatalogError{c.Name, err})
			continue
		}
		if _, ok := c.Graph.Package(r.Package); ok {
			d.Catalogs = append(d.Catalogs, *c)
		}
	}
	slices.SortStableFunc(d.Catalogs, func(a, b olmv1.Catalog) int { return cmp.Compare(b.Priority, a.Priority) })
	if d.Err != nil {
		return d, nil
	}
	d.Selection, err = olmv1.Select(ctx, r)
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d.Err = err
	var fault *document.Error
	if errors.As(err, &fault) {
		if path, ok := paths[fault.Path]; ok {
			d.Err = &SpecError{path, fault.Err}
		}
	}
	if d.Selection != nil {
		d.prefer(d.Selection.Catalog)
	}
	return d, nil
}

// prefer moves the selected catalog to the front.
func (d *Decision) prefer(name string) {
	i := slices.IndexFunc(d.Catalogs, func(c olmv1.Catalog) bool { return c.Name == name })
	if i > 0 {
		c := d.Catalogs[i]
		d.Catalogs = slices.Insert(slices.Delete(d.Catalogs, i, i+1), 0, c)
	}
}
