package resolver

import (
	"regexp"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/near"
)

// What an administrator may have meant by a name that does not exist: packages and
// channels that are spelled alike, and of versions those around the one that was
// asked for.

// maxNearest is how many names a fact proposes.
const maxNearest = 2

// nearPackages returns the packages of catalogs that are spelled like one that
// none of them has.
func nearPackages(in []*source, name string) []string {
	var known []string
	for _, c := range in {
		for p := range c.Graph.Packages() {
			known = append(known, p.Name())
		}
	}
	return near.Names(name, known, maxNearest)
}

// versionIn finds the version at the end of the name of a bundle.
var versionIn = regexp.MustCompile(`[.-]v?(\d+\.\d+\.\d+\S*)$`)

// nearBundles returns the bundles around one that does not exist: by version,
// where its name ends with one or is one, the next higher first; otherwise by
// spelling.
func nearBundles(known []graph.Bundle, asked string) []graph.Bundle {
	v, err := semver.Parse(asked)
	if m := versionIn.FindStringSubmatch(asked); err != nil && m != nil {
		v, err = semver.Parse(m[1])
	}
	var out []graph.Bundle
	if err != nil {
		byName := map[string]graph.Bundle{}
		var names []string
		for _, b := range known {
			if _, ok := byName[b.Name()]; !ok {
				byName[b.Name()] = b
				names = append(names, b.Name())
			}
		}
		for _, name := range near.Names(asked, names, maxNearest) {
			out = append(out, byName[name])
		}
		return out
	}
	known = slices.DeleteFunc(slices.Clone(known), func(b graph.Bundle) bool { return !b.HasVersion() })
	slices.SortStableFunc(known, func(a, b graph.Bundle) int { return a.Version().Compare(b.Version()) })
	at, _ := slices.BinarySearchFunc(known, v, func(b graph.Bundle, v semver.Version) int { return b.Version().Compare(v) })
	if at < len(known) {
		out = append(out, known[at])
	}
	if at > 0 {
		out = append(out, known[at-1])
	}
	return out
}

// nearStarts returns the names of the bundles that a subscription could start with
// in place of its startingCSV, which its channels do not have.
func (s *subscription) nearStarts(in []*source) []string {
	var known []graph.Bundle
	for _, c := range in {
		for _, ch := range s.channels(c) {
			for e := range ch.Order() {
				if b, ok := e.Bundle(); ok && ch.Err() == nil {
					known = append(known, b)
				}
			}
		}
	}
	return bundleNames(nearBundles(known, s.StartingCSV))
}

// nearPins returns the versions of bundles that a policy could pin in place of
// one that no catalog has; ok is false when some catalog has it.
func (u *universe) nearPins(p *Policy) (versions []string, ok bool) {
	var known []graph.Bundle
	for _, c := range u.cats {
		pkg, has := c.Graph.Package(p.Package)
		if !has {
			continue
		}
		for b := range pkg.Bundles() {
			if b.Name() == p.Pin || b.HasVersion() && b.Version().String() == p.Pin {
				return nil, false
			}
			for e := range b.Entries() {
				if _, offered := e.Rank(); offered {
					known = append(known, b)
					break
				}
			}
		}
	}
	list := nearBundles(known, p.Pin)
	if _, err := semver.Parse(p.Pin); err != nil {
		return bundleNames(list), true
	}
	for _, b := range list {
		versions = append(versions, b.Version().String())
	}
	return slices.Compact(versions), true
}

// bundleNames returns the names of bundles, each once, in order.
func bundleNames(list []graph.Bundle) []string {
	var names []string
	for _, b := range list {
		if !slices.Contains(names, b.Name()) {
			names = append(names, b.Name())
		}
	}
	return names
}

// pinText says that a policy pins what does not exist, for the end of a clause; ""
// when it does.
func pinText(nearest []string) string {
	if nearest == nil {
		return ""
	}
	return ", which no catalog has" + nearestText(nearest)
}

// nearestText lists what is nearest to a name that does not exist, for the end of
// a clause; "" when nothing is.
func nearestText(nearest []string) string {
	switch len(nearest) {
	case 0:
		return ""
	case 1:
		return "; the nearest is " + nearest[0]
	}
	return "; the nearest are " + andList(nearest)
}
