package olmv1

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	masterminds "github.com/Masterminds/semver/v3"
	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
)

// selected returns a selection, or nil if the request is refused or cannot be read. The error is the context's.
func selected(ctx context.Context, r *Request) (*selecting, error) {
	if s, err := selectFor(ctx, r); err == nil && s.refusal == nil {
		return s, nil
	}
	return nil, context.Cause(ctx)
}

// selectFor makes the selection of a request.
func selectFor(ctx context.Context, r *Request) (*selecting, error) {
	rng, installed, err := r.check()
	if err != nil {
		return nil, err
	}
	s := &selecting{Request: r, rng: rng, installed: installed}
	if installed != nil {
		s.release, s.node = graph.ReadRelease(*installed), graph.Node{Name: r.Installed.Name, Version: installed.String()}
	}
	if err := s.open(); err != nil {
		return nil, err
	}
	if err := s.run(ctx, StageChannels); err != nil {
		return nil, err
	}
	slices.SortStableFunc(s.funnel.Dropped, func(a, b Dropped) int {
		return cmp.Or(cmp.Compare(a.Catalog, b.Catalog), cmp.Compare(a.Bundle, b.Bundle))
	})
	return s, nil
}

// run applies the stages from the given one on.
func (s *selecting) run(ctx context.Context, from Stage) error {
	begun := false
	for _, stage := range []struct {
		name Stage
		keep func() *Refusal
	}{
		{StageChannels, s.inChannels},
		{StageRange, s.inRange},
		{StageSuccessors, s.successors},
		{StageDeprecation, s.notDeprecated},
		{StageNewest, s.newest},
		{StagePriority, s.priority},
		{StageValidations, s.valid},
	} {
		if begun = begun || stage.name == from; !begun {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if s.refusal == nil {
			s.refusal = stage.keep()
		}
		s.count(stage.name)
	}
	return nil
}

// A selecting holds the state of a selection.
type selecting struct {
	*Request
	rng       VersionRange
	installed *semver.Version
	release   graph.VersionRelease
	node      graph.Node
	catalogs  []*Catalog      // available and selected, by name
	packages  []graph.Package // the requested package in each of sources
	sources   []*Catalog      // the catalogs that have the package
	channels  map[graph.Channel]bool
	left      []candidate
	inRanges  []candidate      // the candidates after the range stage
	over      map[string][]int // indexes of inRanges that replace or skip a name, and
	ranged    []int            // those that have a range of versions; both are set on first use
	funnel    Funnel
	quiet     bool // without a funnel
	refusal   *Refusal
	ahead     *graph.Outlook  // the result of outlook, computed on first use
	outlooks  *graph.Outlooks // of the packages, once they are known
	allowed   *graph.Outlooks // the same without bundles that OLM v1 refuses
	far       *remote         // the result of other
	notes     []Note
	excluded  []graph.Exclusion // the upgrades that were left out because they are excluded
	stated    bool              // the message of the refusal has the outlook
	// onlyPrereleases is set if only their prerelease keeps versions out of the range.
	onlyPrereleases bool
}

// A candidate is a bundle of a catalog.
type candidate struct {
	graph.Bundle
	source     *Catalog
	version    graph.VersionRelease
	known      bool // it has a valid version
	deprecated bool
}

func (c candidate) text() string {
	if !c.known {
		return "unknown"
	}
	return c.Bundle.Version().String()
}

// open applies the first two stages, catalogs and package.
func (s *selecting) open() error {
	s.funnel.Catalogs, s.funnel.Dropped = []FunnelCatalog{}, []Dropped{}
	list := make([]*Catalog, len(s.Catalogs))
	for i := range s.Catalogs {
		list[i] = &s.Catalogs[i]
	}
	slices.SortFunc(list, func(a, b *Catalog) int { return cmp.Compare(a.Name, b.Name) })
	for _, c := range list {
		f := FunnelCatalog{Name: c.Name, Priority: c.Priority}
		switch {
		case c.Unavailable:
			f.Dropped, f.Reason = StageCatalogs, "is unavailable"
		case !s.Selector.Matches(c.labels()):
			f.Dropped, f.Reason = StageCatalogs, "is not selected by its labels"
		case c.Graph == nil:
			return document.Errorf("/catalogs", "catalog %q is not loaded; set Graph or call Open", c.Name)
		default:
			s.catalogs = append(s.catalogs, c)
			p, ok := c.Graph.Package(s.Package)
			if !ok {
				f.Dropped, f.Reason = StagePackage, fmt.Sprintf("has no package %q", s.Package)
				break
			}
			f.Bundles = p.NumBundles()
			s.packages, s.sources = append(s.packages, p), append(s.sources, c)
		}
		s.funnel.Catalogs = append(s.funnel.Catalogs, f)
	}
	s.funnel.Stages = append(s.funnel.Stages, StageCount{StageCatalogs, len(s.catalogs), 0})
	for i, p := range s.packages {
		for b := range p.Bundles() {
			c := candidate{Bundle: b, source: s.sources[i]}
			c.version, c.known = b.VersionRelease()
			_, c.deprecated = b.Deprecation()
			s.left = append(s.left, c)
		}
	}
	s.count(StagePackage)
	switch {
	case len(s.catalogs) == 0:
		s.refusal = &Refusal{Code: RefusedCatalogs}
	case len(s.packages) == 0:
		s.refusal = &Refusal{Code: RefusedPackage}
	}
	return nil
}

// count records the survivors of a stage.
func (s *selecting) count(stage Stage) {
	if s.quiet {
		return
	}
	n := map[*Catalog]bool{}
	for _, c := range s.left {
		n[c.source] = true
	}
	s.funnel.Stages = append(s.funnel.Stages, StageCount{stage, len(n), len(s.left)})
}

// keep drops the candidates for which why returns a reason.
func (s *selecting) keep(stage Stage, why func(candidate) string) {
	var left []candidate
	for _, c := range s.left {
		if reason := why(c); reason != "" {
			s.drop(c, stage, reason)
			continue
		}
		left = append(left, c)
	}
	s.left = left
}

func (s *selecting) drop(c candidate, stage Stage, reason string) {
	if !s.quiet {
		s.funnel.Dropped = append(s.funnel.Dropped, Dropped{c.source.Name, c.Name(), c.text(), stage, reason})
	}
}

// refused returns a refusal with the code if no candidate is left, or nil.
func (s *selecting) refused(code RefusalCode) *Refusal {
	if len(s.left) > 0 {
		return nil
	}
	return &Refusal{Code: code}
}

// inChannels keeps the bundles in the requested channels (C3).
func (s *selecting) inChannels() *Refusal {
	if len(s.Channels) == 0 {
		return nil
	}
	s.channels = map[graph.Channel]bool{}
	for _, p := range s.packages {
		for _, name := range s.Channels {
			if ch, ok := p.Channel(name); ok {
				s.channels[ch] = true
			}
		}
	}
	s.keep(StageChannels, func(c candidate) string {
		for e := range c.Entries() {
			if s.channels[e.Channel()] {
				return ""
			}
		}
		return "is not in channels " + strings.Join(s.Channels, ", ")
	})
	return s.refused(RefusedChannels)
}

// inRange keeps the bundles in the version range (C2, C3).
func (s *selecting) inRange() *Refusal {
	if !s.rng.IsZero() {
		s.keep(StageRange, func(c candidate) string {
			switch {
			case !c.known:
				return "has no valid version"
			case s.rng.Contains(c.version.Version):
				return ""
			case len(c.version.Version.Pre) > 0 && s.rng.Contains(final(c.version.Version)):
				return fmt.Sprintf("is a prerelease, which %q does not include", s.rng)
			}
			return fmt.Sprintf("is not in %q", s.rng)
		})
	}
	s.inRanges = s.left
	return s.refused(RefusedRange)
}

// final returns the version without its prerelease.
func final(v semver.Version) semver.Version {
	return semver.Version{Major: v.Major, Minor: v.Minor, Patch: v.Patch}
}

// successors keeps the successors of the installed bundle (B8, C4), without excluded upgrades (G8).
func (s *selecting) successors() *Refusal {
	if s.installed == nil || s.Policy == SelfCertified {
		s.keep(StageSuccessors, s.exclude)
		return s.refused(RefusedSuccessors)
	}
	var caret *masterminds.Constraints
	if s.Options.Semver != semverOff {
		// A version always makes a valid caret range.
		caret, _ = masterminds.NewConstraint("^" + s.installed.String())
	}
	s.keep(StageSuccessors, func(c candidate) string {
		if c.known && c.version.Compare(s.release) == 0 {
			return ""
		}
		if s.Options.Semver != SemverInstead && !s.follows(c.Bundle) {
			return fmt.Sprintf("does not replace, skip or cover %s", s.node)
		}
		if caret != nil {
			v, err := masterminds.NewVersion(c.text())
			if err != nil || !caret.Check(v) {
				return fmt.Sprintf("is not a compatible upgrade of %s: not in ^%s", s.installed, s.installed)
			}
		}
		return s.exclude(c)
	})
	return s.refused(RefusedSuccessors)
}

// follows reports whether an entry of the bundle admits the installed one.
func (s *selecting) follows(b graph.Bundle) bool {
	for e := range b.Entries() {
		if s.channels != nil && !s.Options.OtherEdges && !s.channels[e.Channel()] {
			continue
		}
		if e.Admits(s.Installed.Name, *s.installed) != graph.NoEdge {
			return true
		}
	}
	return false
}

// exclude returns why a candidate is left out if the upgrade to it is excluded, or "" (G8).
func (s *selecting) exclude(c candidate) string {
	if s.Installed == nil {
		return ""
	}
	i := slices.IndexFunc(s.Options.Excluded, func(x graph.Exclusion) bool {
		return x.From == s.Installed.Name && x.To == c.Name() && x.From != x.To
	})
	if i < 0 {
		return ""
	}
	x := s.Options.Excluded[i]
	if !slices.Contains(s.excluded, x) { // several catalogs may have the bundle
		s.excluded = append(s.excluded, x)
	}
	if x.Reason == "" {
		return "is an excluded upgrade"
	}
	return fmt.Sprintf("is an excluded upgrade (%s)", x.Reason)
}

// notDeprecated drops deprecated bundles when others are left (C5, C6).
func (s *selecting) notDeprecated() *Refusal {
	if !slices.ContainsFunc(s.left, func(c candidate) bool { return !c.deprecated }) {
		return nil
	}
	s.keep(StageDeprecation, func(c candidate) string {
		if c.deprecated {
			message, _ := c.Deprecation()
			return fmt.Sprintf("is deprecated (%q) while others are not", message)
		}
		return ""
	})
	return nil
}

// compare orders candidates: the higher version and release first, those without
// a valid version last, then by name.
func (c candidate) compare(o candidate) int {
	switch {
	case c.known && o.known:
		return cmp.Or(o.version.Compare(c.version), cmp.Compare(c.Name(), o.Name()))
	case c.known:
		return -1
	case o.known:
		return 1
	}
	return cmp.Compare(c.Name(), o.Name())
}

// newest keeps the best of each catalog (C3).
func (s *selecting) newest() *Refusal {
	best := map[*Catalog]candidate{}
	for _, c := range s.left {
		if b, ok := best[c.source]; !ok || c.compare(b) < 0 {
			best[c.source] = c
		}
	}
	s.keep(StageNewest, func(c candidate) string {
		b := best[c.source]
		switch {
		case c.Bundle == b.Bundle:
			return ""
		case !c.known:
			return "has no valid version"
		case c.version.Compare(b.version) == 0:
			return fmt.Sprintf("has the same version as %s, whose name comes first", b.Name())
		}
		return fmt.Sprintf("is older than %s (%s)", b.Name(), b.text())
	})
	return nil
}

// priority keeps the catalog of highest priority (C6).
func (s *selecting) priority() *Refusal {
	top, tied := s.left[0], []string(nil)
	for _, c := range s.left {
		if c.source.Priority > top.source.Priority {
			top = c
		}
	}
	for _, c := range s.left {
		if c.source.Priority == top.source.Priority {
			tied = append(tied, c.source.Name)
		}
	}
	s.keep(StagePriority, func(c candidate) string {
		if c.source.Priority < top.source.Priority {
			return fmt.Sprintf("catalog %s has priority %d, catalog %s has %d", c.source.Name, c.source.Priority, top.source.Name, top.source.Priority)
		}
		return ""
	})
	if len(tied) > 1 {
		return &Refusal{Code: RefusedTie, Tied: tied}
	}
	return nil
}

// valid refuses what OLM v1 cannot install (H16): the next best is not tried.
func (s *selecting) valid() *Refusal {
	c := s.left[0]
	if !c.known {
		s.left = nil
		s.drop(c, StageValidations, "has no valid version")
		return &Refusal{Code: RefusedVersion, chosen: c}
	}
	if typ := Dependency(c.Bundle); typ != "" {
		s.left = nil
		s.drop(c, StageValidations, "has a dependency ("+typ+")")
		return &Refusal{Code: RefusedDependency, chosen: c, property: typ}
	}
	return nil
}

// Dependency returns the type of the first property because of which OLM v1 refuses a
// bundle, or "".
func Dependency(b graph.Bundle) string { // H16
	for p := range b.Properties() {
		switch p.Type {
		case property.TypePackageRequired, property.TypeGVKRequired, property.TypeConstraint:
			return p.Type
		}
	}
	return ""
}

// outlook returns how far the installed bundle can be upgraded in the requested channels,
// ignoring the version range, or nil if none is installed (H40).
func (s *selecting) outlook() *graph.Outlook {
	if s.ahead == nil && s.installed != nil {
		s.ahead = s.outlookOf(s.node, s.Channels)
	}
	return s.ahead
}

// outlookOf returns how far a bundle of the package gets by itself in some channels. Its ways avoid bundles that OLM v1
// refuses, unless its steps lead to one.
func (s *selecting) outlookOf(from graph.Node, channels []string) *graph.Outlook {
	if s.outlooks == nil {
		s.outlooks = s.newOutlooks(nil)
	}
	o := s.outlooks.Of(from, "", channels)
	if !slices.ContainsFunc(goals(o), s.isRefused) {
		return o
	}
	if s.allowed == nil {
		s.allowed = s.newOutlooks(func(b graph.Bundle) bool { return Dependency(b) != "" })
	}
	if allowed := s.allowed.Of(from, "", channels); slices.EqualFunc(allowed.Steps, o.Steps, func(a, b graph.Step) bool { return a.To == b.To }) {
		return allowed
	}
	return o
}

// newOutlooks returns the outlooks of the packages without some bundles.
func (s *selecting) newOutlooks(without func(graph.Bundle) bool) *graph.Outlooks {
	var sources []graph.Source
	for i, p := range s.packages {
		sources = append(sources, graph.Source{Catalog: s.sources[i].Name, Package: p})
	}
	slices.SortStableFunc(sources, func(a, b graph.Source) int { return cmp.Compare(s.priorityOf(b), s.priorityOf(a)) })
	return graph.NewOutlooks(graph.V1, sources, without)
}

// goals returns the bundles that an outlook names as newer, or leads to.
func goals(o *graph.Outlook) (list []graph.Node) {
	if o.Newest != nil {
		list = append(list, o.Newest.Node)
	}
	if o.Head != nil {
		list = append(list, o.Head.Node)
	}
	for _, w := range []*graph.Way{o.Way, o.Nearer} {
		if w == nil {
			continue
		}
		for _, l := range w.Legs {
			for _, x := range l.Steps {
				list = append(list, x.To)
			}
		}
	}
	return list
}

// isRefused reports whether OLM v1 refuses a bundle for its dependencies in each catalog that has it.
func (s *selecting) isRefused(n graph.Node) bool {
	found := false
	for _, p := range s.packages {
		if b, ok := p.Bundle(n.Name); ok {
			if found = true; Dependency(b) == "" {
				return false
			}
		}
	}
	return found
}

// priorityOf returns the priority of the catalog that x comes from.
func (s *selecting) priorityOf(x graph.Source) int {
	return s.sources[slices.Index(s.packages, x.Package)].Priority
}
