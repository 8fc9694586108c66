package platform

import (
	"cmp"
	"context"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// unmet returns the steps to bundles with a requirement that neither the catalogs of that version of
// the platform nor the other operators satisfy: the first one, and each with another requirement than the
// one before. Catalogs that were not
// given may satisfy it. OLM v1 refuses such bundles, so the steps do not lead to them.
func (t *trip) unmet(ctx context.Context, steps []Step) (out []Unchecked, err error) {
	now := map[string]resolver.Installed{} // by package; never ranged over
	for _, o := range t.installs {
		if b, ok := t.known(o); ok {
			now[o.Package] = provider(b)
		}
	}
	last := map[string]string{} // the requirements reported last, by package
	for _, s := range steps {
		i := slices.IndexFunc(t.installs, func(o *Operator) bool { return o.Package == s.Package })
		if s.Operator == nil || i < 0 || t.installs[i].Reading != graph.Classic {
			continue
		}
		at, err := property.ParseMinorVersion(s.Platform)
		if err != nil {
			return nil, err
		}
		_, pkg, ok := t.source(t.installs[i], at)
		if !ok {
			continue
		}
		b, ok := pkg.Bundle(s.Operator.To.Name)
		if !ok {
			continue
		}
		if slices.ContainsFunc(slices.Collect(b.Properties()), func(p property.Property) bool { return property.IsRequirement(p.Type) }) {
			lacks, err := t.lacks(ctx, at, b, now)
			if err != nil {
				return nil, err
			}
			if lacks != "" && lacks != last[s.Package] {
				last[s.Package] = lacks
				to := s.Operator.To
				out = append(out, Unchecked{Platform: s.Platform, Package: s.Package, Bundle: &to, Requires: lacks})
			}
		}
		now[s.Package] = provider(b)
	}
	return out, nil
}

// lacks returns the requirements of a bundle that nothing satisfies at a version of the platform.
func (t *trip) lacks(ctx context.Context, at property.MinorVersion, b graph.Bundle, now map[string]resolver.Installed) (string, error) {
	var others []resolver.Installed
	for _, o := range t.installs {
		if x, ok := now[o.Package]; ok && o.Package != b.Package().Name() {
			others = append(others, x)
		}
	}
	var cats []resolver.Catalog
	for _, c := range t.catalogs[at] {
		cats = append(cats, resolver.Catalog{Name: cmp.Or(c.Name, c.Platform), Graph: c.Graph})
	}
	c, err := resolver.CheckDependencies(ctx, b, others, cats)
	if err != nil {
		return "", err
	}
	var list []string
	for _, u := range c.Unmet {
		if u.Reason != "" {
			list = append(list, u.Requires)
		}
	}
	if len(list) == 0 {
		return "", nil
	}
	return phrase.And(list), nil
}

// provider returns a bundle as an installed operator, without its requirements.
func provider(b graph.Bundle) resolver.Installed {
	x := resolver.Installed{Name: b.Name(), Package: b.Package().Name(), Version: b.Version().String()}
	for p := range b.Properties() {
		if !property.IsRequirement(p.Type) && !property.IsHeavy(p.Type) && p.Type != property.TypeDeprecated {
			x.Properties = append(x.Properties, p)
		}
	}
	return x
}
