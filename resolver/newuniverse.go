package resolver

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/resolver/document"
)

// newUniverse checks the problem and puts it in canonical order (D15).
func newUniverse(ctx context.Context, p *Problem) (*universe, error) {
	u := &universe{
		p:     p,
		given: p.Catalogs,
		lists: map[listKey][]cand{},
		exprs: exprs{},
		evaluation: evaluation{
			Evaluator: constraints.NewEvaluator(p.Options.Cluster, p.Options.ConstraintLimits),
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
	case o.SubscriptionOrder != "" && o.SubscriptionOrder != ByName && o.SubscriptionOrder != AsGiven:
		return document.Errorf("/options/subscriptionOrder", "%q is neither %q nor %q", o.SubscriptionOrder, ByName, AsGiven)
	}
	return nil
}

func (u *universe) addSubscriptions() error {
	n := len(u.p.Subscriptions)
	// Two allocations suffice for any number of subscriptions.
	given, own := slices.Clone(u.p.Subscriptions), make([]subscription, n)
	u.subs = make([]*subscription, 0, n)
	for i := range given {
		s := &given[i]
		if s.Package == "" {
			return document.Errorf(fmt.Sprintf("/subscriptions/%d/package", i), "is missing; name the package to subscribe to")
		}
		s.Name = cmp.Or(s.Name, s.Package)
		x := &own[i]
		x.Subscription = s
		if in, ok := u.installedNamed(s.InstalledCSV); ok {
			x.current = in
			x.current.owners = append(x.current.owners, x) // D11
		}
		u.subs = append(u.subs, x)
	}
	byName := u.subs
	if u.p.Options.SubscriptionOrder == AsGiven {
		byName = slices.Clone(byName)
	}
	slices.SortStableFunc(byName, func(a, b *subscription) int { return cmp.Compare(a.Name, b.Name) })
	for i := range byName[min(1, n):] {
		if byName[i].Name == byName[i+1].Name {
			return repeatedName(given)
		}
	}
	return nil
}

// repeatedName returns the error for the first subscription with the name of an earlier one.
func repeatedName(given []Subscription) error {
	seen := map[string]bool{}
	for i, s := range given {
		if seen[s.Name] {
			return document.Errorf(fmt.Sprintf("/subscriptions/%d/name", i), "%q appears twice; give each subscription a unique name", s.Name)
		}
		seen[s.Name] = true
	}
	return nil
}
