package resolver

import (
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
)

// near says what comes close to a leaf that nothing meets: other versions of the
// package, or of the API. It returns "" when there is nothing to say.
func (u *universe) near(x constraints.Expr) string {
	switch x := x.(type) {
	case *constraints.Package:
		var versions []semver.Version
		for _, c := range u.cats {
			if p, ok := c.Graph.Package(x.Name); ok {
				for b := range p.Bundles() {
					versions = append(versions, b.Version())
				}
			}
		}
		if len(versions) == 0 {
			return fmt.Sprintf("no catalog has package %s", x.Name)
		}
		slices.SortFunc(versions, semver.Version.Compare)
		versions = slices.CompactFunc(versions, semver.Version.Equals)
		if len(versions) == 1 {
			return fmt.Sprintf("the catalogs have only %s %s", x.Name, versions[0])
		}
		return fmt.Sprintf("the catalogs have %d versions of %s, %s to %s", len(versions), x.Name, versions[0], versions[len(versions)-1])
	case *constraints.GVK:
		var versions []string
		for _, c := range u.cats {
			for g := range c.Graph.APIs() {
				if g.Group == x.GVK.Group && g.Kind == x.GVK.Kind && g.Version != x.GVK.Version {
					versions = append(versions, g.Version)
				}
			}
		}
		slices.Sort(versions)
		if versions = slices.Compact(versions); len(versions) > 0 {
			return fmt.Sprintf("the catalogs have %s of it", wordList(versions))
		}
	}
	return ""
}
