package bundlelint

import (
	"slices"

	"github.com/olmkit/olmkit/fbc"
	"github.com/olmkit/olmkit/internal/codes"
)

// rollout checks K237: the objects of the bundle can be generated and applied. Service accounts
// have a separate finding (K214).
func (l *linter) rollout() error {
	problems, err := l.bundle.Rollout(l.ctx)
	if err != nil {
		return err
	}
	twice := slices.ContainsFunc(l.found, func(d *fbc.Diagnostic) bool { return d.Code == codes.BundleAccount })
	for _, d := range diagnostics(problems) {
		if !twice || d.Code != codes.BundleRollout {
			l.found = append(l.found, d)
		}
	}
	return nil
}
