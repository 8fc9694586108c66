package resolver

import (
	"context"
	"slices"

	"github.com/blang/semver/v4"
)

// Instead returns the fix with which a subscription gets the newest bundle that runs in the namespace, in place of a
// selected one that does not: in another channel or, for a fresh installation, else an older one of its channel. It returns
// nil if neither helps, or leads to nothing newer than what is installed. The error is the context's.
func (s *Solution) Instead(ctx context.Context, bundle string) (best *Fix, err error) { // H40
	if s.r == nil {
		return nil, nil
	}
	u := s.r.u
	gets := func(sol *Solution, name string) Ref {
		if i, at := sol.chosen(name); at >= 0 {
			return sol.r.u.ref(sol.r.options[i].list[at])
		}
		return Ref{}
	}
	i := slices.IndexFunc(u.subs, func(x *subscription) bool { return gets(s, x.Name).Name == bundle })
	if i < 0 || u.subs[i].StartingCSV != "" && u.subs[i].current == nil {
		return nil, nil
	}
	sub := u.subs[i]
	var channels []string // the default one first
	in, _ := u.sourcesFor(sub)
	for _, src := range in {
		if p, ok := src.Graph.Package(sub.Package); ok {
			channels = append(channels, p.DefaultChannelName())
			for ch := range p.Channels() {
				channels = append(channels, ch.Name())
			}
		}
	}
	rest := slices.DeleteFunc(slices.Clone(s.Selected), func(x Selected) bool { return x.Name == bundle })
	var newest semver.Version
	if sub.current != nil {
		newest = sub.current.version
	}
	for n, ch := range channels {
		if ch == sub.Channel || slices.Contains(channels[:n], ch) {
			continue
		}
		var v semver.Version
		list, err := s.tested(ctx, func(sol *Solution) bool {
			got := gets(sol, sub.Name)
			v = sol.r.u.Version(got)
			return !got.Installed() && len(v.Pre) == 0 && v.GT(newest) && len(u.newMisfits(ctx, sol.Selected, rest)) == 0
		}, Change{Kind: ChangeChannel, Subscription: sub.Name, To: ch})
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[0].harms() == 0 {
			best, newest = list[0], v
		}
	}
	if best != nil || sub.current != nil {
		return best, nil
	}
	return s.insteadOf(ctx, i, gets(s, sub.Name), rest)
}

// maxOlder is the number of older bundles of a channel that are tried.
const maxOlder = 3

// insteadOf returns the fix with which fresh subscription i starts with the newest older bundle of the channel that runs in the
// namespace, or nil. rest is what else is installed.
func (s *Solution) insteadOf(ctx context.Context, i int, chosen Ref, rest []Selected) (*Fix, error) {
	u := s.r.u
	var older []Ref
	for _, c := range s.r.options[i].list {
		if u.isInstalled(c) {
			continue
		}
		ref := u.ref(c)
		_, b := u.entry(c)
		if v := u.Version(ref); ref.Catalog == chosen.Catalog && ref.Channel == chosen.Channel && v.LT(u.Version(chosen)) && len(v.Pre) == 0 && u.misfit(ctx, b) == nil {
			older = append(older, ref)
		}
	}
	slices.SortStableFunc(older, func(a, b Ref) int { return u.Version(b).Compare(u.Version(a)) })
	for _, ref := range older[:min(len(older), maxOlder)] {
		list, err := s.tested(ctx, func(sol *Solution) bool {
			return slices.ContainsFunc(sol.Selected, func(x Selected) bool { return x.Name == ref.Name }) && len(u.newMisfits(ctx, sol.Selected, rest)) == 0
		}, Change{Kind: ChangeStartingCSV, Subscription: u.subs[i].Name, To: ref.Name, Manual: true, Then: "approve only versions that run on this cluster"})
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[0].harms() == 0 {
			return list[0], nil
		}
	}
	return nil, nil
}
