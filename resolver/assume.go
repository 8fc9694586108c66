package resolver

import (
	"cmp"
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

// An assumption is a catalog that a fix adds, with the least that it must have. All given
// catalogs come before it. Names that nobody knows contain spaces, so no object or package has one
// of them.
type assumption struct {
	CatalogID
	bundles []*fbc.Bundle
	// channels has the channel of each bundle.
	channels []string
}

// assumedName is the name of a catalog that is not named.
const assumedName = "assumed catalog"

// add adds a bundle of a package to a channel. An empty name is unknown.
func (a *assumption) add(name, pkg, version, channel string, props ...property.Property) {
	name = cmp.Or(name, fmt.Sprintf("assumed bundle %d", len(a.bundles)))
	b := &fbc.Bundle{Meta: fbc.Meta{Schema: fbc.SchemaBundle, Package: cmp.Or(pkg, name), Name: name}}
	b.Properties = append(props, property.New(property.TypePackage, property.Package{PackageName: b.Package, Version: version}))
	a.bundles, a.channels = append(a.bundles, b), append(a.channels, cmp.Or(channel, name))
}

// catalog builds the catalog.
func (a *assumption) catalog(ctx context.Context) (*Catalog, error) {
	blobs := &fbc.Catalog{Bundles: a.bundles}
	for i, b := range a.bundles {
		meta := func(schema, name string) fbc.Meta {
			return fbc.Meta{Schema: schema, Package: b.Package, Name: name}
		}
		blobs.Channels = append(blobs.Channels, &fbc.Channel{Meta: meta(fbc.SchemaChannel, a.channels[i]), Entries: []fbc.Entry{{Name: b.Name}}})
		if !slices.ContainsFunc(blobs.Packages, func(p *fbc.Package) bool { return p.Name == b.Package }) {
			blobs.Packages = append(blobs.Packages, &fbc.Package{Meta: meta(fbc.SchemaPackage, b.Package), DefaultChannel: a.channels[i]})
		}
	}
	g, err := graph.Build(ctx, blobs, nil)
	if err != nil {
		return nil, err
	}
	id := a.CatalogID
	if id == (CatalogID{}) {
		id.Name = assumedName
	}
	return &Catalog{Name: id.Name, Namespace: id.Namespace, Priority: math.MinInt, Graph: g, assumed: true}, nil
}

// assume returns a catalog with a bundle for each of some requirements of packages and APIs, or
// nil if no version is in the range of one.
func assume(ctx context.Context, missing []*fact.Requires) (*Catalog, error) {
	var a assumption
	for _, q := range missing {
		switch x := q.Requirement.(type) {
		case *constraints.GVK:
			a.add("", "", "0.0.0", "", property.New(property.TypeGVK, x.GVK))
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
			a.add("", x.Name, v.String(), "")
		}
	}
	return a.catalog(ctx)
}

// assumeFor returns the catalog that subscription i lacks. It has the installed operator that the
// subscription owns, or any bundle.
func (u *universe) assumeFor(ctx context.Context, i int) (*Catalog, error) {
	s := u.subs[i]
	a := assumption{CatalogID: s.Source()}
	if a.CatalogID != (CatalogID{}) && !u.p.sees(a.CatalogID) {
		a.CatalogID.Namespace = u.p.Namespace
	}
	if slices.ContainsFunc(u.cats, func(c *source) bool { return c.ID() == a.CatalogID }) {
		a.CatalogID.Name = assumedName // the one that it names lacks the package
	}
	if s.current != nil {
		a.add(s.current.Name, s.Package, s.current.version.String(), s.Channel)
	} else {
		a.add(s.StartingCSV, s.Package, "1.0.0", s.Channel)
	}
	return a.catalog(ctx)
}

// with returns a problem with the catalog that a fix assumes, in place of one of that name that cannot
// be read. The subscriptions for which the fix adds it are switched to it.
func (f *Fix) with(p Problem) Problem {
	if f.assumed != nil {
		p.Subscriptions = slices.Clone(p.Subscriptions)
		for i := range p.Subscriptions {
			s := &p.Subscriptions[i]
			if s.Source() != (CatalogID{}) && slices.ContainsFunc(f.Changes, func(c Change) bool { return c.Kind == AddCatalog && c.Subscription == s.Name }) {
				s.Catalog, s.CatalogNamespace = f.assumed.Name, f.assumed.Namespace
			}
		}
		p.Catalogs = append(slices.DeleteFunc(slices.Clone(p.Catalogs), func(c Catalog) bool { return c.ID() == f.assumed.ID() }), *f.assumed)
	}
	return p
}

// given returns the bundles of the given catalogs in a plan: nobody knows the names of those that a fix
// only assumes.
func (f *Fix) given(list []Selected) []Selected {
	if f.assumed == nil {
		return list
	}
	return slices.DeleteFunc(slices.Clone(list), func(s Selected) bool {
		return s.Catalog == f.assumed.Name && s.CatalogNamespace == f.assumed.Namespace
	})
}
