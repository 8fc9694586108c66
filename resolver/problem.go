package resolver

import (
	"fmt"
	"reflect"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/constraints"
	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/property"
	"github.com/olmkit/olmkit/resolver/document"
	"github.com/olmkit/olmkit/resolver/fact"
)

// A Problem is a namespace with its subscriptions, its installed operators and the catalogs
// of the cluster. It marshals to one JSON document; [document.ReadOne] reads one, and refuses
// unknown fields, which json.Unmarshal ignores. The solution of the zero Problem is empty.
type Problem struct {
	FormatVersion document.FormatVersion `json:"formatVersion"`
	// ID is the caller's name for the problem; answers repeat it.
	ID string `json:"id,omitempty"`
	// Catalogs are those of the cluster. Catalogs that the namespace does not see are
	// ignored. Their order does not matter.
	Catalogs []Catalog `json:"catalogs"`
	// Namespace is the namespace to resolve.
	Namespace string `json:"namespace"`
	// GlobalNamespace is the namespace whose catalogs every namespace sees.
	// Default: [DefaultGlobalNamespace].
	GlobalNamespace string         `json:"globalNamespace,omitempty"`
	Subscriptions   []Subscription `json:"subscriptions"`
	// Installed are the operators in the namespace. Their order does not matter.
	Installed []Installed `json:"installed"`
	// Policies pin, hold and exclude packages. Their order does not matter.
	Policies []Policy `json:"policies,omitempty"`
	// OperatorGroup, if set, excludes bundles whose install modes do not support its target
	// namespaces, unless it is Late.
	OperatorGroup *OperatorGroup `json:"operatorGroup,omitzero"`
	Options       Options        `json:"options,omitzero"`

	clusterWide bool // catalogs belong to no namespace, as in OLM v1
}

// MarshalJSON returns the problem as an object. Required lists are never null.
func (p Problem) MarshalJSON() ([]byte, error) { // G2
	type plain Problem
	return json.Marshal(plain(p), json.Deterministic(true))
}

// These types are defined in package fact.
type (
	// A CatalogID names a catalog of a problem; [fact.CatalogID] has the fields.
	CatalogID = fact.CatalogID
	// A Ref names an installed operator, or a bundle in a channel of a catalog; [fact.Ref]
	// has the fields.
	Ref = fact.Ref
	// A Subscription requests a package. [fact.Subscription] has the fields; for an upgrade,
	// set InstalledCSV.
	Subscription = fact.Subscription
	// A Policy is an administrator's rule for a package; [fact.Policy] has the fields.
	Policy = fact.Policy
)

// A Catalog is a catalog as a namespace sees it.
type Catalog struct {
	Name string `json:"name"`
	// Namespace is the namespace of the CatalogSource. If it is empty, every namespace
	// sees the catalog.
	Namespace string `json:"namespace"`
	// Priority orders catalogs for dependencies, highest first.
	Priority int `json:"priority"`
	// Unhealthy, if not empty, is the reason why the catalog cannot be read. An unhealthy
	// catalog fails the resolution; see [Options].
	Unhealthy string `json:"unhealthy,omitempty"`
	// Unknown reports whether the content is unknown, in whole or in part. Only what is given
	// counts; explanations state that the catalog may have what is missing.
	Unknown bool `json:"unknown,omitzero"`
	// FBC is the text of the catalog, which may be empty. Dir is its directory. At most
	// one of them is set. [Problem.Open] sets Graph from them.
	FBC *string `json:"fbc,omitzero"`
	Dir string  `json:"dir,omitempty"`
	// Digest is the content hash of the catalog ([graph.Catalog.Digest]) when the problem
	// was written. Open rejects any other content.
	Digest string `json:"digest,omitempty"`
	// Graph is the index of the catalog. Any number of problems may share it.
	Graph *graph.Catalog `json:"-"`

	// assumed reports whether a fix adds the catalog, with nothing but what the fix needs.
	assumed bool
}

// ID returns the catalog's name and namespace.
func (c *Catalog) ID() CatalogID { return CatalogID{Name: c.Name, Namespace: c.Namespace} }

// An Installed is an installed operator of the namespace: a ClusterServiceVersion. An
// operator that no subscription owns must stay.
type Installed struct {
	Name string `json:"name"`
	// Version is a semantic version. Empty means 0.0.0.
	Version string `json:"version,omitempty"`
	// Package is the package that the operator was installed from. Default: that of the
	// olm.package property. Packages in additional olm.package properties also count.
	Package string `json:"package,omitempty"`
	// Properties are those in the annotation of the ClusterServiceVersion. Nil means that
	// there is no annotation. In that case, the package is the one that the owning
	// subscriptions name, if they agree.
	Properties []property.Property `json:"properties,omitzero"`
	// Held, if not empty, is why the subscription that owns the operator is not part of the
	// problem, such as "etcd.v0.9.4 is still being installed". The operator must stay.
	Held string `json:"held,omitempty"`
	// HeldSubscription is the name of that subscription, if it is known. A fix that uninstalls the
	// operator deletes it too, because otherwise OLM installs the operator again.
	HeldSubscription string `json:"heldSubscription,omitempty"`
}

// Semantics is the meaning of compound constraints.
type Semantics string

const (
	// Documented evaluates a constraint over the resulting set: different bundles may
	// satisfy the parts of an all, and not excludes solutions. It is the default.
	Documented Semantics = "documented"
	// PerBundle evaluates the whole constraint on each bundle, as the running OLM does ([D6]).
	//
	// [D6]: https://github.com/olmkit/olmkit/blob/main/docs/rules.md#d6
	PerBundle Semantics = "per-bundle"
)

// SubscriptionOrder is the order in which subscriptions choose.
type SubscriptionOrder string

const (
	// ByName is the order of names. It is the default.
	ByName SubscriptionOrder = "name"
	// AsGiven is the order in the problem.
	AsGiven SubscriptionOrder = "given"
)

// Options adjust a resolution. The zero value means the defaults.
type Options struct {
	// Semantics selects how constraints are evaluated.
	Semantics         Semantics         `json:"constraints,omitzero"`
	SubscriptionOrder SubscriptionOrder `json:"subscriptionOrder,omitzero"`
	// OtherSources allows upgrades from other catalogs, with lower preference, even if a
	// subscription names a catalog.
	OtherSources bool `json:"otherSources,omitzero"`
	// IgnoreUnhealthy resolves without the unhealthy catalogs instead of failing.
	IgnoreUnhealthy bool `json:"ignoreUnhealthy,omitzero"`
	// Partial plans the independent parts of the namespace that have a solution, and reports
	// the others in [Solution.Refused] instead of failing.
	Partial bool `json:"partial,omitzero"`
	// Cluster has the facts about the cluster that CEL rules can use.
	Cluster constraints.Cluster `json:"cluster,omitzero"`
	// LoadLimits bound the loading of catalogs in text form. ConstraintLimits bound their
	// constraints and the evaluation of rules.
	LoadLimits       *fbc.Limits         `json:"-"`
	ConstraintLimits *constraints.Limits `json:"-"`
	// File is the file of the problem, "-" for standard input. Commands of fixes change
	// policies in it. Default: fixes that change policies have no commands.
	File string `json:"-"`
	// Command is the command line that gives the problem. Fixes that add a catalog add the flag --catalog to it.
	// Default: they create a CatalogSource.
	Command string `json:"-"`
}

// IsZero reports whether JSON can omit the options. It ignores limits, the file and the command,
// which are not written.
func (o Options) IsZero() bool {
	o.LoadLimits, o.ConstraintLimits, o.File, o.Command = nil, nil, "", ""
	return reflect.ValueOf(o).IsZero()
}

// An UnhealthyError reports that a catalog cannot be read. Resolving without it might choose
// the wrong bundles.
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
	return s + "; repair or delete them"
}

// Commands describe the pods of the catalogs, to find out why they are not ready.
func (e *UnhealthyError) Commands() (list []string) {
	for _, c := range e.Catalogs {
		list = append(list, kubectl.Labeled("describe", "pods", c.Namespace, "olm.catalogSource", c.Name))
	}
	return list
}

// An OperatorGroup is the operator group of the namespace. It decides which operators can
// run there.
type OperatorGroup struct {
	// Name is the name of the group, for texts.
	Name string `json:"name,omitempty"`
	// Late reports whether bundles that do not support the group are selected nevertheless, as in OLM, which
	// checks install modes only after the installation. Fixes and ways do not lead to them.
	Late bool `json:"late,omitzero"`
	// TargetNamespaces are the namespaces in the status of the group. [""] means all.
	TargetNamespaces []string `json:"targetNamespaces,omitzero"`
}

// unread sets err if part of a catalog could not be read ([graph.Catalog.Err]). What was
// computed since then counts for nothing.
func unread(catalogs []Catalog, err *error) {
	for i := range catalogs {
		if c := catalogs[i].Graph; c != nil && c.Err() != nil {
			*err = c.Err()
			return
		}
	}
}
