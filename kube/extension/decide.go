package extension

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

// An Opener opens the catalogs that take part in a selection. It must be safe for
// use by several goroutines.
type Opener interface {
	Open(ctx context.Context, c *api.ClusterCatalog) (*graph.Catalog, error)
}

// A CatalogError says that a catalog that takes part cannot be read.
type CatalogError struct {
	Catalog string
	Err     error
}

// Error names the catalog.
func (e *CatalogError) Error() string { return fmt.Sprintf("catalog %q: %v", e.Catalog, e.Err) }

// Unwrap returns the cause.
func (e *CatalogError) Unwrap() error { return e.Err }

// A Decision is what an extension gets.
type Decision struct {
	// Selection is the bundle; nil when there is none, for the reason Err: a
	// *olmv1.Refusal, a *SpecError or a *CatalogError.
	Selection *olmv1.Selection
	Err       error

	request  olmv1.Request
	catalogs []olmv1.Catalog // that have the package, the one that counts first
}

// Bundle returns the selected bundle, or nil.
func (d *Decision) Bundle() *api.BundleMetadata {
	if d.Selection == nil {
		return nil
	}
	return &api.BundleMetadata{Name: d.Selection.Bundle, Version: d.Selection.Version}
}

// Decide returns what an extension gets, with the installed bundle, nil if there
// is none, and the ClusterCatalogs of the cluster, whose order does not matter.
// Opts may be nil. The error is the cause of the context's end; everything else
// is in the decision.
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
	d.request = r
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
			d.catalogs = append(d.catalogs, *c)
		}
	}
	slices.SortStableFunc(d.catalogs, func(a, b olmv1.Catalog) int { return cmp.Compare(b.Priority, a.Priority) })
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

// prefer puts the catalog first that won.
func (d *Decision) prefer(name string) {
	i := slices.IndexFunc(d.catalogs, func(c olmv1.Catalog) bool { return c.Name == name })
	if i > 0 {
		c := d.catalogs[i]
		d.catalogs = slices.Insert(slices.Delete(d.catalogs, i, i+1), 0, c)
	}
}
