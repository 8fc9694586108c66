package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/resolver/document"
)

// newUniverse checks the problem and puts it in canonical order (D15).
func newUniverse(ctx context.Context, p *Problem) (*universe, error) {
	u := &universe{
		p:        p,
		policies: map[string][]ruling{},
		lists:    map[listKey][]cand{},
		exprs:    exprs{},
		orders:   map[int][]*source{},
		evaluation: evaluation{
			Evaluator: constraints.NewEvaluator(p.Options.Cluster, p.Options.ConstraintLimits),
			values:    map[graph.Bundle]*constraints.Values{},
			faults:    map[Fault]bool{},
		},
	}
	if err := u.checkOptions(); err != nil {
		return nil, err
	}
	if err := u.addInstalled(ctx); err != nil {
		return nil, err
	}
	if err := u.addCatalogs(); err != nil {
		return nil, err
	}
	if err := u.addPolicies(); err != nil {
		return nil, err
	}
	return u, u.addSubscriptions()
}

func (u *universe) checkOptions() error {
	switch o := &u.p.Options; {
	case o.Semantics != "" && o.Semantics != Documented && o.Semantics != PerBundle:
		return document.Errorf("/options/constraints", "%q is neither %q nor %q", o.Semantics, Documented, PerBundle)
	case o.SubscriptionOrder != "" && o.SubscriptionOrder != byName && o.SubscriptionOrder != AsGiven:
		return document.Errorf("/options/subscriptionOrder", "%q is neither %q nor %q", o.SubscriptionOrder, byName, AsGiven)
	}
	return nil
}

// addCatalogs adds the catalogs that the namespace sees (D14).
func (u *universe) addCatalogs() error {
	var sick []Catalog
	for i := range u.p.Catalogs {
		c := &u.p.Catalogs[i]
		path := fmt.Sprintf("/catalogs/%d", i)
		switch {
		case c.Name == "":
			return document.Errorf(path+"/name", "is missing; name the catalog")
		case !u.p.Sees(c.ID()):
			u.unseen = append(u.unseen, c.ID())
			continue
		case c.Unhealthy != "":
			sick = append(sick, *c)
			continue
		case c.Graph == nil:
			return document.Errorf(path, "catalog %q is not loaded; set Graph or call Open", c.Name)
		}
		u.cats = append(u.cats, &source{Catalog: c, at: i})
	}
	if len(sick) > 0 && !u.p.Options.IgnoreUnhealthy {
		slices.SortFunc(sick, func(a, b Catalog) int { return a.ID().Compare(b.ID()) })
		return &UnhealthyError{Catalogs: sick}
	}
	slices.SortFunc(u.unseen, CatalogID.Compare)
	slices.SortStableFunc(u.cats, func(a, b *source) int { return a.ID().Compare(b.ID()) })
	next := cand(len(u.installed))
	for i, c := range u.cats {
		if i > 0 && u.cats[i-1].ID() == c.ID() {
			return document.Errorf(fmt.Sprintf("/catalogs/%d", c.at), "catalog %q appears twice in namespace %q", c.Name, c.Namespace)
		}
		c.index, c.first = i, next
		next += cand(c.Graph.NumEntries())
	}
	return nil
}

func (u *universe) addSubscriptions() error {
	n := len(u.p.Subscriptions)
	seen := make(map[string]bool, n)
	// Two allocations suffice for any number of subscriptions.
	given, own := slices.Clone(u.p.Subscriptions), make([]subscription, n)
	u.subs = make([]*subscription, 0, n)
	for i := range given {
		s := &given[i]
		if s.Package == "" {
			return document.Errorf(fmt.Sprintf("/subscriptions/%d/package", i), "is missing; name the package to subscribe to")
		}
		s.Name = cmp.Or(s.Name, s.Package)
		if seen[s.Name] {
			return document.Errorf(fmt.Sprintf("/subscriptions/%d/name", i), "%q appears twice; give each subscription a unique name", s.Name)
		}
		seen[s.Name] = true
		x := &own[i]
		x.Subscription = s
		if in, ok := u.installedNamed(s.InstalledCSV); ok {
			x.current = in
			x.current.owners = append(x.current.owners, x)
		}
		u.subs = append(u.subs, x)
	}
	if u.p.Options.SubscriptionOrder != AsGiven {
		slices.SortFunc(u.subs, func(a, b *subscription) int { return cmp.Compare(a.Name, b.Name) })
	}
	return nil
}
