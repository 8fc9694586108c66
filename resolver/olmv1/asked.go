package olmv1

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/near"
)

// requested reports whether the version of a bundle is requested.
func (s *selecting) requested(n graph.Node) bool {
	v, err := semver.Parse(n.Version)
	return err == nil && s.rng.Contains(v)
}

// newer reports whether the version range contains only versions above the installed one.
func (s *selecting) newer() bool {
	anchors := s.rng.literals()
	return s.installed != nil && len(anchors) > 0 && !s.rng.Contains(*s.installed) && !s.rng.Contains(semver.Version{}) &&
		s.installed.LTE(slices.MinFunc(anchors, semver.Version.Compare))
}

// highest returns a range that ends at the highest requested version of the package, or "" if it has none.
func (s *selecting) highest() string {
	var top *semver.Version
	for _, p := range s.packages {
		for b := range p.Bundles() {
			if v := b.Version(); b.HasVersion() && s.rng.Contains(v) && (top == nil || v.GT(*top)) {
				top = &v
			}
		}
	}
	if top == nil {
		return ""
	}
	return "<=" + top.String()
}

// highestAllowed returns the highest version above the installed one in the requested channels that OLM v1 does not
// refuse, or "".
func (s *selecting) highestAllowed() string {
	var top *candidate
	for i, p := range s.packages {
		for b := range p.Bundles() {
			c := candidate{Bundle: b, source: s.sources[i]}
			c.version, c.known = b.VersionRelease()
			if c.known && Dependency(b) == "" && s.asked(b) && c.version.Compare(s.release) > 0 && (top == nil || c.compare(*top) < 0) {
				top = &c
			}
		}
	}
	if top == nil {
		return ""
	}
	return top.text()
}

// splitChannels returns the requested channels if one of them is several channels of the package, separated by commas.
func (s *selecting) splitChannels() []string {
	var list []string
	for _, name := range s.Channels {
		list = append(list, strings.Split(name, ",")...)
	}
	known := s.channelNames()
	if len(list) == len(s.Channels) || slices.ContainsFunc(list, func(name string) bool { return !slices.Contains(known, name) }) {
		return nil
	}
	return list
}

// unselected returns the available catalogs that the selector leaves out although they have a bundle for the rest of the
// request. Catalogs that are not loaded are unknown.
func (s *selecting) unselected() (out []*Catalog) {
	for i := range s.Catalogs {
		c := &s.Catalogs[i]
		if c.Unavailable || c.Graph == nil || s.Selector.Matches(c.labels()) {
			continue
		}
		if p, ok := c.Graph.Package(s.Package); ok && s.has(p) {
			out = append(out, c)
		}
	}
	slices.SortFunc(out, func(a, b *Catalog) int { return cmp.Compare(a.Name, b.Name) })
	return out
}

// otherLabels returns the labels of the available catalogs if they are few, after a semicolon, or "".
func (s *selecting) otherLabels() string {
	var list []string
	for i := range s.Catalogs {
		c := &s.Catalogs[i]
		if c.Unavailable {
			continue
		}
		var set []string
		for key, value := range c.Labels {
			if key != labelCatalog {
				set = append(set, key+"="+value)
			}
		}
		slices.Sort(set)
		list = append(list, "catalog "+c.Name+" has "+cmp.Or(strings.Join(set, ","), "none"))
	}
	if s.Selector == nil || len(list) == 0 || len(list) > 3 {
		return ""
	}
	slices.Sort(list)
	return "; the selector requires other labels: " + strings.Join(list, ", ")
}

// has reports whether a package has a bundle in the requested channels and the version range.
func (s *selecting) has(p graph.Package) bool {
	for b := range p.Bundles() {
		if s.rng.IsZero() || b.HasVersion() && s.rng.Contains(b.Version()) {
			if len(s.Channels) == 0 {
				return true
			}
			for e := range b.Entries() {
				if slices.Contains(s.Channels, e.Channel().Name()) {
					return true
				}
			}
		}
	}
	return false
}

// onlyCatalog returns the patch that replaces the catalog selector by the label of a catalog.
func (s *selecting) onlyCatalog(name string) map[string]any {
	set := map[string]any{labelCatalog: name}
	patch := map[string]any{"matchLabels": set}
	if s.Selector != nil {
		for key := range s.Selector.MatchLabels {
			if key != labelCatalog {
				set[key] = nil
			}
		}
		if len(s.Selector.MatchExpressions) > 0 {
			patch["matchExpressions"] = nil
		}
	}
	return patch
}

// toPrereleases returns the changes that lead to the newest prerelease if the version range has only prereleases, which it
// does not include.
func (s *selecting) toPrereleases() (out []*Fix) {
	list := s.prereleases()
	if len(s.inRanges) > 0 || len(list) == 0 {
		return nil
	}
	last := list[len(list)-1]
	if wide := s.rng.withPrereleases(); wide != "" {
		out = append(out, &Fix{Kind: FixVersion, Version: wide, goal: last})
	}
	return append(out, &Fix{Kind: FixVersion, Version: "<=" + last, goal: last})
}

// older reports whether all bundles in range, or all versions that it allows if there are none, are older than the
// installed one.
func (s *selecting) older() bool {
	if s.installed == nil || s.rng.IsZero() {
		return false
	}
	if len(s.inRanges) > 0 {
		return !slices.ContainsFunc(s.inRanges, func(c candidate) bool { return !c.known || c.version.Compare(s.release) >= 0 })
	}
	anchors := s.rng.literals()
	return len(anchors) > 0 && !s.rng.Contains(*s.installed) && !s.rng.Contains(semver.Version{Major: math.MaxUint64}) &&
		s.installed.GTE(slices.MaxFunc(anchors, semver.Version.Compare))
}

// oldest returns the lowest version of the package, or "" if no bundle has a valid one.
func (s *selecting) oldest() string {
	var low *semver.Version
	for _, p := range s.packages {
		for b := range p.Bundles() {
			if v := b.Version(); b.HasVersion() && (low == nil || v.LT(*low)) {
				low = &v
			}
		}
	}
	if low == nil {
		return ""
	}
	return low.String()
}

// notation splits PACKAGE:CHANNEL or PACKAGE@VERSION, which other commands accept, given as the name of a package
// that is known. what is "channel", "version" or "".
func (s *selecting) notation() (name, rest, what string) {
	for _, x := range [][2]string{{":", "channel"}, {"@", "version"}} {
		before, after, ok := strings.Cut(s.Package, x[0])
		if ok && after != "" && slices.ContainsFunc(s.catalogs, func(c *Catalog) bool { _, ok := c.Graph.Package(before); return ok }) {
			return before, after, x[1]
		}
	}
	return "", "", ""
}

// nearPackages returns packages whose names are similar to the requested one, and whether they are
// only examples of many.
func (s *selecting) nearPackages() (names []string, crowded bool) {
	var known []string
	for _, c := range s.catalogs {
		known = slices.AppendSeq(known, c.Graph.PackageNames())
	}
	return near.Similar(s.Package, known, 2)
}

func (s *selecting) catalogNames() []string {
	out := make([]string, len(s.catalogs))
	for i, c := range s.catalogs {
		out[i] = c.Name
	}
	return out
}

func (s *selecting) channelNames() []string {
	var out []string
	for _, p := range s.packages {
		for ch := range p.Channels() {
			out = append(out, ch.Name())
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// keepers returns the channels that end at the installed bundle, the default one first.
func (s *selecting) keepers() (out []string) {
	for _, p := range s.packages {
		for ch := range p.Channels() {
			e, ok := ch.Head()
			switch {
			case !ok || s.Installed == nil || e.Name() != s.Installed.Name || slices.Contains(out, ch.Name()):
			case ch.IsDefault():
				out = slices.Insert(out, 0, ch.Name())
			default:
				out = append(out, ch.Name())
			}
		}
	}
	return out
}

// prereleases returns the versions in the requested channels that only their prerelease keeps out of the version range,
// in order.
func (s *selecting) prereleases() (out []string) {
	if slices.ContainsFunc(s.rng.literals(), func(v semver.Version) bool { return len(v.Pre) > 0 }) {
		return nil // the range names prereleases
	}
	var list []semver.Version
	for _, p := range s.packages {
		for b := range p.Bundles() {
			if v := b.Version(); b.HasVersion() && len(v.Pre) > 0 && !s.rng.Contains(v) && s.rng.Contains(final(v)) && s.asked(b) {
				list = append(list, v)
			}
		}
	}
	slices.SortFunc(list, semver.Version.Compare)
	for _, v := range list {
		out = append(out, v.String())
	}
	return slices.Compact(out)
}

// asked reports whether a bundle is in the requested channels.
func (s *selecting) asked(b graph.Bundle) bool {
	if s.channels == nil {
		return true
	}
	for e := range b.Entries() {
		if s.inChannel(e.Channel()) {
			return true
		}
	}
	return false
}

// inChannel reports whether a channel is requested.
func (s *selecting) inChannel(ch graph.Channel) bool { return s.channels == nil || s.channels[ch] }
