package impact

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/olmkit/olmkit/internal/codes"
	"github.com/olmkit/olmkit/kube/permissions"
)

// operator is the subject that stands for all service accounts of an operator.
const operator = "the operator"

// A rulesByNamespace has the rules of a subject by the namespace in which they apply, "" for the whole
// cluster.
type rulesByNamespace map[string][]permissions.Rule

// in returns the rules that apply in a namespace: its own and those for the whole cluster.
func (s rulesByNamespace) in(namespace string) []permissions.Rule {
	if namespace == "" {
		return s[""]
	}
	return slices.Concat(s[""], s[namespace])
}

// where describes a namespace, or the whole cluster.
func where(namespace string) string {
	if namespace == "" {
		return "cluster-wide"
	}
	return "in namespace " + namespace
}

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
	var out []Change
	compared := true                                     // the permissions of the operator
	more, less := rulesByNamespace{}, rulesByNamespace{} // what the operator gains and loses
	for _, subject := range union(before.rules, after.rules) {
		old, created := before.rules[subject], after.rules[subject]
		for _, namespace := range union(old, created) {
			had, has := old.in(namespace), created.in(namespace)
			if namespace != "" { // what changes cluster-wide is not repeated
				had, has = slices.Concat(had, created[""]), slices.Concat(has, old[""])
			}
			gained, ok := c.opts.Cache.uncovered(had, created[namespace])
			lost, also := c.opts.Cache.uncovered(has, old[namespace])
			if !ok || !also {
				compared = compared && subject != operator
				out = append(out, c.coded(codes.ImpactNotCompared, Changed, subject, "", c.at(), "some permissions of %s %s were not compared, because there are too many", subject, where(namespace)))
			}
			if subject == operator {
				more[namespace], less[namespace] = gained, lost
			}
			for _, r := range gained {
				ch := c.coded(codes.ImpactPermission, Added, subject, "", c.at(), "%s can now %s %s", subject, r, where(namespace))
				ch.New, ch.rule = text(r), r.String()+" "+where(namespace)
				out = append(out, ch)
			}
			out = append(out, c.dangers(subject, namespace, gained)...)
			for _, r := range lost {
				ch := safe(Removed, subject, "%s can no longer %s %s", subject, r, where(namespace))
				ch.Old = text(r)
				out = append(out, ch)
			}
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
	loses := slices.ContainsFunc(slices.Collect(maps.Values(less)), func(rules []permissions.Rule) bool { return len(rules) > 0 })
	return append(out, c.elsewhere(loses)...), nil
}

// elsewhere returns a change for each new binding whose only service accounts of the operator are in
// other namespaces than the operator. In the default namespace, the comparison applies it nevertheless; in a
// given one it is the reason why the operator loses permissions.
func (c *comparison) elsewhere(loses bool) (out []Change) {
	if c.namespace != "" && !loses {
		return nil
	}
	before, after := c.foreign(c.old), c.foreign(c.new)
	for _, binding := range slices.Sorted(maps.Keys(after)) {
		accounts := strings.Join(after[binding], ", ")
		switch {
		case accounts == strings.Join(before[binding], ", "):
		case c.namespace != "":
			namespace, _, _ := strings.Cut(after[binding][0], "/")
			out = append(out, c.coded(codes.ImpactAccount, Added, binding, "", c.at(), "%s binds service account %s, so the operator in namespace %s does not get these permissions; install it in namespace %s", binding, accounts, c.namespace, namespace))
		default:
			out = append(out, c.coded(codes.ImpactPermission, Added, binding, "", c.at(), "%s binds service account %s, so an operator in another namespace does not get these permissions; set --namespace to compare", binding, accounts))
		}
	}
	return out
}

// foreign returns, by binding, the service accounts of the operator in other namespaces than its own,
// unless the binding also has one there.
func (c *comparison) foreign(b Bundle) map[string][]string {
	found := map[string][]string{}
	for i := range b.Others {
		o := &b.Others[i].Object
		if kind := o.GetKind(); kind != "ClusterRoleBinding" && kind != "RoleBinding" {
			continue
		}
		var accounts []string
		subjects, _, _ := unstructured.NestedSlice(o.Object, "subjects")
		own := false
		for _, x := range subjects {
			s, _ := x.(map[string]any)
			name, _ := s["name"].(string)
			namespace, _ := s["namespace"].(string)
			if s["kind"] == "ServiceAccount" && slices.Contains(b.ServiceAccounts(), name) {
				accounts = append(accounts, namespace+"/"+name)
				own = own || namespace == "" || namespace == c.opts.Namespace
			}
		}
		if !own && len(accounts) > 0 {
			found[o.GetKind()+" "+o.GetName()] = accounts
		}
	}
	return found
}

// deployments returns a change for each permission that a deployment gains or loses, but the
// operator does not: its service account changes, or the rules of that.
func (c *comparison) deployments(before, after *grants, gained, lost rulesByNamespace) (out []Change) {
	for _, name := range union(before.accounts, after.accounts) {
		was, had := before.accounts[name]
		is, has := after.accounts[name]
		if !had || !has {
			continue
		}
		object, old, created := "Deployment "+c.opts.Namespace+"/"+name, before.own[was], after.own[is]
		if len(old) > 0 && len(created) == 0 && len(after.rules[operator]) > 0 {
			out = append(out, c.coded(codes.ImpactAccount, Removed, object, "", c.at(), "%s loses all permissions: it runs as %s, and the bundle grants permissions only to other service accounts", object, is))
			continue
		}
		for _, namespace := range union(old, created) {
			more, ok := c.opts.Cache.uncovered(slices.Concat(old.in(namespace), gained.in(namespace)), created[namespace])
			less, also := c.opts.Cache.uncovered(slices.Concat(created.in(namespace), lost.in(namespace)), old[namespace])
			if !ok || !also {
				out = append(out, c.coded(codes.ImpactNotCompared, Changed, object, "", c.at(), "some permissions of %s %s were not compared, because there are too many", object, where(namespace)))
			}
			for _, r := range more {
				ch := c.coded(codes.ImpactPermission, Added, object, "", c.at(), "%s can now %s %s, as %s; before, only other deployments could", object, r, where(namespace), is)
				ch.New = text(r)
				out = append(out, ch)
			}
			for _, r := range less {
				ch := safe(Removed, object, "%s can no longer %s %s, as %s; other service accounts of the operator can", object, r, where(namespace), is)
				ch.Old = text(r)
				out = append(out, ch)
			}
		}
	}
	return out
}

// dangers returns a change for each kind of risk among the permissions that a subject gains, which other
// changes have.
func (c *comparison) dangers(subject, namespace string, gained []permissions.Rule) (out []Change) {
	for i := range gained {
		role := permissions.Role{Subject: subject, Namespace: namespace, Rules: gained[i : i+1]}
		found := role.Risks()
		if gained[i].AllowsEverything() {
			found = found[:1] // the wildcard, which includes the others
		}
		for _, risk := range found {
			if slices.ContainsFunc(out, func(x Change) bool { return x.Code == risk.Code }) {
				continue
			}
			rule := gained[i].String() + " " + where(namespace)
			what, _ := strings.CutSuffix(risk.Message, ": "+gained[i].String())
			what, _ = strings.CutPrefix(what, subject+" can ")
			if risk.Code == codes.GrantsWildcard && !gained[i].AllowsEverything() {
				what = rule + ", a wildcard"
			}
			ch := c.coded(risk.Code, Added, subject, "", c.at(), "dangerous: %s can now %s", subject, what)
			if risk.Code == codes.GrantsWildcard {
				ch.rule = rule
			}
			out = append(out, ch)
		}
	}
	return out
}

// grants are what a bundle allows.
type grants struct {
	rules    map[string]rulesByNamespace // by subject
	own      map[string]rulesByNamespace // by service account of the operator
	accounts map[string]string           // the service accounts of the deployments
	outside  map[string]bool             // the bindings to roles outside of the bundle
}

func (c *comparison) grants(b Bundle) (*grants, error) {
	r, err := permissions.Of(b.Bundle, permissions.Options{Namespace: c.namespace, Watch: c.opts.Watch, Classic: c.opts.Classic})
	if err != nil {
		return nil, err
	}
	out := &grants{
		rules: map[string]rulesByNamespace{}, own: map[string]rulesByNamespace{"ServiceAccount default": {}}, accounts: map[string]string{},
		outside: map[string]bool{},
	}
	for _, name := range b.ServiceAccounts() {
		out.own["ServiceAccount "+name] = rulesByNamespace{}
	}
	for _, d := range b.CSV().Spec.InstallStrategy.StrategySpec.DeploymentSpecs {
		out.accounts[d.Name] = "ServiceAccount " + cmp.Or(d.Spec.Template.Spec.ServiceAccountName, "default")
	}
	for _, role := range r.Roles {
		subject := role.Subject
		if own := out.own[subject]; own != nil {
			own[role.Namespace] = append(own[role.Namespace], role.Rules...)
			subject = operator
		}
		if out.rules[subject] == nil {
			out.rules[subject] = rulesByNamespace{}
		}
		out.rules[subject][role.Namespace] = append(out.rules[subject][role.Namespace], role.Rules...)
		if role.Outside != "" {
			out.outside[subject+" is bound to role "+role.Outside] = true
		}
	}
	return out, nil
}
