package resolver

import (
	"cmp"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
)

// A Solution is what a namespace should install. It is safe for concurrent use, but methods
// that compute explanations wait for each other.
type Solution struct {
	ID        string `json:"id,omitempty"`
	Namespace string `json:"namespace"`
	// Selected are the bundles to install, by package, name, channel and catalog. It is empty
	// if nothing changes.
	Selected []Selected `json:"selected"`
	// Stayed are the operators of subscriptions that are not upgraded, and operators that
	// satisfy a subscription that does not own them, in the order in which the subscriptions
	// chose.
	Stayed []Stay `json:"stayed,omitempty"`
	// Refused is the conflict of the parts without a plan if [Options] allow a partial
	// solution. It is nil if everything is planned.
	Refused *Conflict `json:"refused,omitzero"`
	// LeftOut are candidates and installed operators that cannot be fully read, by catalog
	// and name. Such a bundle is not chosen. Such an operator stays, and its requirements may
	// be missing.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Unseen are the catalogs that the namespace does not see, by namespace and name.
	Unseen []CatalogID `json:"unseen,omitempty"`
	// Differs are the rules in which the running OLM differs, or may differ, from olmkit:
	// those about LeftOut, subscriptions, and chosen bundles.
	Differs []Difference `json:"differs,omitempty"`
	// Faults are CEL rules that could not be evaluated on some bundle and count as false
	// there, in order.
	Faults []Fault `json:"faults,omitempty"`

	r   *resolution
	set []cand // what was chosen, in order
	why *why
	// off are the facts of the parts that a partial solution leaves out.
	off []int
}

// MarshalJSON returns the solution as an object. Required lists are never null.
func (s Solution) MarshalJSON() ([]byte, error) {
	type plain Solution
	return json.Marshal(plain(s), json.Deterministic(true))
}

// A Selected is a bundle to install.
type Selected struct {
	Name             string `json:"name"`
	Channel          string `json:"channel"`
	Package          string `json:"package"`
	Catalog          string `json:"catalog"`
	CatalogNamespace string `json:"catalogNamespace"`
	// Replaces is the installed operator that is upgraded. For a fresh installation it is
	// the bundle's replaces in the catalog.
	Replaces string `json:"replaces"`
	Version  string `json:"version"`
	// Bundle is the bundle in its catalog.
	Bundle graph.Bundle `json:"-"`
}

// Compare orders by package, name, channel and catalog.
func (s Selected) Compare(o Selected) int {
	return cmp.Or(
		cmp.Compare(s.Package, o.Package), cmp.Compare(s.Name, o.Name), cmp.Compare(s.Channel, o.Channel),
		cmp.Compare(s.CatalogNamespace, o.CatalogNamespace), cmp.Compare(s.Catalog, o.Catalog),
	)
}

// A StayReason is the reason why an operator is not upgraded:
//
//	at-head       it is the head of its channel
//	no-successor  no entry of the channel replaces, skips or covers it
//	blocked       it has successors, but each of them violates a rule
//	present       it satisfies a subscription that does not own it and names neither a
//	              catalog nor a channel
type StayReason string

const (
	staysAtHead      StayReason = "at-head"
	staysNoSuccessor StayReason = "no-successor"
	staysBlocked     StayReason = "blocked"
	staysPresent     StayReason = "present"
)

// A Stay is an operator that satisfies a subscription and is not upgraded. The running OLM
// does not report it.
type Stay struct {
	Subscription string     `json:"subscription"`
	Name         string     `json:"name"`
	Package      string     `json:"package"`
	Reason       StayReason `json:"reason"`
	// Blocked are the successors that were refused, in order of preference.
	Blocked []Ref `json:"blocked,omitempty"`
}

// A LeftOut is a bundle or installed operator that cannot be fully read.
type LeftOut struct {
	Bundle Ref    `json:"bundle"`
	Reason string `json:"reason"`
}
