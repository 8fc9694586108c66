package operatorgroup

import (
	"fmt"

	"github.com/olmkit/olmkit/olm"
)

// An unsupportedError reports that an operator does not support the targets of
// a group.
type unsupportedError struct {
	// Mode is the missing install mode. It is empty if the targets are invalid
	// and no mode would support them.
	Mode olm.InstallModeType
	// Namespace is the operator's namespace, Targets the namespaces to serve.
	Namespace string
	Targets   []string
}

// Error returns which install mode is missing, or what is wrong with the
// targets.
func (e *unsupportedError) Error() string {
	switch n := len(e.Targets); {
	case n == 0:
		return "the operator group selects no namespaces"
	case e.Mode == "":
		return fmt.Sprintf("the operator group selects all namespaces and %d named ones; select either all or some", n-1)
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

// Supports returns nil if an operator with the given install modes in the given
// namespace supports the targets of a group:
//
//   - a single target that is the operator's own namespace requires
//     OwnNamespace;
//   - the empty name alone requires AllNamespaces;
//   - any other single target requires SingleNamespace;
//   - several targets require MultiNamespace, and also OwnNamespace if the
//     operator's own namespace is among them.
//
// A mode that is not listed is not supported. An empty list of targets, and a
// list with the empty name among others, are never supported. The
// error names the missing mode, or one that is listed twice.
func Supports(modes []olm.InstallMode, namespace string, targets []string) error { // F2
	supported, err := parseModes(modes)
	if err != nil {
		return err
	}
	need := func(m olm.InstallModeType) error {
		if supported[m] {
			return nil
		}
		return &unsupportedError{Mode: m, Namespace: namespace, Targets: targets}
	}
	switch {
	case len(targets) == 0:
		return &unsupportedError{Namespace: namespace}
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
	for _, t := range targets { // report the first error in target order, as OLM does
		switch t {
		case namespace:
			if err := need(olm.OwnNamespace); err != nil {
				return err
			}
		case AllNamespaces:
			return &unsupportedError{Namespace: namespace, Targets: targets}
		}
	}
	return nil
}

// A modesError reports an install mode that is listed twice.
type modesError struct{ Mode olm.InstallModeType }

// Error returns a message that names the mode.
func (e *modesError) Error() string {
	return fmt.Sprintf("install mode %s is listed twice; list it once", e.Mode)
}

// parseModes returns whether each listed install mode is supported. As in OLM, unknown modes
// are accepted and have no effect.
func parseModes(modes []olm.InstallMode) (map[olm.InstallModeType]bool, error) {
	supported := make(map[olm.InstallModeType]bool, len(modes))
	for _, m := range modes {
		if _, ok := supported[m.Type]; ok {
			return nil, &modesError{m.Type}
		}
		supported[m.Type] = m.Supported
	}
	return supported, nil
}
