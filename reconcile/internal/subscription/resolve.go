package subscription

import (
	"cmp"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/resolver"
)

// problem returns what is to be resolved. Subscriptions whose operator is on
// its way, or failed, are held: their operator stays as it is, whatever else
// changes, until it has arrived.
func (p *planner) problem(catalogs []catalog.Health) resolver.Problem {
	pr := resolver.Problem{ID: p.Namespace, Namespace: p.Namespace, GlobalNamespace: p.GlobalNamespace, Options: p.opts.Resolver}
	pr.Options.Cluster.KubeVersion = cmp.Or(pr.Options.Cluster.KubeVersion, p.KubeVersion)
	for _, c := range catalogs {
		pr.Catalogs = append(pr.Catalogs, c.Entry)
	}
	for _, c := range p.Own() {
		if p.Replacement(c) != nil {
			continue // the one that replaces it stands for both
		}
		in, faults := Installed(c, p.Followers(c.Metadata.Name))
		for _, err := range faults {
			p.Note(c.Key(), "%s", err)
		}
		pr.Installed = append(pr.Installed, in)
	}
	for _, s := range p.Subscriptions {
		if why := p.held(s); why != "" {
			p.Note(s.Key(), "%s", why)
			continue
		}
		pr.Subscriptions = append(pr.Subscriptions, resolver.Subscription{
			Name: s.Metadata.Name, Package: s.Spec.Package, Channel: s.Spec.Channel,
			Catalog: s.Spec.Source, CatalogNamespace: s.Spec.SourceNamespace,
			StartingCSV: s.Spec.StartingCSV, InstalledCSV: s.Status.InstalledCSV,
		})
	}
	return pr
}

// held returns why a subscription is not to be resolved now, or nothing (E12).
func (p *planner) held(s *olm.Subscription) string {
	c := p.CSV(s.Status.InstalledCSV)
	if c == nil {
		return ""
	}
	if next := p.Replacement(c); next != nil {
		return fmt.Sprintf("%s is being replaced by %s", c.Metadata.Name, next.Metadata.Name)
	}
	if p.failsForward(c) {
		return ""
	}
	prev := p.Replaced(c)
	switch failed := c.Status.Phase == olm.PhaseFailed; {
	case failed && operatorgroup.IsGroupFailure(c.Status):
		return fmt.Sprintf("%s cannot run under its operator group: %s", c.Metadata.Name, status.Cause(c))
	case failed && p.FailForward(): // the chain behind it is not ready
		return fmt.Sprintf("%s failed while replacing %s: %s; it can be replaced once every version before it is %s", c.Metadata.Name, prev.Metadata.Name, status.Cause(c), olm.PhaseReplacing)
	case failed && prev != nil:
		return fmt.Sprintf("%s failed while replacing %s: %s; %s", c.Metadata.Name, prev.Metadata.Name, status.Cause(c), failForwardText)
	case failed:
		return fmt.Sprintf("%s failed and is not replaced: %s; %s", c.Metadata.Name, status.Cause(c), failForwardText)
	case prev != nil:
		return fmt.Sprintf("%s has not yet replaced %s (it is %s): one version at a time", c.Metadata.Name, prev.Metadata.Name, status.Phase(c))
	case c.Status.Phase != olm.PhaseSucceeded:
		return fmt.Sprintf("%s is still being installed (it is %s)", c.Metadata.Name, status.Phase(c))
	}
	return ""
}

// failForwardText is what to do about an operator that failed (E10).
const failForwardText = "set upgradeStrategy " + string(olm.UpgradeFailForward) + " on the OperatorGroup, or fix the cause"

// failsForward reports whether a CSV has failed and may be replaced (E10): alone,
// or at the end of a chain of CSVs that wait to be replaced.
func (p *planner) failsForward(c *olm.ClusterServiceVersion) bool {
	if c.Status.Phase != olm.PhaseFailed || operatorgroup.IsGroupFailure(c.Status) || !p.FailForward() {
		return false
	}
	for prev := p.Replaced(c); prev != nil; prev = p.Replaced(prev) {
		if prev.Status.Phase != olm.PhaseReplacing {
			return false
		}
	}
	return true
}
