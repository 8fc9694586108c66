package olmv1

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/near"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/prose"
)

// maxFixes is the maximum number of fixes in a refusal, and maxFixTries the maximum number of
// changed requests that are tried to find them.
const (
	maxFixes    = 5
	maxFixTries = 12
)

// fixes returns the changes with which OLM v1 selects a bundle.
func (s *selecting) fixes(ctx context.Context, r *Refusal) ([]*Fix, error) {
	var found, classic []*Fix
	for i, f := range s.drafts(r) {
		if i == maxFixTries || len(found) == maxFixes {
			break
		}
		if f.Kind == FixChannels && slices.ContainsFunc(found, func(o *Fix) bool {
			return o.Kind == f.Kind && (len(o.Channels) == 0 || len(f.Channels) == 0)
		}) {
			continue // a fix with a single channel was found, or the one that the outlook names
		}
		if f.Kind == FixBoth && f.Version == "" && slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind != FixUncertified }) {
			continue // one change is enough
		}
		q := f.apply(*s.Request)
		after, err := selectFor(ctx, &q)
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err == nil && after.refusal != nil && after.refusal.Code == RefusedTie && f.Selector == nil && (f.Kind == FixChannels || f.Kind == FixBoth || f.Kind == FixVersion || f.Kind == FixUncertified) {
			f.Selector = selectCatalog(after.refusal.Tied[0]).Selector
			q = f.apply(*s.Request)
			if after, err = selectFor(ctx, &q); ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
		}
		if err == nil && f.Kind == FixPackage && after.refusal != nil && after.refusal.Code == RefusedDependency {
			r.Message += "; OLM v1 refuses " + f.Package + ", because it declares dependencies"
			c, err := after.classic(ctx, after.refusal.chosen.Bundle)
			if err != nil {
				return nil, err
			}
			if c != nil {
				classic = append(classic, c)
			}
		}
		if err != nil || after.refusal != nil {
			continue // the change does not help, or it selects a catalog that is not loaded
		}
		got := after.left[0]
		f.stays = s.isInstalled(got)
		switch {
		case f.stays && !f.lifts(found), f.pin && (!f.stays || slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind == FixVersion })):
			continue // the installed bundle stays, which helps only if nothing that is requested can follow it
		case f.goal != "" && slices.ContainsFunc(found, func(o *Fix) bool { return o.goal == f.goal }):
			continue
		}
		if f.downgrade = s.installed != nil && got.version.Compare(s.release) < 0; f.downgrade && s.newer() {
			continue
		}
		if f.Course, err = s.course(ctx, after); err != nil {
			return nil, err
		}
		switch version := f.Kind == FixVersion; {
		case version && slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind == FixVersion && f.follows(o, r) }):
			continue
		case version && len(r.Hops) > 0 && f.Version != r.Hops[0].To.Version && (f.Refusal != "" || !s.requested(f.End())):
			continue // OLM v1 does not end at a requested version
		case f.goal != "" && f.End().Version != f.goal:
			continue
		case (f.Kind == FixCertified || f.Kind == FixBoth) && f.Version != "" && !s.requested(f.End()):
			continue
		case f.Kind == FixCertified && slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind == FixCertified }):
			continue
		}
		if slices.Equal(after.packages, s.packages) {
			after.outlooks, after.allowed = s.outlooks, s.allowed
		}
		if o := after.outlookOf(f.Selected, q.Channels); o.EndsEarly() && (q.Version == "" || f.End() == o.End()) { // else the version range ends the steps before
			f.Stuck = o
		} else if s.Installed != nil && f.Selected.Name != s.Installed.Name && len(f.Channels) > 0 && (f.Kind == FixChannels || f.Kind == FixBoth) && (q.Version == "" || o.Way == nil) {
			f.onward = prose.Onward(o)
		}
		f.Command = s.command(f)
		f.jump = after.jump(got)
		f.in, f.of = s, r
		f.Text = s.fixText(f, r)
		found = append(found, f)
	}
	slices.SortStableFunc(found, (*Fix).compare)
	if refused := s.onlyClassic(r); refused != (graph.Bundle{}) && (len(found) == 0 || s.Installed == nil) {
		f, err := s.classic(ctx, refused)
		if err != nil {
			return nil, err
		}
		if f != nil && (len(found) == 0 || f.Selected == r.chosen.Node()) { // else OLM v1 installs an older version, too
			classic = append(classic, f)
		}
	}
	if found = append(found, classic...); len(found) == 0 && r.Code == RefusedPackage {
		found = s.additions()
	}
	return found[:min(len(found), maxFixes)], nil
}

// lifts reports whether it helps that the installed bundle stays with a fix: it removes a part of the request or moves it
// to a channel or a catalog that has the bundle, and no found fix changes the channels.
func (f *Fix) lifts(found []*Fix) bool {
	switch f.Kind {
	case FixVersion:
		return f.Version == "" || f.pin
	case FixChannels, FixBoth:
		whole := len(f.Channels) == 0 && f.Version == "" || len(f.Channels) == 1 && f.Kind == FixChannels
		return whole && !slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind == FixChannels || o.Kind == FixBoth })
	case FixSelector, FixCatalog, FixPriority:
		return true
	}
	return false
}

// follows reports whether a found fix of the version makes another one pointless: both lead to the
// requested versions, or the other only pins the version that the found one selects.
func (f *Fix) follows(found *Fix, r *Refusal) bool {
	return len(r.Hops) > 0 || found.Version == "" && found.Catalog == f.Catalog && found.Selected == f.Selected
}

// compare orders fixes: the least disruptive first. Those that no entry of the catalog allows come last, before them those
// that downgrade, those that end at a prerelease, and those that concern other ClusterExtensions. The others keep the
// order of the drafts.
func (f *Fix) compare(o *Fix) int {
	rank := func(list ...bool) (n int) {
		for _, x := range list {
			if n *= 2; x {
				n++
			}
		}
		return n
	}
	of := func(f *Fix) int {
		return rank(f.jump != "", f.downgrade, f.Prerelease && f.goal == "", f.Kind == FixPriority)
	}
	return cmp.Compare(of(f), of(o))
}

// drafts returns the changes to try, least disruptive first.
func (s *selecting) drafts(r *Refusal) (out []*Fix) {
	add := func(f Fix) { out = append(out, &f) }
	switch r.Code {
	case RefusedCatalogs, RefusedPackage:
		if names, crowded := s.nearPackages(); !crowded && s.Installed == nil && !strings.ContainsAny(s.Package, ":@") { // else the operator would be uninstalled
			for _, name := range names {
				add(Fix{Kind: FixPackage, Package: name})
			}
		}
		if s.Selector != nil {
			add(Fix{Kind: FixSelector})
		}
	case RefusedTie:
		top := 0
		for _, c := range s.sources {
			top = max(top, c.Priority)
		}
		for _, name := range r.Tied {
			add(selectCatalog(name))
		}
		for _, name := range r.Tied {
			add(raise(name, top+1))
		}
	case RefusedVersion, RefusedDependency:
		list := slices.Clone(s.inRanges)
		slices.SortFunc(list, candidate.compare)
		for _, c := range list {
			if c.known && Dependency(c.Bundle) == "" && (s.Installed == nil || s.Policy == SelfCertified || s.follows(c.Bundle)) {
				add(Fix{Kind: FixVersion, Version: c.text()})
				break
			}
		}
		if s.installed == nil || s.Policy == SelfCertified {
			break
		}
		add(Fix{Kind: FixVersion, Version: s.node.Version, pin: true})
		if len(s.Channels) == 0 {
			for _, ch := range s.keepers() {
				add(Fix{Kind: FixChannels, Channels: []string{ch}})
			}
		}
		if v := s.highestAllowed(); v != "" && len(s.Options.Excluded) == 0 {
			add(Fix{Kind: FixUncertified, Policy: SelfCertified, Channels: s.Channels, Version: v})
		}
	case RefusedRange, RefusedSuccessors:
		if r.Code == RefusedRange {
			for _, c := range s.unselected() {
				add(selectCatalog(c.Name))
			}
		}
		if n := len(r.Hops); n > 0 {
			if !s.rng.isVersion() {
				add(Fix{Kind: FixVersion})
			}
			add(Fix{Kind: FixVersion, Version: "<=" + r.Hops[n-1].To.Version})
			add(Fix{Kind: FixVersion, Version: r.Hops[0].To.Version})
			break
		}
		if s.Policy == SelfCertified && s.installed != nil && (s.newer() || s.rng.isEmpty()) {
			version := s.highest()
			add(Fix{Kind: FixCertified, Policy: CatalogProvided, Version: version, Channels: s.Channels})
			if len(s.Channels) > 0 {
				add(Fix{Kind: FixCertified, Policy: CatalogProvided, Version: version})
			}
		}
		out = append(out, s.elsewhere(r)...)
		pre := s.toPrereleases()
		out = append(out, pre...)
		older, first := s.older(), s.older() || s.rng.isEmpty() || s.beyond(r)
		if older && s.Policy != SelfCertified {
			add(Fix{Kind: FixVersion, Version: s.node.Version, pin: true})
		}
		if first {
			add(Fix{Kind: FixVersion})
		}
		for _, n := range slices.Backward(r.Nearest) {
			if !first && len(pre) == 0 || older && s.lower(n) { // the request is for something older
				add(Fix{Kind: FixVersion, Version: n.Version})
			}
		}
		if !first {
			add(Fix{Kind: FixVersion})
		}
	}
	if len(s.Channels) > 0 && r.Code != RefusedPackage && r.Code != RefusedCatalogs && r.Code != RefusedTie {
		if o := r.Outlook; o != nil && o.EndsEarly() && o.Way != nil && o.Way.Legs[0].Channel == "" && !o.Way.Legs[0].Stays && !o.Way.Legs[0].Stop {
			add(Fix{Kind: FixChannels}) // as the outlook states
		}
		if list := s.splitChannels(); list != nil {
			add(Fix{Kind: FixChannels, Channels: list})
		}
		kinds := []FixKind{FixChannels}
		if !s.rng.IsZero() {
			kinds = append(kinds, FixBoth)
		}
		for _, kind := range kinds {
			for _, ch := range s.nearChannels(r) {
				add(Fix{Kind: kind, Channels: []string{ch}})
			}
			add(Fix{Kind: kind})
		}
	}
	if r.Code == RefusedChannels {
		for _, c := range s.unselected() {
			add(selectCatalog(c.Name))
		}
	}
	if r.Code == RefusedSuccessors && s.Policy != SelfCertified && len(s.excluded) == 0 {
		add(Fix{Kind: FixUncertified, Policy: SelfCertified, Channels: s.Channels})
	}
	return out
}

// nearChannels returns the other channels of the package in the order in which to try them:
// those that the way out of a stuck bundle leads through, those that end at the installed bundle, first if it is newer than
// the requested ones, the nearest by version or spelling, the default channels, then the rest by name.
func (s *selecting) nearChannels(r *Refusal) (out []string) {
	known := s.channelNames()
	add := func(list ...string) {
		for _, name := range list {
			if slices.Contains(known, name) && !slices.Contains(out, name) && !slices.Contains(s.Channels, name) {
				out = append(out, name)
			}
		}
	}
	if r.Outlook != nil && r.Outlook.Way != nil && r.Outlook.Kind != graph.OutlookAhead {
		for _, l := range r.Outlook.Way.Legs {
			add(l.Channel)
		}
	}
	if r.Code == RefusedSuccessors || r.Code == RefusedDependency {
		add(s.keepers()...)
	}
	if r.Outlook != nil && r.Outlook.Way != nil {
		for _, l := range r.Outlook.Way.Legs {
			add(l.Channel)
		}
	}
	for _, name := range s.Channels {
		list := near.ByVersion(name, known)
		if len(list) == 0 {
			list = near.Names(name, known, 2)
		}
		add(list[:min(len(list), 2)]...)
	}
	for _, p := range s.packages {
		add(p.DefaultChannelName())
	}
	if len(out) < 3 {
		add(known...)
	}
	return out[:min(len(out), 4)]
}

// isHead reports whether a bundle is the head of the only requested channel.
func (s *selecting) isHead(n graph.Node) bool {
	if len(s.Channels) != 1 {
		return false
	}
	for ch := range s.channels {
		if e, ok := ch.Head(); ok && e.Name() == n.Name {
			return true
		}
	}
	return false
}

// command returns the command that makes the change for a ClusterExtension.
func (s *selecting) command(f *Fix) string {
	name := s.object()
	spec := func(catalog map[string]any) map[string]any {
		return map[string]any{"source": map[string]any{"catalog": catalog}}
	}
	patch := func(catalog map[string]any) string { return kubectl.Patch("clusterextension", "", name, spec(catalog)) }
	switch f.Kind {
	case FixPackage:
		return kubectl.Recreate("clusterextension", "", name, spec(map[string]any{"packageName": f.Package})) // it is immutable
	case FixVersion:
		change := map[string]any{"version": nil}
		if f.Version != "" {
			change["version"] = f.Version
		}
		if f.Selector != nil {
			change["selector"] = s.onlyCatalog(f.Selector.MatchLabels[labelCatalog])
		}
		return patch(change)
	case FixChannels, FixBoth:
		change := map[string]any{"channels": nil}
		if len(f.Channels) > 0 {
			change["channels"] = f.Channels
		}
		if f.Kind == FixBoth {
			change["version"] = nil
			if f.Version != "" {
				change["version"] = f.Version
			}
		}
		if f.Selector != nil {
			change["selector"] = s.onlyCatalog(f.Selector.MatchLabels[labelCatalog])
		}
		return patch(change)
	case FixSelector:
		return patch(map[string]any{"selector": nil})
	case FixCatalog:
		return patch(map[string]any{"selector": s.onlyCatalog(f.Selector.MatchLabels[labelCatalog])})
	case FixUncertified:
		change := map[string]any{"upgradeConstraintPolicy": f.Policy}
		if f.Version != "" {
			change["version"] = f.Version
		}
		if f.moves {
			change["channels"] = f.Channels
		}
		if f.Selector != nil {
			change["selector"] = s.onlyCatalog(f.Selector.MatchLabels[labelCatalog])
		}
		return patch(change)
	case FixCertified:
		change := map[string]any{"upgradeConstraintPolicy": f.Policy, "version": nil}
		if f.Version != "" {
			change["version"] = f.Version
		}
		if len(f.Channels) == 0 {
			change["channels"] = nil
		}
		return patch(change)
	}
	return kubectl.Patch("clustercatalog", "", f.raised, map[string]any{"priority": f.Priority})
}

// Stopped returns the fix if OLM v1 refuses a bundle of its course although it selects it, such as because of its CRDs: the
// course ends before that bundle. What follows reason, commands included, lets OLM v1 go on.
func (f *Fix) Stopped(refused graph.Node, reason, goOn string, then []Command) *Fix {
	out := *f
	out.Refusal, out.Refused, out.Reason = "", refused, reason
	out.Later = f.Later[:max(0, slices.Index(f.Later, refused))]
	out.Stuck, out.onward, out.Channel, out.Then = nil, "", "", then
	if v, err := semver.Parse(out.End().Version); err == nil && len(v.Pre) == 0 {
		out.Prerelease = false
	}
	out.Text = f.in.fixText(&out, f.of) + ". " + goOn
	return &out
}

// fixText returns a verified fix as an instruction.
func (s *selecting) fixText(f *Fix, r *Refusal) string {
	var text string
	switch f.Kind {
	case FixPackage:
		text = "set the package to " + f.Package + " and recreate the ClusterExtension, whose package is immutable"
	case FixVersion:
		text = "set the version to " + f.Version
		switch _, err := semver.Parse(f.Version); {
		case f.Version == "":
			text = "remove the version, which allows all"
		case err == nil && !s.rng.IsZero() && !s.rng.isVersion():
			text += ", which allows no other"
		}
	case FixChannels, FixBoth:
		text = "set the " + phrase.Plural(len(f.Channels), "channel") + " to " + strings.Join(f.Channels, ", ")
		switch both := f.Kind == FixBoth; {
		case both && f.Version != "":
			text = "remove the channels and set the version to " + f.Version
		case both && len(f.Channels) == 0:
			text = "remove the channels and the version, which allows all"
		case both:
			text += " and remove the version"
		case len(f.Channels) == 0:
			text = "remove the channels, which allows all"
		}
	case FixSelector:
		text = "remove the catalog selector"
	case FixCatalog:
		text = "select catalog " + f.Catalog + " by its label"
	case FixPriority:
		text = fmt.Sprintf("raise the priority of catalog %s to %d, which applies to all ClusterExtensions", f.raised, f.Priority)
	case FixUncertified:
		text = "set upgradeConstraintPolicy to SelfCertified"
		if f.moves {
			text = "set the channel to " + strings.Join(f.Channels, ", ") + " and upgradeConstraintPolicy to SelfCertified"
		}
		if f.Version != "" {
			text = "set the version to " + f.Version + " and upgradeConstraintPolicy to SelfCertified"
		}
	case FixCertified:
		text = "set upgradeConstraintPolicy to CatalogProvided and the version to " + f.Version
		if f.Version == "" {
			text = "set upgradeConstraintPolicy to CatalogProvided and remove the version"
		}
		if len(f.Channels) < len(s.Channels) {
			text += ", and remove the channels"
		}
	}
	if f.Selector != nil && f.Kind != FixCatalog {
		text += ", and select catalog " + f.Catalog + " by its label"
	}
	text += "; then " + f.Course.text("installed")
	if f.stays {
		if f.Stuck != nil && f.apply(*s.Request).Version == "" {
			text += "; but " + prose.Outlook(f.Stuck)
		}
		return text
	}
	if n := len(r.Hops); f.Reason == "" && len(f.Later) == 0 && n > 1 && f.Selected == r.Hops[0].To {
		text += fmt.Sprintf(", the first of %d steps to %s", n, r.Hops[n-1].To.Name)
	}
	if f.Stuck != nil && r.Outlook != nil && r.Outlook.EndsEarly() && s.stated && f.Stuck.End() == r.Outlook.End() && f.End() == f.Stuck.End() {
		text += ", and no further" // the refusal states why
		f.onward = ""
	} else if f.Stuck != nil {
		if text += "; but "; f.apply(*s.Request).Version == "" {
			text += prose.Outlook(f.Stuck)
		} else {
			text += prose.Standing(f.Stuck) // the version may prevent the way
		}
	}
	text += f.ending()
	switch {
	case f.jump != "":
		text += riskOf(f.jump)
		if f.Kind == FixUncertified {
			text += ", and set the policy back afterwards"
		}
		if f.downgrade {
			text += ". It is a downgrade"
		}
	case f.downgrade:
		text += ". It is a downgrade, which the catalog allows, but the operator may fail or lose data; back up its resources"
	}
	if f.Kind == FixChannels && s.isHead(f.End()) {
		text += ". Then set the channel back to " + s.Channels[0] + ", whose head it is"
	}
	if f.onward != "" {
		text += ". " + f.onward
	}
	return text
}
