package olmv1

import (
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

// older reports whether all bundles in range are older than the installed one.
func (s *selecting) older() bool {
	return s.installed != nil && !s.rng.IsZero() && len(s.inRanges) > 0 && !slices.ContainsFunc(s.inRanges, func(c candidate) bool {
		return !c.known || c.version.Compare(s.release) >= 0
	})
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
