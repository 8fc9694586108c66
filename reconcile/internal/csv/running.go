package csv

import (
	"errors"
	"slices"

	"github.com/olmkit/olmkit/internal/ownerlabel"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// installReady plans the deployments of the operator and the roles that it needs in the
// namespaces that it serves. Once all exist, the CSV is Installing.
func (p *planner) installReady(c *olm.ClusterServiceVersion) (*transition, error) {
	if why := p.unsupported(c); why != "" {
		return to(olm.PhaseFailed, reason.InvalidStrategy, "install strategy invalid: %s", why), nil
	}
	if t := p.reportRefusal(c, "install strategy failed: "); t != nil {
		return t, nil
	}
	defer p.RestOn(world.VersionOf(c))()
	// Changes that were refused in the last pass come last, because a refusal ends the
	// operator's part of a pass.
	settled, refused := true, p.wasRefused(c.Key())
	if !refused {
		var err error
		if settled, err = p.ensurePermissions(c); err != nil {
			return nil, err
		}
	}
	// Pods mount the certificates, and restart when they change.
	if certified, err := p.ensureCertificates(c); err != nil || !certified {
		return nil, err
	}
	wanted := map[string]bool{}
	for _, spec := range c.Spec.Install.Spec.Deployments {
		wanted[spec.Name] = true
		want, err := p.desiredDeployment(c, spec)
		if err != nil {
			return to(olm.PhaseFailed, reason.InvalidStrategy, "%s", err), nil
		}
		have := p.Deployment(spec.Name)
		if have != nil && !sameSelector(want, have) {
			settled = false
			if t, err := p.recreate(c, have); t != nil || err != nil {
				return t, err
			}
			continue
		}
		ok, err := p.ensureDeployment(c, want, have)
		if err != nil {
			return nil, err
		}
		settled = settled && ok
	}
	for _, d := range p.deploymentsOf(c) {
		if !wanted[d.Metadata.Name] {
			settled = false
			if err := p.Emit(change.Delete, d, c.Key(), nil, "", "the operator no longer has this deployment"); err != nil {
				return nil, err
			}
		}
	}
	ok, t, err := p.ensureRegistrations(c)
	if t != nil || err != nil {
		return t, err
	}
	settled = settled && ok
	if refused {
		ok, err := p.ensurePermissions(c)
		if err != nil {
			return nil, err
		}
		settled = settled && ok
	}
	if !settled {
		return nil, nil
	}
	return to(olm.PhaseInstalling, reason.InstallSuccessful, "waiting for install components to report healthy"), nil
}

// ensurePermissions plans the permissions of an operator in the namespaces that it serves and,
// if it ran before, in its own. It reports whether the operator has all of them.
func (p *planner) ensurePermissions(c *olm.ClusterServiceVersion) (settled bool, err error) {
	restored, err := p.restorePermissions(c)
	if err != nil {
		return false, err
	}
	settled, err = p.ensureTargetRBAC(c)
	return settled && restored, err
}

// ensureDeployment plans the changes that bring a deployment of an operator to its desired
// state, and reports whether none are needed.
func (p *planner) ensureDeployment(c *olm.ClusterServiceVersion, want, have *olm.Deployment) (settled bool, err error) {
	switch {
	case have == nil:
		return false, p.Emit(change.Create, want, c.Key(), nil, "", "runs the operator")
	case !sameSpecHash(want, have) || !ownedBy(have, c):
		return false, p.Emit(change.Update, overwrite(have, want), c.Key(), nil, "", "runs another version or configuration of the operator")
	}
	at := p.drift(want, have)
	if at == "" {
		return true, nil
	}
	out := overwrite(have, want)
	out.Metadata.SetAnnotation(annotationRestored, specHash(have.Spec))
	return false, p.Emit(change.Update, out, c.Key(), nil, "", "%s was changed", at)
}

// recreate plans the deletion of a deployment whose selector differs from the one that the
// operator wants: a selector cannot be changed, so the deployment is recreated once it is
// gone. A deployment that was not created for an operator of the namespace stays, and the
// status of the operator reports that it is in the way. The running OLM tries to change the
// selector forever, and users have to delete the deployment.
func (p *planner) recreate(c *olm.ClusterServiceVersion, have *olm.Deployment) (*transition, error) {
	l := have.Metadata.Labels
	switch {
	case have.Metadata.IsDeleted():
		p.Note(c.Key(), "waits for deployment %q: it %s", have.Metadata.Name, status.Leaving(&have.Header))
		return nil, nil
	case l[ownerlabel.Kind] != olm.KindClusterServiceVersion || l[ownerlabel.Namespace] != p.Namespace:
		return to(c.Status.Phase, reason.ComponentFailed, "install strategy failed: deployment %q is in the way: it was not created for an operator, and its selector differs and is immutable; rename or delete it", have.Metadata.Name), nil
	}
	return nil, p.Emit(change.Delete, have, c.Key(), nil, "", "its selector must change, but is immutable; the deployment is recreated")
}

func sameSpecHash(a, b *olm.Deployment) bool {
	return a.Metadata.Labels[LabelSpecHash] == b.Metadata.Labels[LabelSpecHash]
}

// overwrite returns a deployment with the spec of another one, and with its labels,
// annotations and owners added. As in OLM, only one CSV owns a deployment: OLM writes the name
// of the first one into the pods (E23).
func overwrite(have, want *olm.Deployment) *olm.Deployment {
	out := *have
	out.Spec = want.Spec
	others := slices.DeleteFunc(slices.Clone(have.Metadata.OwnerReferences), func(o olm.OwnerReference) bool {
		return o.Kind == olm.KindClusterServiceVersion
	})
	out.Metadata.Labels = generated.Union(have.Metadata.Labels, want.Metadata.Labels)
	out.Metadata.Annotations = generated.Union(have.Metadata.Annotations, want.Metadata.Annotations)
	out.Metadata.OwnerReferences = append(others, want.Metadata.OwnerReferences...)
	return &out
}

func (p *planner) ensureTargetRBAC(c *olm.ClusterServiceVersion) (settled bool, err error) {
	gs := p.Groups()
	if len(gs) != 1 {
		return true, nil
	}
	rbac, err := operatorgroup.TargetRBAC(c, gs[0].Status.Namespaces)
	if err != nil {
		return false, err
	}
	var all []olm.Resource
	all = generated.AppendAll(all, rbac.Roles)
	all = generated.AppendAll(all, rbac.RoleBindings)
	all = generated.AppendAll(all, rbac.ClusterRoles)
	all = generated.AppendAll(all, rbac.ClusterRoleBindings)
	bindings, err := serving.Bindings(c)
	if err != nil {
		return false, err
	}
	all = generated.AppendAll(all, bindings)
	settled = true
	for _, r := range all {
		p.ownedByCopy(r, c)
		ok, _, err := p.EnsureShared(r, c.Key(), "F7", "grants the operator permissions in the namespaces that it serves")
		if err != nil {
			return false, err
		}
		settled = settled && ok
	}
	return settled, nil
}

// ownedByCopy makes the copy of c, if there is one, the owner of a role or binding in another
// namespace, as in OLM. That object is then deleted with the copy, even if OLM deletes the copy.
func (p *planner) ownedByCopy(r olm.Resource, c *olm.ClusterServiceVersion) {
	m := &r.Head().Metadata
	key := c.Key()
	key.Namespace = m.Namespace
	copied, ok := world.Pick(p.CSVs, key).(*olm.ClusterServiceVersion)
	if ok && m.Labels[olm.LabelCopiedFrom] == c.Metadata.Namespace && operatorgroup.CopiedFrom(copied) == c.Metadata.Namespace && !copied.Metadata.IsDeleted() {
		m.OwnerReferences = []olm.OwnerReference{olm.OwnedBy(copied)}
	}
}

// installing waits for the workloads of the operator. It restores permissions that are
// removed meanwhile: without them the operator may never become healthy.
func (p *planner) installing(c *olm.ClusterServiceVersion) (*transition, error) {
	err := p.health(c)
	var f *componentFault
	switch errors.As(err, &f); {
	case err == nil:
		return to(olm.PhaseSucceeded, reason.InstallSuccessful, "install strategy completed with no errors"), nil
	case f.unknown:
		p.Note(c.Key(), "stays %s: %s", c.Status.Phase, f)
		return nil, nil
	case f.changed:
		return to(olm.PhaseInstallReady, reason.NeedsReinstall, "installing: %s", f).seen(f), nil
	case f.fatal:
		return to(olm.PhaseFailed, reason.InstallCheckFailed, "install failed: %s", f).seen(f), nil
	case p.Past(c.Status.LastTransitionTime, p.opts.InstallTimeout):
		return to(olm.PhaseFailed, reason.InstallCheckFailed, "install timeout: %s", f), nil
	}
	if p.wasRefused(c.Key()) {
		return to(olm.PhaseInstallReady, reason.NeedsReinstall, "installing: %s", p.refusal(c.Key())), nil
	}
	if settled, err := p.restorePermissions(c); err != nil || !settled {
		return nil, err
	}
	defer p.RestOn(world.VersionOf(c))()
	if settled, err := p.ensureTargetRBAC(c); err != nil || !settled {
		return nil, err
	}
	if f.reason != "" {
		return to(olm.PhaseInstalling, reason.Waiting, "%s", f), nil
	}
	return to(olm.PhaseInstalling, reason.Waiting, "installing: %s", f), nil
}

// reportRefusal returns a transition that reports the refused changes in the status of an
// operator. It returns nil if no change was refused, or if the status already reports them, so
// that they can be retried.
func (p *planner) reportRefusal(c *olm.ClusterServiceVersion, what string) *transition {
	if !p.wasRefused(c.Key()) {
		return nil
	}
	t := to(c.Status.Phase, reason.ComponentFailed, "%s%s", what, p.refusal(c.Key()))
	if c.Status.Reason == t.reason && c.Status.Message == t.message {
		return nil
	}
	return t
}

// succeeded maintains a running operator: it checks whether the operator is being replaced
// and whether its requirements are met, and maintains the roles for its users.
func (p *planner) succeeded(c *olm.ClusterServiceVersion) (*transition, error) {
	if t := p.beingReplaced(c); t != nil {
		return t, nil
	}
	if next := p.arriving(c); next != nil {
		// Its CRDs may already be those of the newer version.
		p.Note(c.Key(), "continues to run until %s can replace it (it is %s)", next.Metadata.Name, status.Phase(next))
		return nil, nil
	}
	if t := p.lacking(c); t != nil && slices.ContainsFunc(t.requirements, isBeyondRestoring) {
		return t, nil
	}
	t, err := p.withPermissions(c, func(c *olm.ClusterServiceVersion) *transition {
		if t := p.lacking(c); t != nil {
			return t
		}
		return p.unwell(c)
	})
	if t != nil || err != nil {
		return t, err
	}
	for _, g := range p.Groups() {
		if err := p.ensureAPIRoles(g, c); err != nil {
			return nil, err
		}
	}
	_, err = p.ensureTargetRBAC(c)
	return nil, err
}

// lacking returns the failure of an operator that ran and whose requirements are no longer
// met, or nil.
func (p *planner) lacking(c *olm.ClusterServiceVersion) *transition {
	v, requirements := p.requirements(c)
	if v != unmet {
		return nil
	}
	t := to(olm.PhaseFailed, reason.RequirementsNotMet, "requirements no longer met: %s", missing(requirements))
	t.requirements, t.checked = requirements, true
	for _, r := range requirements {
		if !isMet(r) {
			t.on = append(t.on, p.versionsOf(r)...)
		}
	}
	return t
}

// unwell returns the transition of an operator that is no longer healthy, or nil.
func (p *planner) unwell(c *olm.ClusterServiceVersion) *transition {
	if why := p.unsupported(c); why != "" {
		return to(olm.PhaseFailed, reason.InvalidStrategy, "install strategy invalid: %s", why)
	}
	var f *componentFault
	switch err := p.health(c); {
	case !errors.As(err, &f) || f.unknown:
		return nil
	case f.reason != "":
		return f.running().seen(f)
	case f.changed:
		return to(olm.PhasePending, reason.NeedsReinstall, "%s", f).seen(f)
	}
	return to(olm.PhaseFailed, reason.ComponentUnhealthy, "%s", f).seen(f)
}

// withPermissions returns the transition that next returns for an operator, once the operator
// has its original permissions, or nil while they are being restored. If changes were refused
// and next would change the status, the status is written first, and the changes are retried
// later.
func (p *planner) withPermissions(c *olm.ClusterServiceVersion, next func(*olm.ClusterServiceVersion) *transition) (*transition, error) {
	refused := p.wasRefused(c.Key())
	if refused {
		if t := next(c); isNews(c, t) {
			return t, nil
		}
	}
	if settled, err := p.restorePermissions(c); err != nil || !settled || refused {
		return nil, err
	}
	return next(c), nil
}

// failed retries the installation when the cause of the failure is gone. Until then the CSV
// stays Failed and nothing is planned for it.
func (p *planner) failed(c *olm.ClusterServiceVersion) (*transition, error) {
	if p.FailForward() {
		if t := p.beingReplaced(c); t != nil {
			return t, nil // E10
		}
	}
	return p.withPermissions(c, p.recovered)
}

// recovered returns the transition of a failed operator that has its permissions.
func (p *planner) recovered(c *olm.ClusterServiceVersion) *transition {
	t := p.check(c)
	if t == nil {
		p.Note(c.Key(), "stays %s, %s: %s", c.Status.Phase, phrase.Clause(c.Status.Message), p.unknown(c))
		return nil
	}
	if t.phase != olm.PhaseInstallReady {
		return t
	}
	var f *componentFault
	switch err := p.health(c); {
	case err == nil:
		// Use the current requirements, not those from the time of the failure.
		t.phase, t.reason, t.message = olm.PhaseSucceeded, reason.InstallSuccessful, "install strategy completed with no errors"
		return t
	case errors.As(err, &f) && f.unknown:
		p.Note(c.Key(), "stays %s, %s: %s", c.Status.Phase, phrase.Clause(c.Status.Message), f)
		return nil
	case f.changed && f.reason != "":
		return f.reinstall().seen(f)
	case f.changed:
		return to(olm.PhasePending, reason.NeedsReinstall, "needs reinstall: %s", f).seen(f)
	case c.Status.Reason == reason.RequirementsNotMet || c.Status.Reason == reason.OwnerConflict || c.Status.Reason == reason.InvalidWebhook,
		c.Status.Reason == reason.InvalidStrategy && !f.fatal:
		return to(olm.PhasePending, reason.NeedsReinstall, "needs reinstall: %s", f).seen(f)
	}
	p.Note(c.Key(), "failed: %s", f)
	return nil
}
