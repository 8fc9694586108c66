package subscription

import (
	"cmp"
	"context"
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/steps"
	"github.com/olmkit/olmkit/reconcile/internal/world"
	"github.com/olmkit/olmkit/resolver"
)

// Problem returns the problem that Follow resolves once no install plan is pending. It adds
// notes about what the problem leaves out.
func Problem(ctx context.Context, w *world.World, p *change.Writer, content catalog.Content, opts Options) (*resolver.Problem, error) {
	catalogs, err := catalog.Read(ctx, w, content)
	if err != nil {
		return nil, err
	}
	s := planner{Builder: &steps.Builder{World: w, Writer: p, Content: content}, opts: opts}
	pr := s.problem(catalogs)
	return &pr, nil
}

// problem returns the problem to resolve. Subscriptions whose operator is being
// installed or has failed are held: the operator must stay as it is until it is
// installed.
func (p *planner) problem(catalogs []catalog.Health) resolver.Problem {
	pr := resolver.Problem{ID: p.Namespace, Namespace: p.Namespace, GlobalNamespace: p.GlobalNamespace, Options: p.opts.Resolver}
	pr.Options.Cluster.KubeVersion = cmp.Or(pr.Options.Cluster.KubeVersion, p.KubeVersion)
	for _, c := range catalogs {
		pr.Catalogs = append(pr.Catalogs, c.Entry)
	}
	for _, c := range p.Own() {
		if p.Replacement(c) != nil {
			continue // the CSV that replaces it represents both
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

// held returns why a subscription must not be resolved now, or "" (E12).
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
	case failed && p.FailForward(): // the CSVs that it replaces are not ready
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

// failForwardText is the advice about an operator that failed (E10).
const failForwardText = "set upgradeStrategy " + string(olm.UpgradeFailForward) + " on the OperatorGroup, or fix the cause"

// failsForward reports whether a failed CSV may be replaced (E10). All CSVs
// that it replaces must be waiting to be replaced.
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
