package resolver_test

import (
	"bytes"
	"context"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// TestInstalledAsPublished checks that it does not matter whether the properties of an installed operator are
// those of the catalog's bundle or have to be parsed, which they have if their text differs.
func TestInstalledAsPublished(t *testing.T) {
	t.Run("generated", func(t *testing.T) { checkPublished(t, opened(t, 400)) })
	for _, name := range []string{"classic-upgrade.jsonl", "real-openshift-v4.19.jsonl"} {
		t.Run(name, func(t *testing.T) {
			var problems []resolver.Problem
			for _, c := range readCases(t, name)[:100] {
				problems = append(problems, problemOf(t, &c))
			}
			checkPublished(t, problems)
		})
	}
}

func checkPublished(t *testing.T, problems []resolver.Problem) {
	g, equal := rand.New(rand.NewPCG(1, 0)), 0
	for i, p := range problems {
		p.Installed = slices.Clone(p.Installed)
		for k := range p.Installed {
			in := &p.Installed[k]
			b, ok := bundleNamed(p.Catalogs, in.Name)
			if !ok {
				continue
			}
			in.Package, in.Version, in.Properties = b.Package().Name(), b.Version().String(), nil
			for q := range b.Properties() {
				if !property.IsHeavy(q.Type) {
					in.Properties = append(in.Properties, q)
				}
			}
			switch g.IntN(8) {
			case 0: // a property less
				if n := len(in.Properties); n > 0 {
					in.Properties = slices.Delete(in.Properties, n-1, n)
				}
			case 1: // a property twice
				in.Properties = append(in.Properties, in.Properties[:min(1, len(in.Properties))]...)
			case 2:
				in.Version = "99.0.0"
			case 3:
				in.Package = "other"
			default:
				if b.Err() == nil && b.HasProperties(in.Properties) {
					equal++
				}
			}
		}
		parsed := p
		parsed.Installed = slices.Clone(p.Installed)
		for k := range parsed.Installed {
			in := &parsed.Installed[k]
			in.Properties = slices.Clone(in.Properties)
			for n := range in.Properties {
				q := &in.Properties[n]
				q.Value = append(bytes.Clone(q.Value), ' ')
			}
		}
		for _, semantics := range []resolver.Semantics{resolver.Documented, resolver.PerBundle} {
			p.Options.Semantics, parsed.Options.Semantics = semantics, semantics
			got := outcomeOf(resolver.Resolve(context.Background(), p))
			if want := outcomeOf(resolver.Resolve(context.Background(), parsed)); got != want {
				t.Errorf("problem %d, %s: as published: %s\nparsed: %s", i, semantics, got, want)
			}
		}
	}
	if equal < 20 {
		t.Errorf("only %d installed operators are as published", equal)
	}
}

// bundleNamed returns the first bundle with a name.
func bundleNamed(catalogs []resolver.Catalog, name string) (graph.Bundle, bool) {
	for _, c := range catalogs {
		if c.Graph == nil {
			continue
		}
		for p := range c.Graph.Packages() {
			if b, ok := p.Bundle(name); ok {
				return b, true
			}
		}
	}
	return graph.Bundle{}, false
}
