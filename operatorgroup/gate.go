package operatorgroup

import (
	"fmt"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// A GateError says why an install plan creates no CSV: the operator group of
// its namespace is no use (F10).
type GateError struct {
	// Groups is the number of groups in the namespace.
	Groups int
	// Group is the group if there is one. ServiceAccount is set when its account
	// is missing, Unprocessed when nobody has determined its targets yet. If
	// neither is, it has none.
	Group, ServiceAccount string
	Unprocessed           bool
}

// Error returns the message of the install plan, whose beginning and count are
// those of 001, 2.4.5.11.
func (e *GateError) Error() string {
	const query = "attenuated service account query failed - "
	switch {
	case e.ServiceAccount != "":
		return fmt.Sprintf("%splease make sure the service account exists. sa=%s operatorgroup=%s", query, e.ServiceAccount, e.Group)
	case e.Unprocessed:
		return fmt.Sprintf("%soperator group %s is not yet processed: its status has no namespaces", query, e.Group)
	case e.Groups == 1:
		return fmt.Sprintf("%soperator group %s targets no namespace", query, e.Group)
	case e.Groups > 1:
		return fmt.Sprintf("%smore than one operator group(s) are managing this namespace count=%d", query, e.Groups)
	}
	return query + "no operator group found that is managing this namespace: create one"
}

// Gate returns nil if an install plan may create CSVs in a namespace that has
// the given groups, or else a *[GateError] (F10). exists reports whether the
// namespace has a service account of a name. A single group without targets
// lets nothing in either.
func Gate(groups []*olm.OperatorGroup, exists func(serviceAccount string) bool) error {
	if len(groups) != 1 {
		return &GateError{Groups: len(groups)}
	}
	g := groups[0]
	e := &GateError{Groups: 1, Group: g.Metadata.Namespace + "/" + g.Metadata.Name}
	if len(g.Status.Namespaces) == 0 {
		e.Unprocessed = g.Status.Namespaces == nil && g.Status.LastUpdated.IsZero()
		return e
	}
	if name := g.Spec.ServiceAccountName; name != "" && !exists(name) {
		e.ServiceAccount = name
		return e
	}
	return nil
}
