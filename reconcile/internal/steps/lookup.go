package steps

import (
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/resolver"
)

// Lookups returns the entries that OLM keeps in an install plan for the bundles with an image,
// after it has unpacked them. Programs that approve plans read them: only they state which
// bundles of a plan are dependencies of which (E3).
func (p *Builder) Lookups(selected []resolver.Selected) ([]olm.BundleLookup, error) {
	var list []olm.BundleLookup
	for _, s := range selected {
		if s.Bundle.Image() == "" {
			continue
		}
		properties, err := project(light(s))
		if err != nil {
			return nil, err
		}
		list = append(list, olm.BundleLookup{
			Path: s.Bundle.Image(), Identifier: s.Name, Replaces: s.Replaces, Properties: properties,
			CatalogSourceRef: &olm.ObjectReference{Namespace: s.CatalogNamespace, Name: s.Catalog},
		})
	}
	return list, nil
}
