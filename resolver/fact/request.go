package fact

import "fmt"

// A Subscription requests a package.
type Subscription struct {
	// Name is unique in the problem. Default: the package.
	Name    string `json:"name,omitempty"`
	Package string `json:"package"`
	// Channel is the only channel to use. Default: the default channel of the package, then
	// the others by name.
	Channel string `json:"channel,omitempty"`
	// Catalog and CatalogNamespace name the only catalog to use. Default: all, in the order
	// of preference for dependencies.
	Catalog          string `json:"catalog,omitempty"`
	CatalogNamespace string `json:"catalogNamespace,omitempty"`
	// StartingCSV names the bundle of a fresh installation. It has no effect afterwards.
	StartingCSV string `json:"startingCSV,omitempty"`
	// InstalledCSV names the installed operator that the subscription owns. If no operator
	// of that name is installed, this is a fresh installation.
	InstalledCSV string `json:"installedCSV,omitempty"`
	// Manual reports whether install plans wait for approval anyway, so no command changes that.
	Manual bool `json:"manual,omitzero"`
}

// Source returns the catalog that the subscription names, or zero.
func (s *Subscription) Source() CatalogID { return CatalogID{s.Catalog, s.CatalogNamespace} }

// A Policy is an administrator's rule for a package. Exactly one of Pin, Hold and
// Exclude is set. Explanations show the Reason.
type Policy struct {
	Package string `json:"package"`
	// Pin, a name or version, allows only one bundle of the package. An installed operator
	// may stay.
	Pin string `json:"pin,omitempty"`
	// Hold allows neither upgrades nor new installations of the package.
	Hold bool `json:"hold,omitzero"`
	// Exclude blocks bundles, by name or version range.
	Exclude string `json:"exclude,omitempty"`
	// From, the name or version of an installed operator, limits Exclude to upgrades from it.
	From   string `json:"from,omitempty"`
	Reason string `json:"reason,omitempty"`
}

// String returns what the policy does, and its reason.
func (p *Policy) String() string {
	var what string
	switch {
	case p.Pin != "":
		what = fmt.Sprintf("package %s is pinned to %s", p.Package, p.Pin)
	case p.Hold:
		what = fmt.Sprintf("package %s is on hold", p.Package)
	case p.From != "":
		what = fmt.Sprintf("the upgrade of package %s from %s to %s is excluded", p.Package, p.From, p.Exclude)
	default:
		what = fmt.Sprintf("%s of package %s is excluded", p.Exclude, p.Package)
	}
	if p.Reason != "" {
		what += fmt.Sprintf(" (%s)", p.Reason)
	}
	return what
}
