package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/resolver"
)

// annotationExcludeGlobal is the annotation of a group whose operators come
// from the catalogs of the namespace alone.
const annotationExcludeGlobal = "olm.operatorframework.io/exclude-global-namespace-resolution"

// A health is what is known of a catalog.
type health struct {
	source *olm.CatalogSource
	entry  resolver.Catalog
}

// visible returns the CatalogSources that the namespace sees.
func (p *planner) visible() []*olm.CatalogSource {
	gs := p.groups()
	if len(gs) != 1 || gs[0].Metadata.Annotations[annotationExcludeGlobal] != "true" {
		return p.CatalogSources
	}
	var out []*olm.CatalogSource
	for _, c := range p.CatalogSources {
		if c.Metadata.Namespace == p.Namespace {
			out = append(out, c)
		}
	}
	return out
}

// unread returns ErrPending while a catalog has not been read that something in
// the namespace may want.
func (p *planner) unread(ctx context.Context) error {
	if len(p.Subscriptions) == 0 && len(p.InstallPlans) == 0 {
		return nil
	}
	for _, c := range p.visible() {
		id := resolver.CatalogID{Name: c.Metadata.Name, Namespace: c.Metadata.Namespace}
		if _, err := p.content.Catalog(ctx, id); errors.Is(err, ErrPending) {
			return err
		}
	}
	return nil
}

// catalogs returns the catalogs that the namespace sees, healthy or not (D14).
func (p *planner) catalogs(ctx context.Context) ([]health, error) {
	var list []health
	for _, c := range p.visible() {
		entry := resolver.Catalog{Name: c.Metadata.Name, Namespace: c.Metadata.Namespace, Priority: c.Spec.Priority}
		g, err := p.content.Catalog(ctx, entry.ID())
		switch state := c.Status.ConnectionState; {
		case ctx.Err() != nil:
			return nil, context.Cause(ctx)
		case c.Status.Reason == "SpecInvalidError":
			entry.Unhealthy = cmp.Or(c.Status.Message, c.Status.Reason)
		case state != nil && state.LastObservedState != olm.ConnectionReady:
			entry.Unhealthy = "its connection is " + cmp.Or(state.LastObservedState, "unknown")
		case err != nil:
			entry.Unhealthy = err.Error()
		}
		if entry.Unhealthy == "" {
			entry.Graph = g
		}
		list = append(list, health{c, entry})
	}
	return list, nil
}

// problem returns what is to be resolved. Subscriptions whose operator is on
// its way, or failed, are held: their operator stays as it is, whatever else
// changes, until it has arrived.
func (p *planner) problem(catalogs []health) resolver.Problem {
	pr := resolver.Problem{ID: p.Namespace, Namespace: p.Namespace, GlobalNamespace: p.GlobalNamespace, Options: p.opts.Resolver}
	pr.Options.Cluster.KubeVersion = cmp.Or(pr.Options.Cluster.KubeVersion, p.KubeVersion)
	for _, c := range catalogs {
		pr.Catalogs = append(pr.Catalogs, c.entry)
	}
	for _, c := range p.own() {
		if p.replacement(c) != nil {
			continue // the one that replaces it stands for both
		}
		in, faults := Installed(c, p.followers(c.Metadata.Name))
		for _, err := range faults {
			p.note(c.Key(), "%s", err)
		}
		pr.Installed = append(pr.Installed, in)
	}
	for _, s := range p.Subscriptions {
		if why := p.held(s); why != "" {
			p.note(s.Key(), "%s", why)
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
	c := p.csv(s.Status.InstalledCSV)
	if c == nil {
		return ""
	}
	if next := p.replacement(c); next != nil {
		return fmt.Sprintf("%s is being replaced by %s", c.Metadata.Name, next.Metadata.Name)
	}
	if p.failsForward(c) {
		return ""
	}
	prev := p.replaced(c)
	switch failed := c.Status.Phase == olm.PhaseFailed; {
	case failed && operatorgroup.IsGroupFailure(c.Status):
		return fmt.Sprintf("%s cannot run under its operator group: %s", c.Metadata.Name, causeText(c))
	case failed && p.failForward(): // the chain behind it is not ready
		return fmt.Sprintf("%s failed while replacing %s: %s; it can be replaced once every version before it is %s", c.Metadata.Name, prev.Metadata.Name, causeText(c), olm.PhaseReplacing)
	case failed && prev != nil:
		return fmt.Sprintf("%s failed while replacing %s: %s; %s", c.Metadata.Name, prev.Metadata.Name, causeText(c), failForwardText)
	case failed:
		return fmt.Sprintf("%s failed and is not replaced: %s; %s", c.Metadata.Name, causeText(c), failForwardText)
	case prev != nil:
		return fmt.Sprintf("%s has not yet replaced %s (it is %s): one version at a time", c.Metadata.Name, prev.Metadata.Name, phaseText(c))
	case c.Status.Phase != olm.PhaseSucceeded:
		return fmt.Sprintf("%s is still being installed (it is %s)", c.Metadata.Name, phaseText(c))
	}
	return ""
}

// failForwardText is what to do about an operator that failed (E10).
const failForwardText = "set upgradeStrategy " + string(olm.UpgradeFailForward) + " on the OperatorGroup, or fix the cause"

// failsForward reports whether a CSV has failed and may be replaced (E10): alone,
// or at the end of a chain of CSVs that wait to be replaced.
func (p *planner) failsForward(c *olm.ClusterServiceVersion) bool {
	if c.Status.Phase != olm.PhaseFailed || operatorgroup.IsGroupFailure(c.Status) || !p.failForward() {
		return false
	}
	for prev := p.replaced(c); prev != nil; prev = p.replaced(prev) {
		if prev.Status.Phase != olm.PhaseReplacing {
			return false
		}
	}
	return true
}

// causeText returns why a CSV is in its phase.
func causeText(c *olm.ClusterServiceVersion) string {
	return cmp.Or(clause(c.Status.Message), string(c.Status.Reason), "its status does not give the cause")
}

// clause returns a text without its full stop, to stand inside a sentence.
func clause(text string) string { return strings.TrimSuffix(strings.TrimSpace(text), ".") }

func phaseText(c *olm.ClusterServiceVersion) string {
	phase := string(c.Status.Phase)
	if phase == "" {
		phase = "new"
	}
	if c.Status.Message != "" {
		return phase + ", " + clause(c.Status.Message)
	}
	return phase
}

func (p *planner) resolve(ctx context.Context, pr resolver.Problem) (*resolver.Solution, error) {
	if p.opts.Resolve != nil {
		return p.opts.Resolve(ctx, pr)
	}
	return resolver.Resolve(ctx, pr)
}
