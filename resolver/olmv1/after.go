package olmv1

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
)

// after returns the selection for the same request when another bundle is installed, which has a valid version.
// It has no funnel.
func (s *selecting) after(ctx context.Context, at candidate) (*selecting, error) {
	r := *s.Request
	r.Installed = &Installed{Name: at.Name(), Version: at.text()}
	version := at.Bundle.Version()
	next := &selecting{
		Request: &r, rng: s.rng, installed: &version, release: graph.ReadRelease(version), node: graph.Node{Name: at.Name(), Version: version.String()},
		catalogs: s.catalogs, packages: s.packages, sources: s.sources, channels: s.channels, inRanges: s.inRanges, left: s.possible(at),
		quiet: true,
	}
	return next, next.run(ctx, StageSuccessors)
}

// possible returns the candidates in the version range that may follow a bundle, or have its version: those that may do so
// by their entries, or all if the entries do not decide.
func (s *selecting) possible(at candidate) []candidate {
	if s.Options.Semver != semverOff || s.Policy == SelfCertified {
		return slices.Clone(s.inRanges)
	}
	if s.over == nil {
		s.over = map[string][]int{}
		for i, c := range s.inRanges {
			for e := range c.Entries() {
				if e.SkipRange() != "" {
					s.ranged = append(s.ranged, i)
				}
				if e.Replaces() != "" {
					s.over[e.Replaces()] = append(s.over[e.Replaces()], i)
				}
				for name := range e.Skips() {
					s.over[name] = append(s.over[name], i)
				}
			}
		}
	}
	at.version, at.known = at.VersionRelease()
	list := slices.Concat(s.over[at.Name()], s.ranged)
	for i, c := range s.inRanges {
		if c.known && c.version.Compare(at.version) == 0 {
			list = append(list, i)
		}
	}
	slices.Sort(list)
	var out []candidate
	for _, i := range slices.Compact(list) {
		out = append(out, s.inRanges[i])
	}
	return out
}

// jump returns that only the policy SelfCertified allows a candidate over the installed bundle, or "".
func (s *selecting) jump(c candidate) string {
	if s.Policy != SelfCertified || s.installed == nil || c.version.Compare(s.release) == 0 || s.follows(c.Bundle) {
		return ""
	}
	text := fmt.Sprintf("no entry of the catalog allows %s over %s", c.Name(), s.node)
	if n, ok := s.upgrades(c.Package()).Paths(s.node).Hops(c.Node()); ok {
		text += fmt.Sprintf(", which is %s away", phrase.Count(n, "step"))
	}
	return text
}
