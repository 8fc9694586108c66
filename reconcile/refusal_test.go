package reconcile_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
)

// F10: an operator that is not permitted to run reports this in its status and with an
// event, and runs once it is permitted.
func TestRefusedDeployment(t *testing.T) {
	w := worldOf(t, "drift")
	refuse := true
	w.Intercept = func(c reconcile.Change, apply func() error) error {
		if refuse && c.Object.Kind == "Deployment" {
			return errors.New("deployments is forbidden")
		}
		return apply()
	}
	var events []reconcile.Event
	l := w.loop()
	l.Events = func(e reconcile.Event) { events = append(events, e) }
	if _, err := l.Run(t.Context(), testNamespace); err == nil {
		t.Fatal("what was refused is no error")
	}
	csv := func() *olm.ClusterServiceVersion {
		t.Helper()
		for _, o := range w.List() {
			if o.Kind == olm.KindClusterServiceVersion && o.Metadata.Namespace == testNamespace {
				c, err := olm.As[olm.ClusterServiceVersion](o)
				if err != nil {
					t.Fatal(err)
				}
				return c
			}
		}
		t.Fatal("there is no CSV")
		return nil
	}
	if c := csv(); c.Status.Reason != reason.ComponentFailed || !strings.Contains(c.Status.Message, "deployments is forbidden") {
		t.Errorf("the CSV is %s, %s: %s", c.Status.Phase, c.Status.Reason, c.Status.Message)
	}
	told := 0
	for _, e := range events {
		if e.Reason == "ChangeRefused" && e.Type == "Warning" && strings.Contains(e.Message, "deployments is forbidden") {
			told++
		}
	}
	if told != 1 {
		t.Errorf("%d events report the refusal: want 1", told)
	}
	refuse = false
	if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
		t.Fatal(err)
	}
	if c := csv(); c.Status.Phase != olm.PhaseSucceeded {
		t.Errorf("the CSV is %s, %s: %s", c.Status.Phase, c.Status.Reason, c.Status.Message)
	}
}

// F7: permissions in target namespaces that are deleted during the installation of an
// operator are restored.
func TestPermissionsWhileInstalling(t *testing.T) {
	w := worldOf(t, "drift")
	run := func() {
		t.Helper()
		if _, err := w.loop().Run(t.Context(), testNamespace); err != nil {
			t.Fatal(err)
		}
	}
	remove := func(list []olm.Object) {
		t.Helper()
		for _, o := range list {
			if _, err := w.Apply(t.Context(), reconcile.Change{Op: reconcile.Delete, Object: o, For: o.Key()}); err != nil {
				t.Fatal(err)
			}
		}
	}
	run()
	w.Controllers = false // nothing becomes healthy any longer
	for _, o := range w.List() {
		if o.Kind == "Deployment" {
			remove([]olm.Object{o})
		}
	}
	run()
	for _, o := range w.List() {
		if o.Kind == olm.KindClusterServiceVersion && o.Metadata.Namespace == testNamespace && !strings.Contains(o.Rest.String(), `"phase":"Installing","message"`) {
			t.Fatalf("the operator is not Installing: %s", o.Rest)
		}
	}
	bindings := func() (list []olm.Object) {
		for _, o := range w.List() {
			if strings.HasSuffix(o.Kind, "RoleBinding") && strings.HasPrefix(o.Metadata.Labels["olm.owner"], "example.") && o.Metadata.Namespace != testNamespace {
				list = append(list, o)
			}
		}
		return list
	}
	before := bindings()
	if len(before) == 0 {
		t.Fatal("the operator has no permissions in its target namespace")
	}
	remove(before)
	run()
	if after := bindings(); len(after) != len(before) {
		t.Errorf("of %d bindings %d are back", len(before), len(after))
	}
}
