package graph

import (
	"context"

	"github.com/olmkit/olmkit/fbc"
)

// CompareBlobs returns [Compare] of the indexes of two catalogs, for an edit of a
// catalog. The catalogs may share blobs, as the input and output of an edit in package
// fbc do. The error is that of [Build] or Compare.
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
