package olmv1

import (
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/near"
)

// other returns the highest requested version that OLM v1 does not refuse and only other channels have, or nil.
func (s *selecting) other(r *Refusal) *remote {
	if s.far != nil || r.Code != RefusedRange || len(s.Channels) == 0 || s.installed == nil || s.Policy == SelfCertified || len(r.Hops) > 0 {
		return s.far
	}
	for _, p := range s.packages {
		for b := range p.Bundles() {
			if !b.HasVersion() || !s.rng.Contains(b.Version()) || Dependency(b) != "" || s.far != nil && b.Version().LTE(s.far.Version()) {
				continue
			}
			for e := range b.Entries() {
				s.far = &remote{Bundle: b, channel: e.Channel().Name()}
				break
			}
		}
	}
	if s.far != nil {
		s.far.way = s.outlooks.WayTo(s.node, "", s.Channels, s.far.Node())
	}
	return s.far
}

// inOtherChannels states that a requested version is in another channel, and whether the installed bundle gets there.
func (s *selecting) inOtherChannels(r *Refusal) (text string, reached bool) {
	b := s.other(r)
	switch {
	case b == nil:
		return "", false
	case b.way == nil:
		return fmt.Sprintf("; %s is in channel %s, to which no channel in any given catalog leads from the installed bundle", b.Version(), b.channel), false
	}
	return fmt.Sprintf("; %s is in channel %s", b.Version(), b.channel), true // a fix leads there
}

// elsewhere returns the changes that lead to a requested version in another channel.
func (s *selecting) elsewhere(r *Refusal) []*Fix {
	b := s.other(r)
	switch {
	case b == nil:
		return nil
	case b.way != nil:
		return []*Fix{{Kind: FixBoth, Version: "<=" + b.Version().String()}}
	case len(s.Options.Excluded) > 0:
		return nil
	}
	return []*Fix{{Kind: FixUncertified, Policy: SelfCertified, Channels: []string{b.channel}, moves: true}}
}

// hopeless states why no change of a request helps, or returns "" if its message does.
func (s *selecting) hopeless(r *Refusal) string {
	if !s.refusesAll() || r.Code == RefusedTie || r.Code == RefusedDependency && s.Installed == nil {
		return ""
	}
	n := 0
	for _, p := range s.packages {
		n += p.NumBundles()
	}
	refuses := fmt.Sprintf("OLM v1 refuses all %d bundles of the package, because they declare dependencies", n)
	switch n {
	case 1:
		refuses = "OLM v1 refuses the only bundle of the package, because it declares dependencies"
	case 2:
		refuses = "OLM v1 refuses both bundles of the package, because they declare dependencies"
	}
	if s.Installed == nil {
		return ". " + refuses
	}
	text := ". No change of the request helps: "
	if r.Code != RefusedDependency || n != len(s.inRanges) { // else the message states it
		text += refuses + "; "
	}
	return text + fmt.Sprintf("classic OLM installs such bundles, but does not take over what OLM v1 has installed. %s stays installed", s.node)
}

// refusesAll reports whether OLM v1 refuses all bundles of the package for their dependencies.
func (s *selecting) refusesAll() bool {
	for _, p := range s.packages {
		for b := range p.Bundles() {
			if Dependency(b) == "" {
				return false
			}
		}
	}
	return len(s.packages) > 0
}

// additions returns the fix that adds a catalog with the package, unless its name is a mistake.
func (s *selecting) additions() []*Fix {
	_, _, notation := s.notation()
	if names, crowded := s.nearPackages(); notation != "" || !crowded && near.Misspelled(s.Package, names) {
		return nil
	}
	f := &Fix{Kind: FixAddCatalog, Package: s.Package, Text: "add a catalog that has package " + s.Package}
	if s.Options.Command != "" {
		f.Command = s.Options.Command + " --catalog NAME=PATH"
		return []*Fix{f}
	}
	name := "additional"
	for n := 2; slices.ContainsFunc(s.Catalogs, func(c Catalog) bool { return c.Name == name }); n++ {
		name = fmt.Sprintf("additional-%d", n)
	}
	f.Command = kubectl.ApplyImage(map[string]any{
		"apiVersion": "olm.operatorframework.io/v1", "kind": "ClusterCatalog", "metadata": map[string]any{"name": name},
		"spec": map[string]any{"source": map[string]any{"type": "Image", "image": map[string]any{"ref": kubectl.Image}}},
	})
	return []*Fix{f}
}
