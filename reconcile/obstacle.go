package reconcile

import (
	"context"
	"fmt"
	"slices"

	"github.com/blang/semver/v4"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// An Obstacle is what keeps the next bundle of an operator from being installed, or from running
// once it is installed.
type Obstacle struct {
	// Bundle is the next bundle, and Replaces the operator that it upgrades, if any.
	Bundle   string `json:"bundle"`
	Replaces string `json:"replaces,omitempty"`
	// By is HeldByApproval, HeldByOperator, HeldByPlatform or HeldByInstallMode.
	By resolver.Holder `json:"by"`
	// Text states the reason, and what to do.
	Text string `json:"text"`
	// Commands remove the obstacle. The list is empty if no command can.
	Commands []string `json:"commands,omitempty"`
}

// String returns the text.
func (o Obstacle) String() string { return o.Text }

// A coming bundle is installed next, or is installed and does not run yet.
type coming struct {
	name, replaces string
	minKube        string
	modes          []olm.InstallMode
	stated         bool // whether the bundle states its install modes
}

// Obstacles returns what stands in the way of the bundles that are installed next: the CSVs of
// the namespace that wait or failed, those of install plans that wait for approval, and what a
// solution of its problem selects, which may be nil. They are in that order, and for each bundle in the order of
// [resolver.Holder]. minKubeVersion is not checked if the version of the cluster is unknown, or
// if the catalog does not have the CSVs of its bundles. The error is the context's.
func Obstacles(ctx context.Context, s *Snapshot, sol *resolver.Solution) ([]Obstacle, error) { // H40
	w := s.world()
	var list []coming
	for _, c := range w.Own() {
		if p := c.Status.Phase; p == olm.PhasePending || p == olm.PhaseFailed {
			list = append(list, coming{c.Metadata.Name, c.Spec.Replaces, c.Spec.MinKubeVersion, c.Spec.InstallModes, true})
		}
	}
	for _, ip := range w.InstallPlans {
		if ip.Status.Phase != olm.PlanRequiresApproval || ip.Spec.Approved {
			continue
		}
		for _, name := range ip.Spec.ClusterServiceVersionNames {
			c := coming{name: name}
			for _, s := range w.Subscriptions {
				if s.Status.CurrentCSV == name {
					c.replaces = s.Status.InstalledCSV
				}
			}
			list = append(list, c)
		}
	}
	if sol != nil {
		for _, x := range sol.Selected {
			c := coming{name: x.Name, replaces: x.Replaces}
			var err error
			if c.minKube, err = x.Bundle.MinKubeVersion(ctx); ctx.Err() != nil {
				return nil, context.Cause(ctx)
			} else if err != nil {
				c.minKube = ""
			}
			modes, stated, err := x.Bundle.InstallModes(ctx)
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			for _, m := range modes {
				c.modes = append(c.modes, olm.InstallMode{Type: olm.InstallModeType(m.Type), Supported: m.Supported})
			}
			c.stated = stated && err == nil
			list = append(list, c)
		}
	}
	var out []Obstacle
	for _, c := range list {
		for _, find := range []func(*world.World, coming) *Obstacle{installModeObstacle, approvalObstacle, operatorObstacle, platformObstacle} {
			if o := find(w, c); o != nil {
				o.Bundle, o.Replaces = c.name, c.replaces
				out = append(out, *o)
			}
		}
	}
	return out, nil
}

// installModeObstacle reports a bundle that does not support the namespace's operator group
// (F2). The commands change the targets of the group to what all operators of the namespace
// support.
func installModeObstacle(w *world.World, c coming) *Obstacle {
	groups := w.Groups()
	if len(groups) != 1 || !c.stated {
		return nil
	}
	g := groups[0]
	targets := g.Status.Namespaces
	if len(targets) == 0 {
		return nil // the group has not determined its targets yet
	}
	why := operatorgroup.Supports(c.modes, w.Namespace, targets)
	if why == nil {
		return nil
	}
	o := &Obstacle{By: resolver.HeldByInstallMode, Text: fmt.Sprintf("%s cannot run under operator group %s: %s", c.name, g.Metadata.Name, why)}
	for _, to := range []string{operatorgroup.AllNamespaces, w.Namespace} {
		if slices.Equal(targets, []string{to}) || operatorgroup.Supports(c.modes, w.Namespace, []string{to}) != nil || !allSupport(w, g, to) {
			continue
		}
		spec := map[string]any{"selector": nil, "targetNamespaces": nil}
		what := "all namespaces"
		if to != operatorgroup.AllNamespaces {
			spec["targetNamespaces"], what = []string{to}, "only namespace "+to
		}
		o.Text += "; make the group select " + what + ", which all operators of the namespace support"
		o.Commands = []string{kubectl.Patch("operatorgroup.operators.coreos.com", w.Namespace, g.Metadata.Name, spec)}
		return o
	}
	return o
}

// allSupport reports whether all operators of the namespace that run could also run if its group
// selected other targets.
func allSupport(w *world.World, g *olm.OperatorGroup, to string) bool {
	changed := *g
	changed.Status.Namespaces = []string{to}
	groups := slices.Clone(w.OperatorGroups)
	groups[slices.Index(groups, g)] = &changed
	return !slices.ContainsFunc(w.Own(), func(c *olm.ClusterServiceVersion) bool {
		return c.Status.Phase == olm.PhaseSucceeded && operatorgroup.Judge(c, groups).Failure != nil
	})
}

// approvalObstacle reports an install plan that waits for approval, or will (E9).
func approvalObstacle(w *world.World, c coming) *Obstacle {
	for _, ip := range w.InstallPlans {
		if ip.Status.Phase == olm.PlanRequiresApproval && !ip.Spec.Approved && slices.Contains(ip.Spec.ClusterServiceVersionNames, c.name) {
			return &Obstacle{
				By: resolver.HeldByApproval, Text: fmt.Sprintf("install plan %s for %s waits for approval", ip.Metadata.Name, c.name),
				Commands: []string{kubectl.Patch("installplan.operators.coreos.com", w.Namespace, ip.Metadata.Name, map[string]any{"approved": true})},
			}
		}
	}
	if w.CSV(c.name) != nil {
		return nil // it is installed
	}
	for _, s := range w.Subscriptions {
		if s.Spec.InstallPlanApproval == olm.Manual {
			return &Obstacle{
				By:   resolver.HeldByApproval,
				Text: fmt.Sprintf("the install plan for %s will wait for approval, because subscription %s requires it for the whole namespace", c.name, s.Metadata.Name),
			}
		}
	}
	return nil
}

// operatorObstacle reports that the operator to be replaced is not upgradeable (E6). The command
// overrides what it reports.
func operatorObstacle(w *world.World, c coming) *Obstacle {
	old := w.CSV(c.replaces)
	if old == nil {
		return nil
	}
	why := w.NotUpgradeable(old)
	if why == "" {
		return nil
	}
	return &Obstacle{
		By:   resolver.HeldByOperator,
		Text: fmt.Sprintf("%s waits because %s is not upgradeable: %s; wait until this changes, or override it at your own risk", c.name, c.replaces, why),
		Commands: []string{kubectl.Patch("operatorcondition.operators.coreos.com", w.Namespace, c.replaces, map[string]any{
			"overrides": []map[string]any{{"type": "Upgradeable", "status": "True", "reason": "Override", "message": "overridden by an administrator"}},
		})},
	}
}

// platformObstacle reports a bundle that needs a newer version of Kubernetes.
func platformObstacle(w *world.World, c coming) *Obstacle {
	want, err := semver.ParseTolerant(c.minKube)
	if err != nil || w.KubeVersion == "" {
		return nil
	}
	have, err := semver.ParseTolerant(w.KubeVersion)
	if err != nil {
		return nil
	}
	have.Pre, have.Build, want.Pre, want.Build = nil, nil, nil, nil
	if have.GE(want) {
		return nil
	}
	return &Obstacle{
		By:   resolver.HeldByPlatform,
		Text: fmt.Sprintf("%s waits because it requires Kubernetes %s or later, and the cluster runs %s; upgrade the platform first", c.name, want, have),
	}
}
