package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/resolver/document"
)

// A Policy is an administrator's rule for a package. Exactly one of Pin, Hold and
// Exclude is set. Explanations show the Reason.
type Policy struct {
	Package string `json:"package"`
	// Pin allows only one bundle of the package, by name or version. An installed
	// operator may stay.
	Pin string `json:"pin,omitempty"`
	// Hold allows neither upgrades nor new installations of the package.
	Hold bool `json:"hold,omitzero"`
	// Exclude blocks bundles, by name or version range.
	Exclude string `json:"exclude,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// String returns what the policy does, and its reason.
func (p *Policy) String() string {
	var what string
	switch {
	case p.Pin != "":
		what = fmt.Sprintf("package %s is pinned to %s", p.Package, p.Pin)
	case p.Hold:
		what = fmt.Sprintf("package %s is on hold", p.Package)
	default:
		what = fmt.Sprintf("%s of package %s is excluded", p.Exclude, p.Package)
	}
	if p.Reason != "" {
		what += fmt.Sprintf(" (%s)", p.Reason)
	}
	return what
}

// PolicyBlocked is the fact that a policy blocks a bundle. In SAT terms: (¬b).
type PolicyBlocked struct {
	Bundle Ref
	Pos    fbc.Pos
	Policy Policy
	// PinFault is why the pin cannot be chosen, or "". Nearest are then the closest
	// versions or bundles that can be pinned.
	PinFault PinFault
	Nearest  []string
}

// A PinFault is the reason why a pin cannot be chosen.
type PinFault string

const (
	// PinAbsent means that no catalog has the version or bundle.
	PinAbsent PinFault = "absent"
	// PinNotOffered means that the bundle cannot be selected from any channel: other
	// entries skip it, its channels are broken, or it is not in a channel.
	PinNotOffered PinFault = "not-offered"
)

func (*PolicyBlocked) isFact() {}

// sentence returns the policy, and why its pin cannot be chosen.
func (f *PolicyBlocked) sentence() string { return f.Policy.String() + f.PinFault.text(f.Nearest) }

// Code returns CodePolicyBlocked.
func (*PolicyBlocked) Code() Code { return CodePolicyBlocked }

// String returns the fact as a sentence.
func (f *PolicyBlocked) String() string {
	return fmt.Sprintf("%s is blocked by a policy: %s", f.Bundle.Name, f.sentence())
}

// A ruling is a policy with its range parsed.
type ruling struct {
	*Policy
	exclude *constraints.Range
	// fault and nearest are the results of checkPin.
	fault   PinFault
	nearest []string
}

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
		u.policies[p.Package] = append(u.policies[p.Package], r)
	}
	for _, list := range u.policies {
		slices.SortStableFunc(list, func(a, b ruling) int { return comparePolicies(a.Policy, b.Policy) })
	}
	return nil
}

func comparePolicies(a, b *Policy) int {
	// The text alone may be ambiguous.
	return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Pin, b.Pin), cmp.Compare(a.Exclude, b.Exclude), cmp.Compare(a.Reason, b.Reason))
}

// aimless returns an error if an exclusion cannot match anything. Its author would not
// notice otherwise.
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
		if pkg, ok := c.Graph.Package(p.Package); ok {
			found = true
			if _, ok := pkg.Bundle(p.Exclude); ok {
				return nil
			}
		}
	}
	if !found {
		return nil // the package is elsewhere
	}
	return fmt.Errorf("%q is neither a bundle of package %s nor a version range: %w", p.Exclude, p.Package, err)
}

// policyBlocks returns the fact that a policy blocks a candidate from a catalog, or nil.
// Policies do not apply to installed operators.
func (u *universe) policyBlocks(c cand) Fact {
	if len(u.policies) == 0 {
		return nil
	}
	_, b := u.entry(c)
	for _, r := range u.policies[b.Package().Name()] {
		forbidden := false
		switch {
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
			return &PolicyBlocked{Bundle: u.ref(c), Pos: b.Pos(), Policy: *r.Policy, PinFault: r.fault, Nearest: r.nearest}
		}
	}
	return nil
}
