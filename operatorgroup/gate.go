package operatorgroup

import (
	"fmt"

	"github.com/olmkit/olmkit/olm"
)

// A gateError reports that an install plan may not create CSVs, because its
// namespace does not have a usable operator group.
type gateError struct {
	// Groups is the number of groups in the namespace.
	Groups int
	// Group is the only group, if there is one. ServiceAccount is set if its
	// service account is missing. Unprocessed is set if its targets have not
	// been determined yet. If neither is set, the group has no targets.
	Group, ServiceAccount string
	Unprocessed           bool
}

// Error returns the message for the install plan. The prefix and the count are
// as documented by OLM.
func (e *gateError) Error() string {
	const query = "attenuated service account query failed - "
	switch {
	case e.ServiceAccount != "":
		return fmt.Sprintf("%splease make sure the service account exists. sa=%s operatorgroup=%s", query, e.ServiceAccount, e.Group)
	case e.Unprocessed:
		return fmt.Sprintf("%soperator group %s has not been processed yet: status.namespaces is not set", query, e.Group)
	case e.Groups == 1:
		return fmt.Sprintf("%soperator group %s targets no namespace", query, e.Group)
	case e.Groups > 1:
		return fmt.Sprintf("%smore than one operator group(s) are managing this namespace count=%d", query, e.Groups)
	}
	return query + "no operator group found that is managing this namespace; create one"
}

// Gate returns nil if an install plan may create CSVs in a namespace with the
// given groups, and an error otherwise. The function exists reports
// whether the namespace has a service account. A single group without targets
// does not pass.
func Gate(groups []*olm.OperatorGroup, exists func(serviceAccount string) bool) error {
	if len(groups) != 1 {
		return &gateError{Groups: len(groups)}
	}
	g := groups[0]
	e := &gateError{Groups: 1, Group: g.Metadata.Namespace + "/" + g.Metadata.Name}
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
