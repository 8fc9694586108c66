package resolver

import (
	"context"
	"fmt"

	"github.com/olmkit/olmkit/resolver/document"
)

// Open loads the visible catalogs of a problem that have a text or a directory and no Graph
// yet. The limits of the problem's options apply to texts. An error is a [*document.Error]
// that names the catalog and wraps the error of the load.
func (p *Problem) Open(ctx context.Context, dir document.OpenDir) error {
	for i := range p.Catalogs {
		c := &p.Catalogs[i]
		if c.Graph != nil || c.Unhealthy != "" || !p.sees(c.ID()) {
			continue
		}
		from := document.Catalog{Path: fmt.Sprintf("/catalogs/%d", i), Name: c.Name, FBC: c.FBC, Dir: c.Dir}
		var err error
		if c.Graph, err = from.Open(ctx, dir, document.TextOptions(p.Options.LoadLimits, p.Options.ConstraintLimits)); err != nil {
			return err
		}
		if c.Digest == "" {
			continue
		}
		if got := c.Graph.Digest(); c.Digest != got {
			return document.Errorf(fmt.Sprintf("/catalogs/%d/digest", i), "catalog %q has changed: its content hash is %s, the problem was written with %s", c.Name, got, c.Digest)
		}
	}
	return nil
}
