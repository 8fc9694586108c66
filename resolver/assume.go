package resolver

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/fact"
)

// assume returns a catalog with a bundle for each of some requirements of packages and APIs, or
// nil if no version is in the range of one. All given catalogs come before it. Its names contain spaces,
// so no object or package has one of them.
func assume(ctx context.Context, missing []*fact.Requires) (*Catalog, error) {
	blobs := &fbc.Catalog{}
	for i, q := range missing {
		name := fmt.Sprintf("assumed bundle %d", i)
		id := property.Package{PackageName: name, Version: "0.0.0"}
		var props []property.Property
		switch x := q.Requirement.(type) {
		case *constraints.GVK:
			props = append(props, property.New(property.TypeGVK, x.GVK))
		case *constraints.Package:
			var same []constraints.Range
			for _, o := range missing {
				if p, ok := o.Requirement.(*constraints.Package); ok && p.Name == x.Name {
					same = append(same, p.Range)
				}
			}
			v, ok := constraints.Common(same...)
			if !ok {
				v, ok = constraints.Common(x.Range)
			}
			if !ok {
				return nil, nil
			}
			id = property.Package{PackageName: x.Name, Version: v.String()}
		}
		meta := func(schema, name string) fbc.Meta {
			return fbc.Meta{Schema: schema, Package: id.PackageName, Name: name}
		}
		bundle := &fbc.Bundle{Meta: meta(fbc.SchemaBundle, name)}
		bundle.Properties = append(props, property.New(property.TypePackage, id))
		blobs.Bundles = append(blobs.Bundles, bundle)
		blobs.Channels = append(blobs.Channels, &fbc.Channel{Meta: meta(fbc.SchemaChannel, name), Entries: []fbc.Entry{{Name: name}}})
		if !slices.ContainsFunc(blobs.Packages, func(p *fbc.Package) bool { return p.Name == id.PackageName }) {
			blobs.Packages = append(blobs.Packages, &fbc.Package{Meta: meta(fbc.SchemaPackage, id.PackageName), DefaultChannel: name})
		}
	}
	g, err := graph.Build(ctx, blobs, nil)
	if err != nil {
		return nil, err
	}
	return &Catalog{Name: "assumed catalog", Priority: math.MinInt, Graph: g}, nil
}

// given returns the bundles of the given catalogs in a plan: nobody knows the names of those that a fix
// only assumes.
func (f *Fix) given(list []Selected) []Selected {
	if f.assumed == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(s Selected) bool { return s.Catalog == f.assumed.Name })
}
