package reconcile

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/operatorgroup"
	"github.com/olmkit/olmkit/reconcile/internal/serving"
)

// What webhooks and aggregated APIs need is computed by package serving; here
// are the changes that it takes, and what follows for a CSV.

// newKey returns a new private key, for a certificate.
func (o *Options) newKey() (*ecdsa.PrivateKey, error) {
	if o.NewKey != nil {
		return o.NewKey()
	}
	return ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
}

// servingState returns what the objects of a CSV depend on. The namespace has
// one operator group, or the CSV would have failed.
func (p *planner) servingState(c *olm.ClusterServiceVersion) *serving.State {
	s := &serving.State{Find: p.find, Group: &olm.OperatorGroup{}, Now: p.Now, NewKey: p.opts.newKey}
	if gs := p.groups(); len(gs) == 1 {
		s.Group = gs[0]
	}
	if config := p.config(c); config != nil {
		s.Annotations = config.Annotations
	}
	for i := range p.Objects {
		o := &p.Objects[i]
		if serving.IsConfiguration(o.Key()) && ownerOf(o) == c.Key() {
			s.Webhooks = append(s.Webhooks, o)
		}
	}
	return s
}

// ownerOf returns the key of the owner that the labels of an object name.
func ownerOf(o *olm.Object) olm.Key {
	l := o.Metadata.Labels
	return olm.Key{Group: olm.Group, Kind: l[operatorgroup.LabelOwnerKind], Namespace: l[operatorgroup.LabelOwnerNamespace], Name: l[operatorgroup.LabelOwner]}
}

// ensureCertificates plans what an operator needs to serve before its
// deployments are created, and reports whether it has it.
func (p *planner) ensureCertificates(c *olm.ClusterServiceVersion) (settled bool, err error) {
	if !serving.Serves(c) {
		return true, nil
	}
	certs, err := serving.NewCertificates(c, p.servingState(c))
	if err != nil {
		return false, err
	}
	for _, k := range certs.Waiting {
		if p.known(kindSecret, k.Name) {
			p.note(c.Key(), "waits: the certificate in %s cannot be made without a clock", k)
			return false, nil
		}
	}
	return p.ensureItems(c, certs.Items, "serves webhooks or aggregated APIs (E13)")
}

// ensureRegistrations plans the registrations of what an operator serves, and
// reports whether all are there. The transition is that of an operator that
// cannot be registered, or nil.
func (p *planner) ensureRegistrations(c *olm.ClusterServiceVersion) (settled bool, t *transition, err error) {
	s := p.servingState(c)
	apis, err := serving.APIServices(c, s)
	if err != nil {
		return false, nil, err
	}
	for _, i := range apis {
		if i.Have != nil && !p.adoptable(c, i.Have) {
			return false, to(olm.PhaseFailed, olm.ReasonComponentFailed, "install strategy failed: pre-existing %s is not adoptable", i.Have.Key()), nil
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
	settled, err = p.ensureItems(c, slices.Concat(apis, hooks), "registers what the operator serves (E15)")
	return settled, nil, err
}

// ensureItems plans what makes objects as they should be.
func (p *planner) ensureItems(c *olm.ClusterServiceVersion, items []serving.Item, why string) (settled bool, err error) {
	settled = true
	for i := range items {
		x := &items[i]
		if x.Settled() {
			continue
		}
		settled = false
		op, reason := Create, why
		if x.Have != nil {
			if op = Update; x.Rotation != nil {
				reason = fmt.Sprintf("%s (E14)", x.Rotation)
			}
		}
		if err := p.emit(op, &x.Want, c.Key(), nil, "%s", reason); err != nil {
			return false, err
		}
	}
	return settled, nil
}

// adoptable reports whether an operator may take over an APIService: its own,
// or that of a CSV that makes way for it.
func (p *planner) adoptable(c *olm.ClusterServiceVersion, o *olm.Object) bool {
	owner := ownerOf(o)
	if owner.Kind != olm.KindClusterServiceVersion || owner.Namespace == "" || owner.Name == "" {
		return false
	}
	if owner == c.Key() || owner.Namespace == p.Namespace && (owner.Name == c.Spec.Replaces || p.csv(owner.Name) == nil) {
		return true
	}
	other, ok := pick(p.CSVs, owner).(*olm.ClusterServiceVersion)
	return ok && (other.Status.Phase == olm.PhaseReplacing || other.Status.Phase == olm.PhaseDeleting)
}

// foreignAPI returns the first APIService of a CSV that belongs to somebody
// else, or "".
func (p *planner) foreignAPI(c *olm.ClusterServiceVersion) string {
	for _, d := range c.Spec.APIServices.Owned {
		name := d.Version + "." + d.Group
		if o := p.object(olm.Key{Group: kindAPIService.Group, Kind: kindAPIService.Kind, Name: name}); o != nil && !p.adoptable(c, o) {
			return name
		}
	}
	return ""
}

// servingFault returns what is wrong with what an operator serves, or nil.
// Whether its APIServices are available is another question.
func (p *planner) servingFault(c *olm.ClusterServiceVersion) *componentFault {
	if !serving.Serves(c) {
		return nil
	}
	s := p.servingState(c)
	certs, err := serving.NewCertificates(c, s)
	if err != nil {
		return &componentFault{text: err.Error(), fatal: true}
	}
	resource := olm.ReasonComponentUnhealthy
	if len(c.Spec.APIServices.Owned) > 0 {
		resource = olm.ReasonAPIServiceResourceIssue
	}
	if f := p.itemFault(certs.Items, resource, ""); f != nil {
		return f
	}
	on := p.secretVersions(c)
	if len(certs.Waiting) > 0 {
		if k := certs.Waiting[0]; p.known(kindSecret, k.Name) {
			return &componentFault{text: fmt.Sprintf("the certificate in %s cannot be made without a clock", k), unknown: true}
		}
		return nil
	}
	for _, i := range certs.Items {
		if i.Have == nil {
			return nil // it was not read, so that the CA is not known
		}
	}
	p.past(certs.RotateAt, 0)
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
	f := p.itemFault(hooks, olm.ReasonComponentUnhealthy, "webhooks not installed: ")
	if f != nil {
		f.on = append(f.on, on...)
	}
	return f
}

// secretVersions returns the versions of the Secrets with the certificates of an
// operator, on whose CA its deployments and registrations depend.
func (p *planner) secretVersions(c *olm.ClusterServiceVersion) []Version {
	var list []Version
	for _, k := range serving.Keys(c) {
		if k.Group == kindSecret.Group && k.Kind == kindSecret.Kind {
			if o := p.object(k); o != nil {
				list = append(list, as(o))
			}
		}
	}
	return list
}

// itemFault returns what is wrong with the first of some objects that is not as
// it should be, or nil. What was not read is as it should be.
func (p *planner) itemFault(items []serving.Item, reason olm.Reason, prefix string) *componentFault {
	for i := range items {
		x := &items[i]
		k := x.Want.Key()
		if x.Settled() || x.Have == nil && !p.known(GroupKind{k.Group, k.Kind}, k.Name) {
			continue
		}
		on := []Version{{Key: k}}
		if x.Have != nil {
			on = []Version{as(x.Have)}
		}
		switch {
		case x.Rotation != nil:
			return &componentFault{on: on, text: fmt.Sprintf("CSV owns resources that require a cert refresh: %s: %s", k, x.Rotation), changed: true, reason: olm.ReasonNeedsCertRotation}
		case x.Have == nil:
			return &componentFault{on: on, text: fmt.Sprintf("%s%s does not exist", prefix, k), changed: true, reason: reason}
		}
		return &componentFault{on: on, text: fmt.Sprintf("%s%s is not as the operator wants it", prefix, k), changed: true, reason: reason}
	}
	return nil
}

// unavailableAPI returns why an APIService of an operator does not answer, or
// nil.
func (p *planner) unavailableAPI(c *olm.ClusterServiceVersion) *componentFault {
	for _, d := range c.Spec.APIServices.Owned {
		k := olm.Key{Group: kindAPIService.Group, Kind: kindAPIService.Kind, Name: d.Version + "." + d.Group}
		o := p.object(k)
		if o == nil || isAvailable(o) {
			continue // servingFault reports a missing one
		}
		return &componentFault{text: fmt.Sprintf("apiServices not installed: %s is not available%s", k, unavailableText(o)), reason: olm.ReasonComponentUnhealthy}
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
			return ": " + saying(c)
		}
	}
	return ""
}

// running returns what becomes of an operator that ran when a fault of what it
// serves is found.
func (f *componentFault) running() *transition {
	if f.reason == olm.ReasonNeedsCertRotation {
		return to(olm.PhasePending, f.reason, "%s", f)
	}
	return to(olm.PhaseFailed, f.reason, "%s", f)
}

// reinstall returns what becomes of a failed operator when a fault of what it
// serves is found that reinstalling it fixes.
func (f *componentFault) reinstall() *transition {
	switch f.reason {
	case olm.ReasonAPIServiceResourceIssue:
		return to(olm.PhasePending, olm.ReasonAPIServiceResourcesNeedReinstall, "%s", f)
	case olm.ReasonNeedsCertRotation:
		return to(olm.PhasePending, f.reason, "%s", f)
	}
	return to(olm.PhasePending, olm.ReasonNeedsReinstall, "needs reinstall: %s", f)
}

// caHash returns the hash of the CA of a deployment, or "" if it serves nothing.
// While its Secret was not read, it is the one that the deployment has.
func (p *planner) caHash(c *olm.ClusterServiceVersion, deployment string) (string, error) {
	if !serving.Serves(c) {
		return "", nil
	}
	hash, err := serving.CAHash(&serving.State{Find: p.find}, p.Namespace, deployment)
	if d := p.deployment(deployment); hash == "" && d != nil {
		hash = serving.HashIn(d)
	}
	return hash, err
}

// setRotation puts when the certificates of an operator are replaced into its
// status.
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

// labelTargets labels the namespaces that a group targets, if webhooks of its
// operators select namespaces by that (E15).
func (p *planner) labelTargets(g *olm.OperatorGroup) error {
	label := serving.GroupLabel(g)
	if label == "" || !slices.ContainsFunc(p.own(), func(c *olm.ClusterServiceVersion) bool { return len(c.Spec.Webhooks) > 0 }) {
		return nil
	}
	for _, ns := range p.Namespaces {
		_, has := ns.Metadata.Labels[label]
		want := slices.Contains(g.Status.Namespaces, ns.Metadata.Name)
		if has == want || g.Status.Namespaces == nil || ns.Metadata.IsDeleted() {
			continue
		}
		out, why := *ns, "a target of %s, by which webhooks select it (E15)"
		out.Metadata.SetLabel(label, "")
		if !want {
			delete(out.Metadata.Labels, label)
			why = "no longer " + why
		}
		if err := p.emit(Update, &out, g.Key(), nil, why, g.Key()); err != nil {
			return err
		}
	}
	return nil
}

// servingGarbage deletes the registrations of operators that are gone or do not
// serve that any longer, and ends conversions that nobody serves (E15, E17).
func (p *planner) servingGarbage() error {
	for i := range p.Objects {
		o := &p.Objects[i]
		k, owner := o.Key(), ownerOf(o)
		isAPI := k.Group == kindAPIService.Group && k.Kind == kindAPIService.Kind
		if !isAPI && !serving.IsConfiguration(k) || o.Metadata.IsDeleted() || owner.Kind != olm.KindClusterServiceVersion || owner.Namespace != p.Namespace {
			continue
		}
		why := "which is gone"
		if c := p.csv(owner.Name); c != nil {
			if why = "which no longer serves it"; isAPI && ownsAPI(c, k.Name) || !isAPI && serving.Describes(c, o) {
				continue
			}
		} else if p.coming(owner) {
			continue
		}
		done := p.restOn(p.versionOf(owner))
		err := p.emit(Delete, o, owner, nil, "made for %s, %s (E15)", owner, why)
		if done(); err != nil {
			return err
		}
	}
	for _, crd := range p.CRDs {
		if serving.ConvertedBy(crd) != p.Namespace || p.converts(crd.Metadata.Name) {
			continue
		}
		out := *crd
		out.Spec.Conversion = &olm.CRDConversion{Strategy: "None"}
		if err := p.emit(Update, &out, crd.Key(), nil, "no operator serves its conversion webhook any longer (E17)"); err != nil {
			return err
		}
	}
	return nil
}

func ownsAPI(c *olm.ClusterServiceVersion, name string) bool {
	return slices.ContainsFunc(c.Spec.APIServices.Owned, func(d olm.APIServiceDescription) bool { return d.Version+"."+d.Group == name })
}

// converts reports whether an operator of the cluster converts the objects of a
// CRD.
func (p *planner) converts(crd string) bool {
	return slices.ContainsFunc(p.users(p.CSVs)[crd], func(c *olm.ClusterServiceVersion) bool {
		return !c.IsCopied() && serving.Converts(c, crd)
	})
}

// keepConversion returns the new form of a CRD with the conversion of the old
// one, while an operator serves that: the new version of the operator registers
// its own when it is installed, and without a webhook the API server would lose
// data until then (E17).
func (p *planner) keepConversion(have *olm.CustomResourceDefinition, o olm.Object) (olm.Object, error) {
	if serving.ConvertedBy(have) == "" || !p.converts(have.Metadata.Name) {
		return o, nil
	}
	want, err := olm.As[olm.CustomResourceDefinition](o)
	if err != nil {
		return o, err
	}
	want.Spec.Conversion = have.Spec.Conversion
	return olm.ToObject(want)
}
