package bundlelint

import (
	"github.com/olmkit/olmkit/internal/codes"
)

// accounts checks K214: the bundle does not contain a service account that OLM
// creates.
func (l *linter) accounts() {
	generated := map[string]bool{}
	strategy := &l.csv.Object.Spec.InstallStrategy.StrategySpec
	for _, p := range strategy.Permissions {
		generated[p.ServiceAccountName] = true
	}
	for _, p := range strategy.ClusterPermissions {
		generated[p.ServiceAccountName] = true
	}
	for _, d := range strategy.DeploymentSpecs {
		generated[d.Spec.Template.Spec.ServiceAccountName] = true
	}
	for i := range l.bundle.Others {
		o := &l.bundle.Others[i]
		name := o.Object.GetName()
		switch {
		case o.Object.GetKind() != "ServiceAccount":
		case name == "default":
			l.report(codes.BundleAccount, o.Pos, "every namespace already has ServiceAccount %q; remove it from the bundle", name)
		case generated[name]:
			l.report(codes.BundleAccount, o.Pos, "OLM also creates ServiceAccount %q, because the CSV uses it; remove it from the bundle or rename it", name)
		}
	}
}
