package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
)

// WhyNot is [Solution.WhyNot] for a problem without a solution, with the tested changes after which there is one with
// the bundle.
func (c *Conflict) WhyNot(ctx context.Context, name string) (_ WhyNots, err error) {
	fixes := map[*Core][]*Fix{} // those with the bundle
	for _, core := range c.Cores {
		list, err := core.Fixes(ctx, 0)
		if err != nil {
			return nil, err
		}
		fixes[core] = slices.DeleteFunc(list, func(f *Fix) bool { return f.loses(name) > 0 })
	}
	if err := c.e.r.lock(ctx); err != nil {
		return nil, err
	}
	defer c.e.r.unlock(ctx, &err)
	u := c.e.r.u
	return u.entries(name, func(e graph.Entry, id cand) (WhyNot, bool, error) {
		_, b := u.entry(id)
		out := WhyNot{Bundle: u.ref(id), Pos: b.Pos(), Text: "cannot be installed, for the reasons of the conflict"}
		_, selectable := e.Rank()
		for _, core := range c.Cores {
			for _, s := range u.subs {
				if s.Package != b.Package().Name() || !slices.Contains(core.requests(), s.Name) {
					continue
				}
				to := s.following(u, e)
				switch x := u.newer(b); {
				case x != nil:
					out.Text = "is older than the installed " + x.Name + ", and no upgrade leads back to it"
				case to != nil:
					out.Text = fmt.Sprintf("is not in %s, which subscription %s follows", s.where(), s.Name)
				case !selectable:
					out.Text = "cannot be selected: " + hiddenEntry(e).Reason()
				}
				to = cmp.Or(to, &Change{Subscription: s.Name})
				base := core.alone()
				for _, ch := range u.toward(*to, name) {
					if len(fixes[core]) > 0 {
						break
					}
					f, err := core.attempt(ctx, &base, []Change{ch})
					if err != nil {
						return out, false, err
					}
					if f != nil && f.loses(name) == 0 {
						fixes[core] = []*Fix{f}
						core.complete(ctx, fixes[core])
					}
				}
				out.Fixes = fixes[core][:min(len(fixes[core]), 1)]
			}
		}
		return out, false, nil
	})
}
