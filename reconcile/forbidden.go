package reconcile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/olm"
)

// If an operator group names a service account, operators in its namespace are
// installed with the permissions of that account.

// IsBounded reports whether the service account of the operator group must be
// allowed to make a change: whether it is a step of an install plan, or
// what the install strategy of a CSV has run and gives permissions to. Statuses,
// the roles for the users of an API, and what is taken away again are not.
func (c *Change) IsBounded() bool { // F10
	key := c.Key()
	if key == c.For || c.Op != Create && c.Op != Update {
		return false
	}
	switch c.For.Kind {
	case olm.KindInstallPlan:
		return true
	case olm.KindClusterServiceVersion:
		switch (GroupKind{key.Group, key.Kind}) {
		case kindDeployment, kindServiceAccount, kindRole, kindRoleBinding, kindClusterRoleBinding,
			kindService, kindSecret, kindValidatingWebhook, kindMutatingWebhook, kindAPIService, kindCRD:
			return true
		case kindClusterRole:
			return !isForUsers(c.Object.Metadata.Labels)
		}
	}
	return false
}

// runs reports whether a change is about what runs an operator or gives it
// permissions.
func (c *Change) runs() bool {
	return c.IsBounded() || c.Op == Delete && c.Object.Kind == "Deployment"
}

// isForUsers reports whether a role is one of those for the users of an API.
func isForUsers(labels map[string]string) bool {
	for name := range labels {
		if strings.HasPrefix(name, "rbac.authorization.k8s.io/aggregate-to-") {
			return true
		}
	}
	return false
}

// Forbidden returns the error with which an API server refuses a change that the
// service account of the operator group may not make, by the roles and bindings
// of a snapshot of the namespace that the change is for. It returns nil for
// what the account may do, where there is no account, for changes that it does
// not limit ([Change.IsBounded]), and where not all roles and bindings are known.
// Clusters without authorization, such as one in memory, may use it.
func Forbidden(s *Snapshot, c *Change) error { // F10
	if !c.IsBounded() {
		return nil
	}
	p := newPlanner(s, nil, &Options{})
	account := p.installer()
	if account == "" || !p.knowsGrants(account) {
		return nil
	}
	if d := p.forbidden(account, string(c.Op), &c.Object, nil); d != nil {
		return d
	}
	return nil
}

// installer returns the service account that the operator group of the
// namespace names, if there is one group and it names one.
func (p *planner) installer() string {
	if gs := p.groups(); len(gs) == 1 {
		return gs[0].Spec.ServiceAccountName
	}
	return ""
}

// A denial is something that an account may not do.
type denial struct {
	user, verb, resource string
	key                  olm.Key
	// rule is what would be granted and the account does not have; nil if it lacks
	// the verb itself.
	rule *olm.PolicyRule
}

// Error describes the denial in the words of an API server.
func (d *denial) Error() string {
	resource := d.resource
	if d.key.Group != "" {
		resource += "." + d.key.Group
	}
	if d.rule != nil {
		rule, err := json.Marshal(d.rule)
		if err != nil {
			rule = []byte(err.Error())
		}
		return fmt.Sprintf("%s %q is forbidden: user %q is attempting to grant RBAC permissions not currently held: %s", resource, d.key.Name, d.user, rule)
	}
	where := "at the cluster scope"
	if d.key.Namespace != "" {
		where = fmt.Sprintf("in the namespace %q", d.key.Namespace)
	}
	return fmt.Sprintf("%s %q is forbidden: User %q cannot %s resource %q in API group %q %s", resource, d.key.Name, d.user, d.verb, d.resource, d.key.Group, where)
}

// short describes the denial as what the account may not do.
func (d *denial) short() string {
	if d.rule != nil {
		return fmt.Sprintf("give in %s what it may not do itself", d.key)
	}
	return d.verb + " " + d.key.String()
}

// forbidden returns why an account may not write an object, or nil: it needs the
// verb, and to grant permissions it needs these too, or the permission to grant more.
// More are roles that a binding may refer to in addition to those of the snapshot.
func (p *planner) forbidden(account, verb string, o *olm.Object, more map[olm.Key]*olm.Object) *denial {
	k := o.Key()
	d := &denial{user: "system:serviceaccount:" + p.Namespace + ":" + account, verb: verb, resource: p.resourceOf(k), key: k}
	granted := p.granted(account, k.Namespace)
	if !covers(granted, requestFor(verb, k, d.resource)) {
		return d
	}
	given := p.givenAway(granted, o, d.resource, more)
	if i := slices.IndexFunc(given, func(r olm.PolicyRule) bool { return !covers(granted, r) }); i >= 0 {
		d.rule = &given[i]
		return d
	}
	return nil
}

// requestFor returns the permission that a write of an object needs. Its name does
// not count if it is to be created.
func requestFor(verb string, k olm.Key, resource string) olm.PolicyRule {
	r := olm.PolicyRule{Verbs: []string{verb}, APIGroups: []string{k.Group}, Resources: []string{resource}}
	if verb != string(Create) {
		r.ResourceNames = []string{k.Name}
	}
	return r
}

// everything is what a role that aggregates others may come to hold.
var everything = []olm.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

// givenAway returns the rules that an object grants to others, unless the granted
// rules allow granting more.
func (p *planner) givenAway(granted []olm.PolicyRule, o *olm.Object, resource string, more map[olm.Key]*olm.Object) []olm.PolicyRule {
	k := o.Key()
	if k.Group != olm.GroupRBAC {
		return nil
	}
	switch k.Kind {
	case "Role", "ClusterRole":
		role, err := olm.As[olm.Role](*o)
		if err != nil || covers(granted, requestFor("escalate", k, resource)) {
			return nil
		}
		if role.AggregationRule != nil {
			return everything
		}
		return role.Rules
	case "RoleBinding", "ClusterRoleBinding":
		b, err := olm.As[olm.RoleBinding](*o)
		if err != nil {
			return nil
		}
		role := roleKey(b)
		if covers(granted, requestFor("bind", role, p.resourceOf(role))) {
			return nil
		}
		if r := p.object(role); r == nil && more[role] != nil {
			return rulesOf(b, more)
		}
		return rulesOf(b, p.objects)
	}
	return nil
}

// resourceOf returns the name of a kind in rules: that of its CRD, or else the
// usual plural of the kind.
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
