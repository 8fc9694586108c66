package csv

import (
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/internal/reason"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/generated"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
	"github.com/olmkit/olmkit/reconcile/internal/status"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Package serving computes the objects that webhooks and aggregated APIs need. This file
// plans the changes and the resulting transitions of a CSV.

// servingState returns the state that the objects of a CSV depend on. The namespace has
// exactly one operator group; otherwise, the CSV would have failed.
func (p *planner) servingState(c *olm.ClusterServiceVersion) *serving.State {
	s := &serving.State{Find: p.Find, Group: &olm.OperatorGroup{}, Now: p.Now, NewKey: p.opts.NewKey}
	if gs := p.Groups(); len(gs) == 1 {
		s.Group = gs[0]
	}
	if config := p.config(c); config != nil {
		s.Annotations = config.Annotations
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if serving.IsConfiguration(o.Key()) && generated.OwnerOf(o) == c.Key() {
			s.Webhooks = append(s.Webhooks, o)
		}
	}
	return s
}

// ensureCertificates plans the objects that must exist before the deployments of an operator
// are created, and reports whether they do.
func (p *planner) ensureCertificates(c *olm.ClusterServiceVersion) (settled bool, err error) {
	if !serving.Serves(c) {
		return true, nil
	}
	certs, err := serving.NewCertificates(c, p.servingState(c))
	if err != nil {
		return false, err
	}
	for _, k := range certs.Waiting {
		if p.IsRead(world.KindSecret, k.Name) {
			p.Note(c.Key(), "waits: the certificate in %s cannot be made without a clock", k)
			return false, nil
		}
	}
	return p.ensureItems(c, certs.Items, "E13", "serves webhooks or aggregated APIs")
}

// ensureRegistrations plans the registrations of the webhooks and APIs of an operator, and
// reports whether all exist. The transition is that of an operator that cannot be
// registered, or nil.
func (p *planner) ensureRegistrations(c *olm.ClusterServiceVersion) (settled bool, t *transition, err error) {
	s := p.servingState(c)
	apis, err := serving.APIServices(c, s)
	if err != nil {
		return false, nil, err
	}
	for _, i := range apis {
		if i.Have != nil && !p.adoptable(c, i.Have) {
			return false, to(olm.PhaseFailed, reason.ComponentFailed, "install strategy failed: pre-existing %s is not adoptable", i.Have.Key()), nil
		}
	}
	hooks, err := serving.Webhooks(c, s)
	var problem *serving.Problem
	if errors.As(err, &problem) {
		return false, to(olm.PhaseFailed, problem.Reason, "%s", problem), nil
	}
	if err != nil {
		return false, nil, err
	}
	settled, err = p.ensureItems(c, slices.Concat(apis, hooks), "E15", "registers the webhooks and APIs of the operator")
	return settled, nil, err
}

// ensureItems plans the changes that bring objects to their desired state.
func (p *planner) ensureItems(c *olm.ClusterServiceVersion, items []serving.Item, rule, why string) (settled bool, err error) {
	settled = true
	for i := range items {
		x := &items[i]
		if x.Settled() {
			continue
		}
		settled = false
		op, id, cause := change.Create, rule, why
		if x.Have != nil {
			if op = change.Update; x.Rotation != nil {
				id, cause = "E14", x.Rotation.Error()
			}
		}
		if err := p.Emit(op, &x.Want, c.Key(), nil, id, "%s", cause); err != nil {
			return false, err
		}
	}
	return settled, nil
}

// adoptable reports whether an operator may take over an APIService: its own, or that of a
// CSV that it replaces.
func (p *planner) adoptable(c *olm.ClusterServiceVersion, o *olm.Object) bool {
	owner := generated.OwnerOf(o)
	if owner.Kind != olm.KindClusterServiceVersion || owner.Namespace == "" || owner.Name == "" {
		return false
	}
	if owner == c.Key() || owner.Namespace == p.Namespace && (owner.Name == c.Spec.Replaces || p.CSV(owner.Name) == nil) {
		return true
	}
	other, ok := world.Pick(p.CSVs, owner).(*olm.ClusterServiceVersion)
	return ok && (other.Status.Phase == olm.PhaseReplacing || other.Status.Phase == olm.PhaseDeleting)
}

// foreignAPI returns the first APIService of a CSV that belongs to another owner,
// or "".
func (p *planner) foreignAPI(c *olm.ClusterServiceVersion) string {
	for _, d := range c.Spec.APIServices.Owned {
		name := d.Version + "." + d.Group
		if o := p.Object(olm.Key{Group: world.KindAPIService.Group, Kind: world.KindAPIService.Kind, Name: name}); o != nil && !p.adoptable(c, o) {
			return name
		}
	}
	return ""
}

// servingFault returns the fault in the webhooks and APIs of an operator, or nil. It does not
// check whether its APIServices are available.
func (p *planner) servingFault(c *olm.ClusterServiceVersion) *componentFault {
	if !serving.Serves(c) {
		return nil
	}
	s := p.servingState(c)
	certs, err := serving.NewCertificates(c, s)
	if err != nil {
		return &componentFault{text: err.Error(), fatal: true}
	}
	var resource olm.Reason = reason.ComponentUnhealthy
	if len(c.Spec.APIServices.Owned) > 0 {
		resource = reason.APIServiceResourceIssue
	}
	if f := p.itemFault(certs.Items, resource, ""); f != nil {
		return f
	}
	on := p.secretVersions(c)
	if len(certs.Waiting) > 0 {
		if k := certs.Waiting[0]; p.IsRead(world.KindSecret, k.Name) {
			return &componentFault{text: fmt.Sprintf("the certificate in %s cannot be made without a clock", k), unknown: true}
		}
		return nil
	}
	for _, i := range certs.Items {
		if i.Have == nil {
			return nil // it was not read, so the CA is unknown
		}
	}
	p.Past(certs.RotateAt, 0)
	apis, err := serving.APIServices(c, s)
	if err != nil {
		return &componentFault{text: err.Error(), fatal: true}
	}
	if name := p.foreignAPI(c); name != "" {
		return &componentFault{text: fmt.Sprintf("unable to adopt APIService %s", name), reason: resource}
	}
	if f := p.itemFault(apis, resource, ""); f != nil {
		f.on = append(f.on, on...)
		return f
	}
	hooks, err := serving.Webhooks(c, s)
	if err != nil {
		return &componentFault{text: fmt.Sprintf("Webhook install failed: %s", err), fatal: true}
	}
	f := p.itemFault(hooks, reason.ComponentUnhealthy, "webhooks not installed: ")
	if f != nil {
		f.on = append(f.on, on...)
	}
	return f
}

// secretVersions returns the versions of the Secrets with the certificates of an
// operator, on whose CA its deployments and registrations depend.
func (p *planner) secretVersions(c *olm.ClusterServiceVersion) []world.Version {
	var list []world.Version
	for _, k := range serving.Keys(c) {
		if k.Group == world.KindSecret.Group && k.Kind == world.KindSecret.Kind {
			if o := p.Object(k); o != nil {
				list = append(list, world.VersionOf(o))
			}
		}
	}
	return list
}

// itemFault returns the fault of the first object that is not in its desired state, or nil.
// Objects that were not read count as correct.
func (p *planner) itemFault(items []serving.Item, changed olm.Reason, prefix string) *componentFault {
	for i := range items {
		x := &items[i]
		k := x.Want.Key()
		if x.Settled() || x.Have == nil && !p.IsRead(olm.GroupKind{Group: k.Group, Kind: k.Kind}, k.Name) {
			continue
		}
		on := []world.Version{{Key: k}}
		if x.Have != nil {
			on = []world.Version{world.VersionOf(x.Have)}
		}
		switch {
		case x.Rotation != nil:
			return &componentFault{on: on, text: fmt.Sprintf("CSV owns resources that require a cert refresh: %s: %s", k, x.Rotation), changed: true, reason: reason.NeedsCertRotation}
		case x.Have == nil:
			return &componentFault{on: on, text: fmt.Sprintf("%s%s does not exist", prefix, k), changed: true, reason: changed}
		}
		return &componentFault{on: on, text: fmt.Sprintf("%s%s differs from the CSV", prefix, k), changed: true, reason: changed}
	}
	return nil
}

// unavailableAPI returns a fault if an APIService of an operator is not available, or nil.
func (p *planner) unavailableAPI(c *olm.ClusterServiceVersion) *componentFault {
	for _, d := range c.Spec.APIServices.Owned {
		k := olm.Key{Group: world.KindAPIService.Group, Kind: world.KindAPIService.Kind, Name: d.Version + "." + d.Group}
		o := p.Object(k)
		if o == nil || isAvailable(o) {
			continue // servingFault reports a missing one
		}
		return &componentFault{text: fmt.Sprintf("apiServices not installed: %s is not available%s", k, unavailableText(o)), reason: reason.ComponentUnhealthy}
	}
	return nil
}

// unavailableText returns what the API server reports about an APIService that
// is not available.
func unavailableText(o *olm.Object) string {
	text, _ := o.Get("status", "conditions")
	var list []olm.Condition
	if len(text) > 0 && olm.Unmarshal(text, &list) == nil {
		if c, ok := olm.FindCondition(list, "Available"); ok {
			return ": " + status.Condition(c)
		}
	}
	return ""
}

// running returns the transition of an operator that ran and has a fault in its webhooks or
// APIs.
func (f *componentFault) running() *transition {
	if f.reason == reason.NeedsCertRotation {
		return to(olm.PhasePending, f.reason, "%s", f)
	}
	return to(olm.PhaseFailed, f.reason, "%s", f)
}

// reinstall returns the transition of a failed operator with a fault in its webhooks or APIs
// that reinstalling fixes.
func (f *componentFault) reinstall() *transition {
	switch f.reason {
	case reason.APIServiceResourceIssue:
		return to(olm.PhasePending, reason.APIServiceResourcesNeedReinstall, "%s", f)
	case reason.NeedsCertRotation:
		return to(olm.PhasePending, f.reason, "%s", f)
	}
	return to(olm.PhasePending, reason.NeedsReinstall, "needs reinstall: %s", f)
}

// caHash returns the hash of the CA of a deployment, or "" if it serves nothing. If its
// Secret was not read, it returns the current hash in the deployment.
func (p *planner) caHash(c *olm.ClusterServiceVersion, deployment string) (string, error) {
	if !serving.Serves(c) {
		return "", nil
	}
	hash, err := serving.CAHash(&serving.State{Find: p.Find}, p.Namespace, deployment)
	if d := p.Deployment(deployment); hash == "" && d != nil {
		hash = serving.HashIn(d)
	}
	return hash, err
}

// setRotation sets the time of the next certificate rotation in the status of an operator.
func (p *planner) setRotation(c *olm.ClusterServiceVersion, st *olm.CSVStatus) error {
	if !serving.Serves(c) || p.Now.IsZero() {
		return nil
	}
	certs, err := serving.NewCertificates(c, p.servingState(c))
	if err == nil && !certs.RotateAt.IsZero() && !certs.RotateAt.Equal(st.CertsRotateAt) {
		st.CertsRotateAt, st.CertsLastUpdated = certs.RotateAt, p.Now
	}
	return err
}
