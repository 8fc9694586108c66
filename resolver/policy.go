package resolver

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/resolver/document"
)

// A Policy is the administrator's word on a package (G8). Exactly one of Pin,
// Hold and Exclude is set; its reason shows in explanations.
type Policy struct {
	Package string `json:"package"`
	// Pin allows one bundle of the package, by name or version. What is
	// installed may stay.
	Pin string `json:"pin,omitempty"`
	// Hold keeps the package as it is: no upgrade, and no new installation.
	Hold bool `json:"hold,omitempty"`
	// Exclude forbids bundles by name, or by a range of versions.
	Exclude string `json:"exclude,omitempty"`
	Reason  string `json:"reason,omitempty"`
}

// String says what the policy does.
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

// Ruled says that a policy of the problem keeps a bundle from being chosen (G8).
// In SAT terms: (¬b).
type Ruled struct {
	Bundle Ref
	Pos    fbc.Pos
	Policy Policy
	// PinFault says why a pin cannot be met; "" when it can. Nearest are then the
	// versions or bundles that could be pinned instead.
	PinFault PinFault
	Nearest  []string
}

// A PinFault says why nothing that a pin names can be chosen.
type PinFault string

const (
	// PinAbsent is the fault of a pin that no catalog has.
	PinAbsent PinFault = "absent"
	// PinNotOffered is the fault of a pin to a bundle that no channel offers:
	// other entries skip it, its channels are broken, or it is in none.
	PinNotOffered PinFault = "not-offered"
)

func (*Ruled) isFact() {}

// says tells the policy, and whether it can be met at all.
func (f *Ruled) says() string { return f.Policy.String() + f.PinFault.text(f.Nearest) }

// Code returns CodeRuled.
func (*Ruled) Code() Code { return CodeRuled }

// String tells the fact in one sentence.
func (f *Ruled) String() string {
	return fmt.Sprintf("%s is not allowed: %s", f.Bundle.Name, f.says())
}

// A ruling is a policy with its range parsed.
type ruling struct {
	*Policy
	exclude *constraints.Range
	// fault and nearest are those of a pin.
	fault   PinFault
	nearest []string
}

// addPolicies checks the policies and files them by package.
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
			return document.Errorf(path+"/package", "is missing; name the package that the policy is about")
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
	// What the first tells alike, the others tell apart.
	return cmp.Or(cmp.Compare(a.String(), b.String()), cmp.Compare(a.Pin, b.Pin), cmp.Compare(a.Exclude, b.Exclude), cmp.Compare(a.Reason, b.Reason))
}

// aimless returns why an exclusion can touch nothing, or nil: whoever wrote it to
// keep a bundle away would not notice.
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
	return fmt.Errorf("%q is no bundle of package %s, and no range of versions: %w", p.Exclude, p.Package, err)
}

// ruled returns the fact that a policy forbids a candidate of a catalog, or nil.
// Installed operators are never forbidden: policies guard what changes.
func (u *universe) ruled(c cand) Fact {
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
			return &Ruled{Bundle: u.ref(c), Pos: b.Pos(), Policy: *r.Policy, PinFault: r.fault, Nearest: r.nearest}
		}
	}
	return nil
}
