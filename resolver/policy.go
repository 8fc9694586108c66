package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/fact"
)

// addPolicies checks the policies and groups them by package.
func (u *universe) addPolicies() error {
	for i := range u.p.Policies {
		p := &u.p.Policies[i]
		path := fmt.Sprintf("/policies/%d", i)
		set := 0
		for _, is := range []bool{p.Pin != "", p.Hold, p.Exclude != ""} {
			if is {
				set++
			}
		}
		switch {
		case p.Package == "":
			return document.Errorf(path+"/package", "is missing; name the package that the policy applies to")
		case set != 1:
			return document.Errorf(path, "sets %d of pin, hold and exclude; set exactly one", set)
		case p.From != "" && p.Exclude == "":
			return document.Errorf(path+"/from", "limits only exclude; remove it, or exclude bundles")
		}
		r := ruling{Policy: p}
		if err := u.aimless(p); err != nil {
			return &document.Error{Path: path, Err: err}
		}
		if p.Exclude != "" {
			if rng, err := constraints.ParseRange(p.Exclude); err == nil {
				r.exclude = &rng
			}
		}
		if p.Pin != "" {
			r.fault, r.nearest = u.checkPin(p)
		}
		if u.policies == nil {
			u.policies = map[string][]ruling{}
		}
		u.policies[p.Package] = append(u.policies[p.Package], r)
	}
	for _, list := range u.policies {
		slices.SortStableFunc(list, func(a, b ruling) int { return comparePolicies(a.Policy, b.Policy) })
	}
	return nil
}

func comparePolicies(a, b *Policy) int {
	// The text alone may be ambiguous.
	return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Pin, b.Pin), cmp.Compare(a.Exclude, b.Exclude), cmp.Compare(a.From, b.From), cmp.Compare(a.Reason, b.Reason))
}

// aimless returns an error if an exclusion cannot match anything. Otherwise its author would
// not notice.
func (u *universe) aimless(p *Policy) error {
	if p.Exclude == "" {
		return nil
	}
	_, err := constraints.ParseRange(p.Exclude)
	if err == nil {
		return nil
	}
	found := false
	for _, c := range u.cats {
		if pkg, ok := c.Graph.Package(p.Package); ok && !c.assumed {
			found = true
			if _, ok := pkg.Bundle(p.Exclude); ok {
				return nil
			}
		}
	}
	if !found {
		return nil // another catalog may have the package
	}
	return fmt.Errorf("%q is neither a bundle of package %s nor a version range: %w", p.Exclude, p.Package, err)
}

// upgrades reports whether an installed operator of a package has a name or version.
func (u *universe) upgrades(pkg, from string) bool {
	return slices.ContainsFunc(u.installedOf(pkg), func(in *installed) bool {
		return in.Name == from || in.version.String() == from
	})
}

// policyBlocks returns the fact that a policy blocks a candidate from a catalog (G8), or nil.
// Policies do not apply to installed operators.
func (u *universe) policyBlocks(c cand) fact.Fact {
	if len(u.policies) == 0 {
		return nil
	}
	_, b := u.entry(c)
	if f := u.policyAgainst(c, func(from string) bool { return u.upgrades(b.Package().Name(), from) }); f != nil {
		return f
	}
	return nil
}

// policyAgainst returns the fact that a policy blocks a candidate from a catalog, or nil. is reports
// whether the operator that would be upgraded has a name or version.
func (u *universe) policyAgainst(c cand, is func(from string) bool) *fact.PolicyBlocked {
	_, b := u.entry(c)
	for _, r := range u.policies[b.Package().Name()] {
		forbidden := false
		switch {
		case r.From != "" && !is(r.From):
		case r.Hold:
			forbidden = true
		case r.Pin != "":
			forbidden = b.Name() != r.Pin && b.Version().String() != r.Pin
		case r.exclude != nil:
			forbidden = b.Name() == r.Exclude || r.exclude.Contains(b.Version())
		default:
			forbidden = b.Name() == r.Exclude
		}
		if forbidden {
			return &fact.PolicyBlocked{Bundle: u.ref(c), Pos: b.Pos(), Policy: *r.Policy, PinFault: r.fault, Nearest: r.nearest}
		}
	}
	return nil
}
