package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
)

// nothing returns the end of a clause: no bundle satisfies the requirement. It names
// what comes close: other versions of the package or API, or bundles that cannot be
// selected.
func (u *universe) nothing(x constraints.Expr) string {
	hidden := u.hidden(x)
	switch x := x.(type) {
	case *constraints.Package:
		versions := u.versionsOf(x.Name)
		switch n := len(versions); {
		case n == 0:
			return ", but no catalog has package " + x.Name
		case hidden != "":
			return ", but " + hidden
		case n == 1:
			return fmt.Sprintf(", but the catalogs have only %s %s", x.Name, versions[0])
		default:
			return fmt.Sprintf(", but the catalogs have only %d versions of %s, %s to %s", n, x.Name, versions[0], versions[n-1])
		}
	case *constraints.GVK:
		text := ", which no bundle in any catalog provides"
		if hidden != "" {
			return ", but " + hidden
		}
		if versions := u.otherVersions(x); len(versions) > 0 {
			text += fmt.Sprintf("; the catalogs provide only %s", andList(versions))
		}
		return text
	case *constraints.Label:
		if hidden != "" {
			return ", but " + hidden
		}
		return ", which no bundle in any catalog has"
	}
	return ", which no bundle in any catalog satisfies"
}

// versionsOf returns the versions of a package in all catalogs, in ascending order.
func (u *universe) versionsOf(pkg string) []semver.Version {
	var versions []semver.Version
	for _, c := range u.cats {
		if p, ok := c.Graph.Package(pkg); ok {
			for b := range p.Bundles() {
				versions = append(versions, b.Version())
			}
		}
	}
	slices.SortFunc(versions, semver.Version.Compare)
	return slices.CompactFunc(versions, semver.Version.Equals)
}

// otherVersions returns the other versions of an API that the catalogs provide.
func (u *universe) otherVersions(x *constraints.GVK) []string {
	var versions []string
	for _, c := range u.cats {
		for g := range c.Graph.APIs() {
			if g.Group == x.GVK.Group && g.Kind == x.GVK.Kind && g.Version != x.GVK.Version {
				versions = append(versions, g.Version)
			}
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// hidden names a bundle that satisfies a leaf but cannot be selected, and the reason
// (H3). It returns "" if there is none.
func (u *universe) hidden(x constraints.Expr) string {
	if !indexed(x) {
		return ""
	}
	for _, c := range u.cats {
		for _, b := range reach(bundlePostings{c.Graph}, x) {
			if !u.test(context.Background(), x, b) {
				continue
			}
			why := "it is not in any channel"
			for e := range b.Entries() {
				if _, ok := e.Rank(); ok {
					return "" // it can be selected
				}
				if err := e.Channel().Err(); err != nil {
					why = "its channel " + e.Channel().Name() + " is broken: " + reason(err)
				} else {
					why = skippedText(e)
				}
			}
			return fmt.Sprintf("%s, which satisfies it, cannot be selected: %s", b.Name(), why)
		}
	}
	return ""
}

// skippedText returns why an entry is not in the order of its channel (H3, H27).
func skippedText(e graph.Entry) string {
	for name := range e.Skips() {
		if name == e.Name() {
			return "it skips itself in channel " + e.Channel().Name()
		}
	}
	return "another entry in channel " + e.Channel().Name() + " skips it"
}
