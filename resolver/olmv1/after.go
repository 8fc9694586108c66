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

// riskOf returns the risk of an upgrade that only the policy SelfCertified allows, after a full stop.
func riskOf(jump string) string {
	return ". Risk: " + jump + ", so the operator may fail or lose data; back up its resources"
}

// maxCourse is the maximum number of later upgrades of a course.
const maxCourse = 250

// course returns the course after a change of the request, which fixed is the selection of.
func (s *selecting) course(ctx context.Context, fixed *selecting) (Course, error) {
	at := fixed.left[0]
	c := Course{Catalog: at.source.Name, Selected: at.Node(), stays: s.isInstalled(at)}
	seen := map[string]bool{at.Name(): true}
	if s.Installed != nil {
		seen[s.Installed.Name] = true
	}
	for s.installed != nil && at.known && len(c.Later) < maxCourse {
		after, err := fixed.after(ctx, at)
		if err != nil {
			return c, err
		}
		if r := after.refusal; r != nil {
			if c.Refusal = r.Code; r.chosen.Bundle != (graph.Bundle{}) {
				c.Refused = r.chosen.Node()
			}
			break
		}
		if next := after.left[0]; seen[next.Name()] {
			break
		}
		at = after.left[0]
		seen[at.Name()] = true
		c.Later = append(c.Later, at.Node())
	}
	c.Prerelease = !c.stays && s.isPrerelease(at)
	if !c.stays && len(s.Channels) > 0 && len(fixed.Channels) == 0 && !s.asked(at.Bundle) {
		c.Channel = channelOf(at.Bundle)
	}
	return c, nil
}

// isInstalled reports whether a bundle is the installed one.
func (s *selecting) isInstalled(c candidate) bool {
	return s.Installed != nil && c.Name() == s.Installed.Name
}

// isPrerelease reports whether a bundle is a prerelease and the installed one, or else the head of the default channel, is
// not.
func (s *selecting) isPrerelease(c candidate) bool {
	if !c.known || len(c.version.Version.Pre) == 0 {
		return false
	}
	if s.installed != nil {
		return len(s.installed.Pre) == 0
	}
	ch, _ := c.Bundle.Package().DefaultChannel()
	if ch == (graph.Channel{}) {
		return false
	}
	e, ok := ch.Head()
	if !ok {
		return false
	}
	b, ok := e.Bundle()
	return ok && b.HasVersion() && len(b.Version().Pre) == 0
}

// channelOf returns the channel of a bundle to name: the default one, or else the first by name.
func channelOf(b graph.Bundle) (name string) {
	for e := range b.Entries() {
		if ch := e.Channel(); ch.IsDefault() || name == "" {
			name = ch.Name()
		}
	}
	return name
}
