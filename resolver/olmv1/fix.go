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
	var found []*Fix
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
		if err != nil || after.refusal != nil {
			continue // the change does not help, or it selects a catalog that is not loaded
		}
		got := after.left[0]
		if s.Installed != nil && got.Name() == s.Installed.Name && !f.lifts(found) {
			continue // the installed bundle stays, which helps only if nothing that is requested can follow it
		}
		if f.downgrade = s.installed != nil && got.version.Compare(s.release) < 0; f.downgrade && s.newer() {
			continue
		}
		f.Catalog, f.Selected = got.source.Name, got.Node()
		blocked, err := s.walk(ctx, f, after, got)
		if err != nil {
			return nil, err
		}
		switch version := f.Kind == FixVersion; {
		case version && slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind == FixVersion && f.follows(o, r) }):
			continue
		case version && len(r.Hops) > 0 && f.Version != r.Hops[0].To.Version && (blocked || !s.requested(f.end())):
			continue // OLM v1 does not end at a requested version
		case (f.Kind == FixCertified || f.Kind == FixBoth) && f.Version != "" && !s.requested(f.end()):
			continue
		case f.Kind == FixCertified && slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind == FixCertified }):
			continue
		}
		if slices.Equal(after.packages, s.packages) {
			after.outlooks, after.allowed = s.outlooks, s.allowed
		}
		if o := after.outlookOf(f.Selected, q.Channels); o.EndsEarly() {
			f.Stuck = o
		} else if s.Installed != nil && f.Selected.Name != s.Installed.Name && len(f.Channels) > 0 && (f.Kind == FixChannels || f.Kind == FixBoth) {
			f.onward = prose.Onward(o)
		}
		f.Command = f.command(s.object())
		f.jump = after.jump(got)
		f.Text = s.fixText(f, r)
		found = append(found, f)
	}
	slices.SortStableFunc(found, func(a, b *Fix) int { return cmp.Compare(a.risk(), b.risk()) })
	if r.Code == RefusedDependency && len(found) < maxFixes {
		f, err := s.classic(ctx, r)
		if err != nil {
			return nil, err
		}
		if f != nil {
			found = append(found, f)
		}
	}
	return found, nil
}

// lifts reports whether a fix removes the version or the channels, and no found one changes the channels.
func (f *Fix) lifts(found []*Fix) bool {
	switch f.Kind {
	case FixVersion:
		return f.Version == ""
	case FixChannels, FixBoth:
		return len(f.Channels) == 0 && f.Version == "" && !slices.ContainsFunc(found, func(o *Fix) bool { return o.Kind == FixChannels || o.Kind == FixBoth })
	}
	return false
}

// maxWalk is the maximum number of later upgrades of a fix.
const maxWalk = 250

// walk sets the upgrades that OLM v1 performs on its own after it has installed what a fix selects for a
// changed request. It reports whether they end because OLM v1 refuses the next bundle.
func (s *selecting) walk(ctx context.Context, f *Fix, fixed *selecting, at candidate) (blocked bool, err error) {
	if s.installed == nil || f.Kind == FixUncertified {
		return false, nil
	}
	seen := map[string]bool{s.Installed.Name: true, at.Name(): true}
	for len(f.Later) < maxWalk && at.known {
		after, err := fixed.after(ctx, at)
		switch {
		case err != nil:
			return false, err
		case after.refusal != nil:
			return true, nil
		case seen[after.left[0].Name()]:
			return false, nil
		}
		at = after.left[0]
		seen[at.Name()] = true
		f.Later = append(f.Later, at.Node())
	}
	return false, nil
}

// end returns the last bundle that OLM v1 installs after the fix.
func (f *Fix) end() graph.Node {
	if n := len(f.Later); n > 0 {
		return f.Later[n-1]
	}
	return f.Selected
}

// follows reports whether a found fix of the version makes another one pointless: both lead to the
// requested versions, or the other only pins the version that the found one selects.
func (f *Fix) follows(found *Fix, r *Refusal) bool {
	return len(r.Hops) > 0 || found.Version == "" && found.Catalog == f.Catalog && found.Selected == f.Selected
}

// risk orders fixes: those that downgrade come after the others, and those that no entry allows last.
func (f *Fix) risk() int {
	switch {
	case f.jump != "":
		return 2
	case f.downgrade:
		return 1
	}
	return 0
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
			add(Fix{Kind: FixPriority, Catalog: name, Priority: top + 1})
		}
	case RefusedVersion, RefusedDependency:
		list := slices.Clone(s.inRanges)
		slices.SortFunc(list, candidate.compare)
		for _, c := range list {
			if c.known && dependency(c.Bundle) == "" && (s.Installed == nil || s.Policy == SelfCertified || s.follows(c.Bundle)) {
				add(Fix{Kind: FixVersion, Version: c.text()})
				break
			}
		}
	case RefusedRange, RefusedSuccessors:
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
		older, first := s.older(), s.older() || s.rng.isEmpty() || s.beyond(r)
		if first {
			add(Fix{Kind: FixVersion})
		}
		for _, n := range slices.Backward(r.Nearest) {
			if !first || older && s.lower(n) { // the request is for something older
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
	if r.Code == RefusedSuccessors && s.Policy != SelfCertified && len(s.excluded) == 0 {
		add(Fix{Kind: FixUncertified, Policy: SelfCertified, Channels: s.Channels})
	}
	return out
}

// nearChannels returns the other channels of the package in the order in which to try them:
// those that the way out of a stuck bundle leads through, the nearest by version or spelling,
// the default channels, then the rest by name.
func (s *selecting) nearChannels(r *Refusal) (out []string) {
	known := s.channelNames()
	add := func(list ...string) {
		for _, name := range list {
			if slices.Contains(known, name) && !slices.Contains(out, name) && !slices.Contains(s.Channels, name) {
				out = append(out, name)
			}
		}
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

// apply returns the changed request.
func (f *Fix) apply(r Request) Request {
	switch f.Kind {
	case FixPackage:
		r.Package = f.Package
	case FixVersion:
		r.Version = f.Version
	case FixChannels:
		r.Channels = f.Channels
	case FixBoth:
		r.Channels, r.Version = f.Channels, f.Version
	case FixSelector:
		r.Selector = nil
	case FixUncertified:
		r.Policy, r.Channels = f.Policy, f.Channels
	case FixCertified:
		r.Policy, r.Version, r.Channels = f.Policy, f.Version, f.Channels
	case FixPriority:
		r.Catalogs = slices.Clone(r.Catalogs)
		for i := range r.Catalogs {
			if r.Catalogs[i].Name == f.Catalog {
				r.Catalogs[i].Priority = f.Priority
			}
		}
	}
	return r
}

// command returns the command that makes the change for a ClusterExtension.
func (f *Fix) command(name string) string {
	spec := func(catalog map[string]any) map[string]any {
		return map[string]any{"source": map[string]any{"catalog": catalog}}
	}
	patch := func(catalog map[string]any) string { return kubectl.Patch("clusterextension", "", name, spec(catalog)) }
	switch f.Kind {
	case FixPackage:
		return kubectl.Recreate("clusterextension", "", name, spec(map[string]any{"packageName": f.Package})) // it is immutable
	case FixVersion:
		if f.Version == "" {
			return patch(map[string]any{"version": nil})
		}
		return patch(map[string]any{"version": f.Version})
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
		return patch(change)
	case FixSelector:
		return patch(map[string]any{"selector": nil})
	case FixUncertified:
		change := map[string]any{"upgradeConstraintPolicy": f.Policy}
		if f.moves {
			change["channels"] = f.Channels
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
	return kubectl.Patch("clustercatalog", "", f.Catalog, map[string]any{"priority": f.Priority})
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
		text = "set the channel to " + strings.Join(f.Channels, ", ")
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
	case FixPriority:
		text = fmt.Sprintf("raise the priority of catalog %s to %d", f.Catalog, f.Priority)
	case FixUncertified:
		text = "set upgradeConstraintPolicy to SelfCertified"
		if f.moves {
			text = "set the channel to " + strings.Join(f.Channels, ", ") + " and upgradeConstraintPolicy to SelfCertified"
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
	if s.Installed != nil && f.Selected.Name == s.Installed.Name {
		return text + "; then " + f.Selected.Name + " stays, without an error"
	}
	text += fmt.Sprintf("; then %s is installed from catalog %s", f.Selected.Name, f.Catalog)
	if n := len(f.Later); n > 0 {
		text += fmt.Sprintf(", and OLM v1 upgrades it to %s on its own, in %s", f.end().Name, phrase.Count(n, "more step"))
	} else if n := len(r.Hops); n > 1 && f.Selected == r.Hops[0].To {
		text += fmt.Sprintf(", the first of %d steps to %s", n, r.Hops[n-1].To.Name)
	}
	switch {
	case f.jump != "":
		text += ". Risk: " + f.jump + ", so the operator may fail or lose data; back up its resources"
		if f.Kind == FixUncertified {
			text += ", and set the policy back afterwards"
		}
		if f.downgrade {
			text += ". It is a downgrade"
		}
	case f.downgrade:
		text += ". It is a downgrade, which the catalog allows, but the operator may fail or lose data; back up its resources"
	}
	switch {
	case f.Stuck != nil:
		text += "; but " + prose.Outlook(f.Stuck)
	case f.onward != "":
		text += ". " + f.onward
	}
	return text
}
