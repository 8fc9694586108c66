package resolver

import (
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/operatorgroup"
)

// misfit returns why a bundle does not run in the namespace, or nil if it does, or if its manifests are unknown: its
// install modes do not include those of an operator group that is checked late (F2), or it needs a newer version of
// Kubernetes.
func (u *universe) misfit(ctx context.Context, b graph.Bundle) *Misfit {
	g, kube := u.p.OperatorGroup, u.p.Options.Cluster.KubeVersion
	if late := g != nil && g.Late; !late && kube == "" {
		return nil
	}
	m, known := u.misfits[b]
	if known {
		return m
	}
	if g != nil && g.Late {
		if list, stated, err := installModes(ctx, b); err == nil && stated {
			if why := operatorgroup.Supports(list, u.p.Namespace, g.TargetNamespaces); why != nil {
				name := "the operator group"
				if g.Name != "" {
					name = "operator group " + g.Name
				}
				m = &Misfit{b.Name(), HeldByInstallMode, fmt.Sprintf("%s cannot run under %s: %s", b.Name(), name, why)}
			}
		}
	}
	if m == nil {
		least, err := b.MinKubeVersion(ctx)
		if want, have, lacks := version.Lacks(least, kube); err == nil && lacks {
			m = &Misfit{b.Name(), HeldByPlatform, fmt.Sprintf("%s requires Kubernetes %s or later, and the cluster runs %s", b.Name(), want, have)}
		}
	}
	if ctx.Err() != nil {
		return nil // the caller returns its error
	}
	if u.misfits == nil {
		u.misfits = map[graph.Bundle]*Misfit{}
	}
	u.misfits[b] = m
	return m
}

// newMisfits returns the bundles of a plan that do not run in the namespace, without those that are also in another plan.
func (u *universe) newMisfits(ctx context.Context, plan, other []Selected) (list []Misfit) {
	for _, x := range plan {
		if slices.ContainsFunc(other, func(o Selected) bool { return o.Name == x.Name }) {
			continue
		}
		if m := u.misfit(ctx, x.Bundle); m != nil {
			list = append(list, *m)
		}
	}
	return list
}
