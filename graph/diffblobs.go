package graph

import (
	"context"

	"github.com/olmkit/olmkit/fbc"
)

// CompareBlobs is [Compare] for two catalogs that are not indexed, such as the input and
// output of an edit in package fbc. They may share blobs. The error is that of [Build] or
// Compare.
func CompareBlobs(ctx context.Context, before, after *fbc.Catalog, reading Reading) (*Diff, error) {
	old, err := Build(ctx, before, nil)
	if err != nil {
		return nil, err
	}
	new, err := Build(ctx, after, nil)
	if err != nil {
		return nil, err
	}
	return Compare(ctx, old, new, reading)
}
