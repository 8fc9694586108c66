package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/near"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/resolver/fact"
)

// additions returns the fixes that add a catalog with what no given catalog has: packages and
// APIs that bundles require, or the package or catalog of a subscription. They are verified
// under the assumption that the new catalog has a compatible bundle.
func (c *Core) additions(ctx context.Context) ([]*Fix, error) {
	var out []*Fix
	for n, f := range c.Facts {
		q, ok := f.(*fact.Unavailable)
		if !ok || q.What != "package" && q.What != "catalog" {
			continue
		}
		owned := c.e.r.u.subs[c.index[n]].current != nil // so the name of the package is right
		known := len(q.Nearest) > 0 && !q.Crowded && !owned
		if known && near.Misspelled(q.Subscription.Package, q.Nearest) {
			continue
		}
		advice := "add a catalog that has package " + q.Subscription.Package
		if q.Subscription.Source() != (CatalogID{}) {
			advice += ", and switch subscription " + q.Subscription.Name + " to it"
		}
		if q.What == "catalog" {
			advice = fmt.Sprintf("add the catalog %s to namespace %s", q.Subscription.Catalog, q.Subscription.CatalogNamespace)
		}
		ch := Change{Kind: AddCatalog, Subscription: q.Subscription.Name, Advice: advice}
		if s := &q.Subscription; q.What == "catalog" && !c.e.r.u.p.sees(s.Source()) {
			if c.e.r.u.tried(s.Source()) {
				continue // and the fixes with its content, or with the one of that name, are tried
			}
			ch = c.e.r.u.p.copied(s.Source(), s.Name)
		} else if q.What == "catalog" && (s.Catalog == "" || s.CatalogNamespace == "") {
			continue // it would not help
		}
		assumed, err := c.e.r.u.assumeFor(ctx, c.index[n])
		if err != nil {
			return nil, err
		}
		fix := &Fix{Changes: []Change{ch}, cost: changeCost[AddCatalog], assumed: assumed, unlike: known && !near.Worded(q.Subscription.Package, q.Nearest)}
		if ok, err := c.verify(ctx, fix, ch.apply(c.alone())); err != nil {
			return nil, err
		} else if ok {
			out = append(out, fix)
		}
	}
	var mine []*fact.Requires
	for _, f := range c.Facts {
		if q := c.e.r.u.nowhere(f); q != nil && !slices.ContainsFunc(mine, func(o *fact.Requires) bool { return sameMistake(o, q) }) {
			mine = append(mine, q)
		}
	}
	var one *Fix // for a single requirement
	for _, q := range mine[:min(len(mine), maxUnmet)] {
		fix, err := c.added(ctx, q)
		if err != nil {
			return nil, err
		}
		if fix != nil {
			one = fix
			break
		}
	}
	if len(mine) == 0 {
		return out, nil
	}
	// The same bundles may have other requirements that nothing satisfies. The newest come first.
	pkg := mine[0].Bundle.Package
	var lacking [][]*fact.Requires
	for i, f := range c.e.facts {
		q, ok := f.Fact.(*fact.Requires)
		if !ok || len(c.e.mentions(f.need)) > 0 {
			continue
		}
		c.e.describe([]int{i})
		if q.Bundle.Package != pkg || c.e.r.u.nowhere(q) == nil {
			continue
		}
		if k := slices.IndexFunc(lacking, func(its []*fact.Requires) bool { return its[0].Bundle == q.Bundle }); k >= 0 {
			lacking[k] = append(lacking[k], q)
		} else {
			lacking = append(lacking, []*fact.Requires{q})
		}
		if !slices.ContainsFunc(mine, func(o *fact.Requires) bool { return sameMistake(o, q) }) {
			mine = append(mine, q)
		}
	}
	u := c.e.r.u
	slices.SortStableFunc(lacking, func(a, b []*fact.Requires) int { return u.Version(b[0].Bundle).Compare(u.Version(a[0].Bundle)) })
	lacking = lacking[:min(len(lacking), maxLacking)]
	for _, its := range lacking {
		if one != nil && !one.olderThan(pkg, u.Version(its[0].Bundle)) {
			break
		}
		if len(its) < 2 || len(its) > maxUnmet {
			continue
		}
		fix, err := c.added(ctx, its...)
		if err != nil {
			return nil, err
		}
		if fix != nil && slices.ContainsFunc(fix.Selected, func(s Selected) bool { return s.Name == its[0].Bundle.Name }) {
			if out = append(out, fix); one != nil {
				out = append(out, one)
			}
			return out, nil
		}
	}
	if one != nil {
		return append(out, one), nil
	}
	if len(mine) == 1 || len(mine) > maxUnmet {
		return out, nil
	}
	fix, err := c.added(ctx, mine...)
	if fix != nil {
		out = append(out, fix)
	}
	return out, err
}

// tried reports whether other fixes try a catalog that the namespace does not see, or a visible one of its name.
func (u *universe) tried(id CatalogID) bool {
	return id.Name == "" || id.Namespace == "" || slices.ContainsFunc(u.p.Catalogs, func(c Catalog) bool {
		return c.Name == id.Name && u.p.sees(c.ID()) || c.ID() == id && c.Graph != nil
	})
}

// olderThan reports whether a fix installs an older version of a package than v.
func (f *Fix) olderThan(pkg string, v semver.Version) bool {
	return slices.ContainsFunc(f.Selected, func(s Selected) bool {
		got, err := version.Parse(s.Version)
		return s.Package == pkg && err == nil && got.LT(v)
	})
}

// maxLacking is the number of bundles for which a catalog with all that they lack is tried.
const maxLacking = 3

// maxCombined is the number of changes that are tried together with a new catalog.
const maxCombined = 20

// combined returns the fixes that make one change and also add a catalog with what is missing then, such
// as what the bundles in the new channel require: the first that works of each kind of change.
func (c *Core) combined(ctx context.Context, base Problem, changes []Change) (out []*Fix, err error) {
	tries, done := 0, map[ChangeKind]bool{}
	for _, ch := range changes {
		if ch.removes() || ch.Kind == AddCatalog || done[ch.Kind] {
			continue
		}
		if tries++; tries > maxCombined {
			break
		}
		p := ch.apply(base)
		_, err := resolve(ctx, &p, new(scratch))
		var no *Conflict
		switch {
		case err != nil && !errors.As(err, &no):
			return nil, err
		case err == nil || len(no.Cores) > 1:
			continue
		}
		list, err := no.Cores[0].additions(ctx)
		if err != nil {
			return nil, err
		}
		for _, f := range list {
			f.Changes = slices.Concat([]Change{ch}, f.Changes)
			f.cost += changeCost[ch.Kind]
			done[ch.Kind] = true
		}
		out = append(out, list...)
	}
	return out, nil
}

// added returns the fix that adds a catalog that satisfies some requirements, or nil if that
// does not help.
func (c *Core) added(ctx context.Context, missing ...*fact.Requires) (*Fix, error) {
	fix := &Fix{cost: changeCost[AddCatalog]}
	for _, q := range missing {
		what := prose.Requirement(q.Requirement)
		fix.Changes = append(fix.Changes, Change{Kind: AddCatalog, Bundle: q.Bundle, Requirement: what, Place: q.Place(), Advice: "add a catalog that has " + what})
	}
	var err error
	if fix.assumed, err = assume(ctx, missing); fix.assumed == nil || err != nil {
		return nil, err
	}
	if ok, err := c.verify(ctx, fix, c.alone()); !ok || err != nil {
		return nil, err
	}
	return fix, nil
}

// verify reports whether a fix that assumes a catalog resolves the core in a problem with the other
// changes of the fix, and completes the fix with what is then installed.
func (c *Core) verify(ctx context.Context, f *Fix, p Problem) (bool, error) {
	p = f.with(p)
	sol, err := c.plan(ctx, &p, nil)
	if sol == nil || err != nil {
		return false, err
	}
	f.Selected, f.Stuck, f.Next = f.given(sol.Selected), sol.stuck(f.Changes), f.next(ctx, sol)
	return true, nil
}

// next returns the first later upgrade of an operator for which the fix adds a catalog, if it needs more than the fix assumes
// that the catalog has, or nil.
func (f *Fix) next(ctx context.Context, sol *Solution) *DeadEnd {
	if f.assumed == nil {
		return nil
	}
	u := sol.r.u
	for n, c := range f.Changes {
		pkg := c.Bundle.Package
		i := slices.IndexFunc(u.subs, func(x *subscription) bool { return x.Package == pkg })
		at := slices.IndexFunc(sol.Selected, func(x Selected) bool { return x.Package == pkg })
		if i < 0 || at < 0 || slices.ContainsFunc(f.Changes[:n], func(c Change) bool { return c.Bundle.Package == pkg }) {
			continue
		}
		o := u.outlook(u.subs[i], graph.Node{Name: sol.Selected[at].Name, Version: sol.Selected[at].Version})
		if d := u.deadEnd(ctx, sol.r.needs, u.subs[i], o.Steps); d != nil && d.Requires != "" {
			return d
		}
	}
	return nil
}

// onceFutile leaves one of the fixes that only set the channel of a subscription and are futile: that of
// the default channel, or the first.
func onceFutile(found []*Fix) (list []*Fix) {
	at := map[string]int{}
	for _, f := range found {
		ch := f.Changes[0]
		if len(f.Changes) > 1 || ch.Kind != ChangeChannel || f.futile() == nil {
			list = append(list, f)
			continue
		}
		i, seen := at[ch.Subscription]
		switch {
		case !seen:
			at[ch.Subscription] = len(list)
			list = append(list, f)
		case ch.ChannelIs == channelDefault:
			list[i] = f
		}
	}
	return list
}
