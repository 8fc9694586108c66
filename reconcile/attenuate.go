package reconcile

import (
	"context"
	"encoding/json"

	"github.com/olmkit/olmkit/olm"
)

// Attenuation returns notes on the steps of install plans that are not permitted:
// where the operator group names a service account, installation is limited to its
// permissions. If its roles were not read, the note reports that they
// were not checked. Finished plans have no notes. The plan of [Decide] includes
// these notes.
func Attenuation(s *Snapshot) []Note {
	p := newPlanner(s, nil, &Options{})
	p.attenuatePlans()
	return p.plan.Notes
}

func (p *planner) attenuation(context.Context) error {
	p.attenuatePlans()
	return nil
}

func (p *planner) attenuatePlans() {
	for _, ip := range p.InstallPlans {
		if !isFinished(ip) && !ip.Metadata.IsDeleted() && p.isWanted(ip) {
			p.attenuate(ip.Key(), ip.Status.Plan)
		}
	}
}

// attenuate notes which of the remaining steps the service account of the operator
// group may not take.
func (p *planner) attenuate(key olm.Key, steps []olm.Step) {
	account := p.installer()
	if account == "" || len(steps) == 0 || !p.hasServiceAccount(account) {
		return // the gate is closed, if anything (F10)
	}
	var no []string
	roles := map[olm.Key]*olm.Object{} // of the steps before
	for i := range steps {
		var o olm.Object
		if _, isReference := steps[i].Resource.Reference(); isReference || json.Unmarshal([]byte(steps[i].Resource.Manifest), &o) != nil {
			continue
		}
		roles[o.Key()] = &o
		if isDone(&steps[i]) || steps[i].Status == olm.StepWaitingForAPI {
			continue
		}
		verb := Create
		if have, err := p.find(o.Key()); err == nil && have != nil {
			verb = Update
		}
		if d := p.forbidden(account, string(verb), &o, roles); d != nil {
			no = append(no, d.short())
		}
	}
	switch {
	case len(no) == 0:
	case !p.knowsGrants(account):
		p.note(key, "the permissions of service account %q of the operator group were not checked, because not all roles and bindings were read", account)
	default:
		p.note(key, "service account %q of the operator group may not %s, so the steps will be refused; grant the permissions, or name another account", account, bounded(no))
	}
}
