package operatorgroup

import (
	"errors"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
)

// A Failure is why an operator cannot run in the group of its namespace: the
// reason and message of phase Failed. The operator recovers when the cause is
// fixed.
type Failure struct {
	Reason  olm.Reason
	Message string
}

// Error returns the reason and the message.
func (f *Failure) Error() string { return string(f.Reason) + ": " + f.Message }

// Membership returns the group that a CSV is a member of, or why it is not a
// member of any:
//
//   - NoOperatorGroup: there is no group;
//   - TooManyOperatorGroups: there are several;
//   - NoTargetNamespaces: the group selects no namespaces;
//   - InvalidInstallModes: the CSV lists an install mode twice;
//   - UnsupportedOperatorGroup: the CSV's install modes do not support the
//     group's targets.
//
// The targets are those in the group's status. If it has none yet, both results
// are nil. The error is a *[Failure].
//
// Groups in other namespaces are ignored.
func Membership(csv *olm.ClusterServiceVersion, groups []*olm.OperatorGroup) (*olm.OperatorGroup, error) { // F2, F3
	var own []*olm.OperatorGroup
	for _, g := range groups {
		if g.Metadata.Namespace == csv.Metadata.Namespace {
			own = append(own, g)
		}
	}
	switch len(own) {
	case 0:
		return nil, &Failure{reason.NoOperatorGroup, fmt.Sprintf("namespace %q has no operator group; create one that selects the namespaces its operators serve", csv.Metadata.Namespace)}
	case 1:
	default:
		return nil, &Failure{reason.TooManyOperatorGroups, fmt.Sprintf("namespace %q has %d operator groups (%s); keep one", csv.Metadata.Namespace, len(own), names(own))}
	}
	g := own[0]
	targets := g.Status.Namespaces
	if targets == nil {
		return nil, nil
	}
	if len(targets) == 0 {
		return nil, &Failure{reason.NoTargetNamespaces, fmt.Sprintf("operator group %q selects no namespaces; label a namespace or change the selector", g.Metadata.Name)}
	}
	if err := Supports(csv.Spec.InstallModes, csv.Metadata.Namespace, targets); err != nil {
		var modes *modesError
		if errors.As(err, &modes) {
			return nil, &Failure{reason.InvalidInstallModes, err.Error()}
		}
		return nil, &Failure{reason.UnsupportedOperatorGroup, fmt.Sprintf("operator group %q: %s; %s", g.Metadata.Name, err, remedy(csv.Spec.InstallModes))}
	}
	return g, nil
}

// remedy returns how to fix unsupported targets.
func remedy(modes []olm.InstallMode) string {
	var list []string
	for _, m := range modes {
		if m.Supported {
			list = append(list, string(m.Type))
		}
	}
	if len(list) == 0 {
		return "the operator supports no install mode, so no group can include it"
	}
	return "change the group's targets to match the supported modes: " + strings.Join(list, ", ")
}

func names(groups []*olm.OperatorGroup) string {
	list := make([]string, len(groups))
	for i, g := range groups {
		list[i] = g.Metadata.Name
	}
	return strings.Join(set(list), ", ")
}

// IsGroupFailure reports whether a CSV failed because of its operator group.
// Such a CSV returns to Pending when the group admits it.
func IsGroupFailure(s olm.CSVStatus) bool {
	if s.Phase != olm.PhaseFailed {
		return false
	}
	switch s.Reason {
	case reason.NoOperatorGroup, reason.TooManyOperatorGroups, reason.NoTargetNamespaces,
		reason.UnsupportedOperatorGroup, reason.InvalidInstallModes,
		reason.InterOperatorGroupOwnerConflict, reason.CannotModifyStaticOperatorGroupAPIs:
		return true
	}
	return false
}

// IsActive reports whether a CSV is an active member of the given group: a
// member that is not a copy, not being deleted, and not failed because of a
// group.
func IsActive(csv *olm.ClusterServiceVersion, g *olm.OperatorGroup) bool {
	if olm.IsCopied(csv) || csv.Metadata.IsDeleted() || IsGroupFailure(csv.Status) {
		return false
	}
	in, err := Membership(csv, []*olm.OperatorGroup{g})
	return err == nil && in != nil
}

// The condition of the groups in a namespace that has several.
const (
	conditionMultipleGroups = "MultipleOperatorGroup"
	reasonMultipleGroups    = "MultipleOperatorGroupsFound"
)

// The condition of a group whose service account does not exist.
const (
	conditionServiceAccount      = "OperatorGroupServiceAccount"
	reasonServiceAccountNotFound = "ServiceAccountNotFound"
)

// GroupConditions returns the conditions that OLM sets on a group, in a fixed
// order, given the number of groups in its namespace and whether its service
// account exists.
func GroupConditions(g *olm.OperatorGroup, groups int, accountExists bool) []olm.Condition {
	var list []olm.Condition
	if groups > 1 {
		list = append(list, olm.Condition{
			Type: conditionMultipleGroups, Status: olm.ConditionTrue, Reason: reasonMultipleGroups,
			Message: fmt.Sprintf("namespace %q has %d operator groups; keep one", g.Metadata.Namespace, groups),
		})
	}
	if name := g.Spec.ServiceAccountName; name != "" && !accountExists {
		list = append(list, olm.Condition{
			Type: conditionServiceAccount, Status: olm.ConditionTrue, Reason: reasonServiceAccountNotFound,
			Message: fmt.Sprintf("service account %q does not exist in namespace %q; create it or name another", name, g.Metadata.Namespace),
		})
	}
	return list
}
