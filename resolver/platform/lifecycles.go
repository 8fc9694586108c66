package platform

import (
	"context"
	"errors"
	"fmt"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/fbc/lifecycle"
	"github.com/olmkit/olmkit/graph"
)

// A lifecycleReader reads the lifecycle data of packages, each once.
type lifecycleReader map[graph.Package]lifecycleResult

type lifecycleResult struct {
	data *lifecycle.Package // nil if there are none
	err  error              // why they cannot be used
}

// of returns the lifecycle data of a package.
func (r lifecycleReader) of(ctx context.Context, p graph.Package) (*lifecycle.Package, error) {
	if got, ok := r[p]; ok {
		return got.data, got.err
	}
	var got lifecycleResult
	blobs, err := p.Others(ctx, lifecycle.Schema)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.Is(err, fbc.ErrNoSource):
		got.err = errors.New("the catalog does not have the file that they are in")
	case err != nil:
		got.err = err
	case len(blobs) > 1:
		got.err = fmt.Errorf("there are %d documents, and only one is permitted", len(blobs))
	case len(blobs) == 1:
		got.data, got.err = lifecycle.Parse(blobs[0])
	}
	r[p] = got
	return got.data, got.err
}
