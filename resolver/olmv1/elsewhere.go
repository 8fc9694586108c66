package olmv1

import "fmt"

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
	n := 0
	for _, p := range s.packages {
		for b := range p.Bundles() {
			if Dependency(b) == "" {
				return ""
			}
			n++
		}
	}
	all := "both"
	if n != 2 {
		all = fmt.Sprintf("all %d", n)
	}
	refuses := fmt.Sprintf("OLM v1 refuses %s bundles of the package, because they declare dependencies", all)
	switch {
	case n == 0 || r.Code == RefusedTie || r.Code == RefusedDependency && s.Installed == nil: // which the message states
		return ""
	case n == 1:
		refuses = "OLM v1 refuses the only bundle of the package, because it declares dependencies"
	}
	switch {
	case s.Installed == nil:
		return ". " + refuses
	case r.Code == RefusedDependency && n == len(s.inRanges):
		return ". No change of the request helps: classic OLM installs such bundles, but does not take over what OLM v1 has installed"
	}
	return ". No change of the request helps: " + refuses + "; classic OLM installs such bundles, but does not take over what OLM v1 has installed"
}
