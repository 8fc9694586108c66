package resolver

import (
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/lazyregexp"
	"github.com/olmkit/olmkit/internal/near"
)

// Suggestions for names that do not exist: packages and channels with a similar
// spelling, and the versions around a missing one.

// maxNearest is the number of names that a fact suggests.
const maxNearest = 2

// nearPackages returns the packages in some catalogs with a spelling similar to name, at most max,
// and whether they are only examples of many. One that differs by a single edit is the only one if others differ by more.
func nearPackages(in []*source, name string, max int) (names []string, crowded bool) {
	var known []string
	for _, c := range in {
		known = slices.AppendSeq(known, c.Graph.PackageNames())
	}
	names, crowded = near.Similar(name, known, max)
	if len(names) > 1 && !crowded && near.Distance(name, names[0]) == 1 && near.Distance(name, names[1]) > 1 && !near.Worded(name, names[1:]) {
		names = names[:1]
	}
	return names, crowded
}

// versionIn matches the version at the end of a bundle's name.
var versionIn = lazyregexp.New(`[.-]v?(\d+\.\d+\.\d+\S*)$`)

// versionOf parses a version, also in forms such as 1.2 or v1.2.0.
func versionOf(text string) (semver.Version, bool) {
	v, err := semver.ParseTolerant(text)
	return v, err == nil
}

// nearBundles returns the bundles closest to a missing one. If its name is a version or
// ends with one, they are the neighbors by version, the next higher one first. Otherwise
// they are the names with a similar spelling.
func nearBundles(known []graph.Bundle, asked string) []graph.Bundle {
	v, ok := versionOf(asked)
	if m := versionIn().FindStringSubmatch(asked); !ok && m != nil {
		v, ok = versionOf(m[1])
	}
	var out []graph.Bundle
	if !ok {
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

// nearStarts returns the names of bundles to suggest for a startingCSV that the
// subscription's channels do not contain.
func (u *universe) nearStarts(s *subscription, in []*source) []string {
	var known []graph.Bundle
	for _, c := range in {
		for _, ch := range u.channels(s, c) {
			for e := range ch.Order() {
				if b, ok := e.Bundle(); ok && ch.Err() == nil {
					known = append(known, b)
				}
			}
		}
	}
	return bundleNames(nearBundles(known, s.StartingCSV))
}

// checkPin returns why the pin of a policy cannot be chosen, and the closest versions
// or bundles that can be. The fault is a PinFault of [fact.PolicyBlocked], or "".
func (u *universe) checkPin(p *Policy) (fault string, nearest []string) {
	fault = "absent"
	var known []graph.Bundle
	for _, c := range u.cats {
		pkg, has := c.Graph.Package(p.Package)
		if !has {
			continue
		}
		for b := range pkg.Bundles() {
			offered := false
			for e := range b.Entries() {
				_, ok := e.Rank()
				offered = offered || ok
			}
			if b.Name() == p.Pin || b.HasVersion() && b.Version().String() == p.Pin {
				if offered {
					return "", nil
				}
				fault = "not-offered"
			}
			if offered {
				known = append(known, b)
			}
		}
	}
	list := nearBundles(known, p.Pin)
	if _, isVersion := versionOf(p.Pin); !isVersion || slices.ContainsFunc(list, func(b graph.Bundle) bool { return !b.HasVersion() }) {
		return fault, bundleNames(list)
	}
	for _, b := range list {
		nearest = append(nearest, b.Version().String())
	}
	return fault, slices.Compact(nearest)
}

// bundleNames returns the names of bundles in order, without duplicates.
func bundleNames(list []graph.Bundle) []string {
	var names []string
	for _, b := range list {
		if !slices.Contains(names, b.Name()) {
			names = append(names, b.Name())
		}
	}
	return names
}

// channelsNear returns the other channels of a package in the order in which to suggest them: the
// most similar one, the default channel, the one with the newest head, then the rest, the most
// similar first. Similar channels differ only in the version in their name or, if there are none,
// have a similar spelling. It also returns how many of them to name, and the one with the newest head.
func channelsNear(p graph.Package, name string) (list []string, named int, newest string) {
	var names []string
	var high semver.Version
	for ch := range p.Channels() {
		if ch.Name() == name {
			continue
		}
		names = append(names, ch.Name())
		if h, ok := ch.Head(); ok {
			if b, ok := h.Bundle(); ok && (newest == "" || b.Version().GT(high) || b.Version().EQ(high) && ch.IsDefault()) {
				newest, high = ch.Name(), b.Version()
			}
		}
	}
	alike := near.ByVersion(name, names)
	if len(alike) == 0 {
		alike = near.Names(name, names, len(names))
	}
	var out []string
	add := func(list ...string) {
		for _, n := range list {
			if slices.Contains(names, n) && !slices.Contains(out, n) {
				out = append(out, n)
			}
		}
	}
	add(alike[:min(len(alike), 1)]...)
	add(p.DefaultChannelName(), newest)
	add(alike...)
	named = min(len(out), maxNearest+1)
	add(names...)
	return out, named, newest
}

// leaves returns 0 if a channel has an upgrade of the operator that a subscription owns, 1 if it only has
// the operator, else 2. It is 0 without an operator.
func (s *subscription) leaves(p graph.Package, channel string) int {
	ch, ok := p.Channel(channel)
	if s.current == nil {
		return 0
	}
	if !ok {
		return 2
	}
	for e := range ch.Order() {
		if e.Admits(s.current.Name, s.current.version) != graph.NoEdge {
			return 0
		}
	}
	if _, ok := ch.Entry(s.current.Name); ok {
		return 1
	}
	return 2
}
