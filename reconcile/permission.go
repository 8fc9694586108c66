package reconcile

import (
	"slices"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/olmkit/olmkit/olm"
)

// permissionRequirements returns a requirement per service account of an
// operator, in order of first use, with a dependent per rule: does the account
// exist, and does it have the permissions that the CSV requires. The status is
// reqUnknown if not enough was read.
func (p *planner) permissionRequirements(c *olm.ClusterServiceVersion) []olm.RequirementStatus {
	var list []olm.RequirementStatus
	find := func(account string) *olm.RequirementStatus {
		for i := range list {
			if list[i].Name == account {
				return &list[i]
			}
		}
		r := olm.RequirementStatus{Version: "v1", Kind: "ServiceAccount", Name: account, Status: reqPresent}
		switch {
		case account == "default":
		case !p.reads(account) && !p.known(kindServiceAccount, account):
			r.Status = reqUnknown
		case !p.hasServiceAccount(account):
			r.Status, r.Message = reqNotPresent, "Service account does not exist"
		}
		list = append(list, r)
		return &list[len(list)-1]
	}
	check := func(permissions []olm.Permissions, namespace, scope string) {
		for _, perm := range permissions {
			r := find(perm.ServiceAccountName)
			if r.Status == reqNotPresent || r.Status == reqUnknown {
				continue
			}
			granted := p.granted(perm.ServiceAccountName, namespace)
			for _, rule := range perm.Rules {
				text, err := json.Marshal(rule)
				d := olm.DependentStatus{Group: olm.GroupRBAC, Version: "v1", Kind: "PolicyRule", Status: depSatisfied, Message: scope + " rule:" + string(text)}
				if err == nil && !covers(granted, rule) && !p.knowsGrants(perm.ServiceAccountName) {
					r.Status, r.Dependents = reqUnknown, nil
					break
				}
				if err != nil || !covers(granted, rule) {
					d.Status = depNotSatisfied
					r.Status, r.Message = reqNotSatisfied, "Policy rule not satisfied for service account"
				}
				r.Dependents = append(r.Dependents, d)
			}
		}
	}
	check(c.Spec.Install.Spec.Permissions, p.Namespace, "namespaced")
	check(c.Spec.Install.Spec.ClusterPermissions, "", "cluster")
	return list
}

// Grants are the rules that the bindings of a snapshot give to the service
// accounts of its namespace: by account or, with an empty name, to all of them; in
// a namespace or, with an empty name, in the whole cluster.
type grants map[string]map[string][]olm.PolicyRule

func newGrants(s *Snapshot) grants {
	g := grants{}
	roles := map[olm.Key]*olm.Object{}
	for i := range s.Objects {
		if o := &s.Objects[i]; o.Kind == "Role" || o.Kind == "ClusterRole" {
			roles[o.Key()] = o
		}
	}
	for i := range s.Objects {
		o := &s.Objects[i]
		if k := o.Key(); k.Group != olm.GroupRBAC || k.Kind != "ClusterRoleBinding" && k.Kind != "RoleBinding" {
			continue
		}
		b, err := olm.As[olm.RoleBinding](*o)
		if err != nil {
			continue
		}
		var rules []olm.PolicyRule
		for _, subject := range b.Subjects {
			account, ok := accountOf(subject, s.Namespace)
			if !ok {
				continue
			}
			if rules == nil {
				rules = rulesOf(b, roles)
			}
			in := g[account]
			if in == nil {
				in = map[string][]olm.PolicyRule{}
				g[account] = in
			}
			in[b.Metadata.Namespace] = append(in[b.Metadata.Namespace], rules...)
		}
	}
	return g
}

// accountOf returns which service account of a namespace a subject of a binding
// is, if it is one: an empty name stands for all of them.
func accountOf(s olm.Subject, namespace string) (account string, ok bool) {
	switch s.Kind {
	case "ServiceAccount":
		return s.Name, s.Namespace == namespace && s.Name != ""
	case "User":
		return strings.CutPrefix(s.Name, "system:serviceaccount:"+namespace+":")
	case "Group":
		return "", s.Name == "system:serviceaccounts" || s.Name == "system:serviceaccounts:"+namespace || s.Name == "system:authenticated"
	}
	return "", false
}

// roleKey returns the key of the role that a binding refers to.
func roleKey(b *olm.RoleBinding) olm.Key {
	key := olm.Key{Group: olm.GroupRBAC, Kind: b.RoleRef.Kind, Name: b.RoleRef.Name}
	if b.RoleRef.Kind == "Role" {
		key.Namespace = b.Metadata.Namespace
	}
	return key
}

// rulesOf returns the rules of the role that a binding refers to.
func rulesOf(b *olm.RoleBinding, roles map[olm.Key]*olm.Object) []olm.PolicyRule {
	o := roles[roleKey(b)]
	if o == nil {
		return nil
	}
	role, err := olm.As[olm.Role](*o)
	if err != nil {
		return nil
	}
	return role.Rules
}

// granted returns the rules that a service account of the namespace has: in the
// whole cluster, and in a namespace if one is given.
func (x *index) granted(account, namespace string) []olm.PolicyRule {
	rules := slices.Concat(x.grants[account][""], x.grants[""][""])
	if namespace != "" {
		rules = slices.Concat(rules, x.grants[account][namespace], x.grants[""][namespace])
	}
	return rules
}

// knowsGrants reports whether what granted returns are all the rules of an account.
func (p *planner) knowsGrants(account string) bool {
	all := true
	for _, k := range []GroupKind{kindClusterRole, kindClusterRoleBinding, kindRole, kindRoleBinding} {
		if !p.knows(k) {
			p.known(k, "those of service account "+account)
			all = false
		}
	}
	return all
}

// covers reports whether granted rules allow all that a rule requires: each
// combination of verb, group, resource and name by some rule.
func covers(granted []olm.PolicyRule, want olm.PolicyRule) bool {
	for _, verb := range want.Verbs {
		for _, url := range want.NonResourceURLs {
			if !slices.ContainsFunc(granted, func(g olm.PolicyRule) bool { return has(g.Verbs, verb) && hasURL(g.NonResourceURLs, url) }) {
				return false
			}
		}
		names := want.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, group := range want.APIGroups {
			for _, resource := range want.Resources {
				for _, name := range names {
					if !slices.ContainsFunc(granted, func(g olm.PolicyRule) bool {
						return has(g.Verbs, verb) && has(g.APIGroups, group) && hasResource(g.Resources, resource) &&
							(len(g.ResourceNames) == 0 || name != "" && slices.Contains(g.ResourceNames, name))
					}) {
						return false
					}
				}
			}
		}
	}
	return true
}

func has(list []string, s string) bool { return slices.Contains(list, s) || slices.Contains(list, "*") }

// hasResource also understands "*/scale".
func hasResource(list []string, s string) bool {
	if has(list, s) {
		return true
	}
	for i := range len(s) {
		if s[i] == '/' {
			return slices.Contains(list, "*"+s[i:])
		}
	}
	return false
}

// hasURL also understands "/healthz/*".
func hasURL(list []string, s string) bool {
	return has(list, s) || slices.ContainsFunc(list, func(p string) bool {
		n := len(p) - 1
		return n >= 0 && p[n] == '*' && len(s) >= n && s[:n] == p[:n]
	})
}
