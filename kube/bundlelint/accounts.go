package bundlelint

import (
	"slices"

	"github.com/olmkit/olmkit/internal/codes"
)

// accounts checks K214: the bundle does not contain a service account that OLM
// creates.
func (l *linter) accounts() {
	generated := l.bundle.ServiceAccounts()
	for i := range l.bundle.Others {
		o := &l.bundle.Others[i]
		name := o.Object.GetName()
		switch {
		case o.Object.GetKind() != "ServiceAccount":
		case name == "default":
			l.report(codes.BundleAccount, o.Pos, "every namespace already has ServiceAccount %q; remove it from the bundle", name)
		case slices.Contains(generated, name):
			l.report(codes.BundleAccount, o.Pos, "OLM also creates ServiceAccount %q, because the CSV uses it; remove it from the bundle or rename it", name)
		}
	}
}
