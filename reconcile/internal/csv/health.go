package csv

import (
	"fmt"

	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// A componentFault is the reason why an operator does not run.
type componentFault struct {
	text string
	// changed: something is missing or differs from the CSV, so the operator must be
	// reinstalled.
	changed bool
	// fatal: waiting does not help.
	fatal bool
	// reason is set for a fault of a webhook or an API that the operator serves.
	reason olm.Reason
	// unknown: the workloads were not read, so it is unknown whether they have a fault.
	unknown bool
	// on holds the objects that have the fault.
	on []world.Version
}

// Error describes the fault.
func (f *componentFault) Error() string { return f.text }

// health returns nil if all workloads of the operator run, or a *componentFault.
func (p *planner) health(c *olm.ClusterServiceVersion) error {
	if f := p.servingFault(c); f != nil {
		return f
	}
	for _, spec := range c.Spec.Install.Spec.Deployments {
		want, err := p.desiredDeployment(c, spec)
		if err != nil { // reinstalling would not fix the error
			return &componentFault{text: err.Error(), fatal: true}
		}
		d := p.Deployment(spec.Name)
		if f := p.fault(c, want, d); f != nil {
			f.on = []world.Version{{Key: want.Key()}}
			if d != nil {
				f.on = append([]world.Version{world.VersionOf(d)}, p.secretVersions(c)...)
			}
			return f
		}
	}
	if f := p.unavailableAPI(c); f != nil {
		return f
	}
	return nil
}

// fault returns the fault of a deployment, or nil. The deployment is nil if it does not
// exist.
func (p *planner) fault(c *olm.ClusterServiceVersion, want, d *olm.Deployment) *componentFault {
	name := want.Metadata.Name
	if d == nil && !p.IsRead(world.KindDeployment, name) {
		return &componentFault{text: fmt.Sprintf("the state of deployment %q is unknown, because it was not read", name), unknown: true}
	}
	if d == nil {
		return &componentFault{text: fmt.Sprintf("deployment %q is missing", name), changed: true}
	}
	if !sameSpecHash(want, d) || !ownedBy(d, c) {
		return &componentFault{text: fmt.Sprintf("deployment %q differs from the operator's specification", name), changed: true}
	}
	if at := p.drift(want, d); at != "" {
		return &componentFault{text: fmt.Sprintf("deployment %q differs from the operator's specification: %s was changed", name, at), changed: true}
	}
	return deploymentFault(d)
}

// deploymentFault returns why a deployment is not available, or nil.
func deploymentFault(d *olm.Deployment) *componentFault {
	st, name := &d.Status, d.Metadata.Name
	if d.Metadata.Generation > st.ObservedGeneration {
		// OLM's text, which is also in the status of an operator that OLM left (E36)
		return &componentFault{text: fmt.Sprintf("waiting for deployment %s to become ready: waiting for spec update of deployment %q to be observed...", name, name)}
	}
	if c, ok := olm.FindCondition(st.Conditions, "Progressing"); ok && c.Reason == "ProgressDeadlineExceeded" {
		return &componentFault{text: fmt.Sprintf("deployment %q exceeded its progress deadline", name), fatal: true}
	}
	if n := st.Replicas - st.UpdatedReplicas; n > 0 {
		return &componentFault{text: fmt.Sprintf("deployment %q waits for %d outdated replica(s) to end", name, n)}
	}
	c, ok := olm.FindCondition(st.Conditions, "Available")
	if !ok || c.Status != olm.ConditionTrue {
		text := c.Message
		if text == "" {
			text = "it has no condition Available"
		}
		return &componentFault{text: fmt.Sprintf("deployment %q is not available: %s", name, text)}
	}
	return nil
}
