package fact

import (
	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/property"
)

// A Fact is a condition that every solution must meet. Conflicts consist of facts. It is
// one of *Subscribed, *Unavailable, *MustStay, *Requires, *OnePerPackage, *OneProvider,
// *Replaced, *Prohibited, *Unusable, *InstallMode and *PolicyBlocked.
type Fact interface {
	// Code returns the stable name of the kind of fact.
	Code() Code
	// String returns the fact as a sentence without a full stop.
	String() string
	isFact()
}

// Subscribed is the fact that a subscription needs one of its candidates or its current
// operator. In SAT terms: (c1 ∨ c2 ∨ …).
type Subscribed struct {
	Subscription Subscription
	// Candidates are in order of preference. The current operator is last.
	Candidates []Ref
}

// Unavailable is the fact that something a subscription names does not exist.
// In SAT terms: false.
type Unavailable struct {
	Subscription Subscription
	// What names the missing thing: "catalog", "package", "channel", "startingCSV", or
	// "head" if the channel is broken.
	What string
	// Known are the names that exist, sorted.
	Known []string
	// Nearest are suggestions: packages with a similar spelling or with the same word,
	// bundles with the closest versions, or the nearest channel, the default channel and the
	// one with the newest head.
	Nearest []string
	// Crowded reports whether many packages are as similar as those of Nearest, which are then only
	// examples.
	Crowded bool
	// Elsewhere are the other channels of the package that have the startingCSV, by catalog and name.
	Elsewhere []string
	// Err explains why the channel is broken, or why an existing catalog or startingCSV
	// cannot be used. Channel is the channel of the error.
	Err     error
	Channel string
}

// MustStay is the fact that an installed operator stays, because no subscription owns it or its
// subscription is held. In SAT terms: (i).
type MustStay struct {
	Operator Ref
	// Held is why its subscription is held, or "".
	Held string
}

// Requires is the fact that a bundle has a requirement. In SAT terms: (¬b ∨ formula),
// where each leaf of the formula is the disjunction of the bundles that satisfy it.
type Requires struct {
	Bundle Ref
	// Pos is where the bundle is defined. It is zero for an installed operator.
	Pos fbc.Pos
	// Property is the index of the property in the bundle.
	Property    int
	Requirement constraints.Expr
	// Candidates are the bundles that satisfy a leaf, in order of preference.
	Candidates []Ref
}

// OnePerPackage is the fact that a namespace can hold only one bundle of a package.
// In SAT terms: (¬a ∨ ¬b) for every pair of Bundles.
type OnePerPackage struct {
	Package string
	Bundles []Ref
}

// OneProvider is the fact that a namespace can hold only one provider of an API.
// In SAT terms: (¬a ∨ ¬b) for every pair of Providers.
type OneProvider struct {
	API       property.GVK
	Providers []Ref
}

// Replaced is the fact that an upgrade replaces the installed operator.
// In SAT terms: (¬b ∨ ¬i).
type Replaced struct{ Bundle, Operator Ref }

// Prohibited is the fact that a bundle has the property olm.deprecated, which excludes it.
// In SAT terms: (¬b).
type Prohibited struct {
	Bundle Ref
	Pos    fbc.Pos
	// Message is the author's deprecation message, or "".
	Message string
}

// Unusable is the fact that a bundle cannot be read or conflicts with itself.
// In SAT terms: (¬b).
type Unusable struct {
	Bundle Ref
	Pos    fbc.Pos
	// Repeats reports whether the bundle conflicts with itself: it declares an API or its
	// package twice, which the running OLM counts as two bundles.
	Repeats bool
	Err     error
}

// PolicyBlocked is the fact that a policy blocks a bundle. In SAT terms: (¬b).
type PolicyBlocked struct {
	Bundle Ref
	Pos    fbc.Pos
	Policy Policy
	// PinFault explains why the pin cannot be chosen: "absent" if no catalog has the
	// version or bundle, "not-offered" if it cannot be selected from any channel, or "" if
	// it can. Nearest are the closest versions or bundles that can be pinned. It also explains why
	// an installed operator, of version From, never gets to the pin: "ahead" if the pin is Steps
	// upgrades away and also blocks those before, "behind" if it is older, "unreachable" if no
	// upgrades lead there.
	PinFault string
	Nearest  []string
	From     string
	Steps    int
}

// InstallMode is the fact that the install modes of a bundle do not support the target
// namespaces of the operator group. In SAT terms: (¬b).
type InstallMode struct {
	Bundle Ref
	Pos    fbc.Pos
	// Targets are the namespaces that the operator group selects.
	Targets []string
	// Err reports the missing install mode.
	Err error
}

func (*Subscribed) isFact()    {}
func (*Unavailable) isFact()   {}
func (*MustStay) isFact()      {}
func (*Requires) isFact()      {}
func (*OnePerPackage) isFact() {}
func (*OneProvider) isFact()   {}
func (*Replaced) isFact()      {}
func (*Prohibited) isFact()    {}
func (*Unusable) isFact()      {}
func (*PolicyBlocked) isFact() {}
func (*InstallMode) isFact()   {}

// Code returns "subscribed".
func (*Subscribed) Code() Code { return "subscribed" }

// Code returns "unavailable".
func (*Unavailable) Code() Code { return "unavailable" }

// Code returns "must-stay".
func (*MustStay) Code() Code { return "must-stay" }

// Code returns "requires".
func (*Requires) Code() Code { return "requires" }

// Code returns "one-per-package".
func (*OnePerPackage) Code() Code { return "one-per-package" }

// Code returns "one-provider".
func (*OneProvider) Code() Code { return "one-provider" }

// Code returns "replaced".
func (*Replaced) Code() Code { return "replaced" }

// Code returns "prohibited".
func (*Prohibited) Code() Code { return "prohibited" }

// Code returns "unusable".
func (*Unusable) Code() Code { return "unusable" }

// Code returns "policy-blocked".
func (*PolicyBlocked) Code() Code { return "policy-blocked" }

// Code returns "install-mode".
func (*InstallMode) Code() Code { return "install-mode" }

// Place returns where the requirement is defined, or nil for an installed operator.
func (f *Requires) Place() *Place {
	p := PlaceOf(f.Bundle, f.Pos)
	if p != nil {
		p.Property = f.Property
	}
	return p
}
