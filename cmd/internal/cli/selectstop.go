package cli

import (
	"cmp"
	"context"
	"slices"

	"github.com/olmkit/olmkit/resolver/olmv1"
)

// checked adds to an answer which upgrade OLM v1 refuses because of the manifests, of those that it would then take on its own.
func (s *selector) checked(ctx context.Context, a *selectAnswer, r olmv1.Request) error { // K54
	if r.Installed == nil {
		return nil
	}
	installed, name := r.Installed.Name, cmp.Or(r.ID, r.Package)
	walk := func(catalog string) *upgradeWalk {
		return newImpactRun(s.loader.env).walk(s.extensions, preferred(r.Catalogs, r.Package, r.Selector, catalog))
	}
	if a.refusal != nil {
		changed := *a.refusal
		var err error
		changed.Fixes, err = triedEach(changed.Fixes, func(f *olmv1.Fix) (*olmv1.Fix, bool, error) {
			return walk(f.Catalog).try(ctx, name, installed, f)
		})
		a.refusal = &changed
		return err
	}
	x, err := walk(a.selection.Catalog).stop(ctx, r, installed, a.selection)
	if err != nil || x == nil {
		return err
	}
	changed := *a.selection
	changed.Notes = append(slices.Clip(changed.Notes), stopNote(x, name, installed))
	a.selection = &changed
	return nil
}
