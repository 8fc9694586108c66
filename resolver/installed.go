package resolver

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
)

// packages returns the packages of the operator, without duplicates: Package, then those of
// its olm.package properties. All of them count; the first is the main one. Without Package,
// the first is the package of the last property, as in OLM.
func (in *Installed) packages() []string {
	return packagesOf(constraints.NewPropertyList(in.Properties, &constraints.Identity{Package: in.Package}))
}

// packagesOf returns the packages of an installed operator, the main one first.
func packagesOf(list *constraints.PropertyList) []string {
	names := list.Packages()
	if len(names) < 2 || len(names) == 2 && names[0] == names[1] {
		return names[:min(1, len(names))]
	}
	var out []string
	for _, name := range slices.Backward(names) {
		if !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// PackageName returns the main package of the operator, which is Package if that is set, or
// "" if the operator has no package.
func (in *Installed) PackageName() string {
	for _, name := range in.packages() {
		return name
	}
	return ""
}

// Infer returns the operator with the olm.package property that OLM infers for a
// ClusterServiceVersion that lacks the properties annotation. It uses the packages of the
// subscriptions that own the operator; if they do not name exactly one, nothing is inferred.
// An operator with a package or properties, even an empty list, is returned unchanged.
func (in Installed) Infer(packages ...string) Installed { // H22
	packages = slices.DeleteFunc(slices.Compact(slices.Sorted(slices.Values(packages))), func(p string) bool { return p == "" })
	if in.Package != "" || in.Properties != nil || len(packages) != 1 {
		return in
	}
	inferred := property.Package{PackageName: packages[0]}
	// OLM treats version 0.0.0 as no version.
	if v, err := version.Parse(in.Version); err == nil && !v.Equals(semver.Version{}) {
		inferred.Version = in.Version
	}
	in.Properties = []property.Property{property.New(property.TypePackage, inferred)}
	return in
}

// addInstalled parses the properties of the installed operators and sorts them by name
// (H24).
func (u *universe) addInstalled(ctx context.Context) error {
	compiled := compilations{limits: u.p.Options.ConstraintLimits}
	var owners map[string][]string // the packages of the subscriptions that own a CSV
	all := make([]installed, len(u.p.Installed))
	u.installed = make([]*installed, 0, len(all))
	for i := range u.p.Installed {
		in := &u.p.Installed[i]
		if in.Package == "" && in.Properties == nil {
			if owners == nil {
				owners = u.owners()
			}
			inferred := in.Infer(owners[in.Name]...)
			in = &inferred
		}
		x := &all[i]
		x.Installed, x.at = in, i
		if in.Name == "" {
			return document.Errorf(fmt.Sprintf("/installed/%d/name", i), "is missing; name the ClusterServiceVersion")
		}
		if in.Version != "" {
			v, err := version.Parse(in.Version)
			if err != nil {
				return &document.Error{Path: fmt.Sprintf("/installed/%d/version", i), Err: version.Error(in.Version, err)}
			}
			x.version = v
		}
		bad := x.describe(u.published(x))
		for n, p := range in.Properties {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			var err error
			if len(bad) > 0 && bad[0].Index == n {
				err, bad = bad[0].Err, bad[1:]
			}
			x.property(&compiled, n, p, err)
		}
		// Nothing preserves the order of a CSV's properties, so the answer must not depend on
		// it (H29), or on how a formula is written (D20).
		slices.SortStableFunc(x.requires, func(a, b graph.Requirement) int {
			return cmp.Or(
				cmp.Compare(normal(a.Expr, false).String(), normal(b.Expr, false).String()),
				cmp.Compare(a.Expr.String(), b.Expr.String()),
				slices.Compare(prose.Messages(a.Expr), prose.Messages(b.Expr)),
			)
		})
		u.installed = append(u.installed, x)
	}
	slices.SortStableFunc(u.installed, func(a, b *installed) int { return cmp.Compare(a.Name, b.Name) })
	for i, x := range u.installed {
		x.id = cand(i)
		if i > 0 && u.installed[i-1].Name == x.Name {
			return document.Errorf(fmt.Sprintf("/installed/%d/name", x.at), "%q appears twice; names are unique in a namespace", x.Name)
		}
	}
	return nil
}

// A published is the bundle that an operator was installed from, with the properties of the operator, which are the
// same without the heavy ones.
type published struct {
	graph.Bundle
	props  []property.Property
	values *constraints.Values
}

// Properties returns those of the operator.
func (b *published) Properties() iter.Seq[property.Property] { return slices.Values(b.props) }

// Values returns the decoded properties.
func (b *published) Values() *constraints.Values {
	if b.values == nil {
		b.values = constraints.NewValues(b.Properties())
	}
	return b.values
}

// published returns the bundle of a catalog that an operator was installed from, if it has the package, the version and
// the properties of the operator. They need not be parsed again.
func (u *universe) published(x *installed) (graph.Bundle, bool) {
	if x.Package == "" {
		return graph.Bundle{}, false
	}
	for i := range u.p.Catalogs {
		if c := u.p.Catalogs[i].Graph; c != nil {
			if p, ok := c.Package(x.Package); ok {
				if b, ok := p.Bundle(x.Name); ok && b.Err() == nil && x.equals(b) {
					return b, true
				}
			}
		}
	}
	return graph.Bundle{}, false
}

// equals reports whether a valid bundle of the operator's package has its version and properties.
func (x *installed) equals(b graph.Bundle) bool {
	if v := b.Version(); !v.Equals(x.version) || !slices.Equal(v.Build, x.version.Build) {
		return false
	}
	if _, twice := b.RepeatedAPI(); twice || !b.HasProperties(x.Properties) {
		return false
	}
	for _, p := range x.Properties {
		if p.Type == property.TypePackage { // there is only one
			v, err := property.Parse[property.Package](p)
			return err == nil && v.PackageName == x.Package
		}
	}
	return false
}

// describe sets what the properties of the operator state, except for its requirements. If ok, b is the bundle that it
// was installed from. It returns the properties that cannot be read.
func (x *installed) describe(b graph.Bundle, ok bool) []constraints.Problem {
	if ok {
		x.facts, x.pkgs = &published{Bundle: b, props: x.Properties}, []string{x.Package}
		x.apis = slices.AppendSeq(make([]property.GVK, 0, len(x.Properties)), b.APIs())
		slices.SortFunc(x.apis, property.GVK.Compare)
		return nil
	}
	list := constraints.NewPropertyList(x.Properties, &constraints.Identity{Package: x.Package, Version: &x.version})
	x.facts, x.pkgs = list, packagesOf(list)
	if x.apis = list.GVKs(); !increasing(x.apis) {
		x.apis = slices.Clone(x.apis)
		slices.SortFunc(x.apis, property.GVK.Compare)
		x.apis = slices.Compact(x.apis)
	}
	packages := 0
	for _, p := range x.Properties {
		if p.Type == property.TypePackage {
			packages++
		}
	}
	if packages > 1 || len(x.apis) < len(list.GVKs()) {
		x.repeats = repeated(x.Properties)
	}
	return list.Problems()
}

// increasing reports whether a list is sorted and has no repetitions.
func increasing(list []property.GVK) bool {
	for i := range list[min(1, len(list)):] {
		if list[i].Compare(list[i+1]) >= 0 {
			return false
		}
	}
	return true
}

// owners returns the packages of the subscriptions that own a CSV, by its name.
func (u *universe) owners() map[string][]string {
	m := map[string][]string{}
	for _, s := range u.p.Subscriptions {
		m[s.InstalledCSV] = append(m[s.InstalledCSV], s.Package)
	}
	return m
}

// Compilations are the compiled requirements of installed operators. Equal requirements are
// compiled once and share a need.
type compilations struct {
	limits *constraints.Limits
	made   *constraints.Compiler
	known  map[string]compilation // by type and value
}

type compilation struct {
	expr constraints.Expr
	err  error
}

// of returns the constraint that a property states. ok is false if it states none.
func (c *compilations) of(p property.Property) (x constraints.Expr, ok bool, err error) {
	if !property.IsRequirement(p.Type) {
		return nil, false, nil
	}
	if c.made == nil {
		c.made, c.known = constraints.NewCompiler(c.limits), map[string]compilation{}
	}
	key := p.Type + "\x00" + string(p.Value)
	got, known := c.known[key]
	if !known {
		got.expr, _, got.err = c.made.FromProperty(p)
		c.known[key] = got
	}
	return got.expr, true, got.err
}

// property examines one property of an installed operator. bad is why its value is invalid.
func (x *installed) property(compiled *compilations, n int, p property.Property, bad error) {
	keep := func(err error) bool {
		if err != nil && x.err == nil {
			x.err = fmt.Errorf("/properties/%d/value: %w", n, err)
		}
		return err == nil
	}
	switch p.Type {
	case property.TypePackage:
		if bad != nil { // which may only concern the version
			_, err := property.ParseInstalledPackage(p.Value)
			keep(err)
		}
	case property.TypeGVK:
		keep(bad)
	case property.TypeDeprecated:
		x.prohibited = true
	default:
		if e, ok, err := compiled.of(p); ok && keep(err) {
			x.requires = append(x.requires, graph.Requirement{Property: n, ID: -1, Expr: e})
		}
	}
}

// ownerOf returns another subscription to the same package that owns an operator, if the given one owns
// none. Otherwise it returns nil.
func (u *universe) ownerOf(s *subscription) *subscription {
	if s.current != nil {
		return nil
	}
	for _, in := range u.installedOf(s.Package) {
		for _, o := range in.owners {
			if o.Package == s.Package {
				return o
			}
		}
	}
	return nil
}
