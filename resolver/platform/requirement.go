package platform

import (
	"cmp"
	"context"
	"fmt"
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
	now := map[who]resolver.Installed{} // never ranged over
	for _, o := range t.installs {
		if b, ok := t.known(o); ok {
			now[t.who[o]] = provider(b)
		}
	}
	last := map[who]string{} // the requirements reported last
	for _, s := range steps {
		i := slices.IndexFunc(t.installs, func(o *Operator) bool { return t.who[o] == s.who() })
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
			lacks, err := t.lacks(ctx, at, t.installs[i], b, now)
			if err != nil {
				return nil, err
			}
			text := fmt.Sprint(lacks)
			if len(lacks) > 0 && text != last[s.who()] {
				last[s.who()] = text
				to := s.Operator.To
				for _, x := range lacks {
					x.Platform, x.Package, x.Instance, x.Bundle = s.Platform, s.Package, s.Instance, &to
					out = append(out, x)
				}
			}
		}
		now[s.who()] = provider(b)
	}
	return out, nil
}

// lacks returns the requirements of a bundle that nothing satisfies at a version of the platform: first those that
// no catalog has, together, then the others. Only Requires and what is in its way are set. Of several operators of another
// package, one in a namespace of the operator counts.
func (t *trip) lacks(ctx context.Context, at property.MinorVersion, of *Operator, b graph.Bundle, now map[who]resolver.Installed) (out []Unchecked, err error) {
	var others []resolver.Installed
	seen := map[string]int{of.Package: -1} // the number of each package among others
	for _, o := range t.installs {
		x, ok := now[t.who[o]]
		n, again := seen[o.Package]
		switch {
		case ok && !again:
			seen[o.Package] = len(others)
			others = append(others, x)
		case ok && n >= 0 && slices.ContainsFunc(o.Objects, func(x Object) bool {
			return slices.ContainsFunc(of.Objects, func(y Object) bool { return x.Namespace == y.Namespace })
		}):
			others[n] = x
		}
	}
	var cats []resolver.Catalog
	for _, c := range t.catalogs[at] {
		cats = append(cats, resolver.Catalog{Name: cmp.Or(c.Name, c.Platform), Graph: c.Graph})
	}
	next, err := resolver.CheckDependencies(ctx, b, others, cats)
	if err != nil || next.Reason == "" {
		return nil, err
	}
	alone, err := resolver.CheckDependencies(ctx, b, nil, cats)
	if err != nil {
		return nil, err
	}
	var lost []string
	for _, u := range next.Unmet {
		if u.Reason == "" {
			continue
		}
		if a := lacking(alone, u.Property); a != nil {
			if a.Offered() {
				out = append(out, Unchecked{Requires: u.Requires, Reason: a.Reason})
			} else {
				lost = append(lost, u.Requires)
			}
			continue
		}
		x := Unchecked{Requires: u.Requires}
		for i, o := range others {
			c, err := resolver.CheckDependencies(ctx, b, slices.Delete(slices.Clone(others), i, i+1), cats)
			if err != nil {
				return nil, err
			}
			if lacking(c, u.Property) != nil {
				continue
			}
			x.InTheWay = append(x.InTheWay, o.Name)
			if n := slices.IndexFunc(c.Install, func(y resolver.Selected) bool { return y.Package == o.Package }); n >= 0 {
				x.Instead = c.Install[n].Name
			}
		}
		if len(x.InTheWay) == 0 { // only all together
			for _, o := range others {
				x.InTheWay = append(x.InTheWay, o.Name)
			}
		}
		out = append(out, x)
	}
	if len(lost) > 0 {
		out = slices.Insert(out, 0, Unchecked{Requires: phrase.And(lost)})
	}
	return out, nil
}

// lacking returns the requirement with the given property if the catalogs cannot satisfy it, or nil.
func lacking(c *resolver.Closure, property int) *resolver.UnmetRequirement {
	for i, u := range c.Unmet {
		if u.Property == property && u.Reason != "" {
			return &c.Unmet[i]
		}
	}
	return nil
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
