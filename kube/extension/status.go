package extension

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/rollout"
)

// An Outcome is the result of reconciling an extension.
type Outcome struct {
	// Decision is nil if none was made.
	Decision *desired.Decision
	// Installed is the installed bundle, or nil. InstalledErr is the reason why
	// the installed bundle cannot be determined, or nil.
	Installed    *api.BundleMetadata
	InstalledErr error
	// InstallErr is the reason why the selected bundle was not installed, or
	// nil.
	InstallErr error
	// Rollout has the revisions of the extension. It is nil with an Installer.
	Rollout *Rollout
}

// A Rollout has the active revisions of an extension.
type Rollout struct {
	Target    *rollout.Bundle     // which the extension should have now, or nil
	Installed *rollout.Revision   // or nil
	Rolling   []*rollout.Revision // those that are rolling out, by number
	Recorded  bool                // the revisions are Secrets
}

// ErrNoInstaller is the InstallErr of a Reconciler without an Installer.
var ErrNoInstaller = errors.New("no installer is configured")

// Status returns the status of an extension for an outcome. Conditions of other
// types are kept, and transition times change only with a condition's status,
// so the same outcome gives the same status.
func Status(e *api.ClusterExtension, o Outcome, now metav1.Time) api.ClusterExtensionStatus {
	s := api.ClusterExtensionStatus{Conditions: slices.Clone(e.Status.Conditions), Install: e.Status.Install, ActiveRevisions: e.Status.ActiveRevisions}
	set := func(typ string, status metav1.ConditionStatus, reason, message string) {
		meta.SetStatusCondition(&s.Conditions, metav1.Condition{
			Type: typ, Status: status, Reason: reason, Message: rollout.Message(message),
			ObservedGeneration: e.Generation, LastTransitionTime: now,
		})
	}
	if o.InstalledErr == nil {
		s.Install = nil
		if o.Installed != nil {
			s.Install = &api.InstallStatus{Bundle: *o.Installed}
		}
	}
	switch {
	case o.Rollout != nil:
		if !o.Rollout.Recorded && o.InstalledErr == nil && o.InstallErr == nil {
			s.ActiveRevisions = o.Rollout.active()
		}
		for _, c := range o.Rollout.conditions(e, o) {
			set(c.Type, c.Status, c.Reason, c.Message)
		}
	case o.InstalledErr != nil:
		set(typeInstalled, metav1.ConditionUnknown, reasonFailed, "the installed bundle is unknown: "+message(o.InstalledErr))
	case o.Installed != nil:
		set(typeInstalled, metav1.ConditionTrue, reasonSucceeded, fmt.Sprintf("bundle %s is installed", o.Installed.Name))
	case o.InstallErr != nil && !errors.Is(o.InstallErr, ErrNoInstaller):
		set(typeInstalled, metav1.ConditionFalse, reasonFailed, message(o.InstallErr))
	default:
		set(typeInstalled, metav1.ConditionFalse, reasonAbsent, "no bundle is installed")
	}
	if o.Rollout == nil {
		status, reason, message := progress(o)
		set(typeProgressing, status, reason, message)
	}
	for _, d := range deprecations(o) {
		set(d.typ, d.status, d.reason, d.message)
	}
	return s
}

// progress returns the condition Progressing.
func progress(o Outcome) (metav1.ConditionStatus, string, string) {
	err := o.err()
	switch {
	case err == nil:
		return metav1.ConditionTrue, reasonSucceeded, "desired state reached"
	case terminal(err):
		return metav1.ConditionFalse, reasonBlocked, message(err)
	}
	return metav1.ConditionTrue, reasonRetrying, message(err)
}

// err returns the error that prevents progress, or nil.
func (o Outcome) err() error {
	switch {
	case o.InstalledErr != nil:
		return o.InstalledErr
	case o.Decision != nil && o.Decision.Err != nil:
		return o.Decision.Err
	case o.Decision == nil || o.Decision.Selection == nil:
		return errors.New("no bundle has been selected yet")
	case o.InstallErr != nil:
		b := o.Decision.Selection
		return fmt.Errorf("bundle %s of catalog %s is selected: %w", b.Bundle, b.Catalog, o.InstallErr)
	case o.Installed == nil || *o.Installed != *o.Decision.Bundle():
		b := o.Decision.Selection
		return fmt.Errorf("bundle %s of catalog %s is selected but not installed yet", b.Bundle, b.Catalog)
	}
	return nil
}

// terminal reports whether retrying cannot help.
func terminal(err error) bool {
	var spec *desired.SpecError
	return errors.As(err, &spec) || errors.Is(err, ErrNoInstaller) || errors.Is(err, reconcile.TerminalError(nil))
}

// message returns the text of an error without controller-runtime's "terminal
// error: " prefix.
func message(err error) string {
	return strings.ReplaceAll(err.Error(), "terminal error: ", "")
}
