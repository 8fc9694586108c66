package olmv1

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
)

// refuse completes a refusal.
func (s *selecting) refuse(ctx context.Context) error {
	r := s.refusal
	r.ID, r.Funnel = s.ID, s.funnel
	if len(s.packages) > 0 {
		r.Outlook = s.outlook()
	}
	switch r.Code {
	case RefusedRange, RefusedSuccessors:
		s.suggest(r)
	case RefusedDependency:
		if err := s.closure(ctx, r); err != nil {
			return err
		}
	}
	r.Message = s.message(r)
	var err error
	if r.Fixes, err = s.fixes(ctx, r); err != nil {
		return err
	}
	if !slices.ContainsFunc(r.Fixes, func(f *Fix) bool { return f.Kind != FixClassic }) {
		r.Message += s.hopeless(r)
	}
	return r
}

// upgrades returns the v1 upgrades of a package under the options of the request, without
// bundles that OLM v1 would refuse.
func (s *selecting) upgrades(p graph.Package) *graph.Upgrades {
	o := &graph.UpgradeOptions{
		OtherEdges: s.Options.OtherEdges, Installed: []graph.Node{s.node},
		Without:  func(b graph.Bundle) bool { return Dependency(b) != "" },
		Excluded: s.Options.Excluded,
	}
	if len(s.Channels) > 0 {
		o.Channels = s.Channels
	}
	return p.Upgrades(graph.V1, o)
}

// suggest finds alternatives, and a longer path to the requested versions.
func (s *selecting) suggest(r *Refusal) {
	anchors := s.rng.literals()
	if len(s.inRanges) > 0 {
		anchors = nil
		for _, c := range s.inRanges {
			if c.known {
				anchors = append(anchors, c.version.Version)
			}
		}
	}
	edges := s.installed != nil && s.Policy != SelfCertified
	if edges && s.Options.Semver != semverOff || !edges && len(s.excluded) > 0 {
		return // without edges there are no intermediate steps
	}
	for i, p := range s.packages {
		name := s.sources[i].Name
		var near []NearVersion
		if edges {
			u := s.upgrades(p)
			paths := u.Paths(s.node)
			s.hops(r, name, paths)
			for n := range u.Reachable(s.node) {
				if n.Version != "" && !(s.newer() && s.lower(NearVersion{Version: n.Version})) {
					hops, _ := paths.Hops(n)
					near = append(near, NearVersion{name, n.Name, n.Version, hops})
				}
			}
		} else {
			for b := range p.Bundles() {
				if b.HasVersion() && s.asked(b) {
					near = append(near, NearVersion{name, b.Name(), b.Version().String(), 1})
				}
			}
		}
		r.Nearest = append(r.Nearest, nearest(near, anchors)...)
	}
}

// hops finds the shortest path to a requested bundle. Among equal ones it prefers the
// highest version, then the first catalog.
func (s *selecting) hops(r *Refusal, catalog string, paths *graph.Paths) {
	wanted := slices.DeleteFunc(slices.Clone(s.inRanges), func(c candidate) bool { return c.source.Name != catalog })
	slices.SortFunc(wanted, candidate.compare)
	fewest := len(r.Hops)
	var end *candidate
	for i, c := range wanted {
		if hops, ok := paths.Hops(c.Node()); ok && hops > 0 && (fewest == 0 || hops < fewest) {
			fewest, end = hops, &wanted[i]
		}
	}
	if end == nil {
		return
	}
	r.Hops = nil
	path, _ := paths.Path(end.Node())
	for _, x := range path {
		r.Hops = append(r.Hops, Hop{catalog, x})
	}
}

// nearest returns the highest available version up to all anchors, the lowest from them on,
// and those in between. Without anchors it returns the highest.
func nearest(list []NearVersion, anchors []semver.Version) []NearVersion {
	parsed := func(n NearVersion) graph.VersionRelease {
		v, _ := semver.Parse(n.Version)
		return graph.ReadRelease(v)
	}
	slices.SortFunc(list, func(a, b NearVersion) int {
		return cmp.Or(parsed(a).Compare(parsed(b)), cmp.Compare(a.Bundle, b.Bundle))
	})
	if len(list) == 0 {
		return nil
	}
	if len(anchors) == 0 {
		return list[len(list)-1:]
	}
	low, high := slices.MinFunc(anchors, semver.Version.Compare), slices.MaxFunc(anchors, semver.Version.Compare)
	from, to := 0, len(list)
	for i, n := range list {
		v := parsed(n).Version
		if v.LTE(low) {
			from = i
		}
		if v.GTE(high) && to == len(list) {
			to = i + 1
		}
	}
	const most = 4
	if list = list[from:to]; len(list) > most {
		list = slices.Concat(list[:most/2], list[len(list)-most/2:])
	}
	return list
}

// maxChannels is the number of channels that a message names.
const maxChannels = 6

// message returns why nothing was selected.
func (s *selecting) message(r *Refusal) string {
	var b strings.Builder
	what := fmt.Sprintf("package %q", s.Package)
	if !s.rng.IsZero() {
		what += fmt.Sprintf(" in range %q", s.rng)
	}
	if len(s.Channels) > 0 && r.Code != RefusedChannels {
		what += " in " + phrase.Plural(len(s.Channels), "channel") + " " + strings.Join(s.Channels, ", ")
	}
	switch r.Code {
	case RefusedCatalogs:
		fmt.Fprintf(&b, "no available catalog is selected (of %d given)%s", len(s.Catalogs), s.otherLabels())
	case RefusedPackage:
		fmt.Fprintf(&b, "no catalog has package %q; searched %s", s.Package, strings.Join(s.catalogNames(), ", "))
		names, crowded := s.nearPackages()
		switch name, rest, what := s.notation(); {
		case what != "":
			fmt.Fprintf(&b, "; request package %s and %s %s", name, what, rest)
		case crowded:
			fmt.Fprintf(&b, "; many packages have similar names, such as %s", phrase.And(names))
		case len(names) > 0:
			fmt.Fprintf(&b, "; the closest %s %s", phrase.Either(len(names), "is", "are"), phrase.And(names))
		}
	case RefusedChannels:
		fmt.Fprintf(&b, "%s has no bundle in %s %s; ", what, phrase.Plural(len(s.Channels), "channel"), strings.Join(s.Channels, ", "))
		if list := s.splitChannels(); list != nil {
			b.WriteString("name each channel separately: " + strings.Join(list, " and "))
		} else if known := s.channelNames(); len(known) <= maxChannels {
			are := phrase.Either(len(known), "only channel is", "channels are")
			fmt.Fprintf(&b, "its %s %s", are, strings.Join(known, ", "))
		} else {
			fmt.Fprintf(&b, "it has %d channels, such as %s", len(known), phrase.And(s.nearChannels(r)))
		}
	case RefusedRange:
		fmt.Fprintf(&b, "no bundle of %s", what)
		if s.rng.isEmpty() {
			b.WriteString(", which allows no version")
			return b.String()
		}
		if list := s.prereleases(); len(list) > 0 {
			are := phrase.Either(len(list), "is a prerelease", "are prereleases")
			fmt.Fprintf(&b, ": %s %s, and the range names none", phrase.And(list[max(0, len(list)-3):]), are)
			s.onlyPrereleases = true
		}
	case RefusedSuccessors:
		fmt.Fprintf(&b, "no bundle of %s is a successor of %s", what, cmp.Or(s.node, graph.Node{Name: s.Installed.Name}))
		if len(s.excluded) > 0 {
			b.WriteString(" without an excluded upgrade: " + s.exclusions())
		}
		if s.older() {
			b.WriteString(", which is newer than all of them")
			if !slices.ContainsFunc(r.Nearest, s.lower) {
				b.WriteString("; OLM v1 does not downgrade")
			}
			return b.String()
		}
	case RefusedTie:
		fmt.Fprintf(&b, "catalogs of equal priority have %s: %s; raise the priority of one, or select by label", what, strings.Join(r.Tied, ", "))
	case RefusedVersion:
		fmt.Fprintf(&b, "the best bundle of %s is %s, which has no valid version: %v", what, r.chosen.Name(), r.chosen.Err())
	case RefusedDependency:
		fmt.Fprintf(&b, "the best bundle of %s is %s, which declares dependencies (%s). OLM v1 does not install dependencies, and refuses such bundles even if the dependencies are installed", what, r.chosen.Name(), r.property)
		if n := len(s.inRanges); n > 1 && !slices.ContainsFunc(s.inRanges, func(c candidate) bool { return Dependency(c.Bundle) == "" }) {
			all := "both"
			if n > 2 {
				all = fmt.Sprintf("all %d", n)
			}
			b.WriteString(". " + strings.ToUpper(all[:1]) + all[1:] + " bundles that match the request declare some")
		}
		if d := r.Dependencies.String(); d != "" {
			b.WriteString(". " + strings.ToUpper(d[:1]) + d[1:])
			if len(r.Dependencies.Install) > 0 && r.Dependencies.Reason == "" {
				b.WriteString(". Classic OLM would install " + phrase.Either(len(r.Dependencies.Install), "it", "them") + " too, for a Subscription")
			}
		}
	}
	if len(r.Hops) > 0 {
		const most = 4
		if n := len(r.Hops); n > most {
			fmt.Fprintf(&b, "; to reach it, %d upgrades are needed, the first to %s, the last to %s", n, r.Hops[0].To, r.Hops[n-1].To)
		} else {
			b.WriteString("; to reach it, install in order: ")
			for i, h := range r.Hops {
				if i > 0 {
					b.WriteString(", then ")
				}
				b.WriteString(h.To.String())
			}
		}
	} else if r.Code == RefusedRange && s.older() && !slices.ContainsFunc(r.Nearest, s.lower) && s.oldest() != "" {
		b.WriteString("; the oldest version of the package is " + s.oldest())
	} else if len(r.Nearest) > 0 && !s.onlyPrereleases {
		list, upgrade := r.Nearest, s.installed != nil && s.Policy != SelfCertified
		switch beyond := s.beyond(r); {
		case beyond && len(s.sources) == 1:
			list = list[len(list)-1:]
			if upgrade {
				b.WriteString("; the newest that it can be upgraded to is ")
			} else {
				b.WriteString("; the newest available is ")
			}
		case upgrade:
			b.WriteString("; the closest that it can be upgraded to: ")
		default:
			b.WriteString("; closest available: ")
		}
		refused := true
		for i, n := range list {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(n.Version)
			if len(s.sources) > 1 {
				b.WriteString(" in catalog " + n.Catalog)
			}
			refused = refused && s.refuses(n)
		}
		if refused {
			b.WriteString(", but OLM v1 refuses " + phrase.Either(len(list), "it", "them") + " for declaring dependencies")
		}
	}
	switch {
	case r.Code == RefusedSuccessors && s.Options.Semver == SemverInstead:
		fmt.Fprintf(&b, "; version order allows only upgrades in ^%s", s.installed)
	case r.Code == RefusedSuccessors && len(r.Hops) == 0 && len(s.excluded) == 0 && (s.rng.IsZero() || r.Outlook.EndsEarly()):
		if s.rng.IsZero() && len(s.sources) == 1 {
			b.WriteString("; " + prose.Outlook(r.Outlook))
		} else {
			b.WriteString("; " + prose.Standing(r.Outlook)) // the fixes are tested, the way may be refused
		}
		s.stated = true
	}
	if r.Code == RefusedRange || r.Code == RefusedChannels {
		var names []string
		for _, c := range s.unselected() {
			names = append(names, c.Name)
		}
		if len(names) > 0 {
			fmt.Fprintf(&b, "; the catalog selector leaves out %s %s, which %s one", phrase.Plural(len(names), "catalog"), phrase.And(names), phrase.Either(len(names), "has", "have"))
		}
	}
	elsewhere, reached := s.inOtherChannels(r)
	b.WriteString(elsewhere)
	if r.Code == RefusedRange && s.installed != nil && len(r.Hops) == 0 && len(r.Nearest) == 0 && r.Outlook != nil && !reached && !s.older() {
		b.WriteString("; " + prose.Summary(r.Outlook)) // nothing newer can follow the installed bundle
	}
	return b.String()
}

// refuses reports whether OLM v1 refuses a near version for its dependencies.
func (s *selecting) refuses(n NearVersion) bool {
	for i, p := range s.packages {
		if s.sources[i].Name == n.Catalog {
			b, ok := p.Bundle(n.Bundle)
			return ok && Dependency(b) != ""
		}
	}
	return false
}

// endsInRange returns the version at which the version range ends the upgrades of the outlook, or "" if
// it allows all of them.
func (s *selecting) endsInRange() string {
	at := s.node.Version
	for _, x := range s.outlook().Steps {
		if v, err := semver.Parse(x.To.Version); err != nil || !s.rng.Contains(v) {
			return at
		}
		at = x.To.Version
	}
	return ""
}

// exclusions names the upgrades that were left out, with their reasons.
func (s *selecting) exclusions() string {
	var list []string
	for _, x := range s.excluded {
		text := x.From + " to " + x.To
		if x.Reason != "" {
			text += " (" + x.Reason + ")"
		}
		list = append(list, text)
	}
	return phrase.And(list)
}

// lower reports whether a near version is older than the installed one.
func (s *selecting) lower(n NearVersion) bool {
	v, err := semver.Parse(n.Version)
	return err == nil && s.installed != nil && graph.ReadRelease(v).Compare(s.release) < 0
}

// beyond reports whether the version range contains only versions above all that are available. It
// is false if these are older than the installed one.
func (s *selecting) beyond(r *Refusal) bool {
	anchors := s.rng.literals()
	if r.Code != RefusedRange || len(anchors) == 0 {
		return false
	}
	low := slices.MinFunc(anchors, semver.Version.Compare)
	for _, n := range r.Nearest {
		if v, err := semver.Parse(n.Version); err != nil || v.GT(low) || s.lower(n) {
			return false
		}
	}
	next := []semver.Version{low, {Major: low.Major, Minor: low.Minor, Patch: low.Patch + 1}, {Major: low.Major, Minor: low.Minor + 1}, {Major: low.Major + 1}}
	return len(r.Nearest) > 0 && slices.ContainsFunc(next, s.rng.Contains)
}
