package graph

import (
	"context"

	"github.com/olmkit/olmkit/fbc"
)

// CompareBlobs returns what an edit of a catalog changes for its users: [Compare]
// of the indexes of both. The catalogs may share blobs, as those do that an edit
// of package fbc was made from and returned. The error is that of [Build] or
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
