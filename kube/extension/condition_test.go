package extension

import (
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/olmkit/olmkit/kube/extension/api"
	"github.com/olmkit/olmkit/kube/extension/desired"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/kube/rollout"
)

func revision(version string, conditions ...metav1.Condition) *rollout.Revision {
	return &rollout.Revision{Bundle: rollout.Bundle{Name: "etcd.v" + version, Package: "etcd", Version: version, Image: "etcd:" + version}, Conditions: conditions}
}

// The conditions of an extension come from its revisions, unless an error prevents one.
func TestConditions(t *testing.T) { // K66, K68, K100, K101, K102
	cond := func(typ, reason, message string) metav1.Condition {
		return metav1.Condition{Type: typ, Status: "True", Reason: reason, Message: message}
	}
	progressing := func(reason, message string) metav1.Condition { return cond("Progressing", reason, message) }
	installed := revision("1.0.0", progressing("Succeeded", "rolled out"), cond("Available", "ProbesSucceeded", "available"))
	upgrade, retrying := revision("1.1.0", progressing("RollingOut", "rolls out")), revision("1.1.0", progressing("Retrying", "collides"))
	invalid := reconcile.TerminalError(&registryv1.Error{Problems: []registryv1.Problem{{Stage: registryv1.StageConfig, Message: "bad"}}})
	const isInstalled = "Installed True Succeeded: Installed bundle etcd:1.0.0 successfully"
	for name, test := range map[string]struct {
		rollout Rollout
		outcome Outcome
		before  []metav1.Condition
		want    []string
	}{
		"installed": {rollout: Rollout{Installed: installed, Target: &installed.Bundle},
			want: []string{isInstalled, "Progressing True Succeeded: rolled out", "Available True ProbesSucceeded: available"}},
		"an upgrade is due": {rollout: Rollout{Installed: installed, Target: &upgrade.Bundle},
			want: []string{isInstalled, "Progressing True RollingOut: Revision 1.1.0 is rolling out.", "Available True ProbesSucceeded: available"}},
		"an upgrade rolls out": {rollout: Rollout{Installed: installed, Target: &upgrade.Bundle, Rolling: []*rollout.Revision{upgrade}},
			want: []string{isInstalled, "Progressing True RollingOut: rolls out", "Available True ProbesSucceeded: available"}},
		"first": {rollout: Rollout{Target: &upgrade.Bundle, Rolling: []*rollout.Revision{upgrade}},
			want: []string{"Installed False Absent: No bundle installed", "Progressing True RollingOut: rolls out"}},
		"the latest of two collides": {rollout: Rollout{Target: &upgrade.Bundle, Rolling: []*rollout.Revision{upgrade, retrying}},
			want: []string{"Installed False Failed: No bundle installed", "Progressing True Retrying: collides"}},
		"selection fails": {outcome: Outcome{Decision: &desired.Decision{Err: errors.New("tie")}},
			want: []string{"Installed False Failed: No bundle installed", "Progressing True Retrying: tie"}},
		"the extension is invalid": {outcome: Outcome{Decision: &desired.Decision{Err: &desired.SpecError{Path: "/spec", Err: errors.New("bad")}}},
			want: []string{"Installed False Failed: No bundle installed", "Progressing False Blocked: /spec: bad"}},
		"an upgrade cannot be selected": {rollout: Rollout{Installed: installed}, outcome: Outcome{Decision: &desired.Decision{Err: errors.New("tie")}},
			want: []string{isInstalled, "Progressing True Retrying: tie", "Available True ProbesSucceeded: available"}},
		"no image": {rollout: Rollout{Target: &upgrade.Bundle}, outcome: Outcome{InstallErr: &unavailable{errors.New("no image")}},
			want: []string{"Installed False Failed: No bundle installed", `Progressing True Retrying: error for resolved bundle "etcd.v1.1.0" with version "1.1.0": no image`}},
		"a bad bundle": {rollout: Rollout{Target: &upgrade.Bundle}, outcome: Outcome{InstallErr: reconcile.TerminalError(errors.New("bad"))},
			before: []metav1.Condition{cond("Installed", "Succeeded", "before")},
			want:   []string{`Progressing False Blocked: error for resolved bundle "etcd.v1.1.0" with version "1.1.0": bad`}},
		"a bad configuration": {rollout: Rollout{Target: &upgrade.Bundle}, outcome: Outcome{InstallErr: invalid},
			want: []string{"Installed False Failed: No bundle installed",
				`Progressing False InvalidConfiguration: error for resolved bundle "etcd.v1.1.0" with version "1.1.0": invalid ClusterExtension configuration: invalid configuration: bad`}},
		"the revisions cannot be read": {outcome: Outcome{InstalledErr: errors.New("forbidden")},
			want: []string{"Installed Unknown Failed: forbidden", "Progressing True Retrying: forbidden"}},
	} {
		test.outcome.Rollout = &test.rollout
		e := &api.ClusterExtension{Status: api.ClusterExtensionStatus{Conditions: test.before}}
		var got []string
		for _, c := range test.rollout.conditions(e, test.outcome) {
			got = append(got, c.Type+" "+string(c.Status)+" "+c.Reason+": "+c.Message)
		}
		if diff := cmp.Diff(test.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
