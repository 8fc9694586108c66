package resolver

import (
	"context"
	"slices"

	"github.com/blang/semver/v4"
)

// Instead returns the fix with which a subscription gets the newest bundle that runs in the namespace, in place of a
// selected one that does not, or nil if changing its channel does not help, or leads to nothing newer than what is
// installed. The error is the context's.
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
			return !got.Installed() && len(v.Pre) == 0 && v.GT(newest) && len(u.newMisfits(ctx, sol.Selected, slices.DeleteFunc(slices.Clone(s.Selected), func(x Selected) bool { return x.Name == bundle }))) == 0
		}, Change{Kind: ChangeChannel, Subscription: sub.Name, To: ch})
		if err != nil {
			return nil, err
		}
		if len(list) > 0 && list[0].harms() == 0 {
			best, newest = list[0], v
		}
	}
	return best, nil
}
