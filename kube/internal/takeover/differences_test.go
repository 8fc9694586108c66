package takeover_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/olmkit/olmkit/reconcile"
)

// deliberate lists the intended changes that olmkit makes to objects that OLM left, if the
// changes themselves do not name a rule.
var deliberate = []struct{ rule, pattern, why string }{
	{"E1", `^update status Subscription: (.* is installed|what is known of its catalogs or its install plan|InstallPlan(Pending|Failed) changed|InstallPlanPending is |CatalogSourcesUnhealthy is False, AllCatalogSourcesHealthy)`, "OLM had not written it yet"},
	{"E2", `^(create [A-Za-z]+: step of the install plan|update status InstallPlan: done: )`, "OLM retried a plan without the permissions that it needs"},
	{"E2", `^(create InstallPlan: installs |update status InstallPlan: \d+ steps?, Installing$|update status Subscription: (InstallPlanMissing changed|its state is ))`, "the install plan of a dependency is gone with the operator that needed it, and OLM does not state that it was done"},
	{"E4", `^update status Subscription: (CatalogSourcesUnhealthy|InstalledCSVMissing|ResolutionFailed) `, "the explanation is that of olmkit"},
	{"E5", `^update status Subscription: PackageDeprecated is removed`, "the catalogs of this test lack the deprecations"},
	{"E6", `^update status ClusterServiceVersion: Pending, OperatorConditionNotUpgradeable: `, "the message also has the reason"},
	{"E16", `^update status ClusterServiceVersion: Failed, InstallComponentFailed: `, "OLM retries forever"},
	{"F2", `^update status ClusterServiceVersion: Failed, UnsupportedOperatorGroup: `, "the message also names the modes"},
	{"F3", `^update status (ClusterServiceVersion: Failed, (No|TooMany)OperatorGroups?: |OperatorGroup: MultipleOperatorGroup)`, "the message also names the groups; OLM does not notice all changes"},
	{"F6", `^update status ClusterServiceVersion: Failed, InterOperatorGroupOwnerConflict: `, "the message also names the group"},
	{"F7", `^delete ClusterRole(Binding)?: made for ClusterServiceVersion .* which (is being deleted|no longer needs it)$`, "OLM was stopped, or leaves them behind"},
	{"E23", `^update Deployment: (runs another version or configuration of the operator|/replicas was changed)`, "OLM had not done it yet, or does not notice"},
	{"E36", `^update status ClusterServiceVersion: Pending, (RequirementsNotMet|NeedsReinstall): `, "the message also names what is missing or differs"},
	{"E36", `^update status ClusterServiceVersion: (InstallReady|Installing|Succeeded|Failed), (AllRequirementsMet|InstallSucceeded|InstallWaiting|InstallCheckFailed): `, "what OLM had begun goes on"},
}

// explain fails the test unless c, a change of an object that OLM left, is deliberate. It
// counts in used how often each pattern describes a change.
func explain(t *testing.T, c *reconcile.Change, used []int) {
	t.Helper()
	if c.Rule != "" {
		return
	}
	text := fmt.Sprintf("%s %s: %s", c.Op, c.Key().Kind, c.Reason)
	for i, d := range deliberate {
		if regexp.MustCompile(d.pattern).MatchString(text) {
			used[i]++
			return
		}
	}
	t.Errorf("no rule explains %s", c)
}
