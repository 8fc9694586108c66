package operatorgroup

import (
	"fmt"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// An UnsupportedError says that an operator cannot serve the targets of a
// group (F2).
type UnsupportedError struct {
	// Mode is the install mode that would be needed. It is empty where no mode
	// helps, because the targets themselves make no sense.
	Mode olm.InstallModeType
	// Namespace is that of the operator, Targets what it should serve.
	Namespace string
	Targets   []string
}

// Error says which install mode is missing and for what, or what is wrong with
// the targets.
func (e *UnsupportedError) Error() string {
	switch n := len(e.Targets); {
	case n == 0:
		return "the operator group selects no namespace: there is nothing to watch"
	case e.Mode == "":
		return fmt.Sprintf("the operator group selects all namespaces and %d more: want either all or some", n-1)
	case e.Mode == olm.AllNamespaces:
		return fmt.Sprintf("install mode %s is not supported: the operator cannot watch all namespaces", e.Mode)
	case e.Mode == olm.OwnNamespace:
		return fmt.Sprintf("install mode %s is not supported: the operator cannot watch its own namespace %q", e.Mode, e.Namespace)
	case e.Mode == olm.SingleNamespace:
		return fmt.Sprintf("install mode %s is not supported: the operator cannot watch namespace %q from namespace %q", e.Mode, e.Targets[0], e.Namespace)
	default:
		return fmt.Sprintf("install mode %s is not supported: the operator cannot watch %d namespaces", e.Mode, n)
	}
}

// Supports returns nil if an operator with the given install modes, in the
// given namespace, can serve the targets of a group, which are counted as they
// are listed (F2, H21):
//
//   - one target that is the operator's own namespace wants OwnNamespace;
//   - the empty name alone wants AllNamespaces;
//   - any other one wants SingleNamespace;
//   - several want MultiNamespace, and OwnNamespace as well if the operator's
//     own namespace is one of them.
//
// A mode that is not listed is not supported. No targets at all, and the empty
// name among others, are supported by nobody. The error is an
// *UnsupportedError, or a *ModesError if a mode is listed twice.
func Supports(modes []olm.InstallMode, namespace string, targets []string) error {
	supported, err := parseModes(modes)
	if err != nil {
		return err
	}
	need := func(m olm.InstallModeType) error {
		if supported[m] {
			return nil
		}
		return &UnsupportedError{Mode: m, Namespace: namespace, Targets: targets}
	}
	switch {
	case len(targets) == 0:
		return &UnsupportedError{Namespace: namespace}
	case len(targets) == 1:
		switch targets[0] {
		case namespace:
			return need(olm.OwnNamespace)
		case AllNamespaces:
			return need(olm.AllNamespaces)
		}
		return need(olm.SingleNamespace)
	}
	if err := need(olm.MultiNamespace); err != nil {
		return err
	}
	for _, t := range targets { // the first fault in the order of the targets, as OLM tells it
		switch t {
		case namespace:
			if err := need(olm.OwnNamespace); err != nil {
				return err
			}
		case AllNamespaces:
			return &UnsupportedError{Namespace: namespace, Targets: targets}
		}
	}
	return nil
}

// A ModesError says that an operator lists an install mode twice.
type ModesError struct{ Mode olm.InstallModeType }

// Error says which mode is at fault.
func (e *ModesError) Error() string {
	return fmt.Sprintf("install mode %s is listed twice: list it once", e.Mode)
}

// parseModes accepts modes that do not exist, as the running OLM does: they
// support nothing.
func parseModes(modes []olm.InstallMode) (map[olm.InstallModeType]bool, error) {
	supported := make(map[olm.InstallModeType]bool, len(modes))
	for _, m := range modes {
		if _, ok := supported[m.Type]; ok {
			return nil, &ModesError{m.Type}
		}
		supported[m.Type] = m.Supported
	}
	return supported, nil
}
