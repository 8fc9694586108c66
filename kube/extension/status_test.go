package extension_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/olmkit/olmkit/internal/golden"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/extension"
	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
)

var now = metav1.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// cases lists extensions, the catalogs and installed bundle of the cluster, and the results
// of the installer. The golden file contains the decisions and the conditions.
var cases = []struct {
	name      string
	filter    string
	installed string // version
	catalogs  string
	result    error // of the installer
	unknown   error // why the installed bundle is unknown
	alter     func(*api.ClusterExtension)
}{
	{name: "C3: fresh", filter: "packageName: etcd", catalogs: "community other"},
	{name: "C3: a channel", filter: "{packageName: etcd, channels: [stable]}", catalogs: "community"},
	{name: "C2: a range", filter: "{packageName: etcd, version: '~1.1'}", catalogs: "community"},
	{name: "C4: a successor", filter: "packageName: etcd", installed: "1.0.0", catalogs: "community"},
	{name: "C4: no successor in the range", filter: "{packageName: etcd, version: 2.0.0}", installed: "1.0.0", catalogs: "community"},
	{name: "C4: a downgrade", filter: "{packageName: etcd, version: 1.0.0, upgradeConstraintPolicy: SelfCertified}", installed: "1.2.0", catalogs: "community"},
	{name: "C4: up to date", filter: "{packageName: etcd, channels: [stable]}", installed: "1.2.0", catalogs: "community"},
	{name: "C6: priority", filter: "packageName: etcd", catalogs: "community certified/10"},
	{name: "C6: a tie", filter: "{packageName: etcd, version: 1.2.0}", catalogs: "community certified"},
	{name: "C6: a selector", filter: "{packageName: etcd, selector: {matchLabels: {name: certified}}}", catalogs: "community certified broken"},
	{name: "C6: an expression", filter: "{packageName: etcd, version: 1.2.0, selector: {matchExpressions: [{key: name, operator: NotIn, values: [certified]}]}}", catalogs: "community certified"},
	{name: "C6: unavailable", filter: "{packageName: etcd, version: 1.2.0}", catalogs: "community certified! broken!"},
	{name: "C6: unreadable", filter: "packageName: etcd", installed: "1.0.0", catalogs: "community broken"},
	{name: "no catalog", filter: "packageName: etcd", catalogs: ""},
	{name: "no package", filter: "packageName: etc", catalogs: "community"},
	{name: "no channel", filter: "{packageName: etcd, channels: [fast]}", catalogs: "community"},
	{name: "H16: dependencies", filter: "packageName: etcd", catalogs: "needy other"},
	{name: "C5: deprecated, fresh", filter: "{packageName: etcd, channels: [stable, fast]}", catalogs: "deprecated"},
	{name: "C5: deprecated bundle", filter: "{packageName: etcd, version: 1.0.0}", catalogs: "deprecated"},
	{name: "C5: deprecated bundle left behind", filter: "packageName: etcd", installed: "1.0.0", catalogs: "deprecated"},
	{name: "C5: installed in no catalog", filter: "packageName: etcd", installed: "0.5.0", catalogs: "deprecated"},
	{name: "bad range", filter: "{packageName: etcd, version: 'newest'}", catalogs: "community"},
	{name: "bad policy", filter: "{packageName: etcd, upgradeConstraintPolicy: Sometimes}", catalogs: "community"},
	{name: "bad selector", filter: "{packageName: etcd, selector: {matchExpressions: [{key: name, operator: Like, values: [x]}]}}", catalogs: "community"},
	{name: "no filter", filter: "{}", catalogs: "community", alter: func(e *api.ClusterExtension) { e.Spec.Source.Catalog = nil }},
	{name: "no package name", filter: "{}", catalogs: "community"},
	{name: "another source", filter: "{}", catalogs: "community", alter: func(e *api.ClusterExtension) { e.Spec.Source.SourceType = "Git" }},
	{name: "installation fails", filter: "packageName: etcd", catalogs: "community", result: errors.New("deployments.apps is forbidden")},
	{name: "installation fails for good", filter: "packageName: etcd", catalogs: "community", result: reconcile.TerminalError(errors.New("the CRD would lose data"))},
	{name: "upgrade fails", filter: "packageName: etcd", installed: "1.0.0", catalogs: "community", result: errors.New("deployments.apps is forbidden")},
	{name: "nobody installs", filter: "packageName: etcd", installed: "1.0.0", catalogs: "community", result: extension.ErrNoInstaller},
	{name: "no installer, fresh", filter: "packageName: etcd", catalogs: "community", result: extension.ErrNoInstaller},
	{name: "installed bundle unknown", filter: "packageName: etcd", catalogs: "community", unknown: errors.New("secrets is forbidden")},
}

// TestStatus compares decisions and conditions with a golden file.
func TestStatus(t *testing.T) { // K104
	var b strings.Builder
	for _, tt := range cases {
		e := clusterExtension(t, tt.filter)
		if tt.alter != nil {
			tt.alter(e)
		}
		o := extension.Outcome{Installed: bundleOf(tt.installed), InstalledErr: tt.unknown}
		fmt.Fprintf(&b, "== %s\n", tt.name)
		if tt.unknown == nil {
			catalogs := clusterCatalogs(t, tt.catalogs)
			d, err := desired.Decide(t.Context(), e, o.Installed, catalogs, opener{}, nil)
			if err != nil {
				t.Fatalf("%s: %v", tt.name, err)
			}
			slices.Reverse(catalogs)
			again, err := desired.Decide(t.Context(), e, o.Installed, catalogs, opener{}, nil)
			if err != nil || fmt.Sprint(again.Err) != fmt.Sprint(d.Err) || !cmp.Equal(again.Bundle(), d.Bundle()) {
				t.Errorf("%s: the decision depends on the order of the catalogs", tt.name)
			}
			o.Decision = d
			if s := d.Selection; s != nil {
				fmt.Fprintf(&b, "%s from %s\n", s.Bundle, s.Catalog)
				if o.InstallErr = tt.result; tt.result == nil {
					o.Installed = d.Bundle()
				}
			}
		}
		status := extension.Status(e, o, now)
		if status.Install != nil {
			fmt.Fprintf(&b, "install: %s %s\n", status.Install.Bundle.Name, status.Install.Bundle.Version)
		}
		for _, c := range status.Conditions {
			fmt.Fprintf(&b, "%-18s %-7s %s: %s\n", c.Type, c.Status, c.Reason, c.Message)
			if c.ObservedGeneration != 3 || c.LastTransitionTime != now {
				t.Errorf("%s: %+v", tt.name, c)
			}
		}
		b.WriteString("\n")

		// The same outcome at a later time has the same status.
		e.Status = status
		if diff := cmp.Diff(status, extension.Status(e, o, metav1.NewTime(now.Add(time.Hour)))); diff != "" {
			t.Errorf("%s: a second time: %s", tt.name, diff)
		}
	}
	golden.File(t, "status.golden", b.String())
}

// S8: invisible characters from catalogs and servers are made visible in conditions; line
// breaks stay.
func TestStatusText(t *testing.T) {
	e := clusterExtension(t, "packageName: etcd")
	s := extension.Status(e, extension.Outcome{InstalledErr: errors.New("one\ntwo \u202eowt\u200b\x1b[1m")}, now)
	want := "the installed bundle is unknown: one\n" + `two \u202eowt\u200b\u001b[1m`
	if c := meta.FindStatusCondition(s.Conditions, "Installed"); c == nil || c.Message != want {
		t.Errorf("%+v; want %q", c, want)
	}
}

// TestStatusKeeps checks that other writers' conditions stay, and that a transition gets a
// new time.
func TestStatusKeeps(t *testing.T) {
	e := clusterExtension(t, "packageName: etcd")
	e.Status.Conditions = []metav1.Condition{{Type: "Mine", Status: "True", Reason: "X", LastTransitionTime: now}}
	e.Status.Install = &api.InstallStatus{Bundle: *bundleOf("1.0.0")}
	s := extension.Status(e, extension.Outcome{InstalledErr: errors.New("x")}, now)
	if s.Conditions[0].Type != "Mine" || s.Install == nil {
		t.Errorf("%+v", s)
	}
	e.Status = s
	later := metav1.NewTime(now.Add(time.Hour))
	s = extension.Status(e, extension.Outcome{Decision: &desired.Decision{}}, later)
	for _, c := range s.Conditions {
		if want := map[string]metav1.Time{"Installed": later}[c.Type]; !want.IsZero() && c.LastTransitionTime != want {
			t.Errorf("%s: %v; want %v", c.Type, c.LastTransitionTime, want)
		}
	}
	if s.Install != nil {
		t.Error("the status still reports an installed bundle")
	}
	if len(e.Status.Conditions) != len(s.Conditions) {
		t.Errorf("%d conditions became %d", len(e.Status.Conditions), len(s.Conditions))
	}
}
