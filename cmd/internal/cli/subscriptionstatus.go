package cli

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/graph"
	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/internal/prose"
	csvreason "github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile"
	"github.com/olmkit/olmkit/resolver"
)

// subscribed returns the status of the operator that a subscription manages.
func (t *census) subscribed(s *olm.Subscription) operatorStatus {
	ns := s.Metadata.Namespace
	o := operatorStatus{
		Object: s.Key(), Package: s.Spec.Package, Channel: s.Spec.Channel, Installed: s.Status.InstalledCSV,
		Catalog: s.Spec.Source, catalogNamespace: s.Spec.SourceNamespace, Blocks: t.blocked[csvKey(ns, s.Status.InstalledCSV)],
		current: s.Status.CurrentCSV,
	}
	installed := t.csvs[csvKey(ns, o.Installed)]
	if installed != nil {
		o.Version = installed.Spec.Version
	}
	known := t.describe(&o, catalogOf(s))
	if t.content[catalogOf(s)] == nil && s.Status.State == olm.StateAtLatestKnown {
		o.Head = o.Installed
	}
	if known && installed != nil {
		o.Outlook = t.outlook(s, installed)
	}
	channel := o.Channel
	if o.Outlook != nil && s.Spec.Channel == "" { // it is upgraded in any channel, not only in the default one
		o.Channel, o.anyChannel = "", true
		if o.Head = o.Outlook.End().Name; o.Outlook.EndsEarly() {
			o.Head = ""
		}
	}
	c, failed := failedResolution(s)
	if failed && strings.Contains(c.Message, "\n") {
		o.Explanation = c.Message
	}
	o.unoffered = !failed && !known && t.content[catalogOf(s)] != nil
	o.failed = failed || !known && t.content[catalogOf(s)] != nil
	o.Moves, o.Why = t.verdict(&o, s, installed, channel, known)
	idle := s.Status.CurrentCSV == "" || s.Status.CurrentCSV == s.Status.InstalledCSV || t.isLost(s)
	o.awaited = known && idle && (o.Moves == movesNow || o.Moves == movesApproval)
	o.manual = t.manual(s)
	o.unusable = known && o.Moves == movesStuck && o.Outlook != nil && o.Outlook.Kind == graph.OutlookAtHead && o.Head != o.Installed
	t.hold(&o, s)
	if c, ok := olm.FindCondition(s.Status.Conditions, unpackFailed); ok && c.Status == olm.ConditionTrue && known && o.Moves == movesStuck {
		o.awaited = true // the catalog has the bundle
	}
	if ip := t.planOf(s); ip != nil && ip.Status.Phase == olm.PlanFailed && known && o.Moves == movesStuck && !idle && s.Status.CurrentCSV != o.Head {
		o.awaited = true // the catalog may have another bundle
	}
	o.awaited = o.awaited || known && idle && (slices.Contains(o.HeldBy, resolver.HeldByOperator) || o.unusable)
	return o
}

// failedResolution returns the condition of a subscription that could not be resolved.
func failedResolution(s *olm.Subscription) (olm.Condition, bool) {
	c, ok := olm.FindCondition(s.Status.Conditions, resolutionFailed)
	return c, ok && c.Status == olm.ConditionTrue
}

// hold sets what keeps an operator from being upgraded, and the command that changes it.
func (t *census) hold(o *operatorStatus, s *olm.Subscription) {
	ns, st := s.Metadata.Namespace, &s.Status
	switch current := t.csvs[csvKey(ns, st.CurrentCSV)]; {
	case o.Moves == movesApproval:
		o.HeldBy = append(o.HeldBy, resolver.HeldByApproval)
		if t.planOf(s) != nil && st.CurrentCSV != st.InstalledCSV { // otherwise OLM has yet to create the install plan
			o.approves = kubectl.Patch("installplan."+olm.Group, ns, st.InstallPlanRef.Name, map[string]any{"approved": true})
			if x := t.outdated(o, s); x != nil {
				o.Moves, o.Why, o.HeldBy, o.approves, o.outdated = movesStuck, x.Reason, []resolver.Holder{x.By}, "", true
				if x.Remedy != "" {
					o.Remedies = append(o.Remedies, x.Remedy)
				}
				label := ""
				if x.Bundle == o.Installed {
					label = "to remove the install plan"
				}
				for _, c := range x.Commands {
					o.add(label, c)
				}
			} else {
				o.Commands = append(o.Commands, o.approves)
			}
		}
	case o.Moves != movesStuck:
	case t.held[csvKey(ns, st.InstalledCSV)] != "":
		o.HeldBy = append(o.HeldBy, resolver.HeldByOperator)
	case current != nil && slices.ContainsFunc(unmet(current), func(r olm.RequirementStatus) bool { return r.Kind == olm.KindClusterServiceVersion }):
		o.HeldBy = append(o.HeldBy, resolver.HeldByPlatform)
	}
}

// outdated returns the obstacle if the install plan of a subscription is outdated.
func (t *census) outdated(o *operatorStatus, s *olm.Subscription) *reconcile.Obstacle {
	g, ip, next := t.content[catalogOf(s)], t.planOf(s), o.Head
	if g == nil || ip == nil {
		return nil
	}
	p, ok := g.Package(o.Package)
	if o.Outlook != nil && len(o.Outlook.Steps) > 0 {
		next = o.Outlook.Steps[0].To.Name
	}
	if !ok {
		return nil
	}
	if o.Installed == next {
		next = ""
	}
	return reconcile.Outdated(s, ip, p, next)
}

// unmet returns the requirements that a CSV waits for, if it is stuck because of them.
func unmet(c *olm.ClusterServiceVersion) []olm.RequirementStatus {
	if c.Status.Phase != olm.PhasePending || c.Status.Reason != csvreason.RequirementsNotMet {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(c.Status.RequirementStatus), func(r olm.RequirementStatus) bool {
		return r.Status == "Present" || r.Status == "DeploymentFound"
	})
}

// describe adds the data of the catalog about an operator: its channel, the head, and
// deprecations. It returns true if the catalog has the channel.
func (t *census) describe(o *operatorStatus, id resolver.CatalogID) bool {
	g := t.content[id]
	if g == nil {
		return false
	}
	p, ok := g.Package(o.Package)
	if !ok {
		return false
	}
	o.deprecate(p.Deprecation())
	if b, ok := p.Bundle(o.Installed); ok {
		o.deprecate(b.Deprecation())
	}
	if o.Channel == "" {
		o.Channel = p.DefaultChannelName()
	}
	ch, ok := p.Channel(o.Channel)
	if !ok {
		return false
	}
	o.deprecate(ch.Deprecation())
	e, ok := ch.Head()
	if ok {
		o.Head = e.Name()
	}
	return ok
}

func (o *operatorStatus) deprecate(message string, is bool) {
	if is && !slices.Contains(o.Deprecated, message) {
		o.Deprecated = append(o.Deprecated, message)
	}
}

// verdict returns whether a subscribed operator can be upgraded, and why. A failure takes
// precedence over an upgrade in progress, which takes precedence over the state of the
// channel. It sets the command that installs a deleted operator again.
func (t *census) verdict(x *operatorStatus, s *olm.Subscription, installed *olm.ClusterServiceVersion, channel string, known bool) (moves, string) {
	ns, st, head, o := s.Metadata.Namespace, &s.Status, x.Head, x.Outlook
	lost := t.isLost(s)
	for _, typ := range []string{resolutionFailed, unpackFailed, "InstallPlanFailed", "CatalogSourcesUnhealthy"} {
		if c, ok := olm.FindCondition(st.Conditions, typ); ok && c.Status == "True" && !(lost && typ == "InstallPlanFailed") {
			line, _, _ := strings.Cut(cmp.Or(c.Message, c.Reason), "\n") // below the table are the others
			return movesStuck, typ + ": " + line
		}
	}
	for _, kind := range []string{olm.KindClusterServiceVersion, olm.KindInstallPlan} {
		if why, is := t.unknown(olm.Group, kind); is {
			return movesUnknown, why
		}
	}
	current := t.csvs[csvKey(ns, st.CurrentCSV)]
	if installed != nil && installed == current && failure(installed) != "" && t.failForward(ns) && o != nil && len(o.Steps) > 0 && t.held[installed.Key()] == "" {
		verdict, next := onward(o, t.manual(s))
		return verdict, failure(installed) + "; " + next
	}
	for _, c := range []*olm.ClusterServiceVersion{current, installed} {
		if c == nil {
			continue
		}
		if why := failure(c); why != "" {
			return movesStuck, why
		}
	}
	if next := cmp.Or(current, installed); next != nil {
		var names []string
		for _, r := range unmet(next) {
			names = append(names, cmp.Or(r.Message, r.Kind+" "+r.Name))
		}
		if t.waits(next.Key()) {
			return movesStuck, fmt.Sprintf("%s waits for requirements: %s", next.Metadata.Name, cmp.Or(strings.Join(names, "; "), next.Status.Message, string(next.Status.Reason)))
		}
	}
	plan := t.planOf(s)
	if why := reconcile.Deletion(s, current, plan); why != "" {
		x.recreate = kubectl.Recreate("subscription."+olm.Group, ns, s.Metadata.Name, nil)
		x.add("to install "+st.CurrentCSV+" again", x.recreate)
		return movesStuck, why
	}
	awaited := st.CurrentCSV != "" && (st.CurrentCSV != st.InstalledCSV || current == nil) && !lost
	if ref := st.InstallPlanRef; ref != nil && awaited && plan != nil {
		switch p := plan; {
		case p.Status.Phase == olm.PlanFailed:
			return movesStuck, fmt.Sprintf("InstallPlan %s of %s failed: %s", ref.Name, st.CurrentCSV, reconcile.PlanFailure(p))
		case p.Status.Phase == olm.PlanRequiresApproval && !p.Spec.Approved:
			return movesApproval, fmt.Sprintf("approve InstallPlan %s for %s", ref.Name, strings.Join(p.Spec.ClusterServiceVersionNames, ", "))
		}
	}
	if why := t.held[csvKey(ns, st.InstalledCSV)]; why != "" && st.InstalledCSV != head {
		return movesStuck, "not upgradeable: " + why
	}
	switch {
	case awaited:
		return movesNow, "moves to " + st.CurrentCSV + waitsFor(current)
	case waitsFor(current) != "":
		return movesNow, st.CurrentCSV + " is being installed" + waitsFor(current)
	case known && head == st.InstalledCSV && o != nil && o.Newest != nil:
		return movesLatest, prose.Summary(o)
	case known && head == st.InstalledCSV:
		return movesLatest, ""
	case !known && t.content[catalogOf(s)] != nil && !t.offers(s):
		return movesStuck, fmt.Sprintf("catalog %s has no package %s", s.Spec.Source, s.Spec.Package)
	case !known && t.content[catalogOf(s)] != nil:
		return movesStuck, fmt.Sprintf("catalog %s has no channel %q of package %s", s.Spec.Source, channel, s.Spec.Package)
	case head != "" && head == st.InstalledCSV:
		return movesLatest, recorded + "; give it " + t.with(s)
	case !known && st.InstalledCSV == "":
		return movesUnknown, "OLM has not resolved the subscription yet; give the content of its catalog " + t.with(s)
	case !known:
		return movesUnknown, "the head of the channel is unknown; give the content of the catalog " + t.with(s)
	}
	if o != nil && o.Kind == graph.OutlookAtHead {
		return movesStuck, fmt.Sprintf("%s, the head of channel %s, cannot be installed", head, channel)
	}
	return onward(o, t.manual(s))
}

// failForward reports whether OLM replaces failed operators in a namespace (E10).
func (t *census) failForward(namespace string) bool {
	var groups []*olm.OperatorGroup
	for _, g := range t.groups {
		if g.Metadata.Namespace == namespace {
			groups = append(groups, g)
		}
	}
	return len(groups) == 1 && groups[0].Spec.UpgradeStrategy == olm.UpgradeFailForward
}

// waitsFor returns in parentheses what a CSV that is being installed waits for, or "".
func waitsFor(c *olm.ClusterServiceVersion) string {
	if c == nil {
		return ""
	}
	switch c.Status.Phase {
	case olm.PhasePending, olm.PhaseInstallReady, olm.PhaseInstalling:
		line, _, _ := strings.Cut(cmp.Or(c.Status.Message, string(c.Status.Reason)), "\n")
		return fmt.Sprintf(" (%s)", strings.Join(slices.DeleteFunc([]string{string(c.Status.Phase), line}, func(s string) bool { return s == "" }), ": "))
	}
	return ""
}

// offers reports whether the catalog of a subscription has its package.
func (t *census) offers(s *olm.Subscription) bool {
	_, ok := t.content[catalogOf(s)].Package(s.Spec.Package)
	return ok
}

// isLost reports whether a subscription waits for an install plan that does not exist.
func (t *census) isLost(s *olm.Subscription) bool {
	return reconcile.IsLost(s, t.csvs[csvKey(s.Metadata.Namespace, s.Status.CurrentCSV)], t.planOf(s))
}

// planOf returns the install plan that a subscription refers to, if it exists.
func (t *census) planOf(s *olm.Subscription) *olm.InstallPlan {
	if s.Status.InstallPlanRef == nil {
		return nil
	}
	return t.plans[olm.Key{Group: olm.Group, Kind: olm.KindInstallPlan, Namespace: s.Metadata.Namespace, Name: s.Status.InstallPlanRef.Name}]
}

// manual returns the name of a subscription because of which the install plans of a namespace wait
// for approval (E2): s, if it requires that, or else the first of the namespace that does.
func (t *census) manual(s *olm.Subscription) string {
	found := ""
	for _, x := range t.subscriptions {
		if x.Metadata.Namespace == s.Metadata.Namespace && x.Spec.InstallPlanApproval == olm.Manual && (found == "" || x == s) {
			found = x.Metadata.Name
		}
	}
	return found
}

// onward returns whether an operator below the head of its channel has an upgrade. manual is the
// subscription because of which upgrades wait for approval, or "".
func onward(o *graph.Outlook, manual string) (moves, string) {
	switch {
	case o == nil && manual != "":
		return movesApproval, "OLM will create an install plan, which waits for approval as subscription " + manual + " requires"
	case o == nil:
		return movesNow, "will be installed"
	case len(o.Steps) == 0:
		return movesStuck, prose.Outlook(o)
	}
	end := ""
	if len(o.Channels) == 0 && o.Newest != nil {
		end = "; " + prose.Summary(o)
	}
	if manual != "" {
		return movesApproval, fmt.Sprintf("OLM will create an install plan for %s, which waits for approval as subscription %s requires", o.Steps[0].To.Name, manual) + end
	}
	return movesNow, "will move to " + o.Steps[0].To.Name + end
}

// outlook returns how far the operator of a subscription can be upgraded in its channel, or without
// one in any. The
// upgrades that OLM makes come from the subscription's catalog. Other catalogs of the command
// line count only for newer versions that are not reached in this way.
func (t *census) outlook(s *olm.Subscription, installed *olm.ClusterServiceVersion) *graph.Outlook {
	var channels []string
	if s.Spec.Channel != "" {
		channels = []string{s.Spec.Channel}
	}
	own := catalogOf(s)
	ids := slices.DeleteFunc(slices.Clone(t.given), func(id resolver.CatalogID) bool { return id == own })
	slices.SortFunc(ids, resolver.CatalogID.Compare)
	ids = append([]resolver.CatalogID{own}, ids...)
	var sources []graph.Source
	for _, id := range ids {
		if p, ok := t.content[id].Package(s.Spec.Package); ok {
			sources = append(sources, graph.Source{Catalog: id.String(), Package: p})
		}
	}
	from := graph.Node{Name: installed.Metadata.Name, Version: installed.Spec.Version}
	return graph.NewOutlooks(graph.Classic, sources, nil).Of(from, own.String(), channels)
}

// with returns how to give the content of the catalog of a subscription, as the end of a sentence.
func (t *census) with(s *olm.Subscription) string {
	return fmt.Sprintf("with --catalog %s=%s", s.Spec.Source, t.reference(s))
}

// reference returns what to write as the path in --catalog for the catalog of a subscription:
// its image, or "PATH" if that is unknown or could not be read.
func (t *census) reference(s *olm.Subscription) string {
	for _, c := range t.sources {
		if c.Metadata.Name == s.Spec.Source && c.Metadata.Namespace == s.Spec.SourceNamespace {
			if c.Spec.Image != "" && registryImage(t.pods, c) == "" {
				return registryScheme + c.Spec.Image
			}
		}
	}
	return "PATH"
}
