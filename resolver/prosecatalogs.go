package resolver

import (
	"context"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/prose"
	"github.com/olmkit/olmkit/resolver/fact"
)

// Version implements [prose.Catalogs].
func (u *universe) Version(r Ref) semver.Version {
	if in, ok := u.installedNamed(r.Name); ok && r.Installed() {
		return in.version
	}
	for _, c := range u.cats {
		if c.ID() != r.Catalog {
			continue
		}
		if p, ok := c.Graph.Package(r.Package); ok {
			if b, ok := p.Bundle(r.Name); ok {
				return b.Version()
			}
		}
	}
	return semver.Version{}
}

// Installed implements [prose.Catalogs].
func (u *universe) Installed(name string) bool {
	_, ok := u.installedNamed(name)
	return ok
}

// Skipped implements [prose.Catalogs] (H3).
func (u *universe) Skipped(want *fact.Subscription) int {
	s := &subscription{Subscription: want}
	skipped, offered := map[string]bool{}, map[string]bool{}
	in, _ := u.sourcesFor(s)
	for _, c := range in {
		for _, ch := range u.channels(s, c) {
			if ch.Err() != nil {
				continue
			}
			for e := range ch.Entries() {
				if _, ok := e.Rank(); ok {
					offered[e.Name()] = true
				} else if _, ok := e.Bundle(); ok {
					skipped[e.Name()] = true
				}
			}
		}
	}
	for name := range offered {
		delete(skipped, name)
	}
	return len(skipped)
}

// Near implements [prose.Catalogs].
func (u *universe) Near(x constraints.Expr) prose.Near {
	near := prose.Near{Hidden: u.hidden(x)}
	switch x := x.(type) {
	case *constraints.Package:
		for _, v := range u.versionsOf(x.Name) {
			near.Versions = append(near.Versions, v.String())
		}
	case *constraints.GVK:
		near.Versions = u.otherVersions(x)
	}
	return near
}

// versionsOf returns the versions of a package in all catalogs, in ascending order.
func (u *universe) versionsOf(pkg string) []semver.Version {
	var versions []semver.Version
	for _, c := range u.cats {
		if p, ok := c.Graph.Package(pkg); ok {
			for b := range p.Bundles() {
				versions = append(versions, b.Version())
			}
		}
	}
	slices.SortFunc(versions, semver.Version.Compare)
	return slices.CompactFunc(versions, semver.Version.Equals)
}

// otherVersions returns the other versions of an API that the catalogs provide.
func (u *universe) otherVersions(x *constraints.GVK) []string {
	var versions []string
	for _, c := range u.cats {
		for g := range c.Graph.APIs() {
			if g.Group == x.GVK.Group && g.Kind == x.GVK.Kind && g.Version != x.GVK.Version {
				versions = append(versions, g.Version)
			}
		}
	}
	slices.Sort(versions)
	return slices.Compact(versions)
}

// hidden returns a bundle that satisfies a leaf but cannot be selected (H3), or nil.
func (u *universe) hidden(x constraints.Expr) *prose.Hidden {
	if !indexed(x) {
		return nil
	}
	for _, c := range u.cats {
		for b := range reach(bundlePostings{c.Graph}, x) {
			if !u.test(context.Background(), x, b) {
				continue
			}
			h := &prose.Hidden{Bundle: b.Name()}
			for e := range b.Entries() {
				if _, ok := e.Rank(); ok {
					return nil // it can be selected
				}
				h = hiddenEntry(e)
			}
			return h
		}
	}
	return nil
}

// hiddenEntry returns why an entry is not in the order of its channel (H3, H27).
func hiddenEntry(e graph.Entry) *prose.Hidden {
	h := &prose.Hidden{Bundle: e.Name(), Channel: e.Channel().Name(), Err: e.Channel().Err()}
	for name := range e.Skips() {
		h.SkipsItself = h.SkipsItself || name == e.Name()
	}
	for o := range e.Channel().Entries() {
		for name := range o.Skips() {
			if name == e.Name() && o != e && h.By == "" {
				h.By = o.Name()
			}
		}
	}
	return h
}

// nowhere returns a fact as a requirement of a package or API that no catalog has in any
// version, or nil.
func (u *universe) nowhere(f fact.Fact) *fact.Requires {
	q, ok := f.(*fact.Requires)
	if !ok || len(q.Candidates) > 0 {
		return nil
	}
	switch x := q.Requirement.(type) {
	case *constraints.Package:
		if len(u.versionsOf(x.Name)) == 0 {
			return q
		}
	case *constraints.GVK:
		if len(u.otherVersions(x)) == 0 && u.hidden(x) == nil {
			return q
		}
	}
	return nil
}
