package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/resolver/fact"
)

// unsupported returns the fact that a candidate does not support the operator group
// (G7, F2), or nil. Bundles that state no install modes are accepted. Manifests are large,
// so they are read from the source once, and only for reachable candidates.
func (u *universe) unsupported(ctx context.Context, c cand) fact.Fact {
	g := u.p.OperatorGroup
	if g == nil || g.Late || u.err != nil {
		return nil
	}
	_, b := u.entry(c)
	why, ok := u.modes[b]
	if !ok {
		list, stated, err := installModes(ctx, b)
		if err != nil {
			u.err = fmt.Errorf("reading the install modes of %s from %s: %w", b.Name(), b.Pos(), err)
			return nil
		}
		if stated {
			why = operatorgroup.Supports(list, u.p.Namespace, g.TargetNamespaces)
		}
		if u.modes == nil {
			u.modes = map[graph.Bundle]error{}
		}
		u.modes[b] = why
	}
	if why == nil {
		return nil
	}
	return &fact.InstallMode{Bundle: u.ref(c), Pos: b.Pos(), Targets: slices.Clip(g.TargetNamespaces), Err: why}
}

// installModes returns the install modes of a bundle; stated is false if it has none.
func installModes(ctx context.Context, b graph.Bundle) (list []olm.InstallMode, stated bool, err error) {
	modes, stated, err := b.InstallModes(ctx)
	for _, m := range modes {
		list = append(list, olm.InstallMode{Type: olm.InstallModeType(m.Type), Supported: m.Supported})
	}
	return list, stated, err
}
