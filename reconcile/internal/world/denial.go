package world

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/olm"
)

// Installer returns the service account that the operator group of the
// namespace names, if there is one group and it names one.
func (w *World) Installer() string {
	if gs := w.Groups(); len(gs) == 1 {
		return gs[0].Spec.ServiceAccountName
	}
	return ""
}

// A denial is a request that an account is not permitted to make.
type denial struct {
	user, verb, resource string
	key                  olm.Key
	// rule is a permission that the object grants and the account lacks. It is nil if the
	// account lacks the verb itself.
	rule *olm.PolicyRule
}

// Error returns the message of an API server for the denial.
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

// Short returns the denied request: the verb and the object, or the object in which the
// account may not grant permissions.
func (d *denial) Short() string {
	if d.rule != nil {
		return fmt.Sprintf("grant permissions in %s that it does not have", d.key)
	}
	return d.verb + " " + d.key.String()
}

// Forbidden returns why an account may not write an object, or nil. The account needs the
// verb. If the object grants permissions, the account must also have these permissions, or the
// verb escalate or bind. A binding may refer to the roles in more in addition to those of the
// snapshot.
func (w *World) Forbidden(account, verb string, o *olm.Object, more map[olm.Key]*olm.Object) *denial {
	k := o.Key()
	d := &denial{user: "system:serviceaccount:" + w.Namespace + ":" + account, verb: verb, resource: w.resourceOf(k), key: k}
	granted := w.Granted(account, k.Namespace)
	if !Covers(granted, requestFor(verb, k, d.resource)) {
		return d
	}
	given := w.givenAway(granted, o, d.resource, more)
	if i := slices.IndexFunc(given, func(r olm.PolicyRule) bool { return !Covers(granted, r) }); i >= 0 {
		d.rule = &given[i]
		return d
	}
	return nil
}

// requestFor returns the permission to write an object. For a creation it does not include
// the name.
func requestFor(verb string, k olm.Key, resource string) olm.PolicyRule {
	r := olm.PolicyRule{Verbs: []string{verb}, APIGroups: []string{k.Group}, Resources: []string{resource}}
	if verb != "create" {
		r.ResourceNames = []string{k.Name}
	}
	return r
}

// everything stands for the rules of an aggregated role, which may contain any rule.
var everything = []olm.PolicyRule{
	{Verbs: []string{"*"}, APIGroups: []string{"*"}, Resources: []string{"*"}},
	{Verbs: []string{"*"}, NonResourceURLs: []string{"*"}},
}

// givenAway returns the rules that an object grants to others, or nil if the account's
// rules include escalate or bind.
func (w *World) givenAway(granted []olm.PolicyRule, o *olm.Object, resource string, more map[olm.Key]*olm.Object) []olm.PolicyRule {
	k := o.Key()
	if k.Group != olm.GroupRBAC {
		return nil
	}
	switch k.Kind {
	case "Role", "ClusterRole":
		role, err := olm.As[olm.Role](*o)
		if err != nil || Covers(granted, requestFor("escalate", k, resource)) {
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
		if Covers(granted, requestFor("bind", role, w.resourceOf(role))) {
			return nil
		}
		if r := w.Object(role); r == nil && more[role] != nil {
			return rulesOf(b, more)
		}
		return rulesOf(b, w.objects)
	}
	return nil
}

// resourceOf returns the resource name of a kind: that in its CRD, or else the usual
// plural.
func (w *World) resourceOf(k olm.Key) string {
	for _, crd := range w.CRDs {
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
