package cli

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/blang/semver/v4"
	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver"
)

// A request is a problem as people state it: with flags, about bundles that are
// in the catalogs.
type request struct {
	catalogs    []string
	sample      *bool
	namespace   string
	packages    []string
	installed   []string
	startingCSV []string
}

func (r *request) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringArrayVar(&r.catalogs, "catalog", nil, "another catalog, as `NAME=PATH[,priority=N][,namespace=NS]` (repeatable)")
	r.sample = addSample(cmd)
	f.StringArrayVarP(&r.packages, "package", "p", nil, "a package to subscribe to, as `PACKAGE[:CHANNEL]` (repeatable)")
	f.StringArrayVarP(&r.installed, "installed", "i", nil, "an installed operator, as `PACKAGE=VERSION` or the name of its bundle (repeatable)")
	f.StringArrayVar(&r.startingCSV, "starting-csv", nil, "the bundle to begin with, as `[PACKAGE=]BUNDLE` (repeatable)")
	f.StringVarP(&r.namespace, "namespace", "n", "operators", "the namespace to resolve")
}

// isUsed reports whether a flag of the request was given.
func (r *request) isUsed(cmd *cobra.Command) bool {
	return slices.ContainsFunc([]string{"catalog", "sample", "package", "installed", "starting-csv", "namespace"}, cmd.Flags().Changed)
}

// problem loads the catalogs and states the problem.
func (r *request) problem(ctx context.Context, l *loader, paths []string) (*resolver.Problem, error) {
	list, err := sources(paths, r.catalogs, *r.sample)
	switch {
	case err != nil:
		return nil, err
	case len(list) == 0:
		return nil, usagef("no catalog; name its directory, or give --catalog, --sample or --problem")
	case len(r.packages)+len(r.installed) == 0:
		return nil, usagef("nothing to resolve; name packages with --package, and what is installed with --installed")
	}
	p := &resolver.Problem{Namespace: r.namespace}
	for _, s := range list {
		g, err := l.index(ctx, s.path)
		if err != nil {
			return nil, err
		}
		l.note(s.path, g)
		p.Catalogs = append(p.Catalogs, resolver.Catalog{Name: s.name, Namespace: s.namespace, Priority: s.priority, Graph: g})
	}
	for _, arg := range r.installed {
		in, err := findInstalled(arg, p.Catalogs)
		if err != nil {
			return nil, err
		}
		p.Installed = append(p.Installed, in)
	}
	if err := r.subscribe(p); err != nil {
		return nil, err
	}
	return p, r.start(p)
}

// subscribe adds a subscription for each package; it owns what is installed of
// that package.
func (r *request) subscribe(p *resolver.Problem) error {
	for _, arg := range r.packages {
		pkg, channel, _ := strings.Cut(arg, ":")
		if pkg == "" {
			return usagef("--package %q has no package; write PACKAGE[:CHANNEL]", arg)
		}
		if slices.ContainsFunc(p.Subscriptions, func(s resolver.Subscription) bool { return s.Package == pkg }) {
			return usagef("--package %s is given twice; a namespace holds one version of a package", pkg)
		}
		s := resolver.Subscription{Package: pkg, Channel: channel}
		for _, in := range p.Installed {
			if in.Package == pkg {
				s.InstalledCSV = in.Name
			}
		}
		p.Subscriptions = append(p.Subscriptions, s)
	}
	return nil
}

// start gives subscriptions their startingCSV.
func (r *request) start(p *resolver.Problem) error {
	for _, arg := range r.startingCSV {
		pkg, name, ok := strings.Cut(arg, "=")
		if !ok {
			pkg, name = "", arg
		}
		match := -1
		for i, s := range p.Subscriptions {
			if pkg != "" && s.Package != pkg || pkg == "" && !hasBundle(p.Catalogs, s.Package, name) {
				continue
			}
			if match >= 0 {
				return usagef("--starting-csv %s is in packages %s and %s; write PACKAGE=%s", name, p.Subscriptions[match].Package, s.Package, name)
			}
			match = i
		}
		switch {
		case match >= 0:
			p.Subscriptions[match].StartingCSV = name
		case pkg != "":
			return usagef("--starting-csv %s is about package %q, and no --package asks for it", arg, pkg)
		default:
			return usagef("--starting-csv %s is in no package that --package asks for; \"olmkit list bundles\" shows the names", name)
		}
	}
	return nil
}

func hasBundle(cats []resolver.Catalog, pkg, name string) bool {
	for _, c := range cats {
		if p, ok := c.Graph.Package(pkg); ok {
			if _, ok := p.Bundle(name); ok {
				return true
			}
		}
	}
	return false
}

// findInstalled returns the installed operator that PACKAGE=VERSION or a bundle
// name stands for, with the properties that the preferred catalog gives it.
func findInstalled(arg string, cats []resolver.Catalog) (resolver.Installed, error) {
	pkg, version, ok := strings.Cut(arg, "=")
	if !ok {
		return findByName(arg, cats)
	}
	asked, err := semver.ParseTolerant(version)
	if err != nil {
		return resolver.Installed{}, fmt.Errorf("--installed %s: %q is no version; write one like 1.2.3", arg, version)
	}
	var found []graph.Bundle
	var versions []semver.Version
	for p := range packages(cats, pkg) {
		for b := range p.Bundles() {
			if b.Err() == nil && b.Version().EQ(asked) {
				found = append(found, b)
			}
			versions = append(versions, b.Version())
		}
	}
	switch {
	case len(versions) == 0:
		return resolver.Installed{}, fmt.Errorf("--installed %s: no catalog has a package %q%s", arg, pkg, hint(pkg, packageNames(cats)))
	case len(found) == 0:
		return resolver.Installed{}, fmt.Errorf("--installed %s: package %s has no version %s; nearby are %s", arg, pkg, asked, nearbyVersions(asked, versions))
	}
	for _, b := range found[1:] {
		if b.Name() != found[0].Name() {
			return resolver.Installed{}, fmt.Errorf("--installed %s: version %s is both %s and %s; name the bundle instead", arg, asked, found[0].Name(), b.Name())
		}
	}
	return installedFrom(found[0]), nil
}

func findByName(name string, cats []resolver.Catalog) (resolver.Installed, error) {
	var found []graph.Bundle
	for p := range packages(cats, "") {
		if b, ok := p.Bundle(name); ok {
			found = append(found, b)
		}
	}
	if len(found) == 0 {
		known := packageNames(cats)
		for _, c := range cats {
			for b := range c.Graph.Bundles() {
				known = append(known, b.Name())
			}
		}
		return resolver.Installed{}, fmt.Errorf("--installed %s: no catalog has a bundle of this name%s", name, hint(name, known))
	}
	for _, b := range found[1:] {
		if b.Package().Name() != found[0].Package().Name() {
			return resolver.Installed{}, fmt.Errorf("--installed %s: packages %s and %s both have such a bundle; write PACKAGE=VERSION", name, found[0].Package().Name(), b.Package().Name())
		}
	}
	return installedFrom(found[0]), nil
}

func packageNames(cats []resolver.Catalog) []string {
	var names []string
	for p := range packages(cats, "") {
		names = append(names, p.Name())
	}
	return names
}

// inPreference returns catalogs in an order that does not depend on how they
// were given: by priority, then by namespace and name.
func inPreference(cats []resolver.Catalog) []resolver.Catalog {
	return slices.SortedStableFunc(slices.Values(cats), func(a, b resolver.Catalog) int {
		return cmp.Or(cmp.Compare(b.Priority, a.Priority), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}

// packages yields the packages of a name, or all, in the order of preference of
// the catalogs.
func packages(cats []resolver.Catalog, name string) iter.Seq[graph.Package] {
	return func(yield func(graph.Package) bool) {
		for _, c := range inPreference(cats) {
			if name != "" {
				if p, ok := c.Graph.Package(name); ok && !yield(p) {
					return
				}
				continue
			}
			for p := range c.Graph.Packages() {
				if !yield(p) {
					return
				}
			}
		}
	}
}

func installedFrom(b graph.Bundle) resolver.Installed {
	in := resolver.Installed{Name: b.Name(), Version: b.Version().String(), Package: b.Package().Name()}
	for p := range b.Properties() {
		if !property.IsHeavy(p.Type) {
			in.Properties = append(in.Properties, p)
		}
	}
	return in
}

// nearbyVersions lists the versions around one that does not exist.
func nearbyVersions(asked semver.Version, known []semver.Version) string {
	slices.SortFunc(known, semver.Version.Compare)
	known = slices.CompactFunc(known, semver.Version.EQ)
	at, _ := slices.BinarySearchFunc(known, asked, semver.Version.Compare)
	from := max(0, min(at-maxNearest/2, len(known)-maxNearest))
	var names []string
	for _, v := range known[from:min(len(known), from+maxNearest)] {
		names = append(names, v.String())
	}
	return cmp.Or(strings.Join(names, ", "), "none")
}
