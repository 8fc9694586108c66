package reconcile

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/olmkit/olmkit/reconcile/olm"
)

// Attenuation returns notes on what the install plans of a namespace are to do
// and may not: where the operator group names a service account, its permissions
// are those of the installation (001, 2.4.5.11). Where its roles were not read the
// note says that they were not checked. Plans that are done have none. The plan of
// [Decide] has these notes, too.
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

// attenuate notes which of the steps that are left the service account of the
// operator group may not take.
func (p *planner) attenuate(key olm.Key, steps []olm.Step) {
	if len(p.groups()) != 1 {
		return
	}
	account := p.groups()[0].Spec.ServiceAccountName
	if account == "" || len(steps) == 0 || !p.hasServiceAccount(account) {
		return // the gate is closed, if anything (F10)
	}
	var no []string
	for i := range steps {
		if isDone(&steps[i]) || steps[i].Status == olm.StepWaitingForAPI {
			continue
		}
		var o olm.Object
		if _, isReference := steps[i].Resource.Reference(); isReference || json.Unmarshal([]byte(steps[i].Resource.Manifest), &o) != nil {
			continue
		}
		if text := p.forbidden(account, &o); text != "" {
			no = append(no, text)
		}
	}
	switch {
	case len(no) == 0:
	case !p.knowsGrants(account):
		p.note(key, "whether service account %q of the operator group may take its steps is not checked, as not all roles and bindings were read", account)
	default:
		p.note(key, "service account %q of the operator group may not %s, so that the steps will be refused: give it the permissions, or name another account", account, bounded(no))
	}
}

// forbidden returns what an account may not do to bring an object into the
// cluster, or nothing. Roles can only be given by who has their rules.
func (p *planner) forbidden(account string, o *olm.Object) string {
	k := o.Key()
	granted := p.granted(account, k.Namespace)
	verb := "create"
	if have, err := p.find(k); err == nil && have != nil {
		verb = "update"
	}
	rule := olm.PolicyRule{Verbs: []string{verb}, APIGroups: []string{k.Group}, Resources: []string{p.resourceOf(k)}}
	if verb == "update" {
		rule.ResourceNames = []string{k.Name}
	}
	if !covers(granted, rule) {
		return verb + " " + k.String()
	}
	if k.Group != olm.GroupRBAC || k.Kind != "Role" && k.Kind != "ClusterRole" {
		return ""
	}
	rule.Verbs = []string{"escalate"}
	if covers(granted, rule) {
		return ""
	}
	role, err := olm.As[olm.Role](*o)
	if err != nil {
		return ""
	}
	for _, r := range role.Rules {
		if !covers(granted, r) {
			return fmt.Sprintf("give in %s what it may not do itself", k)
		}
	}
	return ""
}

// resourceOf returns the name of a kind in rules: that of its CRD, or else what
// Kubernetes makes of a kind.
func (p *planner) resourceOf(k olm.Key) string {
	for _, crd := range p.CRDs {
		if crd.Spec.Group == k.Group && crd.Spec.Names.Kind == k.Kind && crd.Spec.Names.Plural != "" {
			return crd.Spec.Names.Plural
		}
	}
	switch name := strings.ToLower(k.Kind); {
	case strings.HasSuffix(name, "s"), strings.HasSuffix(name, "x"):
		return name + "es"
	case strings.HasSuffix(name, "y"):
		return strings.TrimSuffix(name, "y") + "ies"
	default:
		return name + "s"
	}
}
