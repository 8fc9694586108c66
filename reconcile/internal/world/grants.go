package world

import (
	"bytes"
	"slices"
	"strings"

	"github.com/olmkit/olmkit/olm"
)

// grants holds the rules that bindings grant to the service accounts of the namespace, by
// account and by the namespace in which they apply. An empty account name means all
// accounts, and an empty namespace means the whole cluster.
type grants map[string]map[string][]olm.PolicyRule

func newGrants(s *State) grants {
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
		if !mayGrant(o.Rest["subjects"], s.Namespace) {
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

// mayGrant reports whether the subjects of a binding, as JSON, may refer to service accounts of a
// namespace. Few bindings of a cluster do, and decoding all of them for each namespace would take
// most of the time.
func mayGrant(subjects []byte, namespace string) bool {
	for _, part := range []string{namespace, "system:", `\`} { // a backslash may hide the others
		if bytes.Contains(subjects, []byte(part)) {
			return true
		}
	}
	return false
}

// accountOf returns the service account of a namespace that a subject of a
// binding refers to, if it refers to one. An empty name means all accounts.
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

// Granted returns the rules that a service account of the snapshot's namespace has: those for
// the whole cluster and, unless namespace is empty, those for namespace.
func (w *World) Granted(account, namespace string) []olm.PolicyRule {
	if w.grants == nil {
		w.grants = newGrants(&w.State)
	}
	rules := slices.Concat(w.grants[account][""], w.grants[""][""])
	if namespace != "" {
		rules = slices.Concat(rules, w.grants[account][namespace], w.grants[""][namespace])
	}
	return rules
}

// KnowsGrants reports whether Granted returns all rules of an account.
func (w *World) KnowsGrants(account string) bool {
	all := true
	for _, k := range []olm.GroupKind{KindClusterRole, KindClusterRoleBinding, KindRole, KindRoleBinding} {
		if !w.Knows(k) {
			w.IsRead(k, "those of service account "+account)
			all = false
		}
	}
	return all
}

// Covers reports whether granted rules allow all that a rule requires: each
// combination of verb, group, resource and name by some rule.
func Covers(granted []olm.PolicyRule, want olm.PolicyRule) bool {
	// Usually a rule was granted as it is. There can be millions of combinations.
	if slices.ContainsFunc(granted, func(g olm.PolicyRule) bool { return contains(g, want) }) {
		return true
	}
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

// contains reports whether each list of a rule has what that of another rule has.
func contains(g, want olm.PolicyRule) bool {
	every := func(list, of []string, has func([]string, string) bool) bool {
		return slices.Equal(list, of) || !slices.ContainsFunc(of, func(s string) bool { return !has(list, s) })
	}
	return every(g.Verbs, want.Verbs, has) && every(g.APIGroups, want.APIGroups, has) && every(g.Resources, want.Resources, hasResource) &&
		(len(g.ResourceNames) == 0 || len(want.ResourceNames) > 0 && every(g.ResourceNames, want.ResourceNames, slices.Contains)) &&
		every(g.NonResourceURLs, want.NonResourceURLs, hasURL)
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
