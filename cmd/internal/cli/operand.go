package cli

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/visible"
)

// installedUsage is the grammar of --installed, the same in all commands. "olmkit
// help operators" describes all of it.
const installedUsage = "`PACKAGE=VERSION`, the name of a bundle, or BUNDLE@VERSION for a bundle that is in no catalog"

// An operand is a bundle or version on the command line, in one of the forms that
// topicOperators lists.
type operand struct {
	graph.Node
	// pkg is the name of the package, or "" if neither the user nor a catalog names one.
	pkg     string
	channel string
	// bundle is the bundle in the preferred catalog that has it, or the zero Bundle.
	bundle graph.Bundle
}

// findOperand returns the operand that text names. It searches cats, which begin with the
// preferred catalog. If only is not "", it searches only the package of that name.
func findOperand(text string, cats []*graph.Catalog, only string) (operand, error) {
	pkg, spec, named := strings.Cut(text, "=")
	if !named {
		pkg, spec = "", text
	}
	var o operand
	spec, o.channel, _ = strings.Cut(spec, ":")
	name, version, given := strings.Cut(spec, "@")
	if given && !named && len(packagesOf(cats, name)) > 0 {
		pkg, spec, given = name, version, false // PACKAGE@VERSION
	}
	if only != "" && pkg != "" && pkg != only {
		return o, fmt.Errorf("it names package %s, but the command expects package %s", pkg, only)
	}
	o.pkg = cmp.Or(pkg, only)
	list := packagesOf(cats, o.pkg)
	if o.pkg != "" && len(list) == 0 {
		return o, fmt.Errorf("no catalog has a package %q%s", o.pkg, hint(o.pkg, namesOf(cats)))
	}
	if given {
		return o, o.believe(name, version, list)
	}
	if o.pkg == "" {
		return o, o.byName(spec, cats)
	}
	return o, o.inPackage(spec, list)
}

// packagesOf returns the packages with a name, or all packages, in the order of the
// catalogs.
func packagesOf(cats []*graph.Catalog, name string) []graph.Package {
	var list []graph.Package
	for _, c := range cats {
		if name == "" {
			list = slices.AppendSeq(list, c.Packages())
		} else if p, ok := c.Package(name); ok {
			list = append(list, p)
		}
	}
	return list
}

func namesOf(cats []*graph.Catalog) []string {
	var names []string
	for _, c := range cats {
		names = slices.AppendSeq(names, c.PackageNames())
	}
	return names
}

// believe sets o to a bundle with the given name and version, which need not be in a catalog.
// If a package of list has exactly this bundle, it also sets the bundle and the package.
func (o *operand) believe(name, version string, list []graph.Package) error {
	v, err := semver.Parse(version)
	if err != nil || name == "" {
		return &versionError{name, version}
	}
	o.Node = graph.Node{Name: name, Version: v.String()}
	for _, p := range list {
		if b, ok := p.Bundle(name); ok && b.Node() == o.Node {
			o.bundle, o.pkg = b, p.Name()
			break
		}
	}
	return nil
}

// A versionError is the error for an invalid BUNDLE@VERSION.
type versionError struct{ name, version string }

func (*versionError) Error() string { return "write BUNDLE@VERSION with a version like 1.2.3" }

// found sets the fields of o to those of a bundle in a catalog.
func (o *operand) found(b graph.Bundle) {
	o.bundle, o.Node, o.pkg = b, b.Node(), b.Package().Name()
}

// byName finds a bundle by its name alone.
func (o *operand) byName(name string, cats []*graph.Catalog) error {
	var known []string
	for _, p := range packagesOf(cats, "") {
		b, ok := p.Bundle(name)
		switch {
		case !ok:
		case o.pkg == "":
			o.found(b)
		case o.pkg != p.Name():
			return fmt.Errorf("packages %s and %s both have such a bundle; write PACKAGE=%s", o.pkg, p.Name(), name)
		}
	}
	if o.pkg != "" {
		return nil
	}
	for _, p := range packagesOf(cats, "") {
		if p.Name() == name {
			return fmt.Errorf("the version of package %s is missing; write %s=VERSION", name, name)
		}
		known = append(known, p.Name())
		for b := range p.Bundles() {
			known = append(known, b.Name())
		}
	}
	return fmt.Errorf("no catalog has a bundle of this name%s", cmp.Or(hint(name, known), "; write PACKAGE=VERSION, or BUNDLE@VERSION for a bundle that is in no catalog"))
}

// inPackage sets o to the bundle with the name or version text in the packages of list, or to
// a name that occurs only in their edges.
func (o *operand) inPackage(text string, list []graph.Package) error {
	asked, notVersion := semver.ParseTolerant(text)
	var same []graph.Bundle
	var known []string
	var versions []semver.Version
	for _, p := range list {
		if b, ok := p.Bundle(text); ok {
			o.found(b)
			return nil
		}
		for b := range p.Bundles() {
			known = append(known, b.Name())
			if !b.HasVersion() {
				continue
			}
			versions = append(versions, b.Version())
			if notVersion == nil && b.Version().EQ(asked) {
				same = append(same, b)
			}
		}
	}
	// If several versions differ only in their build metadata, prefer an exact match.
	if exact := slices.DeleteFunc(slices.Clone(same), func(b graph.Bundle) bool { return b.Version().String() != text }); len(exact) > 0 {
		same = exact
	}
	for i, b := range same {
		if i > 0 && b.Name() != same[0].Name() {
			return fmt.Errorf("version %s of package %s is both %s and %s; name the bundle instead", text, o.pkg, same[0].Name(), b.Name())
		}
	}
	if len(same) > 0 {
		o.found(same[0])
		return nil
	}
	if slices.ContainsFunc(list, func(p graph.Package) bool { return mentions(p, text) }) {
		o.Node = graph.Node{Name: text}
		return nil
	}
	if notVersion == nil {
		return &goneError{pkg: o.pkg, version: asked, nearby: nearbyVersions(asked, versions), name: nameLike(list, asked)}
	}
	return fmt.Errorf("package %s has no bundle or version %q%s; write BUNDLE@VERSION for a bundle that is in no catalog", o.pkg, text, hint(text, known))
}

// A goneError is the error for a version that no catalog has.
type goneError struct {
	pkg     string
	version semver.Version
	nearby  string
	// name is that of the bundle if it is named like the nearby ones, or "".
	name string
}

func (e *goneError) Error() string {
	return fmt.Sprintf("package %s has no version %s; nearby versions are %s", e.pkg, e.version, e.nearby)
}

// nameLike returns the name of a bundle of a version if it is named like those of the next lower and
// the next higher version: the same text with the version. Otherwise it returns "".
func nameLike(list []graph.Package, v semver.Version) string {
	var below, above graph.Bundle
	for _, p := range list {
		for b := range p.Bundles() {
			switch {
			case !b.HasVersion():
			case b.Version().LT(v) && (below == graph.Bundle{} || b.Version().GT(below.Version())):
				below = b
			case b.Version().GT(v) && (above == graph.Bundle{} || b.Version().LT(above.Version())):
				above = b
			}
		}
	}
	name := ""
	for _, b := range []graph.Bundle{below, above} {
		if b == (graph.Bundle{}) {
			continue
		}
		before, after, ok := strings.Cut(b.Name(), b.Version().String())
		like := before + v.String() + after
		if !ok || name != "" && name != like {
			return ""
		}
		name = like
	}
	return name
}

// findInstalled is findOperand for an installed operator. It may have a version that has left the
// catalogs, which a note reports.
func (l *loader) findInstalled(text string, cats []*graph.Catalog, only string) (operand, error) {
	o, err := findOperand(text, cats, only)
	var gone *goneError
	if !errors.As(err, &gone) || gone.name == "" {
		return o, err
	}
	o.Node = graph.Node{Name: gone.name, Version: gone.version.String()}
	visible.Fprintf(l.stderr, "note: no catalog has version %s of package %s; assuming that it was %s; if not, write %s=BUNDLE@%[1]s\n", gone.version, gone.pkg, gone.name, gone.pkg)
	return o, nil
}

// mentions reports whether an edge of a package names a bundle.
func mentions(p graph.Package, name string) bool {
	for ch := range p.Channels() {
		for e := range ch.Entries() {
			if e.Replaces() == name {
				return true
			}
			for s := range e.Skips() {
				if s == name {
					return true
				}
			}
		}
	}
	return false
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
