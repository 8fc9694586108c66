package impact

import (
	"cmp"
	"maps"
	"slices"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/internal/phrase"
	"github.com/olmkit/olmkit/kube/permissions"
)

// operator is the subject that stands for all service accounts of an operator.
const operator = "the operator"

// A scope is a subject and the namespace in which its rules apply, or the whole cluster.
type scope struct{ subject, namespace string }

// permissions compares what the operator and the subjects of role bindings may do. All
// service accounts of an operator count as one subject, because an upgrade may rename them.
// A deployment that gets permissions which only other deployments had is reported as well
// (K225).
func (c *comparison) permissions() ([]Change, error) {
	before, err := c.grants(c.old)
	if err != nil {
		return nil, err
	}
	after, err := c.grants(c.new)
	if err != nil {
		return nil, err
	}
	old, created := before.rules, after.rules
	keys := slices.AppendSeq(slices.Collect(maps.Keys(old)), maps.Keys(created))
	slices.SortFunc(keys, func(a, b scope) int {
		return slices.Compare([]string{a.namespace, a.subject}, []string{b.namespace, b.subject})
	})
	var out []Change
	compared := true                                                               // the permissions of the operator
	more, less := map[string][]permissions.Rule{}, map[string][]permissions.Rule{} // what the operator gains and loses, by namespace
	for _, k := range slices.Compact(keys) {
		everywhere := scope{subject: k.subject}
		all := func(m map[scope][]permissions.Rule) []permissions.Rule {
			if k == everywhere {
				return m[k]
			}
			return slices.Concat(m[everywhere], m[k])
		}
		gained, ok := c.opts.Cache.uncovered(all(old), created[k])
		lost, also := c.opts.Cache.uncovered(all(created), old[k])
		where := "cluster-wide"
		if k.namespace != "" {
			where = "in namespace " + k.namespace
		}
		if !ok || !also {
			compared = compared && k.subject != operator
			out = append(out, c.coded(codes.ImpactNotCompared, Changed, k.subject, "", c.at(), "the permissions of %s %s were not compared, because there are too many", k.subject, where))
			continue
		}
		if k.subject == operator {
			more[k.namespace], less[k.namespace] = gained, lost
		}
		for _, r := range gained {
			ch := c.coded(codes.ImpactPermission, Added, k.subject, "", c.at(), "%s can now %s %s", k.subject, r, where)
			ch.New = text(r)
			out = append(out, ch)
		}
		out = append(out, c.dangers(k, gained)...)
		for _, r := range lost {
			ch := safe(Removed, k.subject, "%s can no longer %s %s", k.subject, r, where)
			ch.Old = text(r)
			out = append(out, ch)
		}
	}
	if compared {
		out = append(out, c.deployments(before, after, more, less)...)
	}
	for _, role := range slices.Sorted(maps.Keys(after.outside)) {
		if !before.outside[role] {
			out = append(out, c.coded(codes.ImpactPermission, Added, role, "", c.at(), "%s, which has rules from outside of the bundle", role))
		}
	}
	for _, text := range slices.Sorted(maps.Keys(after.intercepts)) {
		if !before.intercepts[text] {
			out = append(out, c.coded(codes.GrantsInterception, Added, operator, "", c.at(), "dangerous: %s", text))
		}
	}
	return out, nil
}

// deployments returns a change for each permission that a deployment gains or loses, but the
// operator does not: its service account changes, or the rules of that.
func (c *comparison) deployments(before, after *grants, gained, lost map[string][]permissions.Rule) (out []Change) {
	for _, name := range union(before.accounts, after.accounts) {
		was, had := before.accounts[name]
		is, has := after.accounts[name]
		if !had || !has {
			continue
		}
		object, old, created := "Deployment "+c.opts.Namespace+"/"+name, before.own[was], after.own[is]
		for _, namespace := range union(old, created) {
			where := "cluster-wide"
			if namespace != "" {
				where = "in namespace " + namespace
			}
			more, ok := c.opts.Cache.uncovered(slices.Concat(in(old, namespace), in(gained, namespace)), created[namespace])
			less, also := c.opts.Cache.uncovered(slices.Concat(in(created, namespace), in(lost, namespace)), old[namespace])
			if !ok || !also {
				out = append(out, c.coded(codes.ImpactNotCompared, Changed, object, "", c.at(), "the permissions of %s %s were not compared, because there are too many", object, where))
				continue
			}
			for _, r := range more {
				ch := c.coded(codes.ImpactPermission, Added, object, "", c.at(), "%s can now %s %s, as %s; before, only other deployments could", object, r, where, is)
				ch.New = text(r)
				out = append(out, ch)
			}
			for _, r := range less {
				ch := safe(Removed, object, "%s can no longer %s %s, as %s; other service accounts of the operator can", object, r, where, is)
				ch.Old = text(r)
				out = append(out, ch)
			}
		}
	}
	return out
}

// in returns the rules that apply in a namespace: its own and those for the whole cluster.
func in(rules map[string][]permissions.Rule, namespace string) []permissions.Rule {
	if namespace == "" {
		return rules[""]
	}
	return slices.Concat(rules[""], rules[namespace])
}

// everything reports whether a rule allows every verb for all resources.
func everything(r *permissions.Rule) bool {
	return slices.Contains(r.Verbs, "*") && slices.Contains(r.APIGroups, "*") && slices.Contains(r.Resources, "*") && len(r.ResourceNames) == 0
}

// dangers returns a change for each kind of risk among the permissions that a subject gains.
func (c *comparison) dangers(k scope, gained []permissions.Rule) (out []Change) {
	var risks []permissions.Risk
	for i := range gained {
		role := permissions.Role{Subject: k.subject, Namespace: k.namespace, Rules: gained[i : i+1]}
		found := role.Risks()
		if everything(&gained[i]) {
			found = found[:1] // the wildcard, which includes the others
		}
		risks = append(risks, found...)
	}
	for i, risk := range risks {
		same := func(r permissions.Risk) bool { return r.Code == risk.Code }
		if slices.ContainsFunc(risks[:i], same) {
			continue
		}
		more := ""
		if n := len(slices.DeleteFunc(slices.Clone(risks), func(r permissions.Risk) bool { return !same(r) })); n > 1 {
			more = ", and " + phrase.Count(n-1, "more rule")
		}
		out = append(out, c.coded(risk.Code, Added, k.subject, "", c.at(), "dangerous: %s%s", risk.Message, more))
	}
	return out
}

// grants are what a bundle allows.
type grants struct {
	rules      map[scope][]permissions.Rule
	own        map[string]map[string][]permissions.Rule // the rules of each service account, by namespace
	accounts   map[string]string                        // the service accounts of the deployments
	outside    map[string]bool                          // the bindings to roles outside of the bundle
	intercepts map[string]bool                          // the webhooks that receive everything
}

func (c *comparison) grants(b Bundle) (*grants, error) {
	r, err := permissions.Of(b.Bundle, permissions.Options{Namespace: c.namespace, Watch: c.opts.Watch, Classic: c.opts.Classic})
	if err != nil {
		return nil, err
	}
	out := &grants{
		rules: map[scope][]permissions.Rule{}, own: map[string]map[string][]permissions.Rule{}, accounts: map[string]string{},
		outside: map[string]bool{}, intercepts: map[string]bool{},
	}
	account := func(name string) string {
		name = "ServiceAccount " + cmp.Or(name, "default")
		if out.own[name] == nil {
			out.own[name] = map[string][]permissions.Rule{}
		}
		return name
	}
	account("")
	strategy := &b.CSV().Spec.InstallStrategy.StrategySpec
	for _, p := range slices.Concat(strategy.Permissions, strategy.ClusterPermissions) {
		account(p.ServiceAccountName)
	}
	for _, d := range strategy.DeploymentSpecs {
		out.accounts[d.Name] = account(d.Spec.Template.Spec.ServiceAccountName)
	}
	for _, role := range r.Roles {
		k := scope{role.Subject, role.Namespace}
		if own := out.own[role.Subject]; own != nil {
			own[role.Namespace] = append(own[role.Namespace], role.Rules...)
			k.subject = operator
		}
		out.rules[k] = append(out.rules[k], role.Rules...)
		if role.Outside != "" {
			out.outside[k.subject+" is bound to role "+role.Outside] = true
		}
	}
	for _, risk := range r.Risks {
		if risk.Code == codes.GrantsInterception {
			out.intercepts[risk.Message] = true
		}
	}
	return out, nil
}
