package reconcile

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/version"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/subscription"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// Obstacles returns what stands in the way of the bundles that are installed next. First are
// catalogs that are not ready, then deleted operators that are not installed again, outdated install
// plans ([Outdated]), the CSVs of the namespace that wait or failed, those of
// install plans that wait for approval or failed, and what a solution of its problem selects, which
// may be nil. Before all of them are the rules in which the running OLM decides otherwise than that
// solution. For each bundle, they are in the order of [resolver.Holder]. minKubeVersion is not
// checked if the version of the cluster is unknown, or if the catalog does not have the CSVs of its
// bundles. The error is the context's.
func Obstacles(ctx context.Context, s *Snapshot, sol *resolver.Solution) ([]Obstacle, error) { // H40
	w := s.world()
	var list []coming
	var late []Obstacle // install plans to delete
	unready := map[string]subscription.Wait{}
	for _, s := range w.Subscriptions {
		if why, newest := subscription.Held(w, s); why.Reason != "" {
			unready[newest.Metadata.Name] = why
		}
	}
	for _, c := range w.Own() {
		name := c.Metadata.Name
		if p := c.Status.Phase; p == olm.PhasePending || p == olm.PhaseFailed || unready[name].Reason != "" || p == olm.PhaseSucceeded && refusesGroup(w, c) {
			list = append(list, coming{
				name: name, replaces: c.Spec.Replaces, minKube: c.Spec.MinKubeVersion,
				modes: c.Spec.InstallModes, stated: true, unready: unready[name],
			})
		}
	}
	for _, ip := range w.InstallPlans {
		if !isApprovable(ip) && ip.Status.Phase != olm.PlanFailed && ip.Status.Phase != olm.PlanInstalling {
			continue
		}
		if o := outdated(w, ip, sol); o != nil {
			late = append(late, *o)
			continue
		}
		if o, superseded := failedObstacle(w, ip, sol); superseded {
			if o != nil {
				late = append(late, *o)
			}
			continue
		}
		for _, name := range ip.Spec.ClusterServiceVersionNames {
			c := coming{name: name, crds: planned(ip, name)}
			for _, s := range w.Subscriptions {
				if s.Status.CurrentCSV == name {
					c.replaces = s.Status.InstalledCSV
				}
			}
			if sol == nil || !slices.ContainsFunc(sol.Selected, func(x resolver.Selected) bool { return x.Name == name }) {
				list = append(list, c)
			}
		}
	}
	var gone []Obstacle
	if sol != nil {
		for _, g := range subscription.AllGone(w, sol) {
			if g.Next == "" {
				reason, remedy := g.Stays()
				gone = append(gone, Obstacle{Bundle: g.Deleted, By: resolver.HeldByDeletion, Reason: reason, Remedy: remedy, Commands: []string{
					kubectl.Recreate("subscription."+olm.Group, w.Namespace, g.Subscription.Metadata.Name, nil),
				}})
			}
		}
		for _, x := range sol.Selected {
			if slices.ContainsFunc(gone, func(o Obstacle) bool { return o.Bundle == x.Name }) {
				continue // it is not installed
			}
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
			if c.crds, err = definitions(ctx, w, x.Bundle); err != nil {
				return nil, err
			}
			list = append(list, c)
		}
	}
	present := list
	for _, c := range w.Own() { // those that are replaced too: a group that they do not support stops them before
		if c.Status.Phase == olm.PhaseSucceeded && !slices.ContainsFunc(list, func(x coming) bool { return x.name == c.Metadata.Name }) {
			present = append(present, coming{name: c.Metadata.Name, modes: c.Spec.InstallModes, stated: true})
		}
	}
	installMode := func(w *world.World, c coming) *Obstacle { return installModeObstacle(w, c, present) }
	group := func(w *world.World, _ coming) *Obstacle { return groupObstacle(w, present) }
	approval := func(w *world.World, c coming) *Obstacle { return approvalObstacle(w, c, late) }
	unpacking := unpackObstacles(w, sol)
	installPlan := func(w *world.World, c coming) *Obstacle { return installPlanObstacle(w, c, unpacking) }
	out := slices.Concat(differenceObstacles(sol), lostObstacles(w), catalogObstacles(w), gone, late, unpacking)
	for _, c := range list {
		first := len(out)
		for _, o := range crdObstacles(w, c) {
			o.Bundle, o.Replaces = c.name, c.replaces
			out = append(out, o)
		}
		for _, find := range []func(*world.World, coming) *Obstacle{
			installMode, approval, operatorObstacle, platformObstacle, group, accountObstacle, installPlan, unreadyObstacle,
		} {
			if len(out) > first && c.unready.Reason != "" {
				break // that is why it is not ready
			}
			if o := find(w, c); o != nil {
				o.Bundle, o.Replaces = c.name, c.replaces
				out = append(out, *o)
			}
		}
	}
	shareGroup(out)
	for i := range out {
		if o := &out[i]; sol != nil && len(o.Commands) == 0 && (o.By == resolver.HeldByInstallMode || o.By == resolver.HeldByPlatform) {
			f, err := sol.Instead(ctx, o.Bundle)
			if err != nil {
				return nil, err
			}
			if f != nil {
				o.Commands = f.Commands
				if o.Remedy != "" {
					o.Remedy += ", or "
				}
				o.Remedy += f.String()
			}
		}
	}
	return append(out, keepObstacles(w, out)...), nil
}

// approvalObstacle reports an install plan that waits for approval, or will (E9), unless it is outdated.
func approvalObstacle(w *world.World, c coming, late []Obstacle) *Obstacle {
	for _, ip := range w.InstallPlans {
		if isApprovable(ip) && slices.Contains(ip.Spec.ClusterServiceVersionNames, c.name) {
			if slices.ContainsFunc(late, func(o Obstacle) bool { return o.InstallPlan == ip.Metadata.Name }) {
				return nil
			}
			return &Obstacle{
				By: resolver.HeldByApproval, Reason: fmt.Sprintf("install plan %s for %s waits for approval", ip.Metadata.Name, phrase.And(ip.Spec.ClusterServiceVersionNames)),
				Commands: []string{kubectl.Patch("installplan.operators.coreos.com", w.Namespace, ip.Metadata.Name, map[string]any{"approved": true})},
			}
		}
	}
	if w.CSV(c.name) != nil || !looks(w) {
		return nil // it is installed, or another plan waits
	}
	for _, s := range w.Subscriptions {
		if s.Spec.InstallPlanApproval == olm.Manual {
			return &Obstacle{
				By:     resolver.HeldByApproval,
				Reason: fmt.Sprintf("the install plan will wait for approval, because subscription %s requires it for the whole namespace", s.Metadata.Name),
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
		By:     resolver.HeldByOperator,
		Reason: fmt.Sprintf("%s waits because %s is not upgradeable: %s", c.name, c.replaces, why),
		Remedy: "wait until it is upgradeable, or override this at your own risk",
		Commands: []string{kubectl.Patch("operatorcondition.operators.coreos.com", w.Namespace, c.replaces, map[string]any{
			"overrides": []map[string]any{{"type": "Upgradeable", "status": "True", "reason": "Override", "message": "overridden by an administrator"}},
		})},
	}
}

// platformObstacle reports a bundle that needs a newer version of Kubernetes.
func platformObstacle(w *world.World, c coming) *Obstacle {
	want, have, lacks := version.Lacks(c.minKube, w.KubeVersion)
	if !lacks {
		return nil
	}
	return &Obstacle{
		By:     resolver.HeldByPlatform,
		Reason: fmt.Sprintf("%s waits because it requires Kubernetes %s or later, and the cluster runs %s", c.name, want, have),
		Remedy: "upgrade the platform first",
	}
}

// differenceObstacles reports that the running OLM does not install what a solution, which may be nil, selects.
func differenceObstacles(sol *resolver.Solution) (out []Obstacle) {
	if sol == nil {
		return nil
	}
	for _, d := range sol.Differs {
		o := Obstacle{By: resolver.HeldByDifference, Reason: d.Text}
		if d.Bundle != nil {
			o.Bundle = d.Bundle.Name
			if i := slices.IndexFunc(sol.Selected, func(x resolver.Selected) bool { return x.Name == o.Bundle }); i >= 0 {
				o.Replaces = sol.Selected[i].Replaces
			}
		}
		out = append(out, o)
	}
	return out
}

// catalogObstacles reports the catalogs of the namespace that are not ready (D14). The commands show why, restart a catalog
// that has pods, and delete it if no subscription of the namespace names it.
func catalogObstacles(w *world.World) (out []Obstacle) {
	for _, c := range w.VisibleCatalogs() {
		why := catalog.NotReady(c)
		if why == "" || len(w.Subscriptions) == 0 {
			continue
		}
		ns, name := c.Metadata.Namespace, c.Metadata.Name
		o := Obstacle{
			By:     resolver.HeldByCatalog,
			Reason: fmt.Sprintf("%s is not ready (%s), so OLM upgrades nothing in namespace %s", c.Key(), why, w.Namespace),
			Remedy: "fix the cause",
		}
		if c.Status.ConnectionState == nil || c.Spec.Address != "" && c.Spec.Image == "" { // it has no pods
			o.add("to find the cause", kubectl.Describe("catalogsource."+olm.Group, ns, name))
		} else {
			o.Remedy += " and restart the pods of the catalog"
			o.add("to find the cause", kubectl.Labeled("describe", "pods", ns, "olm.catalogSource", name))
			o.add("to restart the catalog", kubectl.Labeled("delete", "pods", ns, "olm.catalogSource", name))
		}
		if !slices.ContainsFunc(w.Subscriptions, func(s *olm.Subscription) bool { return s.Spec.Source == name && s.Spec.SourceNamespace == ns }) {
			o.Remedy += ", or delete the catalog if no other namespace uses it"
			o.add("to continue without it", kubectl.Delete("catalogsource."+olm.Group, ns, name))
		}
		out = append(out, o)
	}
	return out
}

// installPlanObstacle reports that the install plan of a bundle failed (E12), unless stated has the cause.
func installPlanObstacle(w *world.World, c coming, stated []Obstacle) *Obstacle {
	for _, ip := range w.InstallPlans {
		if slices.ContainsFunc(stated, func(o Obstacle) bool { return o.InstallPlan == ip.Metadata.Name }) {
			continue
		}
		if ip.Status.Phase == olm.PlanFailed && w.IsWanted(ip) && slices.Contains(ip.Spec.ClusterServiceVersionNames, c.name) && w.CSV(c.name) == nil {
			how, commands := discard(w, ip, c.name, "the install plan")
			return &Obstacle{
				By:       resolver.HeldByInstallPlan,
				Reason:   fmt.Sprintf("install plan %s for %s failed: %s", ip.Metadata.Name, c.name, phrase.Clause(world.FailureText(ip))),
				Remedy:   fmt.Sprintf("fix the cause, and then %s: a new one is created", how),
				Commands: commands,
			}
		}
	}
	return nil
}

// unreadyObstacle reports that an installed operator is not replaced yet (E12). The command, if
// any, shows the cause.
func unreadyObstacle(w *world.World, c coming) *Obstacle {
	if c.unready.Reason == "" {
		return nil
	}
	o := &Obstacle{By: resolver.HeldByUnready, Reason: c.unready.Reason, Remedy: c.unready.Remedy}
	csv := w.CSV(c.name)
	if failed := csv.Status.Phase == olm.PhaseFailed && !operatorgroup.IsGroupFailure(csv.Status); failed || csv.Status.Phase == olm.PhasePending {
		o.add("to find the cause", kubectl.Describe("clusterserviceversion."+olm.Group, w.Namespace, c.name))
	}
	return o
}

// Outdated returns the obstacle if an install plan that waits for approval would close the way of a
// subscription: it takes the operator back to an older version that leads no further, or the channel,
// which was changed meanwhile, has another bundle next or none, and does not lead on from that of the
// plan. Otherwise, it returns nil. p is the package of the subscription, and next what its channel has
// next, or "". The obstacle has no command if OLM would create the same plan again.
func Outdated(s *olm.Subscription, ip *olm.InstallPlan, p graph.Package, next string) *Obstacle { // H40
	name, old := s.Status.CurrentCSV, s.Status.InstalledCSV
	if !isApprovable(ip) || name == old || next == "" && old == "" || !slices.Contains(ip.Spec.ClusterServiceVersionNames, name) {
		return nil
	}
	from := graph.Node{Name: name}
	b, known := p.Bundle(name)
	if known {
		from.Version = b.Version().String()
	}
	have, ok := p.Bundle(old)
	back := ok && known && b.Version().LT(have.Version())
	if next == name && !back {
		return nil
	}
	opts := &graph.UpgradeOptions{Installed: []graph.Node{from}}
	if s.Spec.Channel != "" {
		opts.Channels = []string{s.Spec.Channel}
	}
	u := p.Upgrades(graph.Classic, opts)
	step, leads := u.Next(from)
	if leads = leads && step.To.Name != name; u.Err() != nil || leads && !(back && next != name) {
		return nil
	}
	first, commands := Discard([]*olm.Subscription{s}, ip)
	o := &Obstacle{
		Bundle: cmp.Or(next, old), Replaces: old, By: resolver.HeldByInstallPlan, InstallPlan: ip.Metadata.Name, Commands: commands,
	}
	o.Remedy = first + "delete the install plan instead of approving it"
	if next != "" {
		o.Remedy += ", and OLM creates one for " + next
	}
	switch {
	case back && next == name:
		o.Reason, o.Remedy, o.Commands = fmt.Sprintf("install plan %s takes %s back to %s", ip.Metadata.Name, old, name), "do not approve the install plan", nil
		return o
	case back:
		o.Reason = fmt.Sprintf("install plan %s takes %s back to %s", ip.Metadata.Name, old, name)
		return o
	}
	for _, h := range u.Heads() {
		if h.Name == name {
			return nil
		}
	}
	end := "no channel leads on"
	if s.Spec.Channel != "" {
		end = fmt.Sprintf("channel %s does not lead on", s.Spec.Channel)
	}
	o.Reason = fmt.Sprintf("install plan %s is for %s, from which %s", ip.Metadata.Name, name, end)
	return o
}

// outdated returns the obstacle if an install plan is outdated by a solution, which may be nil.
func outdated(w *world.World, ip *olm.InstallPlan, sol *resolver.Solution) *Obstacle {
	if sol == nil {
		return nil
	}
	for _, s := range w.Subscriptions {
		p, ok := sol.Package(s.Metadata.Name)
		if !ok {
			continue
		}
		next := ""
		for _, x := range sol.Selected {
			if x.Package == p.Name() && (s.Status.InstalledCSV == "" || x.Replaces == s.Status.InstalledCSV) && slices.Contains(w.Subscribers(x), s) {
				next = x.Name
			}
		}
		if o := Outdated(s, ip, p, next); o != nil {
			return o
		}
	}
	return nil
}
