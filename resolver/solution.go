package resolver

import (
	"cmp"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/graph"
)

// A Solution is what a namespace should install. It is not modified after
// Resolve returned it, and any number of goroutines may share it: those that ask
// it why wait for each other.
type Solution struct {
	ID        string `json:"id,omitempty"`
	Namespace string `json:"namespace"`
	// Selected are the bundles to install that are not installed yet, by
	// package, name, channel and catalog. It is empty when nothing changes.
	Selected []Selected `json:"selected"`
	// Stayed are the operators of subscriptions that are not upgraded, and those that
	// a subscription takes as they are, in the order in which the subscriptions chose.
	Stayed []Stay `json:"stayed,omitempty"`
	// Refused is the conflict of the parts that have no plan, when the problem
	// asks for a partial answer; nil when everything is planned.
	Refused *Conflict `json:"refused,omitzero"`
	// LeftOut are bundles that some choice could have had and installed
	// operators, of which something cannot be read (H7), by catalog and name: a
	// bundle is not chosen, an operator stays without what it may require.
	LeftOut []LeftOut `json:"leftOut,omitempty"`
	// Unseen are the catalogs that took no part because the namespace does not see
	// them (D19), by namespace and name.
	Unseen []CatalogID `json:"unseen,omitempty"`
	// Differs are the rules by which the running OLM answers otherwise, or may: those
	// of what was left out, of the subscriptions, and of what was chosen.
	Differs []Difference `json:"differs,omitempty"`
	// Faults are rules of constraints that could not be evaluated on some
	// bundle, and count as false there (D7), in order.
	Faults []Fault `json:"faults,omitempty"`

	r   *resolution
	set []cand // what was chosen, in order
	why *why
	// off are the facts of the parts that a partial solution leaves out.
	off []int
}

// MarshalJSON returns the solution as an object. Lists that it always has are never null.
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
	// Replaces is the installed operator that is upgraded; on a fresh
	// installation, what the catalog says that the bundle replaces (H4).
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

// A StayReason says why an operator is not upgraded.
type StayReason string

const (
	// AtHead: it is the head of its channel.
	AtHead StayReason = "at-head"
	// NoSuccessor: no entry of the channel replaces, skips or covers it.
	NoSuccessor StayReason = "no-successor"
	// Blocked: it has successors, and each of them breaks a rule (H1).
	Blocked StayReason = "blocked"
	// Present: the subscription does not own it, but takes it as it is: it names
	// neither catalog nor channel (H23).
	Present StayReason = "present"
)

// A Stay is an operator that answers a subscription and is not upgraded. The
// running OLM is silent about it.
type Stay struct {
	Subscription string     `json:"subscription"`
	Name         string     `json:"name"`
	Package      string     `json:"package"`
	Reason       StayReason `json:"reason"`
	// Blocked are the successors that were refused, the preferred first.
	Blocked []Ref `json:"blocked,omitempty"`
}

// A LeftOut is a bundle or installed operator of which something cannot be read.
type LeftOut struct {
	Bundle Ref    `json:"bundle"`
	Reason string `json:"reason"`
}

// A Fault is a rule that could not be evaluated.
type Fault struct {
	Rule  string `json:"rule"`
	Error string `json:"error"`
}

// String names the rule, a long one by its beginning, and says why it failed.
func (f Fault) String() string {
	const most = 120
	rule := strconv.Quote(f.Rule)
	if len(f.Rule) > most {
		rule = strconv.Quote(strings.ToValidUTF8(f.Rule[:most], "")) + "…"
	}
	return "rule " + rule + " counts as false where it failed: " + f.Error
}
