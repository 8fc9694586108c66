package resolver

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

// A Ref names an installed operator, or a bundle in a channel of a catalog. It is
// comparable.
type Ref struct {
	// Catalog is zero for an installed operator.
	Catalog CatalogID `json:"catalog,omitzero"`
	Package string    `json:"package,omitempty"`
	Channel string    `json:"channel,omitempty"`
	Name    string    `json:"name"`
}

// Installed reports whether r names an installed operator.
func (r Ref) Installed() bool { return r.Catalog == CatalogID{} }

// String returns the name and its origin.
func (r Ref) String() string {
	if r.Installed() {
		return "installed " + r.Name
	}
	return r.Name + " (" + r.Catalog.String() + ", channel " + r.Channel + ")"
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
	// What is missing: "catalog", "package", "channel", "startingCSV", or "head" if the
	// channel is broken.
	What string
	// Known are the names that exist, sorted.
	Known []string
	// Nearest are suggestions: packages with a similar spelling, or bundles with the
	// closest versions.
	Nearest []string
	// Err is why the channel is broken, or why the catalog or startingCSV cannot be used
	// although it exists. Channel is the channel of the error.
	Err     error
	Channel string
}

// MustStay is the fact that an installed operator without a subscription stays.
// In SAT terms: (i).
type MustStay struct{ Operator Ref }

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
}

// Unusable is the fact that a bundle cannot be read or conflicts with itself.
// In SAT terms: (¬b).
type Unusable struct {
	Bundle Ref
	Pos    fbc.Pos
	Err    error
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

// Code returns CodeSubscribed.
func (*Subscribed) Code() Code { return CodeSubscribed }

// Code returns CodeUnavailable.
func (*Unavailable) Code() Code { return CodeUnavailable }

// Code returns CodeMustStay.
func (*MustStay) Code() Code { return CodeMustStay }

// Code returns CodeRequires.
func (*Requires) Code() Code { return CodeRequires }

// Code returns CodeOnePerPackage.
func (*OnePerPackage) Code() Code { return CodeOnePerPackage }

// Code returns CodeOneProvider.
func (*OneProvider) Code() Code { return CodeOneProvider }

// Code returns CodeReplaced.
func (*Replaced) Code() Code { return CodeReplaced }

// Code returns CodeProhibited.
func (*Prohibited) Code() Code { return CodeProhibited }

// Code returns CodeUnusable.
func (*Unusable) Code() Code { return CodeUnusable }
