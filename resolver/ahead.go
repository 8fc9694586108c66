package resolver

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// maxAhead bounds how many solutions are followed.
const maxAhead = 100

// settle resolves again and again, each time after the upgrades of the last solution, until nothing changes. It returns nil
// if OLM does not stop within the bound.
func (s *Solution) settle(ctx context.Context) (*settled, error) {
	if s.ahead != nil {
		return s.ahead, nil
	}
	x := &settled{at: *s.r.u.p, last: s}
	for range maxAhead {
		if len(x.last.Selected) == 0 {
			s.ahead = x
			return x, nil
		}
		x.at = x.last.after()
		next, err := resolve(ctx, &x.at, new(scratch))
		if errors.As(err, &x.no) {
			x.last, s.ahead = nil, x
			return x, nil
		}
		if err != nil {
			return nil, err
		}
		x.last = next
	}
	return nil, nil
}

// after returns the problem of the namespace once the solution is installed. Dependencies then have
// subscriptions, as in OLM.
func (s *Solution) after() Problem {
	u := s.r.u
	p := *u.p
	p.Options.Partial = false
	p.Installed, p.Subscriptions = nil, nil
	in, gone, owned := s.members(), map[cand]bool{}, map[string]bool{}
	for _, sub := range u.subs {
		next := *sub.Subscription
		if _, at := s.chosen(sub.Name); at >= 0 {
			if c := s.r.options[slices.Index(u.subs, sub)].list[at]; !u.isInstalled(c) {
				next.InstalledCSV = u.ref(c).Name
				owned[next.InstalledCSV] = true
			}
		}
		p.Subscriptions = append(p.Subscriptions, next)
	}
	for c := range in {
		for _, old := range s.r.replacedBy[c] {
			gone[old] = true
		}
	}
	for _, x := range u.installed {
		if !gone[x.id] {
			p.Installed = append(p.Installed, *x.Installed)
		}
	}
	for _, x := range s.Selected {
		if slices.ContainsFunc(p.Installed, func(in Installed) bool { return in.Name == x.Name }) {
			continue // it is an option in several channels
		}
		p.Installed = append(p.Installed, Installed{Name: x.Name, Version: x.Version, Package: x.Package, Properties: slices.Collect(x.Bundle.Properties())})
		if !owned[x.Name] {
			p.Subscriptions = append(p.Subscriptions, Subscription{
				Name: fmt.Sprintf("%s-%s-%s-%s", x.Package, x.Channel, x.Catalog, x.CatalogNamespace), Package: x.Package, Channel: x.Channel,
				Catalog: x.Catalog, CatalogNamespace: x.CatalogNamespace, InstalledCSV: x.Name,
			})
		}
	}
	return p
}
