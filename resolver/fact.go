package resolver

import (
	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/property"
)

// A Fact is one reason for which a set of operators is acceptable or not. Facts
// are what a conflict consists of. It is one of *Subscribed, *Unavailable,
// *MustStay, *Requires, *OnePerPackage, *OneProvider, *Replaced, *Prohibited,
// *Unusable, *InstallMode and *Ruled.
type Fact interface {
	// Code is the stable name of the kind of fact.
	Code() Code
	// String tells the fact in one sentence, without a full stop.
	String() string
	isFact()
}

// A Ref names an installed operator or a bundle of a catalog, in one channel. It
// is comparable; its zero value names nothing.
type Ref struct {
	// Catalog is zero for what is installed.
	Catalog CatalogID `json:"catalog,omitzero"`
	Package string    `json:"package,omitempty"`
	Channel string    `json:"channel,omitempty"`
	Name    string    `json:"name"`
}

// Installed reports whether the reference names an installed operator.
func (r Ref) Installed() bool { return r.Catalog == CatalogID{} }

// String returns the name and where it comes from, for people.
func (r Ref) String() string {
	if r.Installed() {
		return "installed " + r.Name
	}
	return r.Name + " (" + r.Catalog.String() + ", channel " + r.Channel + ")"
}

// Subscribed says that a subscription needs one of its candidates, or its
// current operator (D9).
// In SAT terms: (c1 ∨ c2 ∨ …).
type Subscribed struct {
	Subscription Subscription
	// Candidates in order of preference; the current operator is last.
	Candidates []Ref
}

// Unavailable says that what a subscription names does not exist (H5).
// In SAT terms: false.
type Unavailable struct {
	Subscription Subscription
	// What is missing: "catalog", "package", "channel", "startingCSV", or
	// "head" when the channel is broken.
	What string
	// Known are the names that exist in its place, sorted.
	Known []string
	// Nearest are the names that may have been meant: packages that are spelled
	// alike, bundles of the nearest versions.
	Nearest []string
	// Err says why the channel is broken, or why the catalog (D19) or startingCSV
	// (H27) does not count although it exists. Channel names the channel that the
	// error is about.
	Err     error
	Channel string
}

// MustStay says that an installed operator that no subscription owns stays
// (D11).
// In SAT terms: (i).
type MustStay struct{ Operator Ref }

// Requires says that a bundle needs what its property asks for (D2).
// In SAT terms: (¬b ∨ formula), where a leaf of the formula is the disjunction
// of the bundles that satisfy it.
type Requires struct {
	Bundle Ref
	// Pos is where the bundle is defined; unknown for an installed operator.
	Pos fbc.Pos
	// Property is the index in the bundle's properties.
	Property    int
	Requirement constraints.Expr
	// Candidates are the bundles that satisfy some leaf, in order of preference.
	Candidates []Ref
}

// OnePerPackage says that two bundles of one package cannot be installed
// together (D10).
// In SAT terms: (¬a ∨ ¬b) for every pair of Bundles.
type OnePerPackage struct {
	Package string
	Bundles []Ref
}

// OneProvider says that two operators cannot provide the same API in a
// namespace (D10).
// In SAT terms: (¬a ∨ ¬b) for every pair of Providers.
type OneProvider struct {
	API       property.GVK
	Providers []Ref
}

// Replaced says that an upgrade takes the place of the operator that it
// upgrades.
// In SAT terms: (¬b ∨ ¬i).
type Replaced struct{ Bundle, Operator Ref }

// Prohibited says that a bundle has the property olm.deprecated and is never
// chosen (D12).
// In SAT terms: (¬b).
type Prohibited struct {
	Bundle Ref
	Pos    fbc.Pos
}

// Unusable says that a bundle cannot be chosen because it cannot be read (H7), or
// because it conflicts with itself (H26).
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
