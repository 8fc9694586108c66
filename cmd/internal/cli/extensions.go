package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/olmkit/olmkit/internal/visible"
	"github.com/olmkit/olmkit/kube/registryv1"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/memcluster"
)

// extensionHelp describes plans of ClusterExtensions in the help of plan and simulate.
const extensionHelp = `With --extension, the plan is that of a ClusterExtension of OLM v1 instead. This is
the default for all ClusterExtensions if the cluster has no subscriptions and no
operator groups. It covers the whole rollout: the objects of each phase that are
created, changed (by field), adopted or deleted, checks that block it, and objects
that are not ready. Extensions are planned in the order of their names, those with
something on the cluster first, each on the cluster that the one before leaves: an
object belongs to the extension that has it first, and no other can have it.

A catalog on the command line is the content of the ClusterCatalog of its name. The
manifests of a bundle come from its catalog (olm.bundle.object), from --bundles, or
from its image. Revisions are the ClusterObjectSets of the cluster or, without
these, the Secrets in which olmkit-controller records them, which are read only with
these flags. If the Secrets that hold the objects of a revision are not known, its
bundle is rendered again. For files, add:

  kubectl get -A -o yaml clusterextensions,clustercatalogs,clusterobjectsets,\
  configmaps,networkpolicies,poddisruptionbudgets,priorityclasses
  kubectl get -A -o yaml secrets -l olm.operatorframework.io/owner-name
`

// extensionFlags are the flags about ClusterExtensions of plan and simulate.
type extensionFlags struct {
	env      *env
	state    *clusterState
	names    []string
	bundles  *string
	provider string
	upstream bool
}

// addExtensions adds the flags, except --bundles, whose value is bundles.
func addExtensions(cmd *cobra.Command, e *env, s *clusterState, bundles *string) *extensionFlags {
	x := &extensionFlags{env: e, state: s, bundles: bundles, provider: registryv1.CertManager.String()}
	f := cmd.Flags()
	addList(f, &x.names, "extension", "", "the `NAME` of a ClusterExtension (repeatable)")
	addChoice(cmd, &x.provider, "cert-provider", "", "what provides certificates for the webhooks of ClusterExtensions", "cert-manager", "service-ca", "none")
	f.BoolVar(&x.upstream, "as-upstream", false, "plan ClusterExtensions exactly as OLM v1 does, with its known bugs")
	completeFlag(cmd, "extension", cobra.NoFileCompletions)
	cmd.MarkFlagsMutuallyExclusive("extension", "namespace")
	return x
}

// wanted reports whether the command is about ClusterExtensions. If none is named, that depends
// on the objects of the cluster.
func (x *extensionFlags) wanted(ctx context.Context, l *loader) (bool, error) {
	s := x.state
	if len(x.names) > 0 {
		return true, nil
	}
	if s.namespace != "" || s.all {
		return false, nil
	}
	c, err := s.read(ctx, l)
	if err != nil {
		return false, err
	}
	classic := slices.ContainsFunc(c.List(), func(o olm.Object) bool {
		k := o.Key()
		return k.Group == olm.Group && (k.Kind == olm.KindSubscription || k.Kind == olm.KindOperatorGroup)
	})
	return !classic && hasExtensions(c), nil
}

// hasExtensions reports whether a cluster has ClusterExtensions.
func hasExtensions(c *memcluster.Cluster) bool {
	return slices.ContainsFunc(c.List(), func(o olm.Object) bool { return o.Key().Group == groupV1 && o.Kind == kindExtension })
}

// reader reads the cluster. It returns the names of the ClusterExtensions to plan.
func (x *extensionFlags) reader(ctx context.Context, l *loader, args []string) (*extensionReader, []string, error) {
	provider, _ := registryv1.ParseCertProvider(x.provider) // one of the choices
	run := &impactRun{manifests: &manifests{env: x.env}, tree: *x.bundles}
	r, err := x.state.readExtensions(ctx, l, args, run, registryv1.RenderOptions{Certificates: provider, AsUpstream: x.upstream})
	if err != nil {
		return nil, nil, err
	}
	names := x.names
	if len(names) == 0 {
		names = r.names()
	}
	slices.Sort(names)
	return r, slices.Compact(names), nil
}

// plan prints the plans of ClusterExtensions, with the verdicts on their upgrades and the ways around
// those to avoid if a requests them.
func (x *extensionFlags) plan(ctx context.Context, l *loader, args []string, out *printer, a *avoidance) error {
	r, names, err := x.reader(ctx, l, args)
	if err != nil {
		return err
	}
	if a.on() {
		r.avoid = a
		if r.judge, err = a.onCluster(x.env, r.clusterState); err != nil {
			return err
		}
	}
	states, err := r.states(ctx, names)
	if err != nil {
		return err
	}
	plans := map[string]*extensionPlan{}
	for _, s := range states {
		if err := s.refresh(ctx); err != nil {
			return err
		}
		p, err := s.plan(ctx)
		if err != nil {
			return err
		}
		if r.judge != nil && p.Installed != nil && p.Target != nil && p.Installed.Name != p.Target.Name {
			if p.Impact, err = s.impact(ctx, p.Installed, p.Target.Name); err != nil {
				return err
			}
		}
		r.change(s.snapshot, p.reached(s.snapshot))
		p.rehearsal = nil
		p.Notes = append(p.Notes, s.unreadNote()...)
		plans[p.Extension] = p
	}
	negative := false
	for i, name := range names {
		p := plans[name]
		if i == 0 {
			p.Notes = slices.Concat(r.inferred, p.Notes)
		} else if out.format == formatText {
			if _, err := visible.Fprintf(out.w, "\n"); err != nil {
				return err
			}
		}
		if err := out.print(p); err != nil {
			return err
		}
		negative = negative || p.negative()
	}
	if negative {
		return errNegative
	}
	return nil
}
