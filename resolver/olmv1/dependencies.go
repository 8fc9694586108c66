package olmv1

import (
	"context"
	"errors"
	"strings"

	"github.com/olmkit/olmkit/resolver"
	"github.com/olmkit/olmkit/resolver/document"
)

// closure finds bundles that satisfy the dependencies of the chosen bundle (G6).
func (s *selecting) closure(ctx context.Context, r *Refusal) error {
	var cats []resolver.Catalog
	for _, c := range s.catalogs {
		cats = append(cats, resolver.Catalog{Name: c.Name, Priority: c.Priority, Graph: c.Graph})
	}
	c, err := resolver.CheckDependencies(ctx, r.chosen.Bundle, s.Options.OtherInstalled, cats)
	var p *document.Error
	if errors.As(err, &p) {
		return &document.Error{Path: "/options/otherInstalled" + strings.TrimPrefix(p.Path, "/installed"), Err: p.Err}
	}
	r.Dependencies = c
	return err
}
