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
			s.ahead = x.indexed()
			return x, nil
		}
		x.at = x.last.after()
		next, err := resolve(ctx, &x.at, new(scratch))
		if errors.As(err, &x.no) {
			x.last, s.ahead = nil, x.indexed()
			return x, nil
		}
		if err != nil {
			return nil, err
		}
		x.last = next
	}
	return nil, nil
}

// indexed returns x with the fields that depend on the others.
func (x *settled) indexed() *settled {
	x.owned, x.index = map[string]string{}, map[string]int{}
	for _, s := range x.at.Subscriptions {
		x.owned[s.Name] = s.InstalledCSV
	}
	if x.last != nil {
		x.in = x.last.members()
		for i, s := range x.last.r.u.subs {
			x.index[s.Name] = i
		}
	}
	return x
}

// after returns the problem of the namespace once the solution is installed. Dependencies then have
// subscriptions, as in OLM.
func (s *Solution) after() Problem {
	u := s.r.u
	p := *u.p
	p.Options.Partial = false
	p.Installed, p.Subscriptions = nil, nil
	in, gone, owned, installed := s.members(), map[cand]bool{}, map[string]bool{}, map[string]bool{}
	for i, sub := range u.subs {
		next := *sub.Subscription
		if options := s.r.options[i]; options != nil {
			at := slices.IndexFunc(options.list, func(c cand) bool { return in[c] })
			if at >= 0 && !u.isInstalled(options.list[at]) {
				next.InstalledCSV = u.ref(options.list[at]).Name
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
			installed[x.Name] = true
		}
	}
	for _, x := range s.Selected {
		if installed[x.Name] {
			continue // it is an option in several channels
		}
		installed[x.Name] = true
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
