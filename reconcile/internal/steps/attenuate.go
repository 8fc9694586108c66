package steps

import (
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/olm"
	"github.com/olmkit/olmkit/reconcile/internal/change"
	"github.com/olmkit/olmkit/reconcile/internal/world"
)

// Attenuate adds notes about the remaining steps that the service account of
// the operator group is not permitted to execute (E33).
func (p *Builder) Attenuate(key olm.Key, steps []olm.Step) {
	account := p.Installer()
	if account == "" || len(steps) == 0 || !p.HasServiceAccount(account) {
		return // a missing account blocks the plan anyway (F10)
	}
	var no []string
	roles := map[olm.Key]*olm.Object{} // of earlier steps
	for i := range steps {
		if _, isReference := steps[i].Resource.Reference(); isReference {
			continue
		}
		o, err := steps[i].Resource.Object()
		if err != nil {
			continue // reported when the step is due
		}
		roles[o.Key()] = &o
		if world.IsDone(&steps[i]) || world.IsCRD(steps[i].Resource) { // CRDs are not limited
			continue
		}
		verb := change.Create
		if have, err := p.Find(o.Key()); err == nil && have != nil {
			verb = change.Update
		}
		if d := p.Forbidden(account, string(verb), &o, roles); d != nil {
			no = append(no, d.Short())
		}
	}
	switch {
	case len(no) == 0:
	case !p.KnowsGrants(account):
		p.Note(key, "the permissions of service account %q of the operator group were not checked, because not all roles and bindings were read", account)
	default:
		p.Note(key, "service account %q of the operator group may not %s, so the steps will be refused; grant the permissions, or name another account", account, phrase.Few(no))
	}
}
