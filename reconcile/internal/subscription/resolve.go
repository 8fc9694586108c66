package subscription

import (
	"cmp"
	"context"

	"github.com/olmkit/olmkit/internal/kubectl"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/catalog"
	"github.com/olmkit/olmkit/reconcile/internal/change"
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
	pr := resolver.Problem{ID: p.Namespace, Namespace: p.Namespace, GlobalNamespace: p.GlobalNamespace, Policies: p.opts.Policies, Options: p.opts.Resolver}
	pr.Options.Cluster.KubeVersion = cmp.Or(pr.Options.Cluster.KubeVersion, p.KubeVersion)
	if groups := p.Groups(); len(groups) == 1 && len(p.Targets(groups[0])) > 0 {
		pr.OperatorGroup = &resolver.OperatorGroup{Name: groups[0].Metadata.Name, Late: true, TargetNamespaces: p.Targets(groups[0])}
	}
	for _, c := range catalogs {
		pr.Catalogs = append(pr.Catalogs, c.Entry)
	}
	for _, c := range p.Own() {
		if p.Replacement(c) != nil {
			continue // the CSV that replaces it represents both
		}
		in, faults := Installed(c, p.Followers(c.Metadata.Name))
		for _, err := range faults {
			n := p.Note(c.Key(), "%s", err)
			if fault, ok := err.(versionFault); ok {
				p.correct(n, fault, in, pr.Catalogs)
			}
		}
		pr.Installed = append(pr.Installed, in)
	}
	for _, s := range p.Subscriptions {
		if why, newest := Held(p.World, s); why.Reason != "" {
			code := resolver.HeldByUnready
			if operatorgroup.IsGroupFailure(newest.Status) {
				code = resolver.HeldByGroup
			}
			p.Note(s.Key(), "%s", why).Code = change.Code(code)
			for i := range pr.Installed {
				if in := &pr.Installed[i]; in.Name == newest.Metadata.Name {
					in.Held, in.HeldSubscription = why.String(), s.Metadata.Name
				}
			}
			continue
		}
		pr.Subscriptions = append(pr.Subscriptions, resolver.Subscription{
			Name: s.Metadata.Name, Package: s.Spec.Package, Channel: s.Spec.Channel,
			Catalog: s.Spec.Source, CatalogNamespace: s.Spec.SourceNamespace,
			StartingCSV: s.Spec.StartingCSV, InstalledCSV: s.Status.InstalledCSV, Manual: s.Spec.InstallPlanApproval == olm.Manual,
		})
	}
	return pr
}

// correct completes a note about a version that cannot be read with that of the bundle in a catalog.
func (p *planner) correct(n *change.Note, fault versionFault, in resolver.Installed, catalogs []resolver.Catalog) { // H2
	for _, c := range catalogs {
		if c.Graph == nil {
			continue
		}
		if pkg, ok := c.Graph.Package(in.PackageName()); ok {
			if b, ok := pkg.Bundle(in.Name); ok {
				to := b.Version().String()
				n.Message = fault.what() + "; set it to " + to
				n.Command = kubectl.Patch("clusterserviceversion."+olm.Group, p.Namespace, in.Name, map[string]any{"version": to})
				return
			}
		}
	}
}
