package resolver

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
)

// A Problem is what a resolution is about: one namespace with its
// subscriptions, its installed operators and the catalogs it sees. It marshals
// to one JSON document. The zero Problem solves to nothing.
type Problem struct {
	FormatVersion document.FormatVersion `json:"formatVersion"`
	// ID is the caller's name for the problem; answers repeat it.
	ID string `json:"id,omitempty"`
	// Catalogs are those of the cluster. All that the namespace sees take part
	// (D14, D19). Their order does not matter.
	Catalogs []Catalog `json:"catalogs"`
	// Namespace is the namespace that is resolved.
	Namespace string `json:"namespace"`
	// GlobalNamespace is the namespace whose catalogs every namespace sees.
	// Default: [DefaultGlobalNamespace].
	GlobalNamespace string         `json:"globalNamespace,omitempty"`
	Subscriptions   []Subscription `json:"subscriptions"`
	// Installed are the operators that the namespace has. Their order does not
	// matter.
	Installed []Installed `json:"installed"`
	// Policies pin, hold and exclude packages (G8). Their order does not matter.
	Policies []Policy `json:"policies,omitempty"`
	// OperatorGroup, when set, keeps bundles out whose install modes do not serve
	// its targets (G7).
	OperatorGroup *OperatorGroup `json:"operatorGroup,omitzero"`
	Options       Options        `json:"options,omitzero"`

	clusterWide bool // catalogs belong to no namespace, as in OLM v1
}

// MarshalJSON returns the problem as an object. Lists that it always has are never null.
func (p Problem) MarshalJSON() ([]byte, error) {
	type plain Problem
	return json.Marshal(plain(p), json.Deterministic(true))
}

// A Catalog is a catalog as a namespace sees it.
type Catalog struct {
	Name string `json:"name"`
	// Namespace is that of the CatalogSource. A catalog without one is seen by
	// every namespace.
	Namespace string `json:"namespace"`
	// Priority orders catalogs for dependencies: the higher first.
	Priority int `json:"priority"`
	// Unhealthy, when not empty, says why the catalog cannot be read. One
	// unhealthy catalog fails the resolution (D14).
	Unhealthy string `json:"unhealthy,omitempty"`
	// FBC is the catalog itself, as text, which may be empty; Dir names its
	// directory. At most one of them is set. [Problem.Open] turns them into
	// Graph.
	FBC *string `json:"fbc,omitzero"`
	Dir string  `json:"dir,omitempty"`
	// Digest is the content hash of the catalog that the problem was written
	// with ([graph.Catalog.Digest]); Open refuses another content.
	Digest string `json:"digest,omitempty"`
	// Graph is the index to resolve over. It may be shared by any number of
	// problems.
	Graph *graph.Catalog `json:"-"`
}

// A CatalogID names a catalog of a problem. It is comparable.
type CatalogID struct {
	Name      string `json:"name"`
	Namespace string `json:"namespace"`
}

// String returns "name/namespace".
func (id CatalogID) String() string { return id.Name + "/" + id.Namespace }

// ID returns the catalog's name and namespace.
func (c *Catalog) ID() CatalogID { return CatalogID{c.Name, c.Namespace} }

// A Subscription asks for a package (D9).
type Subscription struct {
	// Name is unique in the problem. Default: the package.
	Name    string `json:"name,omitempty"`
	Package string `json:"package"`
	// Channel restricts to a channel. Default: the default channel of the
	// package, then the others by name (H15).
	Channel string `json:"channel,omitempty"`
	// Catalog and CatalogNamespace restrict to a catalog. Default: any, in the
	// order of preference for dependencies.
	Catalog          string `json:"catalog,omitempty"`
	CatalogNamespace string `json:"catalogNamespace,omitempty"`
	// StartingCSV names the bundle of a fresh installation; it means nothing
	// once something is installed.
	StartingCSV string `json:"startingCSV,omitempty"`
	// InstalledCSV names the installed operator that the subscription owns. A
	// name that is not installed means a fresh installation (H4).
	InstalledCSV string `json:"installedCSV,omitempty"`
}

// An Installed is an operator that the namespace has: a ClusterServiceVersion.
// One that no subscription owns must stay (D11).
type Installed struct {
	Name string `json:"name"`
	// Version is a semantic version; empty counts as 0.0.0 (H2).
	Version string `json:"version,omitempty"`
	// Package is the package it came from. Default: that of the olm.package
	// property. Each further olm.package counts, too (H22).
	Package string `json:"package,omitempty"`
	// Properties are those of the annotation of the ClusterServiceVersion. Nil stands
	// for one without the annotation: then its package is that of the subscriptions
	// that own it, if they name one.
	Properties []property.Property `json:"properties,omitzero"`
}

// Semantics is the meaning of compound constraints.
type Semantics string

const (
	// Documented evaluates a constraint over the resulting set: different
	// bundles may meet the parts of an all, and not removes solutions (D5). It
	// is the default.
	Documented Semantics = "documented"
	// PerBundle evaluates the whole constraint on one bundle at a time, as the
	// running OLM does (D6).
	PerBundle Semantics = "per-bundle"
)

// SubscriptionOrder says which subscriptions choose first.
type SubscriptionOrder string

const (
	// ByName lets subscriptions choose in order of their names, so that the
	// order in which they are given never matters. It is the default.
	ByName SubscriptionOrder = "name"
	// AsGiven lets subscriptions choose in the order of the problem (H15).
	AsGiven SubscriptionOrder = "given"
)

// Options adjust a resolution. The zero value means the defaults.
type Options struct {
	// Semantics say how constraints are read.
	Semantics         Semantics         `json:"constraints,omitzero"`
	SubscriptionOrder SubscriptionOrder `json:"subscriptionOrder,omitzero"`
	// OtherSources lets the operator of a subscription that names a catalog be
	// upgraded from other catalogs too, after its own (B4).
	OtherSources bool `json:"otherSources,omitzero"`
	// IgnoreUnhealthy resolves without the unhealthy catalogs instead of
	// failing (D14).
	IgnoreUnhealthy bool `json:"ignoreUnhealthy,omitzero"`
	// Partial plans the independent parts of the namespace that can be planned
	// and reports the others in [Solution.Refused], instead of refusing all
	// (G1).
	Partial bool `json:"partial,omitzero"`
	// Cluster is what CEL rules see of the cluster.
	Cluster constraints.Cluster `json:"cluster,omitzero"`
	// LoadLimits bound the load of catalogs in text form, ConstraintLimits their
	// constraints and the evaluation of rules.
	LoadLimits       *fbc.Limits         `json:"-"`
	ConstraintLimits *constraints.Limits `json:"-"`
}

// IsZero reports whether a document has nothing to say of the options: limits are
// not written.
func (o Options) IsZero() bool {
	o.LoadLimits, o.ConstraintLimits = nil, nil
	return reflect.ValueOf(o).IsZero()
}

// An UnhealthyError says that resolution was refused because a catalog cannot be
// read (D14): resolving without it might choose what nobody wants.
type UnhealthyError struct{ Catalogs []Catalog }

// Error names the catalogs and their reasons.
func (e *UnhealthyError) Error() string {
	s := "unhealthy catalogs prevent resolution:"
	for i, c := range e.Catalogs {
		if i > 0 {
			s += ";"
		}
		s += fmt.Sprintf(" %s in namespace %s (%s)", c.Name, c.Namespace, c.Unhealthy)
	}
	return s + "; repair or remove them, or ignore unhealthy catalogs"
}
